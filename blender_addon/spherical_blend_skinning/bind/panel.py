# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels with the settings: among the modifiers of a mesh, and in a tab of the 3D view's sidebar."""

from __future__ import annotations

import bpy

from ..core import library
from ..engine import stack
from ..interface.panels import SidebarPanel
from ..interface.words import draw_words
from ..method import panel as method
from ..settings.typed import PanelMixin
from . import mesh_panel as mesh
from . import rig_panel as rig

__all__ = ["CLASSES"]


def _draw(panel: bpy.types.Panel, context: bpy.types.Context) -> None:
    layout = panel.layout
    layout.use_property_split = True
    layout.use_property_decorate = False
    if problem := library.problem():
        draw_words(layout, problem, "ERROR")
    elif context.object.type == "MESH":
        mesh.draw(layout, context)
    else:
        rig.draw(layout, context)


def _has_settings(context: bpy.types.Context) -> bool:
    """Whether the active object is a mesh that is bound live, or an armature whose meshes share settings."""
    item = context.object
    if item is None or library.problem():
        return False
    return stack.find(item) is not None if item.type == "MESH" else rig.is_shared(context)


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
        _draw(self, context)


class SBS_PT_sidebar(SidebarPanel, bpy.types.Panel):
    bl_label = "Spherical Blend Skinning"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.type in ("MESH", "ARMATURE")

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
        method.draw_advanced(self.layout, context.object)


class SBS_PT_modifier_advanced(_Advanced, bpy.types.Panel):
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "modifier"
    bl_parent_id = "SBS_PT_modifier"


class SBS_PT_sidebar_advanced(_Advanced, SidebarPanel, bpy.types.Panel):
    bl_parent_id = "SBS_PT_sidebar"


CLASSES = (SBS_PT_modifier, SBS_PT_modifier_advanced, SBS_PT_sidebar, SBS_PT_sidebar_advanced)
