# SPDX-License-Identifier: MIT
"""Defects and statistics of weights."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..skinning.influences import check_joints

__all__ = ["WeightCheck", "WeightStatistics", "check", "statistics"]

Numbers = NDArray[np.intp]

SEAM_TOLERANCE = 1e-4
"""Weights of vertices at one point are equal if they differ by no more: files round to float32 or to 16 bits."""


@dataclass(frozen=True, eq=False)
class WeightCheck:
    """Defects, as the numbers of vertices (ascending), of islands or of joints. All are empty if there are none.

    Attributes
    ----------
    nan, infinite, negative : (N,) ndarray
        Vertices with such a weight.
    bad_joints : (N,) ndarray
        Vertices with a joint index that is out of range.
    duplicates : (N,) ndarray
        Vertices with two weights above 0 of one joint.
    off_sum : (N,) ndarray
        Vertices with weights whose sum is not 1.
    too_many : (N,) ndarray
        Vertices with more influences than allowed.
    unweighted : (N,) ndarray
        Vertices without any weight above 0.
    unweighted_islands : tuple of (N,) ndarray
        The vertices of each island of the surface that has no weight at all.
    unequal_seams : (N,) ndarray
        Vertices with other weights than another one at the same point.
    joints_without_weight : (N,) ndarray
        Joints. Not a defect: a skeleton may have joints that move nothing.
    """

    nan: Numbers
    infinite: Numbers
    negative: Numbers
    bad_joints: Numbers
    duplicates: Numbers
    off_sum: Numbers
    too_many: Numbers
    unweighted: Numbers
    unweighted_islands: tuple[Numbers, ...]
    unequal_seams: Numbers
    joints_without_weight: Numbers

    @property
    def ok(self) -> bool:
        """Whether there are no defects; joints without weight are allowed."""
        return not self.defects()

    def defects(self) -> dict[str, int]:
        """How many vertices or islands have each defect, by the names of the attributes; only those that occur."""
        names = [field.name for field in fields(self) if field.name != "joints_without_weight"]
        return {name: len(getattr(self, name)) for name in names if len(getattr(self, name))}

    def __str__(self) -> str:
        counts = [f"{name.replace('_', ' ')}: {count}" for name, count in self.defects().items()]
        return ", ".join(counts) or "nothing wrong"


def check(
    joint_indices: ArrayLike,
    joint_weights: ArrayLike,
    joint_count: int,
    *,
    positions: ArrayLike | None = None,
    triangles: ArrayLike | None = None,
    max_influences: int | None = None,
    sum_tolerance: float = 1e-3,
) -> WeightCheck:
    """Look for defects of weights. Nothing is changed, and no defect is an error.

    Parameters
    ----------
    joint_indices : (V, K) array_like of int
    joint_weights : (V, K) array_like
    joint_count : int
        J.
    positions : (V, 3) array_like, optional
        For seams, and to weld islands.
    triangles : (T, 3) array_like of int, optional
        For islands.
    max_influences : int, optional
        The most that the program accepts that the weights are for, often 4 or 8. By default any number.
    sum_tolerance : float
        How far a sum may be from 1; by default as for `sbs.Skin`.

    Returns
    -------
    WeightCheck

    Raises
    ------
    ValueError
        If shapes disagree, a position is NaN or infinite, or a vertex index is out of range.
    TypeError
        If an array has a wrong type.
    """
    indices, weights = _check_pair(joint_indices, joint_weights)
    usable = np.isfinite(weights) & (weights > 0)
    in_range = (indices >= 0) & (indices < joint_count)
    sums, counts = np.where(usable, weights, 0).sum(axis=1), usable.sum(axis=1)
    lowest = None
    if positions is not None:
        lowest = _core.weld(positions)
        if len(lowest) != len(indices):
            raise ValueError(f"positions has shape {np.shape(positions)}, joint_indices {indices.shape}")
    no_vertices = np.empty(0, np.intp)
    return WeightCheck(
        nan=np.flatnonzero(np.isnan(weights).any(axis=1)),
        infinite=np.flatnonzero(np.isinf(weights).any(axis=1)),
        negative=np.flatnonzero((weights < 0).any(axis=1)),
        bad_joints=np.flatnonzero((~in_range).any(axis=1)),
        duplicates=np.flatnonzero(_has_duplicates(indices, usable)),
        off_sum=np.flatnonzero((counts > 0) & ~(np.abs(sums - 1) <= sum_tolerance)),
        too_many=no_vertices if max_influences is None else np.flatnonzero(counts > max_influences),
        unweighted=np.flatnonzero(counts == 0),
        unweighted_islands=() if triangles is None else _find_unweighted_islands(triangles, lowest, counts),
        unequal_seams=no_vertices
        if lowest is None
        else _find_unequal_seams(indices, np.where(usable, weights, 0), lowest),
        joints_without_weight=np.setdiff1d(np.arange(joint_count), indices[usable & in_range]),
    )


def _check_pair(joint_indices: ArrayLike, joint_weights: ArrayLike) -> tuple[Numbers, NDArray[np.float64]]:
    indices, weights = np.asarray(joint_indices), np.asarray(joint_weights)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"joint_indices must hold integers, not {indices.dtype}")
    if weights.dtype.kind not in "fiu":
        raise TypeError(f"joint_weights must hold real numbers, not {weights.dtype}")
    if indices.ndim != 2 or indices.shape != weights.shape:
        raise ValueError(
            f"joint_indices has shape {indices.shape}, joint_weights {weights.shape}; expected (V, K) twice"
        )
    return indices.astype(np.intp), weights.astype(np.float64)


def _has_duplicates(indices: Numbers, usable: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows (V,) have one joint twice, both times with a weight."""
    different = -1 - np.arange(indices.shape[1])
    joints = np.sort(np.where(usable, indices, different), axis=1)
    return np.asarray((joints[:, 1:] == joints[:, :-1]).any(axis=1))


