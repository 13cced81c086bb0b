# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose settings are shown: those of a mesh, or those that all meshes of its armature share."""

from __future__ import annotations

import bpy

from ..engine import registry

__all__ = ["draw", "of"]


def of(item: bpy.types.Object) -> bpy.types.PropertyGroup:
    """The settings to edit for a mesh, or of an armature object."""
    settings = item.sbs
    shares = item.type == "MESH" and settings.scope == "RIG" and settings.armature is not None
    return settings.armature.sbs if shares else settings


def draw(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw whose settings those of a mesh are, if its armature moves others, too."""
    settings = item.sbs
    armature = settings.armature
    if armature is None or armature.library is not None:
        return
    if not any(other != item and other.sbs.armature == armature for other in registry.bound_objects()):
        return
    column = layout.column(align=True)
    row = column.row(align=True)
    row.use_property_split = False
    row.prop(settings, "scope", expand=True)
    if settings.scope == "MESH":
        column.operator("sbs.share_settings", icon="COPYDOWN")
