# SPDX-License-Identifier: MIT
"""Influences: which joints move a vertex, and how much."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .options import AnyFloats

__all__ = ["Influences", "tidy", "with_rows"]


class Influences(NamedTuple):
    """The joints that influence each vertex, as `sbs.Skin` takes them.

    Attributes
    ----------
    joint_indices : (V, K) int32 ndarray
        By decreasing weight, ties by joint; padded with index 0.
    joint_weights : (V, K) float32 or float64 ndarray
        Padded with weight 0.
    """

    joint_indices: NDArray[np.int32]
    joint_weights: AnyFloats


def tidy(joint_indices: ArrayLike, joint_weights: ArrayLike, *, joint_count: int | None = None) -> Influences:
    """Repair influences as `Skin` does, bit for bit.

    Weights that are NaN, infinite or negative are dropped, those of one joint are added, and all are divided by their
    sum. The result does not depend on the order of a vertex's influences, not even in a bit.

    Parameters
    ----------
    joint_indices : (V, K) array_like of int
    joint_weights : (V, K) array_like
        Any numbers.
    joint_count : int, optional
        J, to check indices.

    Returns
    -------
    Influences
        float64, as wide as the vertex with the most joints needs, at least 1. A vertex without a positive weight has no
        influences.

    Raises
    ------
    ValueError
        If shapes disagree, there are no vertices, or a joint index is negative or not below `joint_count`.
    TypeError
        If an array holds neither real numbers nor, for indices, integers.

    Examples
    --------
    >>> tidy([[3, 1, 3, 2]], [[0.5, 1.0, 0.5, float("nan")]])
    Influences(joint_indices=array([[1, 3]], dtype=int32), joint_weights=array([[0.5, 0.5]]))
    """
    indices, weights, most = _core.tidy_weights(joint_indices, joint_weights, joint_count=joint_count)
    width = max(most, 1)
    return Influences(np.ascontiguousarray(indices[:, :width]), np.ascontiguousarray(weights[:, :width]))


def with_rows(
    influences: tuple[NDArray[np.int32], NDArray[Any]], rows: NDArray[Any], new: tuple[NDArray[Any], NDArray[Any]]
) -> Influences:
    """Influences (V, K) with those of some rows replaced by others (M, L), as wide as the wider of the two."""
    width = max(influences[0].shape[1], new[0].shape[1])
    padded = [np.zeros((len(array), width), array.dtype) for array in influences]
    for result, old, replacement in zip(padded, influences, new, strict=True):
        result[:, : old.shape[1]] = old
        result[rows] = 0
        result[rows, : replacement.shape[1]] = replacement
    return Influences(*padded)
