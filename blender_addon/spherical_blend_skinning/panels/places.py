# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the settings of a mesh are found: a panel by the modifiers, and a tab in the sidebar of the 3D view."""

from __future__ import annotations

import bpy

from . import mesh

__all__ = ["CLASSES"]


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
        mesh.draw(self.layout, context.object)


class SBS_PT_sidebar(bpy.types.Panel):
    bl_label = "Spherical Blend Skinning"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "SBS"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.type == "MESH"

    def draw(self, context: bpy.types.Context) -> None:
        mesh.draw(self.layout, context.object)


CLASSES = (SBS_PT_modifier, SBS_PT_sidebar)
