# SPDX-License-Identifier: MIT
"""The curvature of a surface: the angles between its triangles."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core

__all__ = ["curvature"]


def curvature(
    positions: ArrayLike, triangles: ArrayLike, *, rest_positions: ArrayLike | None = None
) -> NDArray[np.float64]:
    """The curvature of each triangle: the largest angle between its normal and that of a neighbor.

    The curvature of a mesh relative to a joint is the largest of those of the triangles connected to it::

        sbs.mesh.curvature(deformed, triangles, rest_positions=rest)[connected].max()

    Neighbors share an edge. Edges are matched by position, so that neighbors across seams count as well. Triangles at
    an edge of three or more are not neighbors there. Triangles whose area is within rounding have no normal and are
    skipped.

    Parameters
    ----------
    positions : (V, 3) or (F, V, 3) array_like
        Deformed positions, of one frame or of several.
    triangles : (T, 3) array_like of int
    rest_positions : (V, 3) array_like, optional
        Positions that show which vertices belong together along seams. By default `positions`, of the first frame.

    Returns
    -------
    (T,) or (F, T) float64 ndarray
        Radians, from 0 to pi.

    Raises
    ------
    ValueError, TypeError
        If a shape is wrong, a number is NaN or infinite, or an index out of range.

    Examples
    --------
    A square that is folded by 90 degrees along its diagonal, and a triangle beside it:

    >>> points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.5, 0.5**0.5], [9, 9, 0]]
    >>> np.degrees(curvature(points, [[0, 1, 2], [1, 3, 2], [0, 4, 0]])).round(6)
    array([90., 90.,  0.])
    """
    points = np.asarray(positions)
    if points.ndim not in (2, 3) or not points.shape[0]:
        raise ValueError(f"positions has shape {points.shape}, expected (V, 3) or (F, V, 3) with at least one frame")
    frames = points if points.ndim == 3 else points[None]
    representatives = _core.weld(frames[0] if rest_positions is None else rest_positions)
    result = np.stack([_core.curvature(frame, triangles, representatives) for frame in frames])
    return result if points.ndim == 3 else np.asarray(result[0])
