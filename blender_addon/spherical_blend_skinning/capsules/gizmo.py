# SPDX-License-Identifier: GPL-3.0-or-later
"""A handle to drag the outer capsule of the active bone."""

from __future__ import annotations

import bpy
from mathutils import Matrix, Vector

from . import bones as bone_capsules

__all__ = ["CLASSES"]


class SBS_GGT_capsule(bpy.types.GizmoGroup):
    """An arrow from the middle of the active bone's inner capsule, as long as the envelope distance."""

    bl_idname = "SBS_GGT_capsule"
    bl_label = "Outer Capsule"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SCALE"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        bone = context.active_pose_bone
        return bone is not None and bone.id_data.data.sbs.show_capsules and bone.bone.use_deform

    def setup(self, _context: bpy.types.Context) -> None:
        arrow = self.gizmos.new("GIZMO_GT_arrow_3d")
        arrow.draw_style = "BOX"
        arrow.color = arrow.color_highlight = 0.2, 0.6, 1.0
        arrow.alpha = 0.8
        arrow.use_draw_offset_scale = True
        arrow.target_set_handler("offset", get=_distance, set=self._drag)
        self.arrow = arrow
        self.is_dragged = False

    def _drag(self, distance: float) -> None:
        bpy.context.active_pose_bone.bone.envelope_distance = distance
        self.is_dragged = True

    def draw_prepare(self, context: bpy.types.Context) -> None:
        bone = context.active_pose_bone
        if bone is not None:
            self.arrow.matrix_basis = place(bone)
        if self.is_dragged and not self.arrow.is_modal:
            self.is_dragged = False
            # Before Blender 5 a gizmo makes no step of undo, nor may one be made while drawing.
            bpy.app.timers.register(_end_step, first_interval=0.0)


def _distance() -> float:
    bone = bpy.context.active_pose_bone
    return bone.bone.envelope_distance if bone is not None else 0.0


def _end_step() -> None:
    """Make a drag, with the weights that followed it, one step of undo."""
    bpy.ops.ed.undo_push(message="Outer Capsule")


def place(bone: bpy.types.PoseBone) -> Matrix:
    """Where the handle starts: on the inner capsule beside the middle of the bone; its z points outwards."""
    middle_radius = 0.5 * (bone_capsules.head_radius(bone.bone) + bone.bone.tail_radius)
    matrix = bone.id_data.matrix_world @ bone.matrix
    outwards = matrix.to_3x3() @ Vector((1.0, 0.0, 0.0))
    rotation = outwards.to_track_quat("Z", "Y").to_matrix().to_4x4()
    start = matrix @ Vector((middle_radius, 0.5 * bone.bone.length, 0.0))
    return Matrix.Translation(start) @ rotation @ Matrix.Scale(outwards.length, 4)


CLASSES = (SBS_GGT_capsule,)
