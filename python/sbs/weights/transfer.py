# SPDX-License-Identifier: MIT
"""Transfer weights from one mesh to another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..rigging.triangle_mesh import diagonal
from ..skinning.influences import InfluencesAndMore
from ..support.callers import warn
from . import tools
from .influences import carry

__all__ = ["Transfer", "transfer"]


# How far half of the points may be from the surface, as a share of the smaller box, before it is told.
_FAR = 0.5


class Transfer(InfluencesAndMore):
    """Influences, and how far they were carried.

    Attributes
    ----------
    joint_indices : (N, K) int32 ndarray
    joint_weights : (N, K) float32 or float64 ndarray
        As in `Influences`.
    distances : (N,) float64 ndarray
        From each point to the surface.
    unmatched : (M,) intp ndarray
        The points that are farther away than allowed; they have no weight.
    """

    distances: NDArray[np.float64]
    unmatched: NDArray[np.intp]


def transfer(
    positions: ArrayLike,
    triangles: ArrayLike,
    joint_indices: ArrayLike,
    joint_weights: ArrayLike,
    points: ArrayLike,
    *,
    limit: int | None = None,
    max_distance: float | None = None,
) -> Transfer:
    """Give the points of another mesh the weights of the nearest point of a surface.

    Between the corners of a triangle, weights are interpolated by barycentric coordinates. Points at one place get
    equal weights.

    Parameters
    ----------
    positions : (V, 3) array_like
        Of the mesh that has weights.
    triangles : (T, 3) array_like of int
        At least one; degenerate ones are allowed.
    joint_indices : (V, K) array_like of int
    joint_weights : (V, K) array_like
        Repaired and normalized, as by `normalize`.
    points : (N, 3) array_like
        The vertices of the other mesh, in the same space.
    limit : int, optional
        The most influences per point; by default all.
    max_distance : float, optional
        Points that are farther from the surface get no weight. By default any distance is allowed, with a warning if
        the meshes seem to be in other units or places.

    Returns
    -------
    Transfer

    Raises
    ------
    ValueError
        If shapes disagree, an index is out of range, a position is NaN or infinite, or `max_distance` is negative.
    TypeError
        If an array holds neither real numbers nor, for indices, integers.

    Examples
    --------
    >>> square = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    >>> result = transfer(square, [[0, 1, 2]], [[0], [1], [1]], [[1.0], [1.0], [1.0]], [[0.5, 0.0, 3.0]])
    >>> result.joint_indices, result.joint_weights, result.distances
    (array([[0, 1]], dtype=int32), array([[0.75, 0.25]]), array([3.]))
    """
    if max_distance is not None and not max_distance >= 0:
        raise ValueError(f"max_distance must be None or at least 0, not {max_distance}")
    indices, weights = tools.normalize(joint_indices, joint_weights)
    nearest, shares, distances = _core.nearest_on_surface(positions, triangles, points)
    if len(np.asarray(positions)) != len(indices):
        raise ValueError(f"positions has shape {np.shape(positions)}, joint_indices {indices.shape}")
    corners = np.asarray(triangles)[nearest]
    if max_distance is None and len(distances) > 1:
        _check_places(np.asarray(positions, np.float64), np.asarray(points, np.float64), distances)
    unmatched = np.flatnonzero(distances > (np.inf if max_distance is None else max_distance))
    shares[unmatched] = 0.0
    result = carry(indices, weights, corners, shares)
    if limit is not None and len(corners):
        result = tools.limit(*result, limit)
    return Transfer(*result, distances, unmatched)


def _check_places(positions: NDArray[np.float64], points: NDArray[np.float64], distances: NDArray[np.float64]) -> None:
    """Warn if the points are so far away that they may be in other units, or elsewhere."""
    sizes, typical = (diagonal(positions), diagonal(points)), float(np.median(distances))
    if typical > _FAR * min(sizes):
        warn(
            f"half of the points are farther than {typical:.3g} from the surface: are a mesh of size {sizes[0]:.3g} "
            f"and points of size {sizes[1]:.3g} in the same units and place? max_distance leaves out far points",
            UserWarning,
        )
