# SPDX-License-Identifier: GPL-3.0-or-later
"""Demonstrations in the menu Add > Mesh."""

from __future__ import annotations

import bpy
from mathutils import Vector

from ..bind.operators import bind
from ..core import library
from ..interface.action import Action
from ..muscles import making
from ..settings.properties import settings_of
from ..settings.typed import Menu, Operator, armature_data, mesh_of
from . import woman
from .woman import Pair

# The bone that is twisted, and by how many degrees.
_TWISTED, _DEGREES = "LeftForeArm", 170.0
# The bends: bones, degrees, and axes of the armature at rest.
_BENDS = (
    ("LeftForeArm", 120.0, Vector((0.0, -1.0, 0.0))),
    ("RightForeArm", 120.0, Vector((0.0, 1.0, 0.0))),
    ("LeftLeg", 90.0, Vector((1.0, 0.0, 0.0))),
)
# The muscles that bend the elbow: they are tense in the middle of the animation.
_TENSE = ("Biceps.L", "Biceps.R", "Forearm Flexors.L", "Forearm Flexors.R")


class _Demo(Action):
    """An operator that adds a demonstration, in a collection of its own, and goes to the middle of its animation."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return library.problem() or ("" if context.mode == "OBJECT" else "Go to Object Mode first")


def _report(characters: list[Pair]) -> str:
    body, _ = characters[0]
    return f"Added {len(mesh_of(body).vertices)} vertices three times; play the animation"


class SBS_OT_demo(_Demo, Operator):
    bl_idname = "sbs.demo"
    bl_label = "Spherical Blend Skinning Demo"
    bl_description = (
        "Add a character three times, her arm twisted: by linear and by spherical blend skinning, and with the twist "
        "spread along her forearm"
    )

    def run(self, context: bpy.types.Context) -> str:
        characters = woman.line_up(context, self.bl_label, ("Linear Blend", "Spherical Blend", "Spread Twist"))
        for _, rig in characters:
            bone = armature_data(rig).bones[_TWISTED]
            woman.set_turns(rig, [(_TWISTED, _DEGREES, bone.children[0].head_local - bone.head_local)])
        for (body, rig), spreads in zip(characters[1:], (False, True), strict=True):
            settings_of(rig).spread_twist = spreads
            bind(context, body, rig)
        woman.show(context, [body for body, _ in characters])
        return _report(characters)


class SBS_OT_muscle_demo(_Demo, Operator):
    bl_idname = "sbs.muscle_demo"
    bl_label = "Muscle Demo"
    bl_description = (
        "Add a character three times, her elbows and a knee bent: by linear and by spherical blend skinning, and with "
        "muscles that swell"
    )

    def run(self, context: bpy.types.Context) -> str:
        characters = woman.line_up(context, self.bl_label, ("Linear Blend", "Spherical Blend", "With Muscles"))
        for _, rig in characters:
            woman.set_turns(rig, _BENDS)
        for body, rig in characters[1:]:
            bind(context, body, rig)
        muscled, rig = characters[-1]
        making.fit(rig)
        muscles = settings_of(rig).muscles
        settings_of(rig).muscle_row = max(0, muscles.find(_TENSE[0]))
        for muscle in muscles:
            for frame, value in zip(woman.FRAMES, (0.0, 1.0, 0.0), strict=True) if muscle.name in _TENSE else ():
                muscle.activation = value
                muscle.keyframe_insert("activation", frame=frame)
        woman.show(context, [muscled])
        return _report(characters)


CLASSES = (SBS_OT_demo, SBS_OT_muscle_demo)


def _draw_menu(menu: Menu, _context: bpy.types.Context) -> None:
    for operator in CLASSES:
        menu.layout.operator(operator.bl_idname, icon="ARMATURE_DATA")


ENTRIES = (("VIEW3D_MT_mesh_add", _draw_menu),)
