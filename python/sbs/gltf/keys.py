# SPDX-License-Identifier: MIT
"""Keys of tracks as glTF stores them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..rigging.animation import Track

__all__ = ["node_keys", "weight_keys", "with_all_shapes"]


def node_keys(track: Track, column: int) -> NDArray[np.float32]:
    """The keys (K, n) of one node of a track, or its tangents and keys (3 K, n); quaternions as (x, y, z, w)."""
    values = track.values[..., column, :]
    if track.path == "rotation":
        values = np.roll(values, -1, axis=-1)
    return values.reshape(-1, values.shape[-1]).astype(np.float32)


def with_all_shapes(tracks: Sequence[Track], first: int, count: int, rest: Sequence[float]) -> list[Track]:
    """Tracks of the weights of all shapes from `first` on, as glTF has them; others keep the weights at rest.

    Tracks of some of these shapes that have their own times become linear ones at all of these times.
    """
    shapes = np.arange(first, first + count)
    found = [track for track in tracks if np.isin(track.nodes, shapes).any()]
    if len(found) == 1 and np.array_equal(found[0].nodes, shapes):
        return found
    if not found:
        return []
    times = np.unique(np.concatenate([track.times for track in found]))
    values = np.tile(np.array(rest, np.float64)[None, :, None], (len(times), 1, 1))
    for track in found:
        inside = np.isin(track.nodes, shapes)
        values[:, track.nodes[inside] - first] = track.sample(times)[:, inside]
    return [Track("weights", "LINEAR", shapes, times, values)]


def weight_keys(track: Track) -> NDArray[np.float32]:
    """The keys (K S, 1) of a track of weights, or its tangents and keys (3 K S, 1)."""
    return track.values.reshape(-1, 1).astype(np.float32)
