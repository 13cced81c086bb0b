# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels with the settings: among the modifiers of a mesh, and in a tab of the 3D view's sidebar."""

from __future__ import annotations

import bpy

from ..core import library
from ..engine.stack import stack
from ..interface.panels import ModifierPanel, SidebarPanel
from ..interface.words import draw_words
from ..method import panel as method
from ..settings.muscles import is_part
from ..settings.typed import Panel, PanelMixin
from . import mesh_panel as mesh
from . import rig_panel as rig


def _draw(panel: Panel, context: bpy.types.Context) -> None:
    layout, item = panel.layout, context.object
    layout.use_property_split = True
    layout.use_property_decorate = False
    if problem := library.problem():
        draw_words(layout, problem, "ERROR")
    elif item is not None and item.type == "MESH":
        mesh.draw(layout, context, item)
    elif item is not None:
        rig.draw(layout, context, item)


def _has_settings(context: bpy.types.Context) -> bool:
    """Whether the active object is a mesh that is bound live, or an armature whose meshes share settings."""
    item = context.object
    if item is None or library.problem():
        return False
    return stack.find(item) is not None if item.type == "MESH" else rig.is_shared(context)


class SBS_PT_modifier(ModifierPanel, Panel):
    bl_label = "Spherical Blend Skinning"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.type == "MESH" and not is_part(context.object)

    def draw(self, context: bpy.types.Context) -> None:
        _draw(self, context)


class SBS_PT_sidebar(SidebarPanel, Panel):
    bl_label = "Spherical Blend Skinning"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = context.object
        return item is not None and item.type in ("MESH", "ARMATURE") and not is_part(item)

    def draw(self, context: bpy.types.Context) -> None:
        _draw(self, context)


class _Advanced(PanelMixin):
    """The panel below both: each setting by itself."""

    bl_label = "Advanced"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 1

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _has_settings(context)

    def draw(self, context: bpy.types.Context) -> None:
        if context.object is not None:
            method.draw_advanced(self.layout, context.object)


class SBS_PT_modifier_advanced(_Advanced, ModifierPanel, Panel):
    bl_parent_id = "SBS_PT_modifier"


class SBS_PT_sidebar_advanced(_Advanced, SidebarPanel, Panel):
    bl_parent_id = "SBS_PT_sidebar"


CLASSES = (SBS_PT_modifier, SBS_PT_modifier_advanced, SBS_PT_sidebar, SBS_PT_sidebar_advanced)
