# SPDX-License-Identifier: MIT
"""The surface for the weight tools: vertices at one point count as one, and edges make neighbors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core

__all__ = ["adjacency", "weld"]


def weld(positions: ArrayLike) -> NDArray[np.int32]:
    """The lowest vertex at the same point as each vertex, without tolerance.

    Parameters
    ----------
    positions : (V, 3) array_like

    Returns
    -------
    (V,) int32 ndarray
        A vertex alone at its point is its own representative.

    Raises
    ------
    ValueError, TypeError
        If the shape is wrong, there is no vertex, or a number is NaN or infinite.
    """
    return _core.weld(positions)


def adjacency(triangles: ArrayLike, representatives: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """The vertices that share an edge with each vertex.

    Parameters
    ----------
    triangles : (T, 3) array_like of int
    representatives : (V,) array_like of int
        From `weld`: each corner is replaced by its representative.

    Returns
    -------
    offsets : (V + 1,) intp ndarray
        The neighbors of vertex v are ``neighbors[offsets[v]:offsets[v + 1]]``; vertices that are not representatives
        have none.
    neighbors : (offsets[-1],) int32 ndarray
        Representatives, ascending for each vertex.

    Raises
    ------
    ValueError, TypeError
        If a shape is wrong or an index out of range.
    """
    return _core.adjacency(triangles, representatives)
