# SPDX-License-Identifier: MIT
"""Influences as a matrix of vertices by joints, and back; and sums of the influences of several vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..skinning.influences import Influences, check_joints, narrowed

__all__ = ["Influences", "carry", "from_dense", "merge", "to_dense"]


def to_dense(joint_indices: ArrayLike, joint_weights: ArrayLike, joint_count: int) -> NDArray[Any]:
    """Weights as a matrix of vertices by joints.

    Parameters
    ----------
    joint_indices : (V, K) array_like of int
    joint_weights : (V, K) array_like
        If a joint occurs more than once, its weights are added.
    joint_count : int
        J.

    Returns
    -------
    (V, J) ndarray
        Of the type of the weights: float32 or float64.

    Raises
    ------
    ValueError
        If shapes disagree or an index is outside of [0, J).

    Examples
    --------
    >>> to_dense([[2, 0], [1, 0]], [[0.75, 0.25], [1.0, 0.0]], 3)
    array([[0.25, 0.  , 0.75],
           [0.  , 1.  , 0.  ]])
    """
    indices, weights = np.asarray(joint_indices), _convert(joint_weights)
    if indices.ndim != 2 or indices.shape != weights.shape:
        raise ValueError(f"joint_indices has shape {indices.shape}, joint_weights {weights.shape}: both must be (V, K)")
    check_joints(indices, joint_count)
    dense = np.zeros((len(indices), joint_count), weights.dtype)
    np.add.at(dense, (np.arange(len(indices))[:, None], indices), weights)
    return dense


def from_dense(dense: ArrayLike, limit: int | None = None) -> Influences:
    """A matrix of weights as influences.

    Parameters
    ----------
    dense : (V, J) array_like
        Finite and not negative.
    limit : int, optional
        The most joints per vertex, the heaviest are kept, with unchanged weights. By default all.

    Returns
    -------
    Influences
        As wide as the vertex with the most joints needs, at least 1.

    Raises
    ------
    ValueError
        If the shape is wrong, a weight is negative or not finite, or `limit` is less than 1.

    Examples
    --------
    >>> from_dense([[0.25, 0.0, 0.75], [0.0, 1.0, 0.0]])
    Influences(joint_indices=array([[2, 0],
           [1, 0]], dtype=int32), joint_weights=array([[0.75, 0.25],
           [1.  , 0.  ]]))
    """
    weights = _convert(dense)
    if weights.ndim != 2 or not weights.shape[1]:
        raise ValueError(f"dense has shape {weights.shape}, expected (V, J)")
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be None or at least 1, not {limit}")
    bad = np.argwhere(~((weights >= 0) & np.isfinite(weights)))
    if len(bad):
        row, column = bad[0]
        raise ValueError(f"dense[{row}, {column}] = {weights[row, column]}: a weight must be finite and not negative")
    width = max(1, int(np.count_nonzero(weights, axis=1).max(initial=0)))
    if limit is not None:
        width = min(width, limit)
    indices = np.argsort(-weights, axis=1, kind="stable")[:, :width].astype(np.int32)
    kept = np.take_along_axis(weights, indices, axis=1)
    indices[kept == 0] = 0
    return Influences(indices, kept)


def carry(
    joint_indices: NDArray[np.int32], joint_weights: NDArray[Any], corners: NDArray[Any], shares: NDArray[np.float64]
) -> Influences:
    """The influences of points (N, K): sums of those of three corners (N, 3) of a triangle, by their shares (N, 3)."""
    shape = (len(corners), 3 * joint_indices.shape[1])
    weights = joint_weights[corners] * shares[:, :, None].astype(joint_weights.dtype)
    return merge(joint_indices[corners].reshape(shape), weights.reshape(shape))


def merge(joint_indices: NDArray[np.int32], joint_weights: NDArray[Any]) -> Influences:
    """Add the weights (V, M) of equal joints (V, M) in each row, and normalize.

    The result is as wide as the row with the most distinct joints needs, at least 1. A row without weight gets none.
    """
    if not len(joint_indices):
        return Influences(joint_indices, joint_weights)
    indices, weights, (_, _, _, most) = _core.clean_weights(joint_indices, joint_weights)
    return narrowed(indices, weights, most)


def _convert(array: ArrayLike) -> NDArray[Any]:
    given = np.asarray(array)
    return given if given.dtype in (np.float32, np.float64) else given.astype(np.float64)
