# SPDX-License-Identifier: GPL-3.0-or-later
"""How meshes are deformed: a preset, the single settings, and the amount of the method, also of bones."""

from __future__ import annotations

import bpy

from ..blending import panel as blended_bones
from ..interface import owner
from ..interface.panels import PosePanel
from ..interface.words import wide
from ..settings.properties import BONE_AMOUNT, settings_of
from ..settings.typed import Panel


def draw_presets(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup) -> None:
    """Draw the choice of a preset."""
    row = layout.row(align=True)
    row.use_property_split = False
    for preset in ("QUALITY", "SPEED", "GAME"):
        row.prop_enum(settings, "preset", preset)


def draw_settings(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw each setting of a mesh that is bound live, or of a rig."""
    settings = owner.shown_settings(item)
    # The names are too long for a label beside them.
    layout.prop(settings, "method", text="")
    column = layout.column()
    if settings.method == "SPHERICAL":
        column.prop(settings, "rotation")
        column.prop(settings, "center")
    wide(column).prop(settings, "influence_limit")
    if blended_bones.are_meant(item):
        blended_bones.draw(layout, settings)


def draw_amount(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw the amount of an object that is bound live."""
    settings = settings_of(item)
    column = layout.column()
    row = column.row()
    # The button beside it shows artists that it can be keyed.
    row.use_property_decorate = True
    row.prop(settings, "amount")
    column.prop(settings, "amount_method")
    # Its name would not fit beside it.
    column.label(text="Vertex Group")
    column.prop_search(settings, "amount_group", item, "vertex_groups", text="")
    column.prop(settings, "amount_invert")


class SBS_PT_bone_amount(PosePanel, Panel):
    bl_label = "Strength by Bone"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        bone = context.active_pose_bone
        if bone is not None:
            column = layout.column(align=True)
            column.label(text=bone.name, icon="BONE_DATA")
            column.prop(bone, BONE_AMOUNT)
        column = layout.column(align=True)
        column.use_property_split = False
        only = column.operator("sbs.set_bone_amounts", text="Only Selected Bones", icon="RESTRICT_SELECT_OFF")
        only.amount, only.set_others, only.others = 1.0, True, 0.0
        everywhere = column.operator("sbs.set_bone_amounts", text="All Bones", icon="LOOP_BACK")
        everywhere.amount, everywhere.set_others, everywhere.others = 1.0, True, 1.0


def _draw_bone(panel: Panel, context: bpy.types.Context) -> None:
    if context.pose_bone is not None:
        panel.layout.prop(context.pose_bone, BONE_AMOUNT, text="SBS Strength")


CLASSES = (SBS_PT_bone_amount,)
ENTRIES = (("BONE_PT_deform", _draw_bone),)
