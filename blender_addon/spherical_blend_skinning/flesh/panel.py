# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel *Flesh*, below the settings of a mesh and of a rig: its checkbox, and how far and how exactly."""

from __future__ import annotations

import bpy

from ..engine.stack import stack
from ..interface import owner
from ..interface.panels import ModifierPanel, SidebarPart
from ..settings.properties import settings_of
from ..settings.typed import Panel, PanelMixin


class _Flesh(PanelMixin):
    bl_label = "Flesh"
    bl_order = 3  # below the panels that artists need more often
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = context.object
        if item is None:
            return False
        if item.type == "MESH":
            return settings_of(item).armature is not None and stack.find(item) is not None
        return item.type == "ARMATURE" and settings_of(item).is_property_set("center")

    def draw_header(self, context: bpy.types.Context) -> None:
        if context.object is not None:
            self.layout.prop(owner.shown_settings(context.object), "use_flesh", text="")

    def draw(self, context: bpy.types.Context) -> None:
        layout, item = self.layout, context.object
        if item is None:
            return
        settings = owner.shown_settings(item)
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.active = settings.use_flesh
        layout.prop(settings, "flesh_amount")
        column = layout.column(align=True)
        column.prop(settings, "flesh_steps", text="Viewport")
        column.prop(settings, "flesh_render_steps", text="Render")
        if item.type == "MESH":
            layout.prop_search(settings_of(item), "flesh_mask", item, "vertex_groups")


class SBS_PT_modifier_flesh(_Flesh, ModifierPanel, Panel):
    bl_parent_id = "SBS_PT_modifier"


class SBS_PT_sidebar_flesh(_Flesh, SidebarPart, Panel):
    pass


CLASSES = (SBS_PT_modifier_flesh, SBS_PT_sidebar_flesh)
