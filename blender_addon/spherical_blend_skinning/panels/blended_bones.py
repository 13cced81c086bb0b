# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones bones blending is for."""

from __future__ import annotations

import bpy

__all__ = ["draw"]


def draw(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup) -> None:
    """Draw the choice of bones of a mesh that blends some."""
    column = layout.column(align=True)
    row = column.row()
    row.prop(settings, "blended_bones", expand=True)
    if settings.blended_bones == "MARKED":
        row = column.row(align=True)
        row.operator("sbs.mark_bones", text="Mark Selected", icon="ADD").mark = True
        row.operator("sbs.mark_bones", text="Unmark", icon="REMOVE").mark = False
