# SPDX-License-Identifier: GPL-3.0-or-later
"""Menu entries for applying as a shape key: in Object > Apply, and beside the shape keys of a mesh."""

from __future__ import annotations

import bpy

from ..interface.selection import our_meshes
from ..settings.typed import Menu


def _draw_entry(menu: Menu, context: bpy.types.Context) -> None:
    if our_meshes(context):
        menu.layout.separator()
        menu.layout.operator("sbs.apply_as_shape_key", icon="SHAPEKEY_DATA")


# The menu of a single modifier cannot be extended.
ENTRIES = (("VIEW3D_MT_object_apply", _draw_entry), ("MESH_MT_shape_key_context_menu", _draw_entry))
