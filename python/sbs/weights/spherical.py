# SPDX-License-Identifier: MIT
"""Weights for spherical blending, made from weights that were painted for linear blending.

Linear blending asks for narrow transitions between joints, because it makes limbs thinner wherever it blends. Spherical
blending keeps their radius, so its transitions may be as wide as the surface is smoothest by (docs/weights.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..rigging.bones import bone_radii, bone_segments
from ..rigging.skeleton import Skeleton
from ..rigging.triangle_mesh import Mesh
from ..skinning.influences import Influences, narrowed, tidy
from ._joints import Joints, choose_joints

__all__ = ["for_spherical", "widen"]

REACH = 0.5
"""How far weights spread, in radii of the limb: docs/weights.md compares others."""

LIMIT = 8
"""More influences than this make no difference that is measured; four cost half of the gain."""

LEAST_RADIUS = 1e-3
"""A radius of less than this share of the usual one counts as that, so that no length is 0."""


class _Weighted(Protocol):
    """Anything with weights, such as `sbs.Character`."""

    @property
    def mesh(self) -> Mesh: ...
    @property
    def skeleton(self) -> Skeleton: ...


def for_spherical(
    character: _Weighted,
    *,
    reach: float = REACH,
    limit: int = LIMIT,
    mask: ArrayLike | None = None,
    locked: Joints | None = None,
) -> Influences:
    """Weights for spherical blending, made from those of a character: `widen` with the bones of its skeleton.

    Each call widens again: give it the weights that were painted for linear blending, not its own result.

    Parameters
    ----------
    character : Character
    reach, limit, mask, locked
        As of `widen`; joints may be given by their names.

    Returns
    -------
    Influences
        (V, L), for `Character.with_weights`.

    Raises
    ------
    ValueError, TypeError, KeyError
        As `widen`.

    Examples
    --------
    >>> import sbs
    >>> woman = sbs.samples.load("woman")
    >>> softer = woman.with_weights(*for_spherical(woman))
    """
    mesh, skeleton = character.mesh, character.skeleton
    return widen(
        mesh.positions,
        mesh.triangles,
        mesh.joint_indices,
        mesh.joint_weights,
        *bone_segments(skeleton),
        reach=reach,
        limit=limit,
        mask=mask,
        locked=locked,
        names=skeleton.names,
    )


def widen(
    positions: ArrayLike,
    triangles: ArrayLike,
    joint_indices: ArrayLike,
    joint_weights: ArrayLike,
    heads: ArrayLike,
    tails: ArrayLike,
    *,
    reach: float = REACH,
    limit: int = LIMIT,
    mask: ArrayLike | None = None,
    locked: Joints | None = None,
    names: Sequence[str] | None = None,
) -> Influences:
    """Widen the transitions between joints, as it suits spherical blending.

    The weights of each joint spread over the surface as heat does, by `reach` times the radius of the limb: one
    implicit step (M / t - L) w = M / t w_given, with the cotangent Laplacian L, the areas M around vertices and t the
    square of the length. The size of triangles doesn't matter, nor where seams cut the mesh. The gain of a joint at a
    vertex is then less by 0.01, so that weights end somewhere, without a step. Each call widens again, also its own
    result.

    Hard parts stay hard. Nothing spreads over an edge between two vertices of one joint each, if these differ, nor
    between islands of the surface; a vertex around which nothing changes keeps its weights, bit for bit. Vertices at
    one point with equal weights keep equal weights.

    Parameters
    ----------
    positions : (V, 3) array_like
        Rest positions, in bind space.
    triangles : (T, 3) array_like of int
    joint_indices, joint_weights
        (V, K) array_like, as of `normalize`.
    heads, tails : (J, 3) array_like
        The bones, from `bone_segments`.
    reach : float
        At least 0, where all weights stay.
    limit : int
        The most influences per vertex of the result, at least 1; the lightest unlocked ones are dropped.
    mask : (V,) array_like, optional
        Factors of `reach` in [0, 1], the same for vertices at one point. Vertices with 0 keep their weights, as hard
        parts that are painted softly should.
    locked : (L,) array_like of int or str, or (J,) array_like of bool, optional
        Joints that keep their weights; the others share the rest of 1.
    names : sequence of J str, optional
        Of the joints, if `locked` has names.

    Returns
    -------
    Influences
        (V, L) with L up to `limit`; the weights of each vertex that changed sum to 1.

    Raises
    ------
    ValueError
        If shapes disagree, there are no vertices, a number is NaN or infinite, an index or option is out of its range,
        or more joints of a vertex are locked than `limit`.
    TypeError
        If an array holds neither real numbers nor, for indices, integers.
    KeyError
        If no joint has a name.

    Examples
    --------
    A strip whose halves follow two joints, with a bone of radius 1 above each; its middle follows both:

    >>> points = [[x, y, 0] for x in (-2, -1, 0, 1, 2) for y in (0, 1)]
    >>> faces = [[2 * i + a, 2 * i + b, 2 * i + c] for i in range(4) for a, b, c in ((0, 2, 1), (1, 2, 3))]
    >>> indices = [[0, 1]] * 10
    >>> weights = [[1, 0]] * 4 + [[0.5, 0.5]] * 2 + [[0, 1]] * 4
    >>> wide = widen(points, faces, indices, weights, [[-2, 0, 1], [0, 0, 1]], [[0, 0, 1], [2, 0, 1]])
    >>> wide.joint_weights[2:8:2].round(1).tolist()
    [[0.9, 0.1], [0.5, 0.5], [0.9, 0.1]]
    """
    if not (math.isfinite(reach) and reach >= 0):
        raise ValueError(f"reach must be a finite number of at least 0, not {reach}")
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    lengths = reach * _find_radii(positions, triangles, joint_indices, joint_weights, heads, tails)
    if mask is not None:
        factors = np.asarray(mask, np.float64)
        if factors.shape != lengths.shape:
            raise ValueError(f"mask has shape {factors.shape}, expected {lengths.shape}")
        if not ((factors >= 0) & (factors <= 1)).all():
            raise ValueError("mask must be in [0, 1]")
        lengths *= factors
    indices, weights = _core.diffuse_weights(
        joint_indices,
        joint_weights,
        positions,
        triangles,
        lengths,
        limit=limit,
        locked=choose_joints(locked, names),
    )
    return narrowed(indices, weights, int(np.count_nonzero(weights, axis=1).max(initial=0)))


def _find_radii(
    positions: ArrayLike,
    triangles: ArrayLike,
    joint_indices: ArrayLike,
    joint_weights: ArrayLike,
    heads: ArrayLike,
    tails: ArrayLike,
) -> NDArray[np.float64]:
    """The radius of the limb at each vertex (V,): the mean of those of its joints, of which small ones count most.

    The radius of a joint is the one around its bone; if no vertex follows the joint most, the median of the others.
    """
    points, starts, ends = (np.asarray(values, np.float64) for values in (positions, heads, tails))
    if starts.ndim != 2 or starts.shape[1] != 3 or starts.shape != ends.shape:
        raise ValueError(f"heads has shape {starts.shape} and tails {ends.shape}, expected (J, 3)")
    for name, bone_ends in (("heads", starts), ("tails", ends)):
        if not np.isfinite(bone_ends).all():
            raise ValueError(f"{name} must be finite")
    joints, weights = influences = tidy(joint_indices, joint_weights)
    if joints.max(initial=0) >= len(starts):
        raise ValueError(f"joint_indices has {joints.max()}, for {len(starts)} joints")
    if points.shape != (len(joints), 3):
        raise ValueError(f"positions has shape {points.shape}, expected ({len(joints)}, 3)")
    _core.islands(triangles, len(points))  # checks triangles
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that are not finite are refused later, by name
        radii = bone_radii(points, influences, starts, ends, np.asarray(triangles))
    usual = float(np.nanmedian(radii)) if np.isfinite(radii).any() else 0.0
    radii = np.maximum(np.where(np.isnan(radii), usual, radii), LEAST_RADIUS * usual)
    if usual == 0:
        return np.zeros(len(points))
    shares = (weights / radii[joints]).sum(axis=1)
    return np.where(shares > 0, 1 / np.where(shares > 0, shares, 1), 0.0)
