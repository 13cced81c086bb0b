# SPDX-License-Identifier: GPL-3.0-or-later
"""One method for all meshes of a character, and how much of it they get at each bone."""

from __future__ import annotations

import bpy

from ..interface import rigged
from ..interface.action import Action
from ..interface.selection import linked_reason, our_meshes
from ..settings import rig as rig_settings
from ..settings import shared
from ..settings.declared import flag
from ..settings.given import pose_of
from ..settings.properties import BONE_AMOUNT, settings_of
from ..settings.typed import Operator


class SBS_OT_share_settings(Action, Operator):
    bl_idname = "sbs.share_settings"
    bl_label = "Apply to All Meshes"
    bl_description = "Copy these settings to all meshes of the armature, which then share them"

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        if not our_meshes(context):
            return "No selected object is bound with spherical blend skinning"
        armature = rigged.rig_of(context)
        if armature is None or armature.library is not None:
            return "Select a mesh of an armature that does not belong to a library"
        return ""

    def run(self, context: bpy.types.Context) -> str:
        armature = rigged.some_rig(context)
        is_shown = context.object == armature and settings_of(armature).is_property_set("center")
        source = armature if is_shown else our_meshes(context)[0]
        count = rig_settings.share(source, armature)
        return f"Meshes with the settings of {source.name}: {count}"


class SBS_OT_set_bone_amounts(Action, Operator):
    bl_idname = "sbs.set_bone_amounts"
    bl_label = "Set Strength of Bones"
    bl_description = "Set how much of their method meshes get at the selected bones, and at the others"

    amount: float = shared.factor("Selected", "Strength of the selected bones")
    set_others: bool = flag("Set Others", "Also set the strength of bones that are not selected", default=False)
    others: float = shared.factor("Others", "Strength of the bones that are not selected", default=0.0)

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
        return f"Set the strength of {len(bones)} bones"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "amount")
        layout.prop(self, "set_others")
        column = layout.column()
        column.active = self.set_others
        column.prop(self, "others")


CLASSES = (SBS_OT_share_settings, SBS_OT_set_bone_amounts)
