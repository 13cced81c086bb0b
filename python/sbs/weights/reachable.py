# SPDX-License-Identifier: MIT
"""Where weights can take a vertex: the space of deformations (of linear ones: Mohr, Tokheim and Gleicher 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..skinning.options import DAMPING, Center, Method, method_name, refuse_idle
from ..skinning.skin import Skin
from ..support.rotations import quaternions_from_matrices

__all__ = ["Reachable", "reachable"]


@dataclass(frozen=True)
class Reachable:
    """Points that a vertex can be taken to by weights of some joints.

    Attributes
    ----------
    points : (N, 3) float64 ndarray
        One for two joints and each step: a curve. For three, a curved patch with that many points along each side.
    weights : (N, J) float64 ndarray
        The weights that take the vertex to each point.
    edges : (E, 2) int32 ndarray
        The curve, in pairs of points; of a patch, its border.
    triangles : (T, 3) int32 ndarray
        The patch; none of a curve. It is in pieces where it is cut.
    """

    points: NDArray[np.float64]
    weights: NDArray[np.float64]
    edges: NDArray[np.int32]
    triangles: NDArray[np.int32]


def reachable(
    position: ArrayLike,
    skinning_matrices: ArrayLike,
    *,
    method: Method = "spherical",
    center: Center = "weighted",
    rotation_center: ArrayLike | None = None,
    damping: float = DAMPING,
    steps: int = 24,
) -> Reachable:
    """Find where weights of two or three joints can take a vertex in a pose.

    By linear blending that is a segment or a triangle; spherical skinning bends it to an arc or a curved patch. Three
    joints that are turned far against each other, such as by 130 degrees and again by 130, have no signs of their
    quaternions that suit all pairs. The signs are then relative to the heaviest joint, and the vertex jumps where
    another joint becomes the heaviest. No weights take it to the places between, so the patch is cut there, into three
    pieces.

    Parameters
    ----------
    position : (3,) array_like
        The vertex at rest.
    skinning_matrices : (J, 4, 4) or (J, 3, 4) array_like
        Of those joints alone, in the pose: J is 2 or 3.
    method : {"spherical", "linear", "dual_quaternion"}, or "SBS", "LBS", "DQS"
    center : {"weighted", "joint_set", "optimized"}
        Of spherical skinning. About the center of a joint set the vertex is alone in its set; where a weight is 0 that
        is another one, so the border of a patch may be apart from its inside.
    rotation_center : (3,) array_like, optional
        The vertex's own, for ``center="optimized"``.
    damping : float
        Of rotation centers; see `Skin.deform`.
    steps : int
        Into how many parts a side is divided.

    Returns
    -------
    Reachable

    Raises
    ------
    ValueError
        If there are not two or three joints, a shape is wrong, a number is not finite, or an option has no effect.
    TypeError
        If an array does not hold real numbers.

    Examples
    --------
    Two joints, one of which turns by 90 degrees: the vertex stays as far from their common axis.

    >>> import numpy as np
    >>> import sbs
    >>> turns = sbs.rotations.matrices_from_axis_angle([1, 0, 0], [0, 90], degrees=True)
    >>> matrices = np.concatenate([turns, np.zeros((2, 3, 1))], axis=2)
    >>> arc = sbs.weights.reachable([0.0, 1.0, 0.0], matrices, steps=2)
    >>> np.linalg.norm(arc.points, axis=1).round(6)
    array([1., 1., 1.])
    """
    matrices = np.asarray(skinning_matrices)
    if matrices.ndim != 3 or len(matrices) not in (2, 3):
        raise ValueError(f"skinning_matrices has shape {matrices.shape}, expected that of two or three joints")
    place = np.asarray(position, np.float64)
    if place.shape != (3,):
        raise ValueError(f"position has shape {place.shape}, expected (3,)")
    if steps < 1:
        raise ValueError(f"steps must be at least 1, not {steps}")
    spherical = method_name(method) == "spherical"
    if not spherical and center != "weighted":
        raise ValueError(f"center has no effect on method={method!r}, but on 'spherical' alone")
    if (rotation_center is None) != (not spherical or center != "optimized"):
        raise ValueError("rotation_center is for spherical skinning with center='optimized', which needs it")
    refuse_idle(method, {"damping": damping, **({"center": center} if spherical else {})})
    weights, edges, triangles = _make_simplex(len(matrices), steps)
    count = len(weights)
    centers = None
    if rotation_center is not None:
        own = np.asarray(rotation_center, np.float64)
        if own.shape != (3,):
            raise ValueError(f"rotation_center has shape {own.shape}, expected (3,)")
        centers = np.tile(own, (count, 1))
    skin = Skin.quietly(
        np.tile(place, (count, 1)),
        np.tile(np.arange(len(matrices), dtype=np.int32), (count, 1)),
        weights,
        joint_count=len(matrices),
        centers=centers,
    )
    if spherical:
        points = skin.deform(matrices, method=method, center=center, damping=damping)
    else:
        points = skin.deform(matrices, method=method)
    if len(matrices) == 3 and method_name(method) != "linear" and not _have_common_signs(matrices[:, :3, :3]):
        heaviest = weights.argmax(axis=1)[triangles]
        triangles = triangles[(heaviest == heaviest[:, :1]).all(axis=1)]
        edges = _find_border(triangles)
    return Reachable(points, weights, edges, triangles)


def _have_common_signs(matrices: NDArray[np.floating[Any]]) -> bool:
    """Whether the quaternions of three matrices (3, 3, 3) can have signs by which each is near both others."""
    left, _, right = np.linalg.svd(matrices)
    left[:, :, 2] *= np.sign(np.linalg.det(left @ right))[:, None]
    quaternions = quaternions_from_matrices(left @ right)
    cosines = quaternions @ quaternions.T
    return bool((np.sign(cosines[[0, 1, 2], [1, 2, 0]]).prod()) >= 0)


def _find_border(triangles: NDArray[np.int32]) -> NDArray[np.int32]:
    """The edges (E, 2) that one triangle has alone, in its direction."""
    edges = np.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])
    several: NDArray[np.bool_] = (edges[:, None, ::-1] == edges[None]).all(axis=2).any(axis=1)
    return np.asarray(edges[~several])


def _make_simplex(joints: int, steps: int) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
    """Weights (N, J) in even steps, the border (E, 2) and the triangles (T, 3) between them."""
    if joints == 2:
        share = np.arange(steps + 1) / steps
        line = np.arange(steps, dtype=np.int32)
        return np.stack([1 - share, share], axis=1), np.stack([line, line + 1], axis=1), np.zeros((0, 3), np.int32)
    first, second = (axis.ravel() for axis in np.meshgrid(*[np.arange(steps + 1)] * 2, indexing="ij"))
    inside = first + second <= steps
    first, second = first[inside], second[inside]
    number = np.full((steps + 2, steps + 2), -1, np.int32)
    number[first, second] = np.arange(len(first))
    weights = np.stack([steps - first - second, first, second], axis=1) / steps
    upward = np.stack([number[first, second], number[first + 1, second], number[first, second + 1]], axis=1)
    downward = np.stack([number[first + 1, second], number[first + 1, second + 1], number[first, second + 1]], axis=1)
    triangles = np.concatenate([upward, downward])
    side = np.arange(steps + 1)
    rims = [number[side, 0], number[side[::-1], side], number[0, side[::-1]]]
    edges = np.concatenate([np.stack([rim[:-1], rim[1:]], axis=1) for rim in rims])
    return weights, edges, triangles[(triangles >= 0).all(axis=1)]
