# SPDX-License-Identifier: MIT
"""Areas and the cotangent Laplacian of a surface, for any triangles that files hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["cotangent_edges", "triangle_areas", "vertex_areas"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

LARGEST_COTANGENT = 100.0
"""Of an angle of 0.6 degrees: sharper ones count as that, so that slivers don't tie their corners together."""

LEAST_WEIGHT = 1e-3
"""Of an edge. Where angles are obtuse the sum of cotangents can be negative, and so could weights be; and no edge may
be without effect, else islands would fall apart."""


def triangle_areas(positions: Floats, triangles: Indices) -> Floats:
    """Areas (T,) of triangles (T, 3)."""
    a, b, c = positions[triangles.T]
    return np.asarray(np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2)


def vertex_areas(areas: Floats, triangles: Indices, vertex_count: int) -> Floats:
    """A third of the area around each vertex, (V,); where there is hardly any, a thousandth of the mean."""
    sums = np.bincount(triangles.ravel(), np.repeat(areas / 3, 3), vertex_count).astype(np.float64)
    return np.asarray(np.maximum(sums, 1e-3 * sums.mean()))


def cotangent_edges(positions: Floats, triangles: Indices) -> tuple[Indices, Floats]:
    """The edges of a surface with their weights in its Laplacian.

    The weight of an edge is half the sum of the cotangents of the angles opposite to it.

        Pinkall, U. and Polthier, K. 1993. Computing Discrete Minimal Surfaces and Their Conjugates. Experimental
        Mathematics 2(1).

    Parameters
    ----------
    positions : (V, 3) ndarray
        Of a size of about 1.
    triangles : (T, 3) ndarray
        Degenerate ones are allowed.

    Returns
    -------
    edges : (E, 2) ndarray
        Each once, the lower vertex first.
    weights : (E,) ndarray
        All positive.
    """
    angles = []
    for corner in range(3):
        apex, first, second = (positions[triangles[:, (corner + turn) % 3]] for turn in range(3))
        along = np.sum((first - apex) * (second - apex), axis=1)
        across = np.linalg.norm(np.cross(first - apex, second - apex), axis=1)
        limit = LARGEST_COTANGENT
        angles.append(np.clip(along, -limit * across, limit * across) / np.where(across > 0, across, 1))
    sides = np.concatenate([triangles[:, [1, 2]], triangles[:, [2, 0]], triangles[:, [0, 1]]])
    sides = np.sort(sides, axis=1)
    cotangents = np.concatenate(angles)[sides[:, 0] != sides[:, 1]]
    sides = sides[sides[:, 0] != sides[:, 1]]
    keys, edge_of_side = np.unique(sides[:, 0] * np.int64(len(positions)) + sides[:, 1], return_inverse=True)
    weights = np.bincount(edge_of_side.ravel(), cotangents / 2, len(keys))
    edges = np.stack(np.divmod(keys, len(positions)), axis=1).astype(np.int32)
    return edges, np.maximum(weights, LEAST_WEIGHT)
