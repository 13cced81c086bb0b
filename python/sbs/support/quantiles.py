# SPDX-License-Identifier: MIT
"""Quantiles of numbers that count by weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["weighted_quantiles"]

Floats = NDArray[np.float64]


def weighted_quantiles(values: Floats, weights: Floats, shares: tuple[float, ...]) -> Floats:
    """The weighted quantiles (S,): the values below which the given shares of the weight are."""
    order = np.argsort(values)
    sums = np.cumsum(weights[order])
    # If a share is met exactly, as in regular meshes, rounding must not decide.
    places = np.searchsorted(sums, np.asarray(shares) * sums[-1] * (1 - 1e-9))
    return np.asarray(values[order[np.minimum(places, len(values) - 1)]])
