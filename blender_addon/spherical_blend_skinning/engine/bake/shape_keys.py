# SPDX-License-Identifier: GPL-3.0-or-later
"""Shape keys of a mesh: the result of our modifier in the present pose as one of them, and what each of them adds."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils.kdtree import KDTree
from numpy.typing import NDArray

from ...settings import libraries
from ...settings.given import evaluated
from ...settings.typed import mesh_of
from .. import reading
from ..live import live
from ..stack import stack
from . import bake, stand_in

# How far the other side of a vertex may be from where it would be: a share of the size of the mesh.
_REACH = 1e-3
# Vertices that are nearer coincide: the precision of their places.
_SAME = 1e-6


def add(item: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> bpy.types.ShapeKey:
    """Add a shape key with the result of our modifier alone, with a value of 0, and return it.

    Raises ValueError if that is impossible; it says why, and nothing has changed.
    """
    modifier = check(item)
    others = stack.before(item, modifier)
    if others:
        raise ValueError(f"{item.name}: shape keys come first, so {others[0].name} would work on this one as well")
    positions = positions_alone(item, view_layer)
    bake.with_basis(item)
    key = item.shape_key_add(name=modifier.name, from_mix=False)
    key.data.foreach_set("co", positions.reshape(-1))
    key.value = 0.0
    return key


def check(item: bpy.types.Object) -> bpy.types.NodesModifier:
    """Our modifier of an object that can get a shape key. Raises ValueError if it cannot; it says why."""
    modifier = bake.modifier_of(item)
    if modifier is None:
        raise ValueError(f"{item.name} is not deformed by spherical blend skinning")
    if reason := libraries.hindrance([item]):
        raise ValueError(reason)
    if mesh_of(item).users > 1:
        raise ValueError(f"{item.name} shares its mesh: make it single-user for a shape key of its own")
    return modifier


def present_modifier(item: bpy.types.Object) -> bpy.types.Modifier:
    """Our modifier of an object that can get a shape key, or the one that stands in. Raises ValueError as `check`."""
    own = check(item)
    return stand_in.modifier_of(item) or own


def positions_alone(item: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> NDArray[np.float32]:
    """The vertices (V, 3) of the mesh after our modifier, or the one that stands in, with later ones hidden meanwhile.

    Raises ValueError if it is not deformed now, or modifiers before ours change the number of vertices.
    """
    modifier = present_modifier(item)
    with stack.only_before(item, modifier, and_it=True):
        depsgraph = evaluated(view_layer)
        if modifier == stack.find(item):
            state = live.update(item, depsgraph, wait=True)
            if state is not None and state.problem:
                raise ValueError(f"{item.name} is not deformed: {state.problem}")
            depsgraph = evaluated(view_layer)
        found = reading.positions(mesh_of(item.evaluated_get(depsgraph)))
    count = len(mesh_of(item).vertices)
    if len(found) != count:
        names = " or ".join(_changing_count(item, modifier, view_layer))
        raise ValueError(
            f"{names} makes {len(found)} vertices of the {count} of {item.name}: apply it, or move it below "
            f"{modifier.name}"
        )
    return found


def _changing_count(item: bpy.types.Object, modifier: bpy.types.Modifier, view_layer: bpy.types.ViewLayer) -> list[str]:
    """The names of the modifiers before a given one that change the number of vertices."""
    names, count = [], len(mesh_of(item).vertices)
    for other in stack.before(item, modifier):
        with stack.only_before(item, other, and_it=other.show_viewport):
            now = len(mesh_of(item.evaluated_get(evaluated(view_layer))).vertices)
        if now != count:
            names.append(other.name)
        count = now
    return names


def basis_and_deltas(block: bpy.types.ShapeKey) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The basis (V, 3) of a shape key, and its deltas (V, 3)."""
    basis = reading.key_points(block.relative_key)
    return basis, reading.key_points(block) - basis


def other_sides(
    mesh: bpy.types.Mesh, basis: NDArray[np.float64], across: NDArray[np.float64], moved: NDArray[np.intp]
) -> tuple[NDArray[np.intp], int]:
    """The vertex across a mirror, a matrix (4, 4), of each that lies across from a moved one; -1 for all others.

    Returned besides is how many of the moved ones have none across. Coincident vertices, as at seams, get coincident
    ones; of several, as of closed lips, each gets the one whose normal lies across from its own.
    """
    turn, shift = across[:3, :3], across[:3, 3]
    size = float(np.linalg.norm(np.ptp(basis, axis=0)))
    places, places_across = basis.tolist(), (basis @ turn.T + shift).tolist()
    tree = KDTree(len(basis))
    for number, place in enumerate(places):
        tree.insert(place, number)
    tree.balance()
    normals = np.empty((len(basis), 3), np.float32)
    mesh.vertices.foreach_get("normal", normals.reshape(-1))
    normals_across = normals @ turn.T
    near = [tree.find_range(places_across[vertex], _REACH * size) for vertex in moved.tolist()]
    others = np.full(len(basis), -1, np.intp)
    for vertex in {number for found in near for _place, number, _distance in found}:
        [(_place, nearest, _distance)] = tree.find_n(places_across[vertex], 1)
        alike = [number for _place, number, _distance in tree.find_range(places[nearest], _SAME * size)]
        others[vertex] = alike[int(np.argmax(normals[alike] @ normals_across[vertex]))]
    return others, near.count([])
