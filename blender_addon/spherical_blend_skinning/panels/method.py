# SPDX-License-Identifier: GPL-3.0-or-later
"""How a mesh is deformed: the method, and what belongs to it."""

from __future__ import annotations

import bpy

from ..engine import live
from . import amount, blended_bones

__all__ = ["draw"]


def draw(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw the settings of an object that is bound live."""
    settings = item.sbs
    column = layout.column()
    column.prop(settings, "armature")
    column.prop(settings, "method")
    if settings.method == "SPHERICAL":
        column.prop(settings, "rotation")
        column.prop(settings, "center")
    column.prop(settings, "influence_limit")
    amount.draw(layout, item)
    if live.blends(settings):
        blended_bones.draw(layout, settings)
