# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles to drag both ends of the active bone's zone."""

from __future__ import annotations

import bpy
from mathutils import Matrix, Vector

from ..capsules.settings import capsule_settings_of
from ..interface.handles import Handles, arrow_place
from ..settings.properties import settings_of_bone
from ..settings.typed import armature_data, owner_of
from . import bones as bone_zones
from .overlay import END_COLOR, START_COLOR

# The least length of a zone when it is dragged, relative to the bone.
_LEAST = 1e-3

# The head of a bone in its own space, and the direction along it.
_HEAD, _ALONG = Vector((0.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0))


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
        self.add_handle(START_COLOR, start_place, _start, _set_start)
        self.add_handle(END_COLOR, end_place, _end, _set_end)


def start_place(bone: bpy.types.PoseBone) -> Matrix:
    """Where the handle of the start is: at the head of the bone, with z along the parent."""
    start, _ = bone_zones.ends(bone)
    return arrow_place(owner_of(bone).matrix_world @ start, _HEAD, -_ALONG)


def end_place(bone: bpy.types.PoseBone) -> Matrix:
    """Where the handle of the end is: at the head of the bone, with z along the bone."""
    _, end = bone_zones.ends(bone)
    return arrow_place(owner_of(bone).matrix_world @ end, _HEAD, _ALONG)


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
    if bone is not None and zone is not None:
        bone_zones.adopt(bone, zone)
        settings_of_bone(bone.bone).t_min = min(-distance, zone.t_max - _LEAST * bone.bone.length)


def _set_end(distance: float) -> None:
    bone, zone = bpy.context.active_pose_bone, _zone()
    if bone is not None and zone is not None:
        bone_zones.adopt(bone, zone)
        settings_of_bone(bone.bone).t_max = max(distance, zone.t_min + _LEAST * bone.bone.length)


CLASSES = (SBS_GGT_zone,)
