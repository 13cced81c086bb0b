# SPDX-License-Identifier: GPL-3.0-or-later
"""Which settings are shown: those of a mesh, or those that all meshes of its armature share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ..engine.live import registry
from ..settings.properties import settings_of

if TYPE_CHECKING:
    from ..settings.properties import SBS_PG_object


def shown_settings(item: bpy.types.Object) -> SBS_PG_object:
    """The settings to edit for a mesh or an armature object."""
    settings = settings_of(item)
    if item.type == "MESH" and settings.scope == "RIG" and settings.armature is not None:
        return settings_of(settings.armature)
    return settings


def draw_scope(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw whether a mesh shares its settings, if its armature moves other meshes, too."""
    settings = settings_of(item)
    armature = settings.armature
    if armature is None or armature.library is not None:
        return
    if not any(other != item and settings_of(other).armature == armature for other in registry.bound_objects()):
        return
    column = layout.column(align=True)
    row = column.row(align=True)
    row.use_property_split = False
    row.prop(settings, "scope", expand=True)
    if settings.scope == "MESH":
        column.operator("sbs.share_settings", icon="COPYDOWN")
