# SPDX-License-Identifier: GPL-3.0-or-later
"""One method for all meshes of a character."""

from __future__ import annotations

import bpy

from ..interface import rigged
from ..interface.action import Action
from ..interface.selection import our_meshes
from ..settings import rig as rig_settings
from ..settings.properties import settings_of
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


CLASSES = (SBS_OT_share_settings,)
