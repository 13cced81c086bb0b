# SPDX-License-Identifier: GPL-3.0-or-later
"""The two hidden meshes that the portable node group reads: joints, in sets or alone, and the weights of vertices.

They are objects in no collection; inputs of the modifier are their only users. Nothing is written to the deformed mesh,
so it may belong to a library or to several objects.
"""

from __future__ import annotations

from typing import Any, Literal

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.joint_tables import JointTables
from ...settings.typed import has_key, mesh_of, values_of
from .portable_sets import DAMPING

_MARK = "sbs_portable_table"

_DataType = Literal["BOOLEAN", "FLOAT", "FLOAT_VECTOR", "INT"]


def block_count(tables: JointTables) -> int:
    """How many vectors of three weights each vertex has, at least one."""
    return max(1, -(-int(tables.vertex_weights.shape[1]) // 3))


def is_table(item: bpy.types.Object | None) -> bool:
    """Whether an object is one of these meshes."""
    return item is not None and has_key(item, _MARK)


def new_joint_sets(name: str, tables: JointTables) -> bpy.types.Object:
    """The joint sets: a vertex for each slot, one for the damping of each set, then one for each pair of a pivot group.

    Joints are numbered from 1; 0 is none.
    """
    sizes, slot_sets = tables.set_sizes, tables.slot_sets
    slot_count, set_count = len(slot_sets), len(sizes)
    slots = tables.other_slots(3 * block_count(tables))
    pair_sets = np.repeat(tables.group_sets, slots.shape[1])
    sets = np.concatenate([slot_sets, np.arange(set_count), pair_sets])
    numbers = np.arange(len(sets))
    is_damper, is_pair = (numbers >= slot_count) & (numbers < slot_count + set_count), numbers >= slot_count + set_count
    # The sum of squared deviations of n joints is (n - 1) / 2 times the mean over pairs, which the damping refers to.
    damping = np.sqrt(DAMPING * np.maximum(sizes - 1, 1) / 2.0)[sets] * is_damper

    item = _new(f"SBS Joint Sets {name}", len(sets))
    _put(item, "is_pair", "BOOLEAN", is_pair)
    _put(item, "set", "INT", sets)
    _put(item, "centroid", "FLOAT_VECTOR", tables.centroids[sets])
    _put(item, "joint", "INT", _placed(numbers < slot_count, tables.slot_joints + 1))
    # The set whose mean is used; the point for a damping has its own.
    _put(item, "mean", "INT", sets + set_count * is_damper)
    _put(item, "damping", "FLOAT_VECTOR", np.repeat(damping, 3))
    _put(item, "pivot", "INT", _placed(is_pair, np.repeat(tables.group_pivots, slots.shape[1])))
    _put(item, "slot", "INT", _placed(is_pair, slots.ravel()))
    _put(item, "damper", "INT", _placed(is_pair, slot_count + pair_sets))
    return item


def new_joints(
    name: str, tables: JointTables, joint_count: int, centers: NDArray[np.floating], influences: NDArray[np.intp]
) -> bpy.types.Object:
    """The joints, if vertices have centers: a vertex for each by its number, one for each pair, then influences.

    Numbers of joints are those of `new_joint_sets`. For each group of vertices with the same influences and center, of
    `centers` (V, 3), there is a vertex with the first pair of its pivot group, weights of other slots, and the center.
    """
    joints = np.arange(joint_count + 1)
    numbers = tables.slot_joints + 1
    others = numbers[tables.other_slots(3 * block_count(tables))]
    kinds = np.repeat((0, 1, 2), (len(joints), others.size, len(influences)))
    is_pair, is_influence = kinds == 1, kinds == 2

    item = _new(f"SBS Joints {name}", len(kinds))
    # A joint is neither a pair nor an influence.
    _put(item, "is_pair", "BOOLEAN", is_pair)
    _put(item, "is_influence", "BOOLEAN", is_influence)
    _put(item, "joint", "INT", _placed(kinds == 0, joints))
    _put(item, "pivot", "INT", _placed(is_pair, np.repeat(numbers[tables.group_pivots], others.shape[1])))
    _put(item, "slot", "INT", _placed(is_pair, others.ravel()))
    weights = _padded_weights(tables)[influences]
    _put(item, "pair", "INT", _placed(is_influence, tables.vertex_groups[influences] * weights.shape[1]))
    # The pivot's weight is never 0, so neither are the sums.
    sums = 1.0 - weights.sum(axis=1, keepdims=True, dtype=np.float64) + weights.cumsum(axis=1, dtype=np.float64)
    _put_blocks(item, "weights", _placed(is_influence, weights))
    _put_blocks(item, "shares", _placed(is_influence, weights / sums))
    _put(item, "center", "FLOAT_VECTOR", _placed(is_influence, centers[influences]))
    return item


def new_weights(name: str, tables: JointTables, amounts: NDArray[np.float32] | None) -> bpy.types.Object:
    """The weights: a vertex for each of the mesh, with the first pair of its pivot group and other slots' weights."""
    weights = _padded_weights(tables)
    item = _new_vertices(name, len(weights), amounts)
    _put(item, "pair", "INT", tables.vertex_groups * weights.shape[1])
    _put_blocks(item, "weights", weights)
    return item


def new_influences(name: str, influences: NDArray[np.intp], amounts: NDArray[np.float32] | None) -> bpy.types.Object:
    """The weights, if vertices have centers: a vertex for each one of the mesh, with the number of its influences."""
    item = _new_vertices(name, len(influences), amounts)
    _put(item, "influence", "INT", influences)
    return item


def remove(item: bpy.types.Object) -> None:
    """Delete one of these meshes if nothing uses it any more."""
    mesh = mesh_of(item)
    if item.users == 0:
        bpy.data.objects.remove(item)
    if mesh.users == 0:
        bpy.data.meshes.remove(mesh)


def _padded_weights(tables: JointTables) -> NDArray[np.float32]:
    """Weights of other slots, padded with zeros to whole blocks."""
    count, width = tables.vertex_weights.shape
    padded = np.zeros((count, 3 * block_count(tables)), np.float32)
    padded[:, :width] = tables.vertex_weights
    return padded


def _new_vertices(name: str, count: int, amounts: NDArray[np.float32] | None) -> bpy.types.Object:
    """The mesh of weights, with the amounts of vertices if there are any."""
    item = _new(f"SBS Weights {name}", count)
    if amounts is not None:
        _put(item, "amount", "FLOAT", amounts)
    return item


def _new(name: str, count: int) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(count)
    item = bpy.data.objects.new(name, mesh)
    item[_MARK] = True
    return item


def _put(item: bpy.types.Object, name: str, data_type: _DataType, values: NDArray[np.generic]) -> None:
    attribute = mesh_of(item).attributes.new(name, data_type, "POINT")
    kinds: dict[str, type[np.generic]] = {"BOOLEAN": np.bool_, "INT": np.int32}
    flat: NDArray[Any] = np.ascontiguousarray(values, kinds.get(data_type, np.float32)).reshape(-1)
    values_of(attribute).foreach_set("vector" if data_type == "FLOAT_VECTOR" else "value", flat)


def _put_blocks(item: bpy.types.Object, name: str, values: NDArray[np.floating]) -> None:
    """Store numbers of each vertex as vectors of three, with numbered names."""
    for number in range(values.shape[1] // 3):
        _put(item, f"{name}_{number + 1}", "FLOAT_VECTOR", values[:, 3 * number : 3 * number + 3])


def _placed(where: NDArray[np.bool_], values: NDArray[Any]) -> NDArray[Any]:
    """Values at some vertices, and 0 at others."""
    result = np.zeros((len(where), *values.shape[1:]), values.dtype)
    result[where] = values
    return result
