# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the limbs along which twists are spread, when that begins and again."""

from __future__ import annotations

import bpy

from ..interface import character, rigged
from ..interface.action import Action
from ..settings import limbs
from ..settings.typed import Operator
from . import bones


class SBS_OT_find_limbs(Action, Operator):
    bl_idname = "sbs.find_limbs"
    bl_label = "Find Limbs"
    bl_description = (
        "Tick the limbs of the armature, by the present bones, weights and meshes. Ticks that were set by hand are lost"
    )

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        armature = rigged.rig_of(context)
        if armature is None:
            return "Select a mesh with an armature, or an armature that moves a mesh"
        return character.hindrance(armature)

    def run(self, context: bpy.types.Context) -> str:
        count = bones.find(rigged.some_rig(context))
        self.report({"INFO"} if count else {"WARNING"}, f"Limbs found: {count}")
        return ""


CLASSES = (SBS_OT_find_limbs,)


def register() -> None:
    limbs.find_with(bones.find)


def unregister() -> None:
    limbs.find_with(None)
