# SPDX-License-Identifier: GPL-3.0-or-later
"""The animation curves of data-blocks, in all versions of Blender."""

from __future__ import annotations

from typing import Any

import bpy

from ..settings.typed import animation_of


def collections(block: bpy.types.ID) -> list[bpy.types.ActionChannelbagFCurves]:
    """The collections in which a data-block has its animation curves: from Blender 4.4 on, those of its slot."""
    data = animation_of(block)
    if data is None or data.action is None:
        return []
    action: Any = data.action
    if not hasattr(action, "layers"):
        return [action.fcurves]
    bags = [strip.channelbag(data.action_slot) for layer in action.layers for strip in layer.strips]
    return [bag.fcurves for bag in bags if bag is not None]


def is_animated(block: bpy.types.ID, ending: str) -> bool:
    """Whether a data-block has keys or a driver for a property whose path ends so."""
    curves = [curve for found in collections(block) for curve in found]
    data = animation_of(block)
    if data is not None:
        curves += data.drivers
    return any(curve.data_path.endswith(ending) for curve in curves)
