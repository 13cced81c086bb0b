# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that demonstrates the add-on: a woman twists her arm, by linear and by spherical blending, and spread."""

from __future__ import annotations

import math
from typing import NamedTuple

import bpy
from mathutils import Quaternion

from ..bind import operators as bind
from ..interface.selection import allow
from ..settings.given import pose_of, scene_of, view_layer_of
from ..settings.typed import Menu, Operator, Result, settings_of
from . import woman

__all__ = ["CLASSES", "Demo", "build"]

_NAME = "Spherical Blend Skinning Demo"
_BONE = "LeftForeArm"
_DEGREES = 170.0
_TITLES = ("Linear Blend", "Spherical Blend", "Spread Twist")
# The distance between characters, in metres; their arms are stretched out.
_DISTANCE = 1.9
_FRAMES = (1, 40, 80)


class Demo(NamedTuple):
    """The objects of the demo: the same character three times.

    Attributes
    ----------
    linear, spherical, spread : Object
        The meshes.
    armatures : tuple of three Object
    """

    linear: bpy.types.Object
    spherical: bpy.types.Object
    spread: bpy.types.Object
    armatures: tuple[bpy.types.Object, ...]


def build(context: bpy.types.Context) -> Demo:
    """Add the demo to the scene, in a collection of its own, and go to the frame where the arm is twisted.

    Raises
    ------
    RuntimeError
        If Blender's add-on for glTF files is switched off.
    """
    characters = woman.line_up(context, _NAME, woman.woman(), _TITLES, _DISTANCE)
    for _, rig in characters:
        _twist(rig)
    linear, spherical, spread = (body for body, _ in characters)
    scene = scene_of(context)
    scene.frame_start, scene.frame_end = _FRAMES[0], _FRAMES[-1]
    for body, rig in characters[1:]:
        settings_of(rig).spread_twist = body == spread
        bind.bind(context, body, rig)
    scene.frame_set(_FRAMES[1])
    view_layer_of(context).objects.active = spread
    for item in view_layer_of(context).objects:
        item.select_set(item in (linear, spherical, spread))
    return Demo(linear, spherical, spread, tuple(rig for _, rig in characters))


def _twist(armature: bpy.types.Object) -> None:
    """Set keys that turn the forearm about its axis, and back."""
    armature.animation_data_clear()
    pose_bone = pose_of(armature).bones[_BONE]
    bone = pose_bone.bone
    along = bone.children[0].head_local - bone.head_local
    axis = bone.matrix_local.to_3x3().inverted() @ along
    pose_bone.rotation_mode = "QUATERNION"
    for frame, degrees in zip(_FRAMES, (0.0, _DEGREES, 0.0), strict=True):
        pose_bone.rotation_quaternion = Quaternion(axis, math.radians(degrees))
        pose_bone.keyframe_insert("rotation_quaternion", frame=frame)


class SBS_OT_demo(Operator):
    bl_idname = "sbs.demo"
    bl_label = "Spherical Blend Skinning Demo"
    bl_description = (
        "Add a character three times, her arm twisted: by linear and by spherical blend skinning, and with the twist "
        "spread along her forearm"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return allow(cls, woman.hindrance(context))

    def execute(self, context: bpy.types.Context) -> Result:
        return woman.add_for(self, lambda: build(context).linear)


CLASSES = (SBS_OT_demo,)


def _draw_menu(menu: Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator("sbs.demo", icon="ARMATURE_DATA")
    menu.layout.operator("sbs.muscle_demo", icon="ARMATURE_DATA")


def register() -> None:
    bpy.types.VIEW3D_MT_mesh_add.append(_draw_menu)


def unregister() -> None:
    bpy.types.VIEW3D_MT_mesh_add.remove(_draw_menu)
