# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles in the 3D view: arrows to drag a number of a bone, each drag one step of undo."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import bpy
from mathutils import Matrix, Vector

from ..settings.typed import GizmoGroupMixin


class Handles(GizmoGroupMixin):
    """A mix-in for a `bpy.types.GizmoGroup` with such handles."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SCALE"}

    #: The name of a drag in the history.
    step = ""
    is_dragged = False
    #: The arrows, each with a function for its place on the active bone.
    arrows: tuple[tuple[Any, Callable[[bpy.types.PoseBone], Matrix]], ...] = ()

    def draw_prepare(self, context: bpy.types.Context) -> None:
        bone = context.active_pose_bone
        if bone is not None:
            for arrow, place in self.arrows:
                arrow.matrix_basis = place(bone)
        self._end_drag()

    def add_handle(
        self,
        color: tuple[float, float, float],
        place: Callable[[bpy.types.PoseBone], Matrix],
        get: Callable[[], float],
        change: Callable[[float], None],
    ) -> None:
        """Add an arrow for the active bone whose length is a number that is read, and set while it is dragged.

        `place` is its matrix in world space, see `arrow_place`.
        """
        arrow: Any = self.gizmos.new("GIZMO_GT_arrow_3d")
        arrow.draw_style = "BOX"
        arrow.color = arrow.color_highlight = color
        arrow.alpha = 0.8
        arrow.use_draw_offset_scale = True

        def drag(value: float) -> None:
            change(value)
            self.is_dragged = True

        arrow.target_set_handler("offset", get=get, set=drag)
        self.is_dragged = False
        self.arrows = (*self.arrows, (arrow, place))

    def _end_drag(self) -> None:
        """Make a step of undo of a drag that has ended."""
        if self.is_dragged and not any(arrow.is_modal for arrow, _ in self.arrows):
            self.is_dragged = False
            # Before Blender 5 a gizmo makes no step of undo, and none may be made while drawing.
            bpy.app.timers.register(partial(_end_step, self.step), first_interval=0.0)


def _end_step(message: str) -> None:
    """Make a drag, with the weights that followed it, one step of undo."""
    bpy.ops.ed.undo_push(message=message)


def arrow_place(matrix: Matrix, start: Vector, direction: Vector) -> Matrix:
    """The matrix of an arrow from a point of a bone in a direction, both in the space of `matrix`."""
    outwards = matrix.to_3x3() @ direction
    rotation = outwards.to_track_quat("Z", "Y").to_matrix().to_4x4()
    return Matrix.Translation(matrix @ start) @ rotation @ Matrix.Scale(outwards.length, 4)
