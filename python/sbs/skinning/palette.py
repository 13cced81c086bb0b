# SPDX-License-Identifier: MIT
"""Skins and their poses as shaders take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .influences import InfluencesAndMore

__all__ = ["BoundInfluences", "Palette"]


class BoundInfluences(InfluencesAndMore):
    """The influences that a skin blends, in float32.

    Attributes
    ----------
    joint_indices : (V, W) int32 ndarray
        By decreasing weight, ties by joint; padded with the heaviest. With a twist the frames of its bones follow the J
        joints of the skeleton.
    joint_weights : (V, W) float32 ndarray
        Padded with weight 0.
    lost : float
        The largest sum of weights that a vertex lost, as there was no room for all of its joints.
    """

    lost: float


class Palette(NamedTuple):
    """Poses as shaders take them, in float32; `Skin.pose_palette` makes it.

    Attributes
    ----------
    joints : (F, J', 4, 4) float32 ndarray
        Of each joint, and then of each frame of a twist, the three rows of its skinning matrix, and its quaternion
        (x, y, z, w) times the root of its scale.
    centers : (F, N, 4) float32 ndarray or None
        The rotation centers of joint sets, and 0.
    scaled_joints, stretched_joints : int
        Joints, over all frames, that are not rigid: that are scaled by one factor, and all others. What a shader makes
        of them may differ from `Skin.deform`; ``sbs_pose_palette`` of ``sbs/sbs.h`` says when.
    """

    joints: NDArray[np.float32]
    centers: NDArray[np.float32] | None
    scaled_joints: int
    stretched_joints: int
