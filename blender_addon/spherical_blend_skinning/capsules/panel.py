# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the sidebar tab that is about capsules."""

from __future__ import annotations

import bpy

from .operators import armature_of

__all__ = ["CLASSES"]


class SBS_PT_capsules(bpy.types.Panel):
    bl_label = "Capsules"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "SBS"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return armature_of(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        armature = armature_of(context).data
        settings = armature.sbs
        layout.prop(settings, "show_capsules")

        bone = armature.bones.active
        if bone is not None:
            column = layout.column(align=True)
            column.label(text=bone.name, icon="BONE_DATA")
            if bone.parent is not None and bone.use_connect:
                column.prop(bone.parent, "tail_radius", text="Radius Head")
            else:
                column.prop(bone, "head_radius", text="Radius Head")
            column.prop(bone, "tail_radius", text="Tail")
            column.prop(bone, "envelope_distance", text="Outer Distance")
            column.prop(bone, "envelope_weight", text="Weight")

        column = layout.column(align=True)
        column.prop(settings, "falloff")
        column.prop(settings, "outside")
        column.prop(settings, "limit")
        layout.prop(settings, "live")
        column = layout.column(align=True)
        operator = column.operator("sbs.assign_from_capsules")
        for name in ("falloff", "outside", "limit"):
            setattr(operator, name, getattr(settings, name))
        column.operator("sbs.fit_capsules")
        row = layout.row(align=True)
        row.operator("sbs.import_capsules", text="Import", icon="IMPORT")
        row.operator("sbs.export_capsules", text="Export", icon="EXPORT")


CLASSES = (SBS_PT_capsules,)
