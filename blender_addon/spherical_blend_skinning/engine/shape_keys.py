# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of our modifier in the present pose, as a shape key of the mesh."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ..settings.given import evaluated
from ..settings.typed import mesh_of
from . import bake, live, reading, stack

__all__ = ["add"]


def add(item: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> bpy.types.ShapeKey:
    """Add a shape key with the result of our modifier alone, with a value of 0, and return it.

    Raises
    ------
    ValueError
        If that is impossible; it says why, and nothing has changed.
    """
    modifier = bake.modifier_of(item)
    if modifier is None:
        raise ValueError(f"{item.name} is not deformed by spherical blend skinning")
    others = stack.before(item, modifier)
    if others:
        raise ValueError(f"{item.name}: shape keys come first, so {others[0].name} would work on this one as well")
    if mesh_of(item).users > 1 or mesh_of(item).library is not None:
        raise ValueError(f"{item.name} shares its mesh: make it single-user for a shape key of its own")
    positions = _alone(item, modifier, view_layer)
    if len(positions) != len(mesh_of(item).vertices):
        raise ValueError(f"{item.name} has {len(positions)} vertices, and its mesh {len(mesh_of(item).vertices)}")
    bake.with_basis(item)
    key = item.shape_key_add(name=modifier.name, from_mix=False)
    key.data.foreach_set("co", positions.reshape(-1))
    key.value = 0.0
    return key


def _alone(
    item: bpy.types.Object, modifier: bpy.types.NodesModifier, view_layer: bpy.types.ViewLayer
) -> NDArray[np.float32]:
    """The vertices (V, 3) after our modifier, with later modifiers hidden meanwhile."""
    with stack.only_before(item, modifier, and_it=True):
        depsgraph = evaluated(view_layer)
        if stack.find(item) is not None:
            live.update(item, depsgraph, wait=True)
            depsgraph = evaluated(view_layer)
        return reading.positions(mesh_of(item.evaluated_get(depsgraph)))
