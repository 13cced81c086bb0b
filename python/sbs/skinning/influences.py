# SPDX-License-Identifier: MIT
"""Influences: which joints move a vertex, and how much."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .options import AnyFloats

__all__ = [
    "Influences",
    "InfluencesAndMore",
    "check_joints",
    "heaviest",
    "narrowed",
    "of_joints",
    "share_of",
    "tidy",
    "with_rows",
]


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


class InfluencesAndMore(Influences):
    """Influences with further results, as the attributes that a subclass declares; still a tuple of two."""

    def __new__(cls, joint_indices: NDArray[np.int32], joint_weights: AnyFloats, *more: Any) -> Self:
        """Influences, then the attributes in the order in which they are declared."""
        made = super().__new__(cls, joint_indices, joint_weights)
        made.__dict__.update(zip(cls.__annotations__, more, strict=True))
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        """For copies and pickles."""
        return (*self, *self.__dict__.values())


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
    return narrowed(indices, weights, most)


def narrowed(joint_indices: NDArray[np.int32], joint_weights: AnyFloats, width: int) -> Influences:
    """The first `width` columns of influences, at least one."""
    width = max(width, 1)
    return Influences(np.ascontiguousarray(joint_indices[:, :width]), np.ascontiguousarray(joint_weights[:, :width]))


def heaviest(joint_indices: ArrayLike, joint_weights: ArrayLike, count: int, **options: Any) -> Influences:
    """The `count` heaviest influences of each vertex, with options of `_core.clean_weights`; more if it locks more."""
    indices, weights, report = _core.clean_weights(joint_indices, joint_weights, limit=count, **options)
    return narrowed(indices, weights, max(count, report[3]))


def check_joints(joint_indices: NDArray[Any], joint_count: int) -> None:
    """Raise ValueError for the first joint index (V, K) that is out of range."""
    for row, column in np.argwhere((joint_indices < 0) | (joint_indices >= joint_count))[:1]:
        found = joint_indices[row, column]
        raise ValueError(f"joint_indices[{row}, {column}] = {found} is out of range for {joint_count} joints")


def share_of(joint_indices: NDArray[np.int32], joint_weights: AnyFloats, joints: ArrayLike) -> AnyFloats:
    """How much of each vertex (V,) some joints have, by influences that are tidy."""
    share: AnyFloats = np.where(np.isin(joint_indices, joints), joint_weights, 0).sum(axis=1)
    return share


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


def of_joints(
    joint_indices: ArrayLike, joint_weights: ArrayLike, vertex_count: int, joint_count: int, dtype: np.dtype[Any]
) -> Influences:
    """Influences of so many vertices by so many joints, with weights of a type; others are an error.

    Raises
    ------
    ValueError
        If shapes disagree, or an index is out of range.
    TypeError
        If indices are no integers.
    """
    indices, weights = np.asarray(joint_indices), np.asarray(joint_weights)
    if indices.ndim != 2 or len(indices) != vertex_count:
        raise ValueError(f"joint_indices has shape {indices.shape}, expected ({vertex_count}, K)")
    if weights.shape != indices.shape:
        raise ValueError(f"joint_weights has shape {weights.shape}, joint_indices {indices.shape}")
    if indices.dtype.kind not in "iu":
        raise TypeError(f"joint_indices must hold integers, not {indices.dtype}")
    check_joints(indices, joint_count)
    return Influences(indices.astype(np.int32), weights.astype(dtype))
