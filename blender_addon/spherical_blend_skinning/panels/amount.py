# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the method a mesh gets."""

from __future__ import annotations

import bpy

__all__ = ["draw"]


def draw(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw the amount of an object that is bound live."""
    settings = item.sbs
    column = layout.column()
    row = column.row()
    # Its button is how an artist sees that it can be keyed.
    row.use_property_decorate = True
    row.prop(settings, "amount")
    row = column.row(align=True)
    row.prop_search(settings, "amount_group", item, "vertex_groups", text="Group")
    row.prop(settings, "amount_invert", text="", icon="ARROW_LEFTRIGHT")
    column.prop(settings, "amount_method")
