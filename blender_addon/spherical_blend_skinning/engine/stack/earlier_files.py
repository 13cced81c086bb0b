# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of earlier versions: a property of a mesh stored which rig deforms it, and kept deleted rigs in the file."""

from __future__ import annotations

from typing import Any

import bpy

from ...settings import disabled_modifier
from ...settings.properties import settings_of
from . import stack


def tidy() -> None:
    """Have the Armature modifiers of meshes say by which rig they are deformed; delete rigs that had been deleted."""
    rigs = {rig for item in bpy.data.objects if item.type == "MESH" and item.library is None for rig in _taken(item)}
    for rig in rigs:
        if not rig.users and rig.library is None:
            bpy.data.objects.remove(rig)


def _taken(item: bpy.types.Object) -> list[bpy.types.Object]:
    """The rig that the property of a mesh referred to, in a list; the property is removed."""
    # Since Blender 5.0 what add-ons register is kept apart from custom properties.
    kept: Any = item.bl_system_properties_get() if hasattr(item, "bl_system_properties_get") else item
    settings = kept.get("sbs") if kept is not None else None
    rig: bpy.types.Object | None = settings.get("armature") if settings is not None else None
    if settings is None or rig is None:
        return []
    del settings["armature"]
    modifier = disabled_modifier.find(item)
    if modifier is not None:
        modifier.object = rig
    elif settings_of(item).bound:
        stack.add_disabled(item, rig)
    return [rig]
