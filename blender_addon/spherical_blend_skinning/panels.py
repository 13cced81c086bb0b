# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a bound mesh: a panel by the modifiers, and a tab in the sidebar of the 3D view."""

from __future__ import annotations

import bpy

from .engine import live, stack
from .operators import bind

__all__ = ["CLASSES"]


def _draw(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    modifier = stack.find(item)
    if modifier is None:
        _draw_unbound(layout, item)
        return
    settings = item.sbs
    layout.use_property_split = True
    layout.use_property_decorate = False
    column = layout.column()
    column.prop(settings, "armature")
    column.prop(settings, "method")
    column.prop(settings, "influence_limit")

    column = layout.column()
    row = column.row(align=True)
    row.prop_search(settings, "amount_group", item, "vertex_groups")
    row.prop(settings, "amount_invert", text="", icon="ARROW_LEFTRIGHT")
    if settings.amount_group:
        column.prop(settings, "amount_method")

    row = layout.row(heading="Show", align=True)
    row.prop(modifier, "show_viewport", text="Viewport", toggle=True)
    row.prop(modifier, "show_render", text="Render", toggle=True)

    _draw_status(layout, item)
    row = layout.row(align=True)
    row.operator("sbs.rebind")
    row.operator("sbs.unbind")


def _draw_unbound(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    modifiers = stack.armature_modifiers(item)
    for modifier in modifiers:
        layout.operator("sbs.bind", text=f"Replace {modifier.name}", icon="ARMATURE_DATA").modifier = modifier.name
    if not modifiers:
        layout.operator("sbs.bind", icon="ARMATURE_DATA")


def _draw_status(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    state = live.state_of(item)
    if state is None:
        return
    column = layout.column(align=True)
    if state.binding is None:
        column.label(text=state.problem, icon="ERROR")
        return
    column.label(text=bind.describe(state), icon="INFO")
    column.label(text=f"{state.milliseconds:.1f} ms a frame", icon="TIME")


class SBS_PT_modifier(bpy.types.Panel):
    bl_label = "Spherical Blend Skinning"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "modifier"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.type == "MESH"

    def draw(self, context: bpy.types.Context) -> None:
        _draw(self.layout, context.object)


class SBS_PT_sidebar(bpy.types.Panel):
    bl_label = "Spherical Blend Skinning"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "SBS"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.type == "MESH"

    def draw(self, context: bpy.types.Context) -> None:
        _draw(self.layout, context.object)


CLASSES = (SBS_PT_modifier, SBS_PT_sidebar)
