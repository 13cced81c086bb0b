# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines and surfaces drawn over the 3D view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, cast

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..settings.given import manager_of

Color = tuple[float, float, float, float]
_Floats = NDArray[np.floating[Any]]

_STEPS = 48


class Overlay:
    """A function that draws over the 3D view while it is registered."""

    def __init__(self, draw: Callable[[], None]) -> None:
        self._draw = draw
        self._handle: Any = None

    def register(self) -> None:
        self._handle = bpy.types.SpaceView3D.draw_handler_add(self._draw, (), "WINDOW", "POST_VIEW")

    def unregister(self) -> None:
        bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
        self._handle = None


def redraw(_settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Draw all 3D views again, as settings have changed."""
    for window in manager_of(context).windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def circles(centers: _Floats, first: _Floats, second: _Floats, angle: float = 2.0 * np.pi) -> NDArray[np.float32]:
    """Line segments (..., N, 2, 3) of arcs about centers (..., 3), from one radius (..., 3) over another one."""
    angles = np.linspace(0.0, angle, _STEPS + 1)[:, None]
    points = centers[..., None, :] + np.cos(angles) * first[..., None, :] + np.sin(angles) * second[..., None, :]
    return np.stack([points[..., :-1, :], points[..., 1:, :]], axis=-2).astype(np.float32)


def posed_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active or posed armature, if it and overlays are visible."""
    for item in (context.object, context.pose_object):
        if item is not None and item.type == "ARMATURE" and item.visible_get():
            return item if shows_overlays(context) else None
    return None


def shows_overlays(context: bpy.types.Context) -> bool:
    """Whether the 3D view that is drawn has overlays."""
    return cast("bpy.types.SpaceView3D", context.space_data).overlay.show_overlays


@contextmanager
def transformed(matrix: Matrix, lift: Matrix | None = None) -> Iterator[None]:
    """Draw in the space of a matrix, lifted by another one after projection."""
    import gpu

    stack: Any = gpu.matrix
    with stack.push_pop(), stack.push_pop_projection():
        if lift is not None:
            gpu.matrix.load_projection_matrix(lift @ gpu.matrix.get_projection_matrix())
        gpu.matrix.multiply_matrix(matrix)
        yield


def draw_lines(lines: NDArray[np.float32], color: Color) -> None:
    """Draw line segments (N, 2, 3)."""
    _draw("LINES", lines.reshape(-1, 3), color)


def draw_points(points: NDArray[np.float32], color: Color) -> None:
    """Draw points (N, 3)."""
    _draw("POINTS", points, color)


def draw_triangles(points: NDArray[np.float32], triangles: NDArray[np.int32], color: Color) -> None:
    """Draw triangles (T, 3) of points (N, 3)."""
    _draw("TRIS", points, color, triangles)


def _draw(
    kind: Literal["LINES", "POINTS", "TRIS"],
    points: NDArray[np.float32],
    color: Color,
    indices: NDArray[np.int32] | None = None,
) -> None:
    # Imported here, because in the background there is nothing to draw on and the import may fail.
    from gpu_extras.batch import batch_for_shader

    shader = builtin_shader("UNIFORM_COLOR")
    content: dict[str, Any] = {"pos": points}
    batch = batch_for_shader(shader, kind, content, indices=indices)
    shader.bind()
    shader.uniform_float("color", color)
    batch.draw(shader)


def builtin_shader(name: str) -> Any:
    """A built-in shader, by its name since Blender 4.0."""
    import gpu

    return gpu.shader.from_builtin(name if bpy.app.version >= (4, 0, 0) else f"3D_{name}")
