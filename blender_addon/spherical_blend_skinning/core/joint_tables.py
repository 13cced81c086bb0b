# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of a skin for the portable engine: its joint sets, and the influences of each vertex in its set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The joint of vertices that no joint moves.
NO_JOINT = -1


@dataclass(frozen=True)
class JointTables:
    """Joint sets with their slots, one for each joint of a set, and the pivot groups of their vertices.

    A pivot group is the vertices of a joint set with the same heaviest joint, their pivot: signs of quaternions are
    chosen relative to the pivot's (Kavan and Zara 2005, section 4.2), and weights are stored for the other slots only.
    """

    #: (N,): the first slot of each set; its other slots follow. The empty set has one slot, of `NO_JOINT`.
    set_starts: NDArray[np.int32]
    set_sizes: NDArray[np.int32]  #: (N,): how many slots each set has
    centroids: NDArray[np.float32]  #: (N, 3): the mean rest position of each set's vertices
    slot_joints: NDArray[np.int32]  #: (S,): joint of each slot, ascending within a set
    group_sets: NDArray[np.int32]  #: (M,): the set of each pivot group
    group_pivots: NDArray[np.int32]  #: (M,): which slot, of all S, is the pivot of each group
    vertex_groups: NDArray[np.int32]  #: (V,): the pivot group of each vertex
    #: (V, K - 1): normalized weights of the slots of the vertex's set without the pivot, in order, then zeros; K is the
    #: most influences of a vertex
    vertex_weights: NDArray[np.float32]

    @property
    def slot_sets(self) -> NDArray[np.int32]:
        """The set of each slot, (S,)."""
        return np.repeat(np.arange(len(self.set_sizes), dtype=np.int32), self.set_sizes)

    def other_slots(self, width: int) -> NDArray[np.int32]:
        """The slots of each group without its pivot, (M, width), in order, padded with the pivot.

        `width` is at least K - 1.
        """
        pivots = self.group_pivots[:, None]
        slots = self.set_starts[self.group_sets, None] + np.arange(width, dtype=np.int32)
        slots += slots >= pivots
        ends = (self.set_starts + self.set_sizes)[self.group_sets, None]
        return np.where(slots < ends, slots, pivots).astype(np.int32)

    def distinct_influences(self, centers: NDArray[np.floating[Any]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Group vertices with the same weights and the same center, of (V, 3): they have the same motion.

        Returned are one vertex of each group, (U,), and the group of each vertex, (V,).
        """
        # With one joint, the center does not matter.
        is_blended = self.vertex_weights.any(axis=1, keepdims=True)
        counts = np.where(is_blended, centers, 0.0)
        keys = np.column_stack([self.vertex_groups, self.vertex_weights, counts]).astype(np.float64)
        rows = keys.view(np.dtype((np.void, keys.shape[1] * keys.itemsize))).reshape(-1)
        _, vertices, numbers = np.unique(rows, return_index=True, return_inverse=True)
        return vertices, numbers


def joint_tables(skin: Any, positions: NDArray[np.float32]) -> JointTables:
    """The tables of a skin whose vertices are at positions (V, 3) at rest, in the space for the centroids."""
    sets = [joints or (NO_JOINT,) for joints in skin.joint_sets]
    vertex_sets = skin.joint_set_of_vertex
    sizes = np.array([len(joints) for joints in sets], np.int32)
    starts = (np.cumsum(sizes) - sizes).astype(np.int32)
    slot_joints = np.concatenate([np.array(joints, np.int32) for joints in sets])

    weights = _slot_weights(skin, vertex_sets, np.repeat(np.arange(len(sets)), sizes), slot_joints, starts)
    pivots = weights.argmax(axis=1)
    group_slots, vertex_groups = np.unique(starts[vertex_sets] + pivots, return_inverse=True)
    columns = np.arange(weights.shape[1] - 1)
    others = columns + (columns >= pivots[:, None])

    counts = np.bincount(vertex_sets, minlength=len(sets))
    sums = [np.bincount(vertex_sets, positions[:, axis], len(sets)) for axis in range(3)]
    return JointTables(
        set_starts=starts,
        set_sizes=sizes,
        centroids=(np.stack(sums, axis=1) / counts[:, None]).astype(np.float32),
        slot_joints=slot_joints,
        group_sets=(np.searchsorted(starts, group_slots, side="right") - 1).astype(np.int32),
        group_pivots=group_slots.astype(np.int32),
        vertex_groups=vertex_groups.astype(np.int32).reshape(-1),
        vertex_weights=np.take_along_axis(weights, others, axis=1).astype(np.float32),
    )


def _slot_weights(
    skin: Any,
    vertex_sets: NDArray[np.int32],
    slot_sets: NDArray[np.int64],
    slot_joints: NDArray[np.int32],
    set_starts: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Normalized weights (V, K) by slot of the vertex's set, padded with 0; only zeros for an unweighted vertex."""
    # Sets are in order, and so are the joints of a set: (set, joint) ascends over all slots.
    keys = slot_sets * (skin.joint_count + 1) + slot_joints
    joint_indices, joint_weights = skin.influences()
    vertices, columns = np.nonzero(joint_weights)
    joints = joint_indices[vertices, columns]
    slots = np.searchsorted(keys, vertex_sets[vertices].astype(np.int64) * (skin.joint_count + 1) + joints)
    result: NDArray[np.float64] = np.zeros((skin.vertex_count, max(skin.max_influences, 1)))
    result[vertices, slots - set_starts[vertex_sets[vertices]]] = joint_weights[vertices, columns]
    return result
