# SPDX-License-Identifier: MIT
"""Influences for glTF: in sets of four, with stored weights that sum to 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...skinning.influences import Influences, tidy


def stored_influences(joint_indices: ArrayLike, joint_weights: ArrayLike, dtype: np.dtype[Any]) -> Influences:
    """Influences (V, K) as a skin uses them, in sets of four, with weights of a type, sorted by these as stored."""
    joints, weights = tidy(joint_indices, joint_weights)
    padding = ((0, 0), (0, -joints.shape[1] % 4))
    joints, stored = np.pad(joints, padding), _quantize(np.pad(weights, padding), dtype)
    order = np.lexsort((joints, -stored.astype(np.float64)), axis=1)
    return Influences(np.take_along_axis(joints, order, axis=1), np.take_along_axis(stored, order, axis=1))


def _quantize(weights: NDArray[np.floating], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Descending weights (V, K) of sum 1, as float32 or as normalized uint8 or uint16.

    The sum stays 1: the error of rounding to float32 is added to the largest weight, and integers are rounded up where
    their remainders are largest (Hamilton's method).
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
    result: NDArray[Any] = (whole + (rank < missing)).astype(dtype)
    return result
