# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn of the active mesh."""

from __future__ import annotations

import bpy

from .. import library
from ..engine import bake, portable, stack
from . import method, status

__all__ = ["draw"]


def draw(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw the settings of a mesh, or how to bind it."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    if problem := library.problem():
        layout.label(text=problem, icon="ERROR")
        return
    modifier = bake.modifier_of(item)
    if modifier is None:
        _draw_unbound(layout, item)
        return
    is_portable = portable.find(item) is not None
    if is_portable:
        status.draw_portable(layout, item)
    else:
        method.draw(layout, item)
        status.draw_live(layout, item)

    row = layout.row(align=True)
    row.use_property_split = False
    row.prop(modifier, "show_viewport", text="Viewport", toggle=True)
    row.prop(modifier, "show_render", text="Render", toggle=True)
    _draw_actions(layout, is_portable)


def _draw_actions(layout: bpy.types.UILayout, is_portable: bool) -> None:
    column = layout.column(align=True)
    row = column.row(align=True)
    if is_portable:
        row.operator("sbs.make_portable", text="Update", icon="FILE_REFRESH")
        row.operator("sbs.make_live", icon="PLAY")
    else:
        row.operator("sbs.rebind", icon="FILE_REFRESH")
        row.operator("sbs.make_portable", icon="PACKAGE")
    row = column.row(align=True)
    row.operator("sbs.bake", text="Bake...", icon="FILE_CACHE")
    row.operator("sbs.unbind", icon="X")


def _draw_unbound(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    modifiers = stack.armature_modifiers(item)
    for modifier in modifiers:
        layout.operator("sbs.bind", text=f"Replace {modifier.name}", icon="ARMATURE_DATA").modifier = modifier.name
    if not modifiers:
        layout.operator("sbs.bind", icon="ARMATURE_DATA")
