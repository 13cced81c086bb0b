# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a bound mesh: a panel by the modifiers, and a tab in the sidebar of the 3D view."""

from __future__ import annotations

import bpy

from . import library
from .engine import bake, live, portable, stack
from .operators import bind

__all__ = ["CLASSES"]


def _draw(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
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
        _draw_portable(layout, item)
    else:
        _draw_live(layout, item)

    row = layout.row(align=True)
    row.use_property_split = False
    row.prop(modifier, "show_viewport", text="Viewport", toggle=True)
    row.prop(modifier, "show_render", text="Render", toggle=True)

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


def _draw_live(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    settings = item.sbs
    column = layout.column()
    column.prop(settings, "armature")
    column.prop(settings, "method")
    if settings.method == "SPHERICAL":
        column.prop(settings, "rotation")
        column.prop(settings, "center")
    column.prop(settings, "influence_limit")

    column = layout.column()
    row = column.row(align=True)
    row.prop_search(settings, "amount_group", item, "vertex_groups")
    row.prop(settings, "amount_invert", text="", icon="ARROW_LEFTRIGHT")
    if settings.amount_group:
        column.prop(settings, "amount_method")
    if live.blends(settings):
        _draw_blended_bones(layout, settings)
    _draw_status(layout, item)


def _draw_blended_bones(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup) -> None:
    column = layout.column(align=True)
    row = column.row()
    row.prop(settings, "blended_bones", expand=True)
    if settings.blended_bones == "MARKED":
        row = column.row(align=True)
        row.operator("sbs.mark_bones", text="Mark Selected", icon="ADD").mark = True
        row.operator("sbs.mark_bones", text="Unmark", icon="REMOVE").mark = False


def _draw_portable(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    armature = portable.armature_of(item)
    column = layout.column(align=True)
    if armature is not None:
        column.label(text=f"Portable, moved by {armature.name}", icon="PACKAGE")
    for problem in portable.problems(item):
        column.label(text=problem, icon="ERROR")


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
    # One count a line: the sidebar is narrow.
    for number, text in enumerate(bind.counts(state)):
        column.label(text=text, icon="BLANK1" if number else "INFO")
    if item.sbs.method == "SPHERICAL" and item.sbs.center == "OPTIMIZED" and state.centers.note:
        column.label(text=state.centers.note, icon="INFO")
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
