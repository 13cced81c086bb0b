# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles to drag both ends of the active bone's zone."""

from __future__ import annotations

from functools import partial

import bpy
from mathutils import Matrix, Vector

from ..capsules.settings import capsule_settings_of
from ..interface.handles import Handles, arrow_place
from ..settings import libraries
from ..settings.properties import settings_of_bone
from ..settings.typed import armature_data, owner_of
from . import zones as bone_zones
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
            and not libraries.hindrance([owner_of(bone)])
        )

    def setup(self, _context: bpy.types.Context) -> None:
        self.add_handle(START_COLOR, start_place, partial(_distance, True), partial(_set_distance, True))
        self.add_handle(END_COLOR, end_place, partial(_distance, False), partial(_set_distance, False))


def start_place(bone: bpy.types.PoseBone) -> Matrix:
    """Where the handle of the start is: at the head of the bone, with z along the parent."""
    start, _ = bone_zones.ends(bone)
    return arrow_place(owner_of(bone).matrix_world @ start, _HEAD, -_ALONG)


def end_place(bone: bpy.types.PoseBone) -> Matrix:
    """Where the handle of the end is: at the head of the bone, with z along the bone."""
    _, end = bone_zones.ends(bone)
    return arrow_place(owner_of(bone).matrix_world @ end, _HEAD, _ALONG)


def _distance(is_start: bool) -> float:
    """How far the start or the end of the zone of the active bone is from its head."""
    bone = bpy.context.active_pose_bone
    zone = bone_zones.find(bone) if bone is not None else None
    if zone is None:
        return 0.0
    return -zone.t_min if is_start else zone.t_max


def _set_distance(is_start: bool, distance: float) -> None:
    bone = bpy.context.active_pose_bone
    zone = bone_zones.find(bone) if bone is not None else None
    if bone is None or zone is None:
        return
    bone_zones.adopt(bone, zone)
    least = _LEAST * bone.bone.length
    if is_start:
        settings_of_bone(bone.bone).t_min = min(-distance, zone.t_max - least)
    else:
        settings_of_bone(bone.bone).t_max = max(distance, zone.t_min + least)


CLASSES = (SBS_GGT_zone,)
