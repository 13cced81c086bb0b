# SPDX-License-Identifier: MIT
"""Polygons as triangles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["fans"]


def fans(first: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which corners (T, 3) make the triangles of polygons, each a fan about its first corner.

    Parameters
    ----------
    first, counts : (P,) ndarray
        The number of a polygon's first corner, and how many it has; with fewer than three it is no triangle.
    """
    pieces = np.maximum(counts - 2, 0)
    start = np.repeat(first, pieces)
    inside = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return np.stack([start, start + inside + 1, start + inside + 2], axis=1)
