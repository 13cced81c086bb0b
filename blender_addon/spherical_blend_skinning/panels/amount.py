# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the method a mesh gets."""

from __future__ import annotations

import bpy

__all__ = ["draw"]


def draw(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw the amount of an object that is bound live."""
    settings = item.sbs
    column = layout.column()
    row = column.row(align=True)
    row.prop_search(settings, "amount_group", item, "vertex_groups")
    row.prop(settings, "amount_invert", text="", icon="ARROW_LEFTRIGHT")
    if settings.amount_group:
        column.prop(settings, "amount_method")
