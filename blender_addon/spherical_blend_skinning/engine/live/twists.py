# SPDX-License-Identifier: GPL-3.0-or-later
"""Twists that are spread along limbs: which bones the artist chose, and how twists continue from frame to frame."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.binding import Binding
from ...core.matrices import Floats
from ...core.twist import Spread
from ...settings import rig as rig_settings
from ...settings.given import pose_of
from ...settings.limbs import BONE_TWIST
from ...settings.properties import SBS_PG_object

#: The frames of a limb if its twist may exceed half a turn: neighbors are apart by half a turn in a twist by 3.5 turns.
FRAMES_TO_FOLLOW = 8


def read(settings: SBS_PG_object, armature: bpy.types.Object, known: Spread | None, is_current: bool) -> Spread | None:
    """How twists are spread on a mesh of these settings; None if they are not.

    `known` is returned if nothing has changed; `is_current` tells that the vertex groups of the mesh have not.
    """
    if not settings.spread_twist:
        return None
    ticked = np.empty(len(pose_of(armature).bones), np.bool_)
    pose_of(armature).bones.foreach_get(BONE_TWIST, ticked)
    options: dict[str, object] = {"smooth": settings.twist_profile == "SMOOTH"}
    if settings.twist_follow:
        options["frames"] = FRAMES_TO_FOLLOW
    if known is not None and is_current and known.options == options and np.array_equal(known.ticked, ticked):
        return known
    groups = {group.name for item in rig_settings.meshes_of(armature) for group in item.vertex_groups}
    weighted = np.array([bone.name in groups for bone in pose_of(armature).bones], np.bool_)
    spread = Spread(ticked, weighted, options)
    return known if spread.same_as(known) else spread


class History:
    """The twists of an object's limbs in the frame before, from which those of a frame continue.

    Edits of the pose in a frame always continue from the frame before, not from one another, so that clearing a pose
    clears whole turns, too.
    """

    def __init__(self) -> None:
        self._frame: float | None = None
        self._limbs: tuple[int, ...] = ()
        self._before: Floats | None = None
        self._now: Floats | None = None

    def twists(self, binding: Binding, matrices: Floats, frame: float, stride: float) -> NDArray[np.float64]:
        """The twists (L, 2) in a frame; if it is more than `stride` away from the last one, without history."""
        limbs = tuple(limb.bone for limb in binding.limbs)
        if limbs != self._limbs or self._frame is None or abs(frame - self._frame) > stride + 1e-6:
            self._before = None
        elif frame != self._frame:
            self._before = self._now
        self._frame, self._limbs = frame, limbs
        self._now = binding.twists(matrices, self._before)
        return self._now

    def forget(self) -> None:
        """Let the next frame be the first one."""
        self._frame = None


#: How many frames baking goes forward at once, which is no jump then.
stride = 1.0


def stride_of(scene: bpy.types.Scene) -> float:
    """How far apart two frames are at most of which one continues the other."""
    return max(stride, float(scene.frame_step))
