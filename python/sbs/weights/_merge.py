# SPDX-License-Identifier: MIT
"""Sums of the influences of several vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .influences import Influences
from .tools import normalize


def merge(joint_indices: NDArray[np.int32], joint_weights: NDArray[Any]) -> Influences:
    """Add the weights (V, M) of equal joints (V, M) in each row, and normalize.

    Rows of M pairs become as wide as the one with the most distinct joints needs, at least 1; a row without weight
    stays without.
    """
    count, width = joint_indices.shape
    if not count:
        return Influences(joint_indices, joint_weights)
    nobody = np.iinfo(np.int32).max
    joints = np.where(joint_weights > 0, joint_indices, nobody)
    order = np.argsort(joints, axis=1, kind="stable")
    joints, weights = np.take_along_axis(joints, order, axis=1), np.take_along_axis(joint_weights, order, axis=1)
    starts = np.ones((count, width), bool)  # of runs of equal joints
    starts[:, 1:] = joints[:, 1:] != joints[:, :-1]
    sums = np.add.reduceat(weights.ravel(), np.flatnonzero(starts))
    rows, columns = np.nonzero(starts)[0], (np.cumsum(starts, axis=1) - 1)[starts]
    kept = joints[starts] != nobody
    room = int(columns[kept].max(initial=0)) + 1
    merged = Influences(np.zeros((count, room), np.int32), np.zeros((count, room), weights.dtype))
    merged.joint_indices[rows[kept], columns[kept]] = joints[starts][kept]
    merged.joint_weights[rows[kept], columns[kept]] = sums[kept]
    return normalize(*merged)
