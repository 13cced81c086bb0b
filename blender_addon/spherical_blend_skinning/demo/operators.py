# SPDX-License-Identifier: GPL-3.0-or-later
"""Demonstrations in the menu Add > Mesh."""

from __future__ import annotations

import bpy

from ..core import library
from ..interface.action import Action
from ..settings.typed import Menu, Operator, mesh_of
from . import muscles, twist
from .woman import Pair


class _Demo(Action):
    """An operator that adds a demonstration."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return library.problem() or ("" if context.mode == "OBJECT" else "Go to Object Mode first")

    @staticmethod
    def build(context: bpy.types.Context) -> list[Pair]:
        """Add it to the scene, and return the characters."""
        raise NotImplementedError

    def run(self, context: bpy.types.Context) -> str:
        body, _ = self.build(context)[0]
        return f"Added {len(mesh_of(body).vertices)} vertices three times; play the animation"


class SBS_OT_demo(_Demo, Operator):
    bl_idname = "sbs.demo"
    bl_label = "Spherical Blend Skinning Demo"
    bl_description = (
        "Add a character three times, her arm twisted: by linear and by spherical blend skinning, and with the twist "
        "spread along her forearm"
    )
    build = staticmethod(twist.build)


class SBS_OT_muscle_demo(_Demo, Operator):
    bl_idname = "sbs.muscle_demo"
    bl_label = "Muscle Demo"
    bl_description = (
        "Add a character three times, her elbows and a knee bent: by linear and by spherical blend skinning, and with "
        "muscles that swell"
    )
    build = staticmethod(muscles.build)


CLASSES = (SBS_OT_demo, SBS_OT_muscle_demo)


def _draw_menu(menu: Menu, _context: bpy.types.Context) -> None:
    for operator in CLASSES:
        menu.layout.operator(operator.bl_idname, icon="ARMATURE_DATA")


ENTRIES = (("VIEW3D_MT_mesh_add", _draw_menu),)
