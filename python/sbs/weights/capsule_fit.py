# SPDX-License-Identifier: MIT
"""Capsules that fit a mesh around a skeleton, as a start."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..rigging.bones import bone_segments
from ..rigging.skeleton import Skeleton
from .capsules import Capsules, capsule_weights

__all__ = ["fit_capsules"]

Floats = NDArray[np.float64]

# The least vertices for a radius. If there are fewer at one end of a bone, all vertices of the bone are used.
_ENOUGH = 8


def fit_capsules(
    skeleton: Skeleton,
    points: ArrayLike,
    *,
    percentile: float = 75.0,
    inner: float = 0.5,
    outer: float = 1.5,
    enabled: ArrayLike | None = None,
) -> Capsules:
    """Capsules around the bones of a skeleton, as wide as the mesh around each.

    Bones are from `bone_segments`. Every vertex counts for the bone that is nearest to it, and there for the nearer
    end. The radii at an end are a percentile of the distances of its vertices, times `inner` and `outer`.

    Parameters
    ----------
    skeleton : Skeleton
    points : (V, 3) array_like
        Rest positions of the mesh, in bind space.
    percentile : float
        Between 0 and 100: which of the distances is used.
    inner, outer : float
        Radii as shares of that distance, 0 <= inner <= outer. The farther apart, the softer the joints.
    enabled : (J,) array_like of bool, optional
        The joints that get weight. By default all that are nearest to some vertex; the capsules of the others are
        disabled, and as wide as the capsules of their parents.

    Returns
    -------
    Capsules
        With the names of the joints.

    Raises
    ------
    ValueError
        If points have the wrong shape, are empty or not finite, a number is out of its range, or no joint is
        enabled.
    TypeError
        If points are not real numbers, or `enabled` is not bool.

    Examples
    --------
    A tube of radius 0.1 around two bones along x:

    >>> import numpy as np
    >>> import sbs
    >>> bind = np.tile(np.eye(4), (2, 1, 1))
    >>> bind[1, 0, 3] = 1.0
    >>> skeleton = sbs.Skeleton([-1, 0], bind)
    >>> x, angle = np.meshgrid(np.linspace(0, 2, 41), np.linspace(0, 2 * np.pi, 16))
    >>> tube = np.stack([x, 0.1 * np.cos(angle), 0.1 * np.sin(angle)], axis=-1).reshape(-1, 3)
    >>> capsules = fit_capsules(skeleton, tube)
    >>> capsules.inner_radii.round(6), capsules.outer_radii.round(6)
    (array([[0.05, 0.05],
           [0.05, 0.05]]), array([[0.15, 0.15],
           [0.15, 0.15]]))
    """
    if not 0.0 <= percentile <= 100.0:
        raise ValueError(f"percentile must be between 0 and 100, not {percentile}")
    if not 0.0 <= inner <= outer < np.inf:
        raise ValueError(f"inner and outer must be finite, with 0 <= inner <= outer, not {inner} and {outer}")
    heads, tails = bone_segments(skeleton)
    none = np.zeros((len(heads), 2))
    nearest = capsule_weights(points, Capsules(heads, tails, none, none, enabled=enabled), limit=1)
    bones = nearest.joint_indices[:, 0]
    distances, places = _measure_distances(np.asarray(points, np.float64), heads[bones], tails[bones])
    widths = _measure_widths(skeleton, bones, distances, places, percentile)
    used = np.bincount(bones, minlength=len(heads)) > 0
    chosen = used if enabled is None else enabled
    return Capsules(heads, tails, inner * widths, outer * widths, enabled=chosen, names=skeleton.names)


def _measure_distances(points: Floats, heads: Floats, tails: Floats) -> tuple[Floats, Floats]:
    """The distance of each point to its segment, and the nearest place on it: 0 head, 1 tail."""
    axes = tails - heads
    squares = np.einsum("ij,ij->i", axes, axes)
    along = np.einsum("ij,ij->i", points - heads, axes)
    places = np.clip(along / np.where(squares > 0, squares, 1), 0, 1)
    return np.linalg.norm(points - heads - places[:, None] * axes, axis=1), places


def _measure_widths(
    skeleton: Skeleton, bones: NDArray[np.int32], distances: Floats, places: Floats, percentile: float
) -> Floats:
    """The distance (J, 2) of the surface at the head and at the tail of each bone."""
    widths = np.zeros((len(skeleton), 2))
    by_bone = np.argsort(bones, kind="stable")
    ends = np.cumsum(np.bincount(bones, minlength=len(skeleton)))
    typical = float(np.percentile(distances, percentile))
    for joint in skeleton.order:
        own = by_bone[ends[joint - 1] if joint else 0 : ends[joint]]
        if not len(own):
            parent = skeleton.parents[joint]
            widths[joint] = widths[parent, 1] if parent >= 0 else typical
            continue
        for end in (0, 1):
            near = own[(places[own] > 0.5) == bool(end)]
            widths[joint, end] = np.percentile(distances[near if len(near) >= _ENOUGH else own], percentile)
    return widths
