# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert vertex groups to the influences of `sbs.Skin`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

# Blender's Armature modifier does not move a vertex if its weights sum to no more than this.
_LEAST_SUM = 1e-4


@dataclass(frozen=True)
class VertexWeights:
    """The vertex groups of a mesh; a vertex is in at most K of them."""

    groups: NDArray[np.int32]  #: (V, K): indices of vertex groups, padded with -1
    weights: NDArray[np.float32]  #: (V, K): padded with 0

    @cached_property
    def digest(self) -> str:
        """A text that other weights do not have."""
        return hashlib.blake2b(self.groups.tobytes() + self.weights.tobytes(), digest_size=8).hexdigest()

    def differing(self, other: VertexWeights) -> NDArray[np.intp]:
        """The vertices, ascending, that have other groups or weights in another mesh of as many vertices."""
        width = max(self.groups.shape[1], other.groups.shape[1])
        mine, theirs = self._widened(width), other._widened(width)
        differs = (mine.groups != theirs.groups) | (mine.weights != theirs.weights)
        # Faster than a test of every row.
        return np.unique(np.flatnonzero(differs) // width)

    def _widened(self, width: int) -> VertexWeights:
        """The same arrays with more padding."""
        more = width - self.groups.shape[1]
        if not more:
            return self
        columns = ((0, 0), (0, more))
        return VertexWeights(np.pad(self.groups, columns, constant_values=-1), np.pad(self.weights, columns))


def padded(counts: NDArray[np.int32], groups: NDArray[np.int32], weights: NDArray[np.float32]) -> VertexWeights:
    """Rows from entries (E,) of all vertices one after the other, `counts` (V,) of each."""
    shape = (len(counts), max(1, int(counts.max(initial=0))))
    if counts.min(initial=shape[1]) == shape[1]:
        return VertexWeights(groups.reshape(shape), weights.reshape(shape))
    used = np.arange(shape[1]) < counts[:, None]
    result = VertexWeights(np.full(shape, -1, np.int32), np.zeros(shape, np.float32))
    result.groups[used] = groups
    result.weights[used] = weights
    return result


def take_vertices(weights: VertexWeights, chosen: NDArray[np.int64]) -> VertexWeights:
    """The vertex groups of some vertices, (M,), in their order."""
    return VertexWeights(weights.groups[chosen], weights.weights[chosen])


def group_weights(weights: VertexWeights, group: int) -> NDArray[np.float32]:
    """The weight of every vertex in one vertex group, (V,); 0 where it is not in it."""
    inside = np.where(weights.groups == group, weights.weights, np.float32(0.0))
    return np.asarray(inside.max(axis=1, initial=0.0), np.float32)


def influences(
    weights: VertexWeights, group_joints: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The influences (V, K) of bones, as for Blender's Armature modifier: joints and weights, padded with 0.

    `group_joints` has the joint of each vertex group, -1 for a group that no deforming bone is named after. Vertices
    whose weights sum to 1e-4 at most have no influences.
    """
    # The last entry is for padding, and for removed groups, which Blender keeps for a moment.
    lookup = np.append(group_joints, np.int32(-1))
    joints = lookup[np.where(weights.groups < len(group_joints), weights.groups, -1)]
    kept = np.where(joints >= 0, weights.weights, np.float32(0.0))
    kept[kept.sum(axis=1) <= _LEAST_SUM] = 0.0
    return np.maximum(joints, 0), kept


def first_occurrences(numbers: NDArray[np.float32]) -> NDArray[np.int64] | None:
    """Where each of 0, 1, ..., n first occurs among numbers (M,), n the largest; None if one is missing.

    Modifiers that add vertices interpolate the numbers of vertices, but they keep the old ones first.
    """
    whole = np.flatnonzero(numbers == np.floor(numbers))
    found, first = np.unique(numbers[whole].astype(np.int64), return_index=True)
    if not len(found) or found[0] != 0 or found[-1] != len(found) - 1 or numbers.max() > found[-1]:
        return None
    return whole[first]
