# SPDX-License-Identifier: GPL-3.0-or-later
"""Menu entries for applying as a shape key: in Object > Apply, and beside the shape keys of a mesh."""

from __future__ import annotations

import bpy

from ..interface.selection import our_meshes
from ..settings.typed import Menu

__all__ = ["CLASSES", "register", "unregister"]

CLASSES = ()

# The menu of a single modifier cannot be extended.
_MENUS = ("VIEW3D_MT_object_apply", "MESH_MT_shape_key_context_menu")


def _draw_entry(menu: Menu, context: bpy.types.Context) -> None:
    if our_meshes(context):
        menu.layout.separator()
        menu.layout.operator("sbs.apply_as_shape_key", icon="SHAPEKEY_DATA")


def register() -> None:
    for name in _MENUS:
        getattr(bpy.types, name).append(_draw_entry)


def unregister() -> None:
    for name in reversed(_MENUS):
        getattr(bpy.types, name).remove(_draw_entry)
