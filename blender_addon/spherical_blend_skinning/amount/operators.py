# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of their method meshes get at each bone: the amounts of bones, set for many at once."""

from __future__ import annotations

import bpy

from ..interface.action import Action
from ..interface.selection import linked_reason
from ..settings import shared
from ..settings.declared import flag
from ..settings.given import pose_of
from ..settings.properties import BONE_AMOUNT
from ..settings.typed import Operator, Panel


class SBS_OT_set_bone_amounts(Action, Operator):
    bl_idname = "sbs.set_bone_amounts"
    bl_label = "Set Bone Amounts"
    bl_description = "Set how much of their method meshes get at the selected bones, and at the others"

    amount: float = shared.factor("Selected", "Amount of the selected bones")
    set_others: bool = flag("Set Others", "Also set the amounts of bones that are not selected", default=False)
    others: float = shared.factor("Others", "Amount of the bones that are not selected", default=0.0)

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        armature = context.object
        if context.mode != "POSE" or armature is None:
            return "Select bones in Pose Mode first"
        return linked_reason(armature)

    def run(self, context: bpy.types.Context) -> str:
        chosen = set(context.selected_pose_bones)
        if not chosen and not self.set_others:
            raise ValueError("No bone is selected")
        everything = pose_of(context.object).bones if context.object is not None else ()
        bones = everything if self.set_others else chosen
        for bone in bones:
            amount = self.amount if bone in chosen else self.others
            if getattr(bone, BONE_AMOUNT) != amount:
                setattr(bone, BONE_AMOUNT, amount)
        return f"Set the amounts of {len(bones)} bones"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "amount")
        layout.prop(self, "set_others")
        column = layout.column()
        column.active = self.set_others
        column.prop(self, "others")


CLASSES = (SBS_OT_set_bone_amounts,)


def _draw_bone(panel: Panel, context: bpy.types.Context) -> None:
    if context.pose_bone is not None:
        panel.layout.prop(context.pose_bone, BONE_AMOUNT, text="SBS Amount")


ENTRIES = (("BONE_PT_deform", _draw_bone),)
