# SPDX-License-Identifier: MIT
"""Keys of tracks as glTF stores them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..animation import Track

__all__ = ["keys_of"]


def keys_of(track: Track, column: int) -> NDArray[np.float32]:
    """The keys (K, n) of one node of a track, or its tangents and keys (3 K, n); quaternions as (x, y, z, w)."""
    values = track.values[..., column, :]
    if track.path == "rotation":
        values = np.roll(values, -1, axis=-1)
    return values.reshape(-1, values.shape[-1]).astype(np.float32)
