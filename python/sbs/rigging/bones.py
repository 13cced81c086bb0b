# SPDX-License-Identifier: MIT
"""Bones: the segments that the joints of a skeleton move. Files give only where they begin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..skinning.influences import Influences
from ..support.quantiles import weighted_quantiles
from ..support.vectors import unit
from .skeleton import Skeleton

__all__ = ["bone_radii", "bone_segments"]


def bone_segments(skeleton: Skeleton) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The bone of each joint in the bind pose: the segment that it moves.

    A bone goes from its joint to the child. With several children it goes to their mean, each weighted by how many
    joints are below it, itself included, so that an upper arm ends at the elbow and not halfway to a twist joint. If
    there is no child, or all of them or their mean are at the joint's own place, the bone continues the step from the
    parent to the joint, in the same direction and as long.

    Parameters
    ----------
    skeleton : Skeleton

    Returns
    -------
    heads, tails : (J, 3) float64 ndarray
        In bind space. Equal for a joint that gets no direction from parent or children.

    Examples
    --------
    >>> import numpy as np
    >>> import sbs
    >>> bind = np.tile(np.eye(4), (3, 1, 1))
    >>> bind[:, 0, 3] = [0.0, 2.0, 3.0]
    >>> heads, tails = bone_segments(sbs.Skeleton([-1, 0, 1], bind))
    >>> tails[:, 0]
    array([2., 3., 4.])
    """
    heads = np.array(skeleton.joint_positions)
    return heads, _core.bone_tails(skeleton.parents, heads)


def bone_radii(
    positions: NDArray[np.float64],
    influences: Influences,
    heads: NDArray[np.float64],
    tails: NDArray[np.float64],
    triangles: NDArray[np.integer] | None = None,
) -> NDArray[np.float64]:
    """The radius of the limb around each bone (J,): the median distance from its line of vertices that follow it most.

    With triangles, vertices count by the area around them, so that doubled ones along a seam count once. NaN where
    there are none. Influences have the heaviest joint first, as from `tidy`.
    """
    around: NDArray[np.float64] = np.zeros(len(positions))
    if triangles is not None:
        a, b, c = positions[triangles.T]
        doubled_areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        around = np.bincount(triangles.reshape(-1), np.repeat(doubled_areas, 3), len(positions)).astype(np.float64)
    heaviest = np.where(influences.joint_weights[:, 0] > 0, influences.joint_indices[:, 0], -1)
    axes = unit(tails - heads)
    offsets = positions - heads[heaviest]
    along = np.einsum("vx,vx->v", offsets, axes[heaviest])
    away = np.linalg.norm(offsets - along[:, None] * axes[heaviest], axis=1)
    radii = np.full(len(heads), np.nan)
    for joint in np.unique(heaviest[heaviest >= 0]):
        mine = heaviest == joint
        if around[mine].any():
            (radii[joint],) = weighted_quantiles(away[mine], around[mine], (0.5,))
        else:
            radii[joint] = np.median(away[mine])
    return radii
