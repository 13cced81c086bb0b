# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw, over the 3D view, where the weights of a vertex can take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..core.dragging import Patch
from ..interface import drawing

_LINE = (1.0, 0.75, 0.1, 1.0)
_INSIDE = (1.0, 0.75, 0.1, 0.25)
_RING = (1.0, 1.0, 1.0, 0.6)
_POINT = (1.0, 0.35, 0.1, 1.0)


@dataclass(frozen=True)
class Shown:
    """The circle around a dragged vertex."""

    matrix: Matrix  #: Of the object
    point: NDArray[np.float32]  #: (3,): the vertex, in the space of the object
    radius: float  #: Of the circle: the reach of the drag
    patch: Patch | None


_shown: Shown | None = None


def show(shown: Shown) -> None:
    """Draw it from now on."""
    global _shown
    _shown = shown


def hide() -> None:
    """Draw nothing."""
    global _shown
    _shown = None


def ring(view: Matrix, point: NDArray[np.floating[Any]], radius: float) -> NDArray[np.float32]:
    """Line segments (N, 2, 3) of a circle about a point that faces the view; `view` is from the view to the space."""
    right, up = (np.array(view.col[axis][:3], np.float64) for axis in (0, 1))
    return drawing.circles(point, radius * right / np.linalg.norm(right), radius * up / np.linalg.norm(up))


def _draw() -> None:
    context = bpy.context
    shown, view = _shown, context.region_data
    if shown is None or view is None:
        return
    import gpu

    gpu.state.blend_set("ALPHA")
    gpu.state.line_width_set(2.0)
    gpu.state.point_size_set(9.0)
    to_object = shown.matrix.inverted_safe() @ view.view_matrix.inverted()
    with drawing.transformed(shown.matrix):
        drawing.draw_lines(ring(to_object, shown.point, shown.radius), _RING)
        if shown.patch is not None:
            if len(shown.patch.triangles):
                drawing.draw_triangles(shown.patch.points, shown.patch.triangles, _INSIDE)
            drawing.draw_lines(shown.patch.points[shown.patch.edges], _LINE)
        drawing.draw_points(shown.point[None], _POINT)
    gpu.state.point_size_set(1.0)
    gpu.state.line_width_set(1.0)
    gpu.state.blend_set("NONE")


_overlay = drawing.Overlay(_draw)
register = _overlay.register


def unregister() -> None:
    hide()
    _overlay.unregister()
