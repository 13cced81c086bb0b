# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles to drag both ends of the active bone's zone."""

from __future__ import annotations

import bpy
from mathutils import Matrix, Vector

from ..capsules.settings import capsule_settings_of
from ..interface.handles import Handles, arrow_place
from ..settings.typed import armature_data, owner_of, settings_of_bone
from . import bones as bone_zones
from .overlay import END_COLOR, START_COLOR

__all__ = ["CLASSES"]

# The least length of a zone when it is dragged, relative to the bone.
_LEAST = 1e-3


class SBS_GGT_zone(Handles, bpy.types.GizmoGroup):
    """Two arrows from the head of the active bone: along its parent to the start of its zone, and to its end."""

    bl_idname = "SBS_GGT_zone"
    bl_label = "Zone"
    step = "Zone"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        bone = context.active_pose_bone
        return (
            bone is not None
            and capsule_settings_of(armature_data(owner_of(bone))).show_zones
            and bone_zones.find(bone) is not None
        )

    def setup(self, _context: bpy.types.Context) -> None:
        self.start = self.add_handle(START_COLOR, _start, _set_start)
        self.end = self.add_handle(END_COLOR, _end, _set_end)

    def put_handles(self, bone: bpy.types.PoseBone) -> None:
        self.start.matrix_basis, self.end.matrix_basis = places(bone)


def places(bone: bpy.types.PoseBone) -> tuple[Matrix, Matrix]:
    """Where both handles start: at the head of the bone, with z along the parent, and along the bone."""
    head, along = Vector((0.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0))
    start, end = (owner_of(bone).matrix_world @ matrix for matrix in bone_zones.ends(bone))
    return arrow_place(start, head, -along), arrow_place(end, head, along)


def _zone() -> bone_zones.Zone | None:
    bone = bpy.context.active_pose_bone
    return bone_zones.find(bone) if bone is not None else None


def _start() -> float:
    zone = _zone()
    return -zone.t_min if zone is not None else 0.0


def _end() -> float:
    zone = _zone()
    return zone.t_max if zone is not None else 0.0


def _set_start(distance: float) -> None:
    bone, zone = bpy.context.active_pose_bone, _zone()
    if zone is not None:
        bone_zones.adopt(bone, zone)
        settings_of_bone(bone.bone).t_min = min(-distance, zone.t_max - _LEAST * bone.bone.length)


def _set_end(distance: float) -> None:
    bone, zone = bpy.context.active_pose_bone, _zone()
    if zone is not None:
        bone_zones.adopt(bone, zone)
        settings_of_bone(bone.bone).t_max = max(distance, zone.t_min + _LEAST * bone.bone.length)


CLASSES = (SBS_GGT_zone,)
