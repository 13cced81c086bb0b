# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of capsules in the sidebar tab."""

from __future__ import annotations

import bpy

from ..interface import rigged
from ..interface.panels import SidebarPart
from ..interface.words import wide
from ..settings.properties import settings_of_bone
from ..settings.typed import Panel, armature_data
from .settings import capsule_settings_of


class SBS_PT_capsules(SidebarPart, Panel):
    bl_label = "Capsules"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return rigged.rig_of(context, or_selected=True) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        item = rigged.rig_of(context, or_selected=True)
        if item is None:
            return
        armature = armature_data(item)
        settings = capsule_settings_of(armature)
        wide(layout).prop(settings, "show_capsules", toggle=True, icon="META_CAPSULE")

        bone = armature.bones.active
        if bone is not None:
            column = layout.column(align=True)
            column.label(text=bone.name, icon="BONE_DATA")
            if bone.parent is not None and bone.use_connect:
                column.prop(bone.parent, "tail_radius", text="Head")
            else:
                column.prop(bone, "head_radius", text="Head")
            column.prop(bone, "tail_radius", text="Tail")
            column.prop(bone, "envelope_distance", text="Distance")
            column.prop(bone, "envelope_weight", text="Weight")
            column.prop(settings_of_bone(bone), "capsule_falloff")

        column = layout.column(align=True)
        column.prop(settings, "falloff")
        # Their names would not fit beside them.
        column.use_property_split = False
        column.label(text="Vertices Outside")
        column.prop(settings, "outside", text="")
        column.prop(settings, "limit")
        wide(layout).prop(settings, "live", toggle=True, icon="FILE_REFRESH")
        column = layout.column(align=True)
        operator = column.operator("sbs.assign_from_capsules")
        for name in ("falloff", "outside", "limit"):
            setattr(operator, name, getattr(settings, name))
        column.operator("sbs.fit_capsules")
        row = layout.row(align=True)
        row.operator("sbs.import_capsules", text="Import", icon="IMPORT")
        row.operator("sbs.export_capsules", text="Export", icon="EXPORT")


CLASSES = (SBS_PT_capsules,)
