# SPDX-License-Identifier: GPL-3.0-or-later
"""A handle to drag the outer capsule of the active bone."""

from __future__ import annotations

import bpy
from mathutils import Matrix, Vector

from ..interface.handles import Handles, arrow_place
from ..settings import libraries
from ..settings.typed import armature_data, owner_of
from . import bones as bone_capsules
from .settings import capsule_settings_of


class SBS_GGT_capsule(Handles, bpy.types.GizmoGroup):
    """An arrow from the middle of the active bone's inner capsule, as long as the envelope distance."""

    bl_idname = "SBS_GGT_capsule"
    bl_label = "Outer Capsule"
    step = "Outer Capsule"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        bone = context.active_pose_bone
        return (
            bone is not None
            and capsule_settings_of(armature_data(owner_of(bone))).show_capsules
            and bone.bone.use_deform
            and not libraries.hindrance([owner_of(bone)])
        )

    def setup(self, _context: bpy.types.Context) -> None:
        self.add_handle((0.2, 0.6, 1.0), place, _distance, _set_distance)


def _distance() -> float:
    bone = bpy.context.active_pose_bone
    return bone.bone.envelope_distance if bone is not None else 0.0


def _set_distance(distance: float) -> None:
    bone = bpy.context.active_pose_bone
    if bone is not None:
        bone.bone.envelope_distance = distance


def place(bone: bpy.types.PoseBone) -> Matrix:
    """Where the handle starts: on the inner capsule, at the middle of the bone; its z axis points outwards."""
    middle_radius = 0.5 * (bone_capsules.head_radius(bone.bone) + bone.bone.tail_radius)
    start = Vector((middle_radius, 0.5 * bone.bone.length, 0.0))
    return arrow_place(owner_of(bone).matrix_world @ bone.matrix, start, Vector((1.0, 0.0, 0.0)))


CLASSES = (SBS_GGT_capsule,)
