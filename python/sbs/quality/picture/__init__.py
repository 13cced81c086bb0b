# SPDX-License-Identifier: MIT
"""Pictures of deformed meshes, side by side; no display or graphics driver is needed.

Surfaces are path-traced by Mitsuba 3 and put on a sheet with Pillow; both come with the extra ``picture``.
"""

from .camera import Camera
from .extra import MissingExtraError
from .portraits import portraits, weight_colors
from .render import render
from .sheet import Row, column_width, compose
from .surface import ShadedMesh, smooth_surfaces

__all__ = [
    "Camera",
    "MissingExtraError",
    "Row",
    "ShadedMesh",
    "column_width",
    "compose",
    "portraits",
    "render",
    "smooth_surfaces",
    "weight_colors",
]
