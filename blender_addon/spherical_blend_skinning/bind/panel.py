# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels with the settings: among the modifiers of a mesh, and in a tab of the 3D view's sidebar."""

from __future__ import annotations

import bpy

from ..core import library
from ..correctives import sculpt
from ..engine.bake import bake, portable
from ..interface import rigged
from ..interface.panels import ModifierPanel, SidebarPanel, SidebarPart
from ..interface.selection import meshes
from ..interface.words import draw_words
from ..settings.muscles import is_part
from ..settings.typed import Panel, PanelMixin
from . import mesh_panel as mesh
from . import rig_panel as rig


class _Settings(PanelMixin):
    """The first panel, which is hidden with all below it while a corrective is sculpted."""

    bl_label = "Spherical Blend Skinning"

    def draw(self, context: bpy.types.Context) -> None:
        layout, item = self.layout, context.object
        layout.use_property_split = True
        layout.use_property_decorate = False
        if problem := library.problem():
            draw_words(layout, problem, "ERROR")
        elif item is None or is_part(item):
            return
        elif item.type in ("MESH", "ARMATURE"):
            (mesh if item.type == "MESH" else rig).draw(layout, context, item)
        else:
            # As after an import, whose root is active.
            draw_words(layout, "Select an armature or a mesh for its settings", "INFO")
            if any(bake.modifier_of(other) is None for other in meshes(context)):
                layout.operator("sbs.bind", text="Bind", icon="ARMATURE_DATA")


class SBS_PT_modifier(_Settings, ModifierPanel, Panel):
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = context.object
        is_mesh = item is not None and item.type == "MESH" and not is_part(item)
        return is_mesh and sculpt.present(context) is None


class SBS_PT_sidebar(_Settings, SidebarPanel, Panel):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = context.object
        is_ours = item is not None and (item.type == "ARMATURE" or is_part(item))
        return (is_ours or bool(meshes(context))) and sculpt.present(context) is None


class _Below(PanelMixin):
    """A panel below both, of a mesh that is bound or an armature of such meshes."""

    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = context.object
        if item is None or is_part(item) or library.problem():
            return False
        if item.type == "MESH":
            return bake.modifier_of(item) is not None
        return item.type == "ARMATURE" and bool(rig.bound(context, item))


class _Advanced(_Below):
    """Each setting by itself."""

    bl_label = "Advanced"
    bl_order = 1

    def draw(self, context: bpy.types.Context) -> None:
        layout, item = self.layout, context.object
        layout.use_property_split = True
        layout.use_property_decorate = False
        if item is not None:
            (mesh if item.type == "MESH" else rig).draw_advanced(layout, context, item)


class _HandOn(_Below):
    """For other computers and programs."""

    bl_label = "Bake or Make Portable"
    bl_order = 2

    def draw(self, context: bpy.types.Context) -> None:
        column = self.layout.column(align=True)
        if context.object is None or portable.find(context.object) is None:
            column.operator("sbs.make_portable", icon="PACKAGE")
        column.operator("sbs.bake", text="Bake...", icon="FILE_CACHE")


class SBS_PT_modifier_advanced(_Advanced, ModifierPanel, Panel):
    bl_parent_id = "SBS_PT_modifier"


class SBS_PT_sidebar_advanced(_Advanced, SidebarPart, Panel):
    pass


class SBS_PT_modifier_hand_on(_HandOn, ModifierPanel, Panel):
    bl_parent_id = "SBS_PT_modifier"


class SBS_PT_sidebar_hand_on(_HandOn, SidebarPart, Panel):
    pass


class SBS_PT_meshes(SidebarPart, Panel):
    bl_label = "Meshes"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = context.object
        return item is not None and item.type == "ARMATURE" and rigged.rig_of(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        if context.object is not None:
            rig.draw_meshes(self.layout, context, context.object)


CLASSES = (
    SBS_PT_modifier,
    SBS_PT_modifier_advanced,
    SBS_PT_modifier_hand_on,
    SBS_PT_sidebar,
    SBS_PT_sidebar_advanced,
    SBS_PT_sidebar_hand_on,
    SBS_PT_meshes,
)
