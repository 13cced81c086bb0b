# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries in Blender's own menus."""

from __future__ import annotations

import bpy

__all__ = ["CLASSES", "register", "unregister"]

CLASSES = ()


def _draw_parent(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.separator()
    menu.layout.operator("sbs.bind", icon="ARMATURE_DATA").parent = True


def _draw_modifier(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    if context.object is not None and context.object.type == "MESH":
        menu.layout.operator("sbs.bind", icon="ARMATURE_DATA")


# Blender 3.4 has no menu of modifiers to add to; there the panel by the modifiers has the entry.
_ENTRIES = (
    ("VIEW3D_MT_object_parent", _draw_parent),
    ("OBJECT_MT_modifier_add_deform", _draw_modifier),
)


def register() -> None:
    for name, draw in _ENTRIES:
        if hasattr(bpy.types, name):
            getattr(bpy.types, name).append(draw)


def unregister() -> None:
    for name, draw in reversed(_ENTRIES):
        if hasattr(bpy.types, name):
            getattr(bpy.types, name).remove(draw)
