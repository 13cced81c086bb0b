# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw both capsules of each bone over the 3D view."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..interface import drawing
from ..settings.given import pose_of
from ..settings.typed import armature_data
from . import bones as bone_capsules
from .settings import capsule_settings_of

_INNER_COLOR = (1.0, 0.55, 0.1, 0.9)
_OUTER_COLOR = (0.2, 0.6, 1.0, 0.6)


def outlines(heads: NDArray[np.float64], tails: NDArray[np.float64], radii: NDArray[np.float64]) -> NDArray[np.float32]:
    """Lines (L, 2, 3) that show capsules: circles around both ends, and the outline in two planes.

    Heads and tails are (J, 3), radii at both (J, 2).
    """
    along = tails - heads
    lengths = np.linalg.norm(along, axis=1, keepdims=True)
    along = np.where(lengths > 0.0, along / np.maximum(lengths, 1e-12), (0.0, 0.0, 1.0))
    # Any direction other than the bone's: the coordinate axis that is farthest from it.
    helper = np.eye(3)[np.abs(along).argmin(axis=1)]
    right = np.cross(along, helper)
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    forward = np.cross(along, right)

    lines: list[NDArray[np.floating[Any]]] = []
    for centers, radius, direction in ((heads, radii[:, :1], -along), (tails, radii[:, 1:], along)):
        lines.append(drawing.circles(centers, radius * right, radius * forward))
        for side in (right, forward):
            lines.append(drawing.circles(centers, radius * side, radius * direction, np.pi))
    for side in (right, -right, forward, -forward):
        ends = np.stack([heads + side * radii[:, :1], tails + side * radii[:, 1:]], axis=1)
        lines.append(ends[:, None])
    return np.concatenate(lines, axis=1).reshape(-1, 2, 3).astype(np.float32)


def _draw() -> None:
    armature = drawing.posed_armature(bpy.context)
    if armature is None or not capsule_settings_of(armature_data(armature)).show_capsules:
        return
    import gpu

    pose_bones = [bone for bone in pose_of(armature).bones if bone.bone.use_deform and not bone.bone.hide]
    if not pose_bones:
        return
    capsules = bone_capsules.read([bone.bone for bone in pose_bones])
    posed = armature_data(armature).pose_position == "POSE"
    heads = np.array([bone.head if posed else bone.bone.head_local for bone in pose_bones], np.float64)
    tails = np.array([bone.tail if posed else bone.bone.tail_local for bone in pose_bones], np.float64)

    gpu.state.blend_set("ALPHA")
    with drawing.transformed(armature.matrix_world):
        for radii, color in ((capsules.inner_radii, _INNER_COLOR), (capsules.outer_radii, _OUTER_COLOR)):
            drawing.draw_lines(outlines(heads, tails, radii), color)
    gpu.state.blend_set("NONE")


_overlay = drawing.Overlay(_draw)
register, unregister = _overlay.register, _overlay.unregister
