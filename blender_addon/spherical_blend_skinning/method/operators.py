# SPDX-License-Identifier: GPL-3.0-or-later
"""One method for all meshes of a character."""

from __future__ import annotations

import bpy

from ..interface import rigged
from ..interface.selection import our_meshes, refuse
from ..settings import rig as rig_settings
from ..settings.typed import Operator, Result, settings_of

__all__ = ["CLASSES"]


class SBS_OT_share_settings(Operator):
    bl_idname = "sbs.share_settings"
    bl_label = "Apply to All Meshes"
    bl_description = "Copy these settings to all meshes of the armature, which then share them"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not our_meshes(context):
            return refuse(cls, "No selected object is bound with spherical blend skinning")
        armature = rigged.rig_of(context)
        if armature is None or armature.library is not None:
            return refuse(cls, "Select a mesh of an armature that does not belong to a library")
        return True

    def execute(self, context: bpy.types.Context) -> Result:
        armature = rigged.rig_of(context)
        if armature is None:
            return {"CANCELLED"}
        is_shown = context.object == armature and settings_of(armature).is_property_set("center")
        source = armature if is_shown else our_meshes(context)[0]
        count = rig_settings.share(source, armature)
        self.report({"INFO"}, f"Meshes with the settings of {source.name}: {count}")
        return {"FINISHED"}


CLASSES = (SBS_OT_share_settings,)
