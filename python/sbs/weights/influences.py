# SPDX-License-Identifier: MIT
"""Influences as a matrix of vertices by joints, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..skinning.influences import Influences, check_joints

__all__ = ["Influences", "from_dense", "to_dense"]


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
    indices, weights = np.asarray(joint_indices), _as_floats(joint_weights)
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
    weights = _as_floats(dense)
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


def _as_floats(array: ArrayLike) -> NDArray[Any]:
    given = np.asarray(array)
    return given if given.dtype in (np.float32, np.float64) else given.astype(np.float64)
