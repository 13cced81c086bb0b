# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the zones of bones over the 3D view: a ring where each begins, and one where it ends."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..capsules.settings import capsule_settings_of
from ..interface import drawing
from ..settings.given import pose_of
from ..settings.typed import armature_data
from . import zones as bone_zones

START_COLOR = (0.25, 0.85, 0.45)
END_COLOR = (0.95, 0.35, 0.8)


def ring(matrix: Matrix, place: float, radius: float) -> NDArray[np.float32]:
    """Line segments (N, 2, 3) of a circle around the y axis of a matrix, at a place along it."""
    frame = np.array(matrix, np.float64)[:3]
    return drawing.circles(frame[:, 3] + place * frame[:, 1], radius * frame[:, 0], radius * frame[:, 2])


def _draw() -> None:
    context = bpy.context
    armature = drawing.posed_armature(context)
    if armature is None or not capsule_settings_of(armature_data(armature)).show_zones:
        return
    import gpu

    active = context.active_pose_bone
    gpu.state.blend_set("ALPHA")
    with drawing.transformed(armature.matrix_world):
        for bone in pose_of(armature).bones:
            zone = None if bone.bone.hide else bone_zones.find(bone)
            if zone is None:
                continue
            radius = 1.1 * zone.radius or 0.25 * bone.bone.length
            opacity = 1.0 if bone == active else 0.4
            start, end = bone_zones.ends(bone)
            drawing.draw_lines(ring(start, zone.t_min, radius), (*START_COLOR, opacity))
            drawing.draw_lines(ring(end, zone.t_max, radius), (*END_COLOR, opacity))
    gpu.state.blend_set("NONE")


_overlay = drawing.Overlay(_draw)
register, unregister = _overlay.register, _overlay.unregister
