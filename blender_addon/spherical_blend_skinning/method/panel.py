# SPDX-License-Identifier: GPL-3.0-or-later
"""How meshes are deformed: a preset, and the single settings."""

from __future__ import annotations

import bpy

from ..blending import panel as blended_bones
from ..interface import owner


def draw_presets(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup) -> None:
    """Draw the choice of a preset."""
    row = layout.row(align=True)
    row.use_property_split = False
    for preset in ("QUALITY", "SPEED", "GAME"):
        row.prop_enum(settings, "preset", preset)


def draw_advanced(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw each setting of a mesh that is bound live, or of a rig."""
    settings = owner.shown_settings(item)
    layout.use_property_split = True
    layout.use_property_decorate = False
    # The names are too long for a label beside them.
    layout.prop(settings, "method", text="")
    column = layout.column()
    if settings.method == "SPHERICAL":
        column.prop(settings, "rotation")
        column.prop(settings, "center")
    column.prop(settings, "influence_limit")
    if blended_bones.are_meant(item):
        blended_bones.draw(layout, settings)
