# SPDX-License-Identifier: GPL-3.0-or-later
"""Our entry among the modifiers that can be added. Blender 3.4 has no menu of them; there the panel has it."""

from __future__ import annotations

import bpy

__all__ = ["CLASSES", "register", "unregister"]

CLASSES = ()

_MENU = "OBJECT_MT_modifier_add_deform"


def _draw(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    if context.object is not None and context.object.type == "MESH":
        menu.layout.operator("sbs.bind", text="Spherical Blend Skinning", icon="ARMATURE_DATA")


def register() -> None:
    if hasattr(bpy.types, _MENU):
        getattr(bpy.types, _MENU).append(_draw)


def unregister() -> None:
    if hasattr(bpy.types, _MENU):
        getattr(bpy.types, _MENU).remove(_draw)
