# SPDX-License-Identifier: MIT
"""Bones: the segments between the joints of a skeleton, which files of joints don't tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..skeleton import Skeleton

__all__ = ["bone_segments"]


def bone_segments(skeleton: Skeleton) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The bone of each joint in the bind pose: the segment that it moves.

    A bone goes from its joint to its child; of several children to their mean, each counted with all joints that hang
    on it, so that an upper arm ends at the elbow and not halfway to a twist joint. Where there is no child, or all or
    their mean are at the joint's own place, the bone goes on in the direction of its parent's, and is as long as that
    was up to the joint.

    Parameters
    ----------
    skeleton : Skeleton

    Returns
    -------
    heads, tails : (J, 3) float64 ndarray
        In bind space. Equal for a joint that neither parent nor child gives a direction.

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
