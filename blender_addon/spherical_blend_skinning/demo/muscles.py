# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that demonstrates muscles: a woman bends elbows and a knee, with muscles and without."""

from __future__ import annotations

import math
from typing import NamedTuple

import bpy
from mathutils import Quaternion, Vector

from ..bind import operators as bind
from ..interface.selection import allow
from ..muscles import making
from ..settings.given import pose_of, scene_of, view_layer_of
from ..settings.typed import Operator, Result, settings_of
from . import woman

__all__ = ["CLASSES", "MuscleDemo", "build"]

_NAME = "Muscle Demo"
_TITLES = ("Linear Blend", "Spherical Blend", "With Muscles")
_DISTANCE = 1.9
_FRAMES = (1, 40, 80)
# What bends by how many degrees, about which axis of the armature at rest.
_BENDS = (
    ("LeftForeArm", 120.0, Vector((0.0, -1.0, 0.0))),
    ("RightForeArm", 120.0, Vector((0.0, 1.0, 0.0))),
    ("LeftLeg", 90.0, Vector((1.0, 0.0, 0.0))),
)
# Of the muscles that bend the elbow, in the middle of the animation.
_TENSE = ("Biceps.L", "Biceps.R", "Forearm Flexors.L", "Forearm Flexors.R")


class MuscleDemo(NamedTuple):
    """The objects of the demonstration.

    Attributes
    ----------
    linear, spherical, muscled : Object
        The meshes.
    """

    linear: bpy.types.Object
    spherical: bpy.types.Object
    muscled: bpy.types.Object


def build(context: bpy.types.Context) -> MuscleDemo:
    """Add the demonstration to the scene, in a collection of its own, and go to the frame where joints are bent.

    Raises
    ------
    RuntimeError
        If Blender's add-on for glTF files is switched off.
    """
    characters = woman.line_up(context, _NAME, woman.woman(), _TITLES, _DISTANCE)
    for _, rig in characters:
        _bend(rig)
    scene, objects = scene_of(context), view_layer_of(context).objects
    scene.frame_start, scene.frame_end = _FRAMES[0], _FRAMES[-1]
    for body, rig in characters[1:]:
        bind.bind(context, body, rig)
    linear, spherical, muscled = (body for body, _ in characters)
    _add_muscles(characters[-1][1])
    scene.frame_set(_FRAMES[1])
    objects.active = muscled
    for item in objects:
        item.select_set(item == muscled)
    return MuscleDemo(linear, spherical, muscled)


def _bend(armature: bpy.types.Object) -> None:
    """Set keys that bend joints, and straighten them again."""
    armature.animation_data_clear()
    for name, degrees, about in _BENDS:
        pose_bone = pose_of(armature).bones[name]
        axis = pose_bone.bone.matrix_local.to_3x3().inverted() @ about
        pose_bone.rotation_mode = "QUATERNION"
        for frame, angle in zip(_FRAMES, (0.0, degrees, 0.0), strict=True):
            pose_bone.rotation_quaternion = Quaternion(axis, math.radians(angle))
            pose_bone.keyframe_insert("rotation_quaternion", frame=frame)


def _add_muscles(armature: bpy.types.Object) -> None:
    making.fit(armature)
    muscles = settings_of(armature).muscles
    for row, muscle in enumerate(muscles):
        if muscle.name == _TENSE[0]:
            settings_of(armature).muscle_row = row
        if muscle.name in _TENSE:
            for frame, value in zip(_FRAMES, (0.0, 1.0, 0.0), strict=True):
                muscle.activation = value
                muscle.keyframe_insert("activation", frame=frame)


class SBS_OT_muscle_demo(Operator):
    bl_idname = "sbs.muscle_demo"
    bl_label = "Muscle Demo"
    bl_description = (
        "Add a character three times, her elbows and a knee bent: by linear and by spherical blend skinning, and with "
        "muscles that swell"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return allow(cls, woman.hindrance(context))

    def execute(self, context: bpy.types.Context) -> Result:
        return woman.add_for(self, lambda: build(context).linear)


CLASSES = (SBS_OT_muscle_demo,)
