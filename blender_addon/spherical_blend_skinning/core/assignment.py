# SPDX-License-Identifier: GPL-3.0-or-later
"""Insert new weights of some joints among existing weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]


def assign(old: Weights, new: Weights, chosen: NDArray[np.bool_], locked: NDArray[np.bool_]) -> Weights:
    """Give the chosen joints (J,) new weights (V, J), so that all weights of a vertex still sum to 1.

    Locked joints keep their weights, bit for bit. The chosen ones get theirs as far as the locked ones leave room, and
    the others share the rest in proportion; if they have no weights, the chosen ones get the rest. The new weights of a
    vertex sum to 1, or are all 0: such vertices lose those of the chosen joints and keep the others unchanged.
    """
    chosen = chosen & ~locked
    others = ~chosen & ~locked
    room = np.clip(1.0 - _sums(old[:, locked]), 0.0, 1.0)
    taken, kept = _sums(new[:, chosen]), _sums(old[:, others])
    has_new = np.asarray(new.any(axis=1))
    share = np.where((kept > 0.0) & others.any(), np.minimum(taken, room), np.where(taken > 0.0, room, 0.0))
    result = old.copy()
    result[:, chosen] = new[:, chosen] * _ratio(share, taken)[:, None]
    scaled = old[:, others] * _ratio(room - share, kept)[:, None]
    result[:, others] = np.where(has_new[:, None], scaled, old[:, others])
    return result


def _sums(weights: Weights) -> NDArray[np.float64]:
    """The sum of each vertex's weights, (V,)."""
    return np.asarray(weights.sum(axis=1, dtype=np.float64))


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """The ratio, 0 where both numbers are 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)
