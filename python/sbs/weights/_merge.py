# SPDX-License-Identifier: MIT
"""Sums of the influences of several vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..skinning.influences import Influences, narrowed


def carried(
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
