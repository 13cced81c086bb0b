# SPDX-License-Identifier: MIT
"""Normalize, limit, prune and smooth.

Locked joints keep their weights, bit for bit. Normalizing, limiting or pruning again changes nothing. Vertices at one
point with equal weights keep equal weights: these tools treat equal rows equally, and `smooth` makes vertices at one
point equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from ..skinning.influences import Influences, heaviest
from ._joints import Joints, choose_joints

__all__ = ["limit", "normalize", "prune", "smooth"]


def normalize(
    joint_indices: ArrayLike,
    joint_weights: ArrayLike,
    *,
    locked: Joints | None = None,
    names: Sequence[str] | None = None,
) -> Influences:
    """Scale weights so that those of a vertex sum to 1.

    Parameters
    ----------
    joint_indices : (V, K) array_like of int
    joint_weights : (V, K) array_like
        In any order; float32 or float64, which is also the type of the result. All tools drop weights that are NaN,
        infinite or negative, as `Skin` does.
    locked : (L,) array_like of int or str, or (J,) array_like of bool, optional
        Joints that keep their weights. The others share the rest of 1, or get 0 if nothing is left.
    names : sequence of J str, optional
        Of the joints, such as `Skeleton.names`, if `locked` has names.

    Returns
    -------
    Influences
        (V, K). A vertex without weights, or whose joints are all locked, keeps its sum. So does one whose sum is 1
        apart from rounding.

    Raises
    ------
    ValueError
        If shapes disagree, there are no vertices, or a joint index is negative.
    TypeError
        If an array holds neither real numbers nor, for indices, integers.
    KeyError
        If no joint has a name.

    Examples
    --------
    >>> normalize([[0, 1, 2]], [[0.5, 0.5, 1.0]], locked=[0]).joint_weights
    array([[0.5       , 0.33333333, 0.16666667]])
    """
    indices, weights, _ = _core.clean_weights(joint_indices, joint_weights, locked=choose_joints(locked, names))
    return Influences(indices, weights)


def limit(
    joint_indices: ArrayLike,
    joint_weights: ArrayLike,
    count: int,
    *,
    locked: Joints | None = None,
    names: Sequence[str] | None = None,
    normalize: bool = True,
) -> Influences:
    """Keep the heaviest influences of each vertex.

    Parameters
    ----------
    joint_indices, joint_weights, locked, names
        As in `normalize`.
    count : int
        The most influences per vertex, at least 1. Locked joints are kept first, even if there are more.
    normalize : bool
        Whether to normalize, as `normalize` does; if not, weights that are kept do not change.

    Returns
    -------
    Influences
        As wide as `count`, or as the given ones if those are narrower; wider only if more joints are locked.

    Raises
    ------
    ValueError, TypeError, KeyError
        As `normalize`, and if `count` is less than 1.

    Examples
    --------
    >>> limit([[0, 1, 2]], [[0.5, 0.3, 0.2]], 2)
    Influences(joint_indices=array([[0, 1]], dtype=int32), joint_weights=array([[0.625, 0.375]]))
    """
    return heaviest(joint_indices, joint_weights, count, locked=choose_joints(locked, names), normalize=normalize)


def prune(
    joint_indices: ArrayLike,
    joint_weights: ArrayLike,
    threshold: float = 0.01,
    *,
    locked: Joints | None = None,
    names: Sequence[str] | None = None,
    normalize: bool = True,
) -> Influences:
    """Drop small weights.

    Parameters
    ----------
    joint_indices, joint_weights, locked, names
        As in `normalize`.
    threshold : float
        Weights below it are dropped, but never the heaviest of a vertex; in [0, 1].
    normalize : bool
        Whether to normalize before and afterwards; then `threshold` is a share of the vertex's sum.

    Returns
    -------
    Influences
        (V, K).

    Raises
    ------
    ValueError, TypeError, KeyError
        As `normalize`, and if `threshold` is outside of [0, 1].

    Examples
    --------
    >>> prune([[0, 1, 2]], [[0.75, 0.24, 0.01]], 0.05, normalize=False).joint_weights
    array([[0.75, 0.24, 0.  ]])
    """
    indices, weights, _ = _core.clean_weights(
        joint_indices, joint_weights, threshold=threshold, locked=choose_joints(locked, names), normalize=normalize
    )
    return Influences(indices, weights)


def smooth(
    positions: ArrayLike,
    triangles: ArrayLike,
    joint_indices: ArrayLike,
    joint_weights: ArrayLike,
    *,
    iterations: int = 1,
    strength: float = 0.5,
    limit: int | None = None,
    mask: ArrayLike | None = None,
    locked: Joints | None = None,
    names: Sequence[str] | None = None,
    normalize: bool = True,
) -> Influences:
    """Smooth weights over the surface: move each towards the mean of its neighbors along edges, all at once.

    Vertices at one point get equal weights; if they differed before, the weights of the lowest vertex are used. A
    weight that is the same everywhere stays so, bit for bit.

    Parameters
    ----------
    positions : (V, 3) array_like
        Only to find the vertices at one point.
    triangles : (T, 3) array_like of int
    joint_indices, joint_weights, locked, names
        As in `normalize`.
    iterations : int
        How many times, at least 1.
    strength : float
        How far to move each time; 1 is up to the mean.
    limit : int, optional
        Influences per vertex of the result; if there are more, the lightest unlocked ones are dropped. By default as
        many as given.
    mask : (V,) array_like, optional
        Factors of the strength in [0, 1], or bool; vertices with 0 keep their weights.
    normalize : bool
        Whether to normalize the smoothed weights.

    Returns
    -------
    Influences
        (V, limit).

    Raises
    ------
    ValueError, TypeError, KeyError
        As `normalize`, and if an option is out of its range, a position NaN or infinite, a corner of a triangle out of
        range, or more joints of a vertex are locked than `limit`.

    Examples
    --------
    One corner of a triangle has another joint; after a step of full strength it has the joint of its neighbors:

    >>> smooth(np.eye(3), [[0, 1, 2]], [[0], [0], [1]], [[1.0], [1.0], [1.0]], strength=1, limit=2).joint_indices
    array([[0, 1],
           [0, 1],
           [0, 0]], dtype=int32)
    """
    if np.asarray(triangles).dtype.kind == "f" and np.size(triangles):
        kind = np.asarray(triangles).dtype
        order = "positions, triangles, joint_indices, joint_weights"
        raise TypeError(f"triangles must hold integers, not {kind}: the order is {order}")
    indices, weights = _core.smooth_weights(
        joint_indices,
        joint_weights,
        positions,
        triangles,
        iterations=iterations,
        strength=strength,
        limit=limit,
        mask=mask,
        locked=choose_joints(locked, names),
        normalize=normalize,
    )
    return Influences(indices, weights)