def _find_unweighted_islands(
    triangles: ArrayLike, lowest: NDArray[np.int32] | None, counts: Numbers
) -> tuple[Numbers, ...]:
    if not len(counts):
        return ()
    faces = np.asarray(triangles)
    islands = _core.islands(faces, len(counts))
    if lowest is not None:
        islands = _core.islands(lowest[faces], len(counts))[lowest]
    weighted = np.bincount(islands, counts) > 0
    vertices = np.flatnonzero(~weighted[islands])
    order = vertices[np.argsort(islands[vertices], kind="stable")]
    _, starts = np.unique(islands[order], return_index=True)
    return tuple(np.split(order, starts)[1:])


def _find_unequal_seams(indices: Numbers, weights: NDArray[np.float64], lowest: NDArray[np.int32]) -> Numbers:
    """Vertices (N,) with other weights than another vertex at the same point."""
    others = np.flatnonzero(lowest != np.arange(len(lowest)))
    pairs = [indices[others], indices[lowest[others]]]
    shares = [weights[others], -weights[lowest[others]]]
    joints, differences = np.concatenate(pairs, axis=1), np.concatenate(shares, axis=1)
    order = np.argsort(joints, axis=1, kind="stable")
    joints, differences = np.take_along_axis(joints, order, axis=1), np.take_along_axis(differences, order, axis=1)
    starts = np.ones(joints.shape, bool)
    starts[:, 1:] = joints[:, 1:] != joints[:, :-1]
    if not starts.size:
        return others[:0]
    sums = np.add.reduceat(differences.ravel(), np.flatnonzero(starts))
    unequal = others[np.unique(np.nonzero(starts)[0][np.abs(sums) > SEAM_TOLERANCE])]
    return np.union1d(unequal, lowest[unequal])


@dataclass(frozen=True, eq=False)
class WeightStatistics:
    """Statistics of weights. Only finite weights above 0 count.

    Attributes
    ----------
    vertices_by_influences : (M + 1,) ndarray
        How many vertices have 0, 1, 2, ... M influences, M being the most.
    mean_influences : float
    vertices_by_joint : (J,) ndarray
        How many vertices each joint moves.
    weight_by_joint : (J,) ndarray
        The sum of a joint's weights.
    smallest, largest : float
        Weights; NaN if there is none.
    """

    vertices_by_influences: Numbers
    mean_influences: float
    vertices_by_joint: Numbers
    weight_by_joint: NDArray[np.float64]
    smallest: float
    largest: float

    @property
    def max_influences(self) -> int:
        """M, the most influences of a vertex."""
        return len(self.vertices_by_influences) - 1


def statistics(joint_indices: ArrayLike, joint_weights: ArrayLike, joint_count: int) -> WeightStatistics:
    """Count influences, by vertex and by joint.

    Parameters
    ----------
    joint_indices : (V, K) array_like of int
    joint_weights : (V, K) array_like
    joint_count : int
        J.

    Returns
    -------
    WeightStatistics

    Raises
    ------
    ValueError
        If shapes disagree or a joint index is out of range.
    TypeError
        If an array has a wrong type.
    """
    indices, weights = _check_pair(joint_indices, joint_weights)
    check_joints(indices, joint_count)
    usable = np.isfinite(weights) & (weights > 0)
    counts, given = usable.sum(axis=1), weights[usable]
    return WeightStatistics(
        vertices_by_influences=np.bincount(counts, minlength=1),
        mean_influences=float(counts.mean()) if len(counts) else 0.0,
        vertices_by_joint=np.bincount(indices[usable], minlength=joint_count),
        weight_by_joint=np.bincount(indices[usable], given, joint_count).astype(np.float64),
        smallest=float(given.min()) if len(given) else np.nan,
        largest=float(given.max()) if len(given) else np.nan,
    )
