# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the limbs along which twists are spread, when that begins and again."""

from __future__ import annotations

import bpy

from ..interface import character, rigged
from ..interface.selection import allow, refuse
from ..settings import rig as rig_settings
from ..settings.typed import Operator, Result
from . import bones

__all__ = ["CLASSES", "register", "unregister"]


class SBS_OT_find_limbs(Operator):
    bl_idname = "sbs.find_limbs"
    bl_label = "Find Limbs"
    bl_description = (
        "Tick the limbs of the armature, by the present bones, weights and meshes. Ticks that were set by hand are lost"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        armature = rigged.rig_of(context)
        if armature is None:
            return refuse(cls, "Select a mesh with an armature, or an armature that moves a mesh")
        return allow(cls, character.hindrance(armature))

    def execute(self, context: bpy.types.Context) -> Result:
        armature = rigged.rig_of(context)
        count = bones.find(armature) if armature is not None else 0
        self.report({"INFO"} if count else {"WARNING"}, f"Limbs found: {count}")
        return {"FINISHED"}


CLASSES = (SBS_OT_find_limbs,)


def register() -> None:
    rig_settings.when_spread(bones.find)


def unregister() -> None:
    rig_settings.when_spread(None)
