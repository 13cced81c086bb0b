# SPDX-License-Identifier: MIT
"""Bones: the segments between the joints of a skeleton, which files of joints don't tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..skeleton import Skeleton

__all__ = ["bone_segments"]

COINCIDENT = 1e-6
"""Joints nearer to each other than this share of the skeleton's size have no bone between them."""


def bone_segments(skeleton: Skeleton) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The bone of each joint in the bind pose: the segment that it moves.

    A bone goes from its joint to its child; of several children to their mean, each counted with all joints that hang
    on it, so that an upper arm ends at the elbow and not halfway to a twist joint. Where there is no child, or all are
    at the same place, the bone goes on in the direction of its parent's, and is as long as that was up to the joint.

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
    parents, children = skeleton.parents, np.flatnonzero(skeleton.parents >= 0)
    steps = np.zeros_like(heads)  # from the parent
    steps[children] = heads[children] - heads[parents[children]]
    lengths = np.linalg.norm(steps, axis=1)
    apart = lengths > COINCIDENT * np.linalg.norm(np.ptp(heads, axis=0))

    counts = np.ones(len(heads))  # of the joints that hang on each, itself included
    sums, shares = np.zeros_like(heads), np.zeros(len(heads))
    for joint in skeleton.order[::-1]:
        parent = parents[joint]
        if parent >= 0:
            counts[parent] += counts[joint]
            if apart[joint]:
                sums[parent] += counts[joint] * steps[joint]
                shares[parent] += counts[joint]
    bones = sums / np.where(shares > 0, shares, 1)[:, None]
    for joint in skeleton.order:
        if not shares[joint]:
            bones[joint] = steps[joint] if apart[joint] else _onward(bones, parents[joint])
    return heads, heads + bones


def _onward(bones: NDArray[np.float64], parent: int) -> NDArray[np.float64]:
    """The bone of a joint at the place of its parent: the same again."""
    return bones[parent] if parent >= 0 else np.zeros(3)
