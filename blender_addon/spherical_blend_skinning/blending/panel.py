# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel to choose the bones for bones blending."""

from __future__ import annotations

import bpy

from ..engine.live import methods
from ..interface import owner
from ..settings.properties import SBS_PG_object, settings_of


def are_meant(item: bpy.types.Object) -> bool:
    """Whether a mesh, or a rig, blends bones, by its method or by the other method where the amount is less than 1."""
    if item.type == "MESH":
        return methods.bones_choice(settings_of(item)) is not None
    return owner.shown_settings(item).method == "BONES_BLENDING"


def draw(layout: bpy.types.UILayout, settings: SBS_PG_object) -> None:
    """Draw the choice of bones of a mesh or a rig, and how they are blended."""
    column = layout.column(align=True)
    row = column.row()
    row.prop(settings, "blended_bones", expand=True)
    if settings.blended_bones == "MARKED":
        column.operator("sbs.mark_bones", text="Mark Selected", icon="ADD").mark = True
        column.operator("sbs.mark_bones", text="Unmark Selected", icon="REMOVE").mark = False
    column = layout.column()
    column.prop(settings, "bones_profile")
    column.prop(settings, "zone_scale")
