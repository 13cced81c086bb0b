# SPDX-License-Identifier: MIT
"""Joints and their matrices fitted to examples, for linear blending: in turns with the weights, from meshes alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..rigging import affine
from ..skinning.influences import Influences, InfluencesAndMore
from .fit import fit

__all__ = ["Decomposition", "decompose", "fit_matrices", "with_more_joints"]

Floats = NDArray[np.float64]

BATCHES = 4
"""Joints are added in so many parts, each where the error is largest when the ones before have settled."""

ROUNDS_BETWEEN = 2
"""How often weights and matrices take turns before more joints are added."""

SHARE = 4
"""A joint begins with this fraction of the vertices that would be its own if all had the same number."""

FEWEST = 8
"""Vertices that a joint begins with at least: three determine it, more keep it from noise."""

CANDIDATES = 32
"""Vertices of the largest errors around which the mean is taken, to find where a joint is worth most."""

SWEEPS = 10


class Decomposition(InfluencesAndMore):
    """Weights and matrices of linear blending, and how near they come to the examples.

    Attributes
    ----------
    joint_indices : (V, K) int32 ndarray
    joint_weights : (V, K) float64 ndarray
        As in `Influences`.
    skinning_matrices : (F, J, 4, 4) float64 ndarray
    errors : (V,) float64 ndarray
        The root of the mean square, over frames, of each vertex's distance from its examples.
    owners : (J,) int32 ndarray
        For an added joint the given one that its vertices followed most, -1 for a given joint, or where none was given.
    """

    skinning_matrices: Floats
    errors: Floats
    owners: NDArray[np.int32]


def fit_matrices(
    rest_positions: ArrayLike,
    posed: ArrayLike,
    skinning_matrices: ArrayLike,
    joint_indices: ArrayLike,
    joint_weights: ArrayLike,
    *,
    fixed: ArrayLike | None = None,
    sweeps: int = SWEEPS,
    threads: int | None = None,
) -> tuple[Floats, Floats]:
    """Fit the skinning matrices of linear blending to examples, while weights stay.

    Joint by joint, each gets the rotation and translation that are best as the others are (Le and Deng 2012). A joint
    keeps the scale of the matrix with which it begins.

    Parameters
    ----------
    rest_positions : (V, 3) array_like
    posed : (F, V, 3) array_like
        The examples.
    skinning_matrices : (F, J, 4, 4) or (F, J, 3, 4) array_like
        Where matrices begin.
    joint_indices, joint_weights : (V, K) array_like
        Weights that are NaN, infinite or negative are dropped.
    fixed : (J,) array_like of bool, optional
        Joints that stay as they are; so do joints without weight.
    sweeps : int
        The most turns over all joints, in each frame.
    threads : int, optional
        The most threads. The result does not depend on it, not even in a bit.

    Returns
    -------
    skinning_matrices : (F, J, 4, 4) ndarray of float64
    errors : (F,) ndarray of float64
        The root of the mean square, over vertices, of the distance from the examples of each frame.

    Raises
    ------
    ValueError
        If shapes disagree, an array is empty, a position or matrix is not finite or beyond 1e30, a weight is beyond it,
        or a joint is out of range.
    TypeError
        If an array holds neither real numbers nor, for indices, integers, nor, for `fixed`, flags.
    """
    found, errors = _core.fit_matrices(
        rest_positions,
        posed,
        skinning_matrices,
        joint_indices,
        joint_weights,
        fixed=fixed,
        sweeps=sweeps,
        threads=threads,
    )
    matrices = affine.from_linear(found[..., :3])
    matrices[..., :3, 3] = found[..., 3]
    return matrices, errors


def decompose(
    rest_positions: ArrayLike,
    posed: ArrayLike,
    joints: int,
    *,
    influences: int = 4,
    rounds: int = 10,
    progress: Callable[[float], object] | None = None,
    threads: int | None = None,
) -> Decomposition:
    """Find joints, their matrices and weights of linear blending from meshes alone.

    Weights and matrices take turns, each the best while the other stays, so that the error never grows (Le and Deng
    2012, as Dem Bones does). Joints come where the error is largest, until there are enough.

    Parameters
    ----------
    rest_positions : (V, 3) array_like
    posed : (F, V, 3) array_like
        The examples.
    joints : int
        J, at least 1.
    influences : int
        K, the most joints of a vertex.
    rounds : int
        How often weights and matrices take turns with all joints.
    progress : callable, optional
        Called now and then with the fraction of the work that is done. An exception that it raises ends the call.
    threads : int, optional
        The most threads. The result does not depend on it, not even in a bit.

    Returns
    -------
    Decomposition

    Raises
    ------
    ValueError
        If shapes disagree, an array is empty, a number is not finite or beyond 1e30, or a count is less
        than 1.
    TypeError
        If an array does not hold real numbers.
    """
    if joints < 1:
        raise ValueError(f"joints is {joints}; it must be at least 1")
    count = len(np.asarray(posed))
    one = np.tile(np.eye(4), (count, 1, 1, 1))
    return with_more_joints(
        rest_positions,
        posed,
        one,
        joints - 1,
        free=True,
        influences=influences,
        rounds=rounds,
        progress=progress,
        threads=threads,
    )


def with_more_joints(
    rest_positions: ArrayLike,
    posed: ArrayLike,
    skinning_matrices: ArrayLike,
    count: int,
    *,
    free: bool = False,
    influences: int = 4,
    allowed: ArrayLike | None = None,
    frame_scales: ArrayLike | None = None,
    rounds: int = 10,
    progress: Callable[[float], object] | None = None,
    threads: int | None = None,
) -> Decomposition:
    """Weights of linear blending for given joints and some more, which are found: where, and how they move.

    Parameters
    ----------
    rest_positions : (V, 3) array_like
    posed : (F, V, 3) array_like
        The examples.
    skinning_matrices : (F, J, 4, 4) or (F, J, 3, 4) array_like
        Of the given joints.
    count : int
        How many joints are added.
    free : bool
        Whether the matrices of given joints are only where these begin; else they are kept.
    influences : int
        K, the most joints of a vertex.
    allowed : (V, J) array_like of bool, optional
        Which of the given joints each vertex may use. It may use those added joints whose `owners` it may use.
    frame_scales : (F,) array_like, optional
        Distances in each frame count so many times, in the choice of weights and of where joints are added, and in
        `errors`. By default once.
    rounds : int
        How often weights and matrices take turns with all joints.
    progress : callable, optional
        Called now and then with the fraction of the work that is done. An exception that it raises ends the call.
    threads : int, optional
        The most threads. The result does not depend on it, not even in a bit.

    Returns
    -------
    Decomposition
        Added joints are behind the given ones.

    Raises
    ------
    ValueError, TypeError
        As `decompose`.
    """
    for name, number, least in (("count", count, 0), ("rounds", rounds, 1)):
        if number < least:
            raise ValueError(f"{name} is {number}; it must be at least {least}")
    rest, shown = np.asarray(rest_positions, np.float64), np.asarray(posed, np.float64)
    scales = np.ones(len(shown)) if frame_scales is None else np.asarray(frame_scales, np.float64)
    if scales.shape != (len(shown),):
        raise ValueError(f"frame_scales has shape {scales.shape}, expected ({len(shown)},)")
    fitting = _Fitting(rest, shown, np.asarray(skinning_matrices), allowed, scales, free, influences, threads)
    parts = [len(part) for part in np.array_split(np.arange(count), BATCHES) if len(part)]
    turns = [ROUNDS_BETWEEN] * len(parts) + [rounds]
    if not free:
        turns[0] = 1  # no matrix moves yet
    done = 0
    for part, repeated in zip([*parts, 0], turns, strict=True):
        for _ in range(repeated):
            fitting.take_turn()
            done += 1
            if progress is not None:
                progress(done / sum(turns))
        fitting.add(part, len(fitting.given) + count)
    return Decomposition(*fitting.influences, fitting.matrices, fitting.errors, fitting.owners)


class _Fitting:
    """Weights and matrices that take turns."""

    def __init__(
        self,
        rest: Floats,
        posed: Floats,
        matrices: NDArray[Any],
        allowed: ArrayLike | None,
        scales: Floats,
        free: bool,
        most: int,
        threads: int | None,
    ) -> None:
        self.rest, self.posed, self.scales = rest, posed, scales
        self.free, self.most, self.threads = free, most, threads
        nobody = Influences(np.zeros((len(rest), 1), np.int32), np.zeros((len(rest), 1)))
        self.matrices, _ = fit_matrices(rest, posed, matrices, *nobody, threads=threads)
        joints = self.matrices.shape[1]
        self.given = np.arange(joints)
        self.owners = np.full(joints, -1, np.int32)
        self.allowed = np.ones((len(rest), joints), bool) if allowed is None else np.array(allowed)
        self.influences = nobody
        self.errors = np.zeros(len(rest))

    def take_turn(self) -> None:
        """The matrices as the weights are, then the weights, with which it ends."""
        fixed = np.zeros(self.matrices.shape[1], bool)
        if not self.free:
            fixed[self.given] = True
        if self.influences.joint_weights.any() and not fixed.all():
            self.matrices, _ = fit_matrices(
                self.rest, self.posed, self.matrices, *self.influences, fixed=fixed, threads=self.threads
            )
        # A distance scales with both, because a frame is linear in its matrices.
        found = fit(
            self.rest,
            self.scales[:, None, None] * self.posed,
            self.scales[:, None, None, None] * self.matrices[:, :, :3],
            method="linear",
            influences=self.most,
            allowed=self.allowed,
            threads=self.threads,
        )
        self.influences, self.errors = Influences(*found), found.errors

    def add(self, count: int, total: int) -> None:
        """Add joints, each where the error is largest and apart from each other."""
        size = max(FEWEST, len(self.rest) // (SHARE * total))
        squares = np.square(self.errors)
        for _ in range(count):
            region = self._find_worst_region(squares, size)
            squares[region] = 0.0
            owner = self._find_owner(region)
            start = self.matrices[:, owner : owner + 1]
            alone = np.zeros((len(region), 1), np.int32), np.ones((len(region), 1))
            found, _ = fit_matrices(self.rest[region], self.posed[:, region], start, *alone, threads=self.threads)
            self.matrices = np.concatenate([self.matrices, found], axis=1)
            self.allowed = np.concatenate([self.allowed, self.allowed[:, owner : owner + 1]], axis=1)
            self.owners = np.append(self.owners, np.int32(owner))

    def _find_worst_region(self, squares: Floats, size: int) -> NDArray[np.intp]:
        """The vertices around one of those with the largest errors whose mean is the largest."""
        centers = np.argsort(-squares, kind="stable")[:CANDIDATES]
        regions = [
            np.argsort(np.square(self.rest - self.rest[center]).sum(axis=1), kind="stable")[:size] for center in centers
        ]
        return regions[int(np.argmax([squares[region].mean() for region in regions]))]

    def _find_owner(self, region: NDArray[np.intp]) -> int:
        """The given joint that a region follows most, also by joints that were added to it."""
        joints = self.influences.joint_indices[region]
        owners = np.where(self.owners[joints] < 0, joints, self.owners[joints])
        return int(np.argmax(np.bincount(owners.ravel(), self.influences.joint_weights[region].ravel())))
