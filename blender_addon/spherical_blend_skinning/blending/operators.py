# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the bones for bones blending: marks that bones keep when they are renamed."""

from __future__ import annotations

import bpy

from ..interface import rigged
from ..interface.action import Action
from ..settings.declared import flag
from ..settings.properties import settings_of_bone
from ..settings.typed import Operator, Panel, armature_data


class SBS_OT_mark_bones(Action, Operator):
    bl_idname = "sbs.mark_bones"
    bl_label = "Mark Selected Bones"
    bl_description = "Mark the selected bones for bones blending, or remove their marks"

    mark: bool = flag("Mark", "Otherwise marks are removed", default=True)

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        found = rigged.find(context)
        if not found:
            return "Select a mesh with an armature, or an armature that moves a mesh"
        if armature_data(found[0].armature).library is not None:
            return f"{found[0].armature.name} belongs to a library"
        return "Leave Edit Mode first" if found[0].armature.mode == "EDIT" else ""

    def run(self, context: bpy.types.Context) -> str:
        mesh = rigged.find(context)[0]
        chosen = rigged.some_selected_bones(mesh)
        for bone, is_chosen in zip(mesh.bones, chosen, strict=True):
            if is_chosen and settings_of_bone(bone).bones_blending != self.mark:
                settings_of_bone(bone).bones_blending = self.mark
        marked = sum(settings_of_bone(bone).bones_blending for bone in mesh.bones)
        return f"{marked} of {len(mesh.bones)} bones are marked for bones blending"


CLASSES = (SBS_OT_mark_bones,)


def _draw_bone(panel: Panel, context: bpy.types.Context) -> None:
    # In Edit Mode a bone is another object; its mark is copied back on leaving.
    if context.bone is not None:
        panel.layout.prop(settings_of_bone(context.bone), "bones_blending")


ENTRIES = (("BONE_PT_deform", _draw_bone),)
