# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of its method a mesh gets, and the amounts of the bones that are posed."""

from __future__ import annotations

import bpy

from ..interface.panels import PosePanel
from ..settings.properties import BONE_AMOUNT, settings_of
from ..settings.typed import Panel


def draw(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw the amount of an object that is bound live."""
    settings = settings_of(item)
    column = layout.column()
    row = column.row()
    # The button beside it shows artists that it can be keyed.
    row.use_property_decorate = True
    row.prop(settings, "amount")
    row = column.row(align=True)
    row.prop_search(settings, "amount_group", item, "vertex_groups", text="Group")
    row.prop(settings, "amount_invert", text="", icon="ARROW_LEFTRIGHT")
    column.prop(settings, "amount_method")


class SBS_PT_bone_amount(PosePanel, Panel):
    bl_label = "Amount by Bone"

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


CLASSES = (SBS_PT_bone_amount,)
