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
        self.arrow = arrow

    def refresh(self, context: bpy.types.Context) -> None:
        bone = context.active_pose_bone
        if bone is not None:
            self.arrow.target_set_prop("offset", bone.bone, "envelope_distance")

    def draw_prepare(self, context: bpy.types.Context) -> None:
        bone = context.active_pose_bone
        if bone is not None:
            self.arrow.matrix_basis = place(bone)


def place(bone: bpy.types.PoseBone) -> Matrix:
    """Where the handle starts: on the inner capsule beside the middle of the bone; its z points outwards."""
    middle_radius = 0.5 * (bone_capsules.head_radius(bone.bone) + bone.bone.tail_radius)
    matrix = bone.id_data.matrix_world @ bone.matrix
    outwards = matrix.to_3x3() @ Vector((1.0, 0.0, 0.0))
    rotation = outwards.to_track_quat("Z", "Y").to_matrix().to_4x4()
    start = matrix @ Vector((middle_radius, 0.5 * bone.bone.length, 0.0))
    return Matrix.Translation(start) @ rotation @ Matrix.Scale(outwards.length, 4)


CLASSES = (SBS_GGT_capsule,)
