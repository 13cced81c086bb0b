# SPDX-License-Identifier: GPL-3.0-or-later
"""Binding where artists look for it: in Object > Parent, in the menu that Ctrl-P opens, and among the modifiers.

Blender builds the menu of Ctrl-P in C, so nothing can be added to it. Our menu on the same key is like it, with our
entries below, and opens for meshes with an active armature. For anything else the key opens Blender's own.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..settings.typed import Menu

# For other types of objects Blender's menu has other entries.
_HAS_OTHER_ENTRIES = {"CURVES", "GPENCIL", "GREASEPENCIL"}


def _draw_entries(layout: bpy.types.UILayout, first: str, indentation: str) -> None:
    for weights, text in (
        ("KEEP", first),
        ("HEAT", f"{indentation}With Heat Weights"),
        ("CAPSULES", f"{indentation}With Capsule Weights"),
    ):
        operator = layout.operator("sbs.bind", text=text)
        operator.parent = True
        operator.weights = weights


class SBS_MT_parent(Menu):
    bl_label = "Spherical Blend Skinning"

    def draw(self, _context: bpy.types.Context) -> None:
        _draw_entries(self.layout, "With Vertex Groups", "")


def _draw_in_parent_menu(menu: Menu, _context: bpy.types.Context) -> None:
    # A submenu, because the menu is as high as a small screen already.
    menu.layout.separator()
    menu.layout.menu(SBS_MT_parent.__name__)


class SBS_MT_set_parent(Menu):
    bl_label = "Set Parent To"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode != "OBJECT" or context.object is None or context.object.type != "ARMATURE":
            return False
        types = {item.type for item in context.selected_objects if item != context.object}
        return "MESH" in types and not types & _HAS_OTHER_ENTRIES

    def draw(self, _context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator_context = "EXEC_DEFAULT"
        for text, keep in (("Object", False), ("Object (Keep Transform)", True)):
            operator = layout.operator("object.parent_set", text=text)
            operator.type, operator.keep_transform = "OBJECT", keep
        for text, keep in (("Object (Without Inverse)", False), ("Object (Keep Transform Without Inverse)", True)):
            layout.operator("object.parent_no_inverse_set", text=text).keep_transform = keep
        parent_set: Any = bpy.ops.object.parent_set
        items = parent_set.get_rna_type().properties["type"].enum_items
        for name in ("ARMATURE", "ARMATURE_NAME", "ARMATURE_ENVELOPE", "ARMATURE_AUTO", "BONE", "BONE_RELATIVE"):
            layout.operator("object.parent_set", text=items[name].name).type = name
        layout.separator()
        # The same as in Blender's Armature Deform.
        _draw_entries(layout, "Spherical Blend Skinning", "   ")


def _draw_in_modifier_menu(menu: Menu, context: bpy.types.Context) -> None:
    if context.object is not None and context.object.type == "MESH":
        menu.layout.operator("sbs.bind", text="Spherical Blend Skinning", icon="ARMATURE_DATA")


CLASSES = (SBS_MT_parent, SBS_MT_set_parent)
ENTRIES = (
    ("VIEW3D_MT_object_parent", _draw_in_parent_menu),
    # For adding modifiers. Blender 3.4 has none; there our entry is in the panel.
    ("OBJECT_MT_modifier_add_deform", _draw_in_modifier_menu),
)
# If the menu does not open, Blender uses the key for its own menu.
KEYS = (("Object Mode", "wm.call_menu", "P", {"ctrl": True}, {"name": SBS_MT_set_parent.__name__}),)
