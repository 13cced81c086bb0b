# SPDX-License-Identifier: GPL-3.0-or-later
"""Bendy bones: each is a row of joints, and a vertex is moved by the two next to it along the bone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .matrices import Floats

#: Finds where points (N, 3) in armature space are along a bending bone of the pose, counted in segments.
Along = Callable[[int, NDArray[np.floating[Any]]], Floats]


def joint_counts(segments: NDArray[np.int32]) -> NDArray[np.int32]:
    """How many joints bones have, from their numbers of segments, (B,): the ends of segments, or the bone itself."""
    return np.where(segments > 1, segments + 1, 1).astype(np.int32)


def split_segments(
    points: NDArray[np.floating[Any]],
    bone_indices: NDArray[np.int32],
    bone_weights: NDArray[np.float32],
    *,
    inverse_rests: Floats,
    lengths: Floats,
    segments: NDArray[np.int32],
    curved: Mapping[int, Callable[[NDArray[np.floating[Any]]], Floats]],
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Convert influences (V, K) of bones to influences (V, 2 K) of their joints, which are counted bone after bone.

    A vertex at the share t of the length of a bone with S > 1 segments is moved by the ends before and after t S,
    linearly in between (Blender's straight mapping). For bones that map vertices along their curve (Blender's curved
    mapping), `curved` has functions that find that place, in segments.

    The points (V, 3) and lengths (B,) are in armature space; `inverse_rests` (B, 4, 4) take it to that of each bone,
    which has its head at 0 and its tail on y.
    """
    counts = joint_counts(segments)
    first_joints = (np.cumsum(counts) - counts)[bone_indices]
    rows = inverse_rests[:, 1]
    heights = np.einsum("vkj,vj->vk", rows[bone_indices, :3], points) + rows[bone_indices, 3]
    bone_segments = segments[bone_indices]
    places = np.clip(heights / np.maximum(lengths[bone_indices], 1e-12), 0.0, 1.0) * bone_segments
    for bone, along in curved.items():
        vertices, slots = np.nonzero((bone_indices == bone) & (bone_weights > 0.0))
        places[vertices, slots] = along(points[vertices])
    before = np.minimum(places.astype(np.int32), bone_segments - 1)
    bends = bone_segments > 1
    after_shares = np.where(bends, places - before, 0.0).astype(np.float32)
    joints = (first_joints + np.where(bends, before, 0)).astype(np.int32)
    return (
        np.concatenate([joints, np.where(bends, joints + 1, 0)], axis=1).astype(np.int32),
        np.concatenate([bone_weights * (1.0 - after_shares), bone_weights * after_shares], axis=1),
    )
