# SPDX-License-Identifier: MIT
"""Meshes near joints: triangles of a joint, finer meshes there, and the curvature when it bends.

These are sections 3 and 4 of Kavan and Zara, "Real Time Skin Deformation with Bones Blending", WSCG 2003.
"""

from .skinning.attachment import connected_triangles, heaviest_joints
from .weights.curvature import curvature
from .weights.subdivision import (
    Scheme,
    Subdivision,
    subdivide,
    subdivide_bent,
    subdivide_near_joints,
    triangles_near_joints,
)

__all__ = [
    "Scheme",
    "Subdivision",
    "connected_triangles",
    "curvature",
    "heaviest_joints",
    "subdivide",
    "subdivide_bent",
    "subdivide_near_joints",
    "triangles_near_joints",
]


def __dir__() -> list[str]:
    return sorted(__all__)
