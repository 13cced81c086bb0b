# SPDX-License-Identifier: MIT
"""Which joint a vertex is attached to, and which triangles are connected to a joint."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .influences import tidy

__all__ = ["connected_triangles", "heaviest_joints"]


def heaviest_joints(joint_indices: ArrayLike, joint_weights: ArrayLike) -> NDArray[np.int32]:
    """The joint that each vertex is attached to: the heaviest; if several are, the lowest.

    Parameters
    ----------
    joint_indices : (V, K) array_like of int
    joint_weights : (V, K) array_like
        Weights that are NaN, infinite or negative do not count; those of one joint are added.

    Returns
    -------
    (V,) int32 ndarray
        -1 for a vertex without weights.

    Raises
    ------
    ValueError
        If the shapes are not the same (V, K).

    Examples
    --------
    >>> heaviest_joints([[0, 1], [2, 1]], [[0.25, 0.75], [0.5, 0.5]])
    array([1, 1], dtype=int32)
    """
    indices, weights = np.asarray(joint_indices), np.asarray(joint_weights)
    if indices.ndim != 2 or not indices.size or indices.shape != weights.shape:
        raise ValueError(f"joint_indices has shape {indices.shape}, joint_weights {weights.shape}: both must be (V, K)")
    joints, shares = tidy(indices, weights)
    return np.where(shares[:, 0] > 0, joints[:, 0], np.int32(-1))


def connected_triangles(triangles: ArrayLike, attachment: ArrayLike, joints: ArrayLike) -> NDArray[np.bool_]:
    """The triangles that are connected to a joint: those with all vertices attached to it.

    Parameters
    ----------
    triangles : (T, 3) array_like of int
    attachment : (V,) array_like of int
        The joint of each vertex, for example from `heaviest_joints`.
    joints : int or (N,) array_like of int
        One or several.

    Returns
    -------
    (T,) bool ndarray
        Whether a triangle is connected to one of them.

    Examples
    --------
    >>> connected_triangles([[0, 1, 2], [1, 2, 3]], [5, 5, 5, 6], 5)
    array([ True, False])
    """
    corners = np.asarray(attachment)[np.asarray(triangles)]
    alike = (corners == corners[:, :1]).all(axis=1)
    return np.asarray(alike & np.isin(corners[:, 0], joints))
