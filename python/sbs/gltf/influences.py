# SPDX-License-Identifier: MIT
"""Influences as glTF wants them: one for each joint of a vertex, the largest first, weights that sum to 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def tidy(
    joint_indices: NDArray[np.integer], joint_weights: NDArray[np.floating]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """What a skin makes of influences, in sets of four.

    Weights that are NaN, infinite or negative are dropped, those of one joint are added, and the sum is divided out.

    Parameters
    ----------
    joint_indices, joint_weights : (V, K) ndarray

    Returns
    -------
    joint_indices, joint_weights : (V, 4 n) ndarray
        By descending weight, n the smallest that holds all; padded with joint 0, weight 0. A vertex without a usable
        weight keeps a sum of 0.
    """
    joints = np.array(joint_indices, dtype=np.intp)
    weights = np.array(joint_weights, dtype=np.float64)
    weights[~(np.isfinite(weights) & (weights > 0.0))] = 0.0
    _merge(joints, weights)
    total = weights.sum(axis=1, keepdims=True)
    weights /= np.where(total > 0.0, total, 1.0)
    order = np.argsort(-weights, axis=1, kind="stable")
    weights = np.take_along_axis(weights, order, axis=1)
    joints = np.where(weights > 0.0, np.take_along_axis(joints, order, axis=1), 0)
    used = max(1, int(np.count_nonzero(weights, axis=1).max()))
    width = -(-used // 4) * 4
    padding = ((0, 0), (0, max(0, width - weights.shape[1])))
    return np.pad(joints, padding)[:, :width], np.pad(weights, padding)[:, :width]


def _merge(joints: NDArray[np.intp], weights: NDArray[np.float64]) -> None:
    """Gives the first influence of each joint of a vertex the weights of all of them, in place."""
    # What has no weight stands apart, for it may name any joint.
    keys = np.where(weights > 0.0, joints, np.iinfo(np.intp).max)
    order = np.argsort(keys, axis=1, kind="stable")
    keys = np.take_along_axis(keys, order, axis=1)
    first = np.ones(keys.shape, bool)
    first[:, 1:] = keys[:, 1:] != keys[:, :-1]
    if not np.any(~first & (keys != np.iinfo(np.intp).max)):
        return
    sums = np.add.reduceat(np.take_along_axis(weights, order, axis=1).ravel(), np.flatnonzero(first))
    merged = np.zeros_like(weights)
    merged[first] = sums
    np.put_along_axis(weights, order, merged, axis=1)


def quantize(weights: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Weights (V, K) by descending size and of sum 1, as float32 or as normalised uint8 or uint16.

    The sum survives: the largest float32 takes up what rounding leaves, and integers are rounded up where their
    remainders are largest (Hamilton's method).
    """
    present = weights[:, :1] > 0.0
    if dtype == np.float32:
        stored = weights.astype(np.float32)
        rest = stored[:, 1:].sum(axis=1, dtype=np.float64, keepdims=True)
        stored[:, :1] = np.where(present, 1.0 - rest, 0.0)
        return stored
    scaled = weights * np.iinfo(dtype).max
    whole = np.floor(scaled)
    missing = np.where(present, np.iinfo(dtype).max - whole.sum(axis=1, keepdims=True), 0.0)
    rank = np.argsort(np.argsort(whole - scaled, axis=1, kind="stable"), axis=1, kind="stable")
    return (whole + (rank < missing)).astype(dtype)
