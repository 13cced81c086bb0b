# SPDX-License-Identifier: MIT
"""Rotation centers that are found once, from the rest pose.

Le, B. H. and Hodgins, J. K. 2016. Real-time Skeletal Skinning with Optimized Centers of Rotation. ACM Transactions on
Graphics 35(4).
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..support.callers import warn
from ..support.signatures import with_keywords
from . import centers_files
from .twist import Twist

__all__ = ["CenterOptions", "CenterWarning", "optimized_centers", "with_center_options"]

_Method = TypeVar("_Method", bound=Callable[..., object])


class CenterWarning(UserWarning):
    """Some vertices have no optimized center of rotation."""


class CenterOptions(TypedDict, total=False):
    """The options of `optimized_centers`."""

    sigma: float
    refinement: float
    tolerance: float
    progress: Callable[[float], object] | None
    threads: int | None
    cache: str | os.PathLike[str] | None


def optimized_centers(
    rest_positions: ArrayLike,
    triangles: ArrayLike,
    joint_indices: ArrayLike,
    joint_weights: ArrayLike,
    *,
    twist: Twist | None = None,
    twist_positions: ArrayLike | None = None,
    sigma: float = 0.1,
    refinement: float = 0.1,
    tolerance: float = 1e-2,
    progress: Callable[[float], object] | None = None,
    threads: int | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> NDArray[np.float64]:
    """Optimized centers of rotation (Le and Hodgins 2016), for ``center="optimized"``.

    The center of a vertex is the weighted mean of the surface. Each point of it counts by how similar its influences
    are to those of the vertex::

        s(w, w') = sum over pairs of joints j, k of  w_j w_k w'_j w'_k exp(-(w_j w'_k - w_k w'_j)^2 / sigma^2)

    It depends on the vertex by its influences alone: where they are equal, as along seams, so are the centers, to the
    last bit.

    A vertex that one joint moves, or none, has its rest position as center: any gives the same. So has a vertex of
    several influences if the surface has no two of them anywhere, which then moves as by linear blending; a
    `CenterWarning` counts such vertices.

    Parameters
    ----------
    rest_positions : (V, 3) array_like
    triangles : (T, 3) array_like of int
        At least one. Degenerate ones do not count.
    joint_indices : (V, K) array_like of int
    joint_weights : (V, K) array_like
        In any order; normalized to a sum of 1, and bad ones repaired, as `Skin` does.
    twist, twist_positions : optional
        As of the `Skin` that the centers are for. With a twist, centers serve best with ``sigma=1.0``.
    sigma : float
        How much weights may differ and yet be similar; at least 1e-6.
    refinement : float
        Triangles are split until weights differ by at most this along their edges; at least 0.01. With infinity they
        are not split. On the characters that were tried, the default moves centers by less than 4e-3 of the size of the
        mesh beside 0.01, and vertices in their clips by less than 2e-4.
    tolerance : float
        The largest error of the exponential, whose largest value is 1. Places of nearly equal weights are merged, so
        that time grows with the number of vertices and not with its square. With 0, none are merged. On the characters
        that were tried, the default moves centers by less than 2e-5 of the size of the mesh.
    progress : callable, optional
        Called now and then with how much is done, from 0 to 1. An exception that it raises ends the computation.
    threads : int, optional
        The most threads. The result does not depend on it, not even in a bit.
    cache : str or path-like, optional
        A file that keeps the centers. If it has those of exactly these arguments, they are read; else they are computed
        and written to it.

    Returns
    -------
    (V, 3) float64 ndarray
        In the space of the rest positions.

    Raises
    ------
    ValueError
        If shapes disagree, an array is empty, an index is out of range, a position is NaN or infinite, an option is out
        of its range, or `cache` is a file of another kind, which is not overwritten.
    TypeError
        If an array holds neither real numbers nor, for indices, integers.
    OSError
        If the cache can't be read or written.

    Warns
    -----
    CenterWarning
        If no part of the surface is similar to some of the vertices.

    Examples
    --------
    A square tube along x, with weights that go over from its first joint to its second: centers lie on its axis.

    >>> import numpy as np
    >>> x, side = np.meshgrid(np.linspace(0, 1, 9), [0, 1, 2, 3], indexing="ij")
    >>> tube = np.stack([x, np.cos(side * np.pi / 2), np.sin(side * np.pi / 2)], axis=-1).reshape(-1, 3)
    >>> ring = [[i, (i + 1) % 4, (i + 1) % 4 + 4] for i in range(4)] + [[i, (i + 1) % 4 + 4, i + 4] for i in range(4)]
    >>> triangles = np.concatenate([np.array(ring) + 4 * segment for segment in range(8)])
    >>> weights = np.stack([1 - tube[:, 0], tube[:, 0]], axis=1)
    >>> centers = optimized_centers(tube, triangles, np.tile([0, 1], (36, 1)), weights)
    >>> bool(np.abs(centers[4:-4, 1:]).max() < 1e-12)
    True
    """
    key = None
    if cache is not None:
        key = centers_files.key_of(
            rest_positions,
            triangles,
            joint_indices,
            joint_weights,
            (sigma, refinement, tolerance) if twist is None else (sigma, refinement, tolerance, twist._key()),
            twist_positions,
        )
        kept = centers_files.read(cache, key, np.size(rest_positions) // 3)
        if kept is not None:
            return kept
    centers, (_, dissimilar, _) = _core.optimized_centers(
        rest_positions,
        triangles,
        joint_indices,
        joint_weights,
        twist=None if twist is None else twist._core,
        twist_positions=twist_positions,
        sigma=sigma,
        refinement=refinement,
        tolerance=tolerance,
        progress=progress,
        threads=threads,
    )
    if dissimilar:
        message = f"{dissimilar} of {len(centers)} vertices are like no part of the surface: linear blending moves them"
        warn(message, CenterWarning)
    if cache is not None and key is not None:
        centers_files.write(cache, key, centers)
    return centers


def with_center_options(**defaults: Any) -> Callable[[_Method], _Method]:
    """Let help show `CenterOptions`, some with other defaults, as those of a function with `**options`."""
    return with_keywords(
        each.replace(default=defaults.get(each.name, each.default))
        for each in inspect.signature(optimized_centers).parameters.values()
        if each.name in CenterOptions.__annotations__
    )
