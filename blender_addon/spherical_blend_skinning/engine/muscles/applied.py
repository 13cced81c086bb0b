# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles and zones follow when all bones of a rig are stretched alike, as by Apply Scale.

Blender does not scale lengths that only we know, and moves the children of bones as if these had only turned. So we
store the bones at rest and the places of handles, and compare. Each is stored in the data-block that it describes, so
that undo restores both together: bones with the muscles on the armature object and with the zones on the armature, and
the place of a handle on the handle.
"""

from __future__ import annotations

from typing import cast

import bpy
import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ...core.matrices import Floats, stretch
from ...settings.properties import settings_of, settings_of_bone
from ...settings.typed import armature_data, has_key
from . import muscle_list

# On a handle: its place in the space of its bone at rest.
_PLACE = "sbs_place"
# With the settings of an armature object with muscles, and of an armature with zones: all bones at rest. There, and not
# beside them, exporters do not take it for a property of the artist's.
_RESTS = "rests"


def follow(armature: bpy.types.Object) -> None:
    """Stretch the muscles and zones of an armature object as its bones were since the last call."""
    if armature.library is None:
        _follow_by_muscles(armature)
    if armature_data(armature).library is None:
        _follow_by_zones(armature_data(armature))


def place_in_bone(handle: bpy.types.Object, length: float) -> Floats:
    """Where the child of a bone of that length is at rest, in the space of the bone; children move with its tail."""
    place = np.array(handle.matrix_parent_inverse @ handle.matrix_basis.translation, np.float64)
    place[1] += length
    return place


def _rests(data: bpy.types.Armature) -> Floats:
    """The axes, heads and tails of bones at rest, (B, 5, 3)."""
    columns = np.empty((len(data.bones), 4, 4), np.float32)
    tails = np.empty((len(data.bones), 3), np.float32)
    data.bones.foreach_get("matrix_local", columns.reshape(-1))
    data.bones.foreach_get("tail_local", tails.reshape(-1))
    return np.concatenate([columns[:, :, :3], tails[:, None]], axis=1).astype(np.float64)


def _stretched(before: Floats, now: Floats) -> Floats | None:
    """How all bones were stretched, (4, 4); None if they were not, or not all alike."""
    if before.shape != now.shape or not len(now):
        return None
    turn = now[0, :3].T @ before[0, :3]
    return stretch(before[:, 3:].reshape(-1, 3), now[:, 3:].reshape(-1, 3), turn)


def _follow_by_muscles(armature: bpy.types.Object) -> None:
    data = armature_data(armature)
    handles: dict[bpy.types.Object, int] = {}
    for handle in muscle_list.present_handles(armature):
        bone = data.bones.find(handle.parent_bone)
        if not handle.library and handle.parent == armature and handle.parent_type == "BONE" and bone >= 0:
            handles[handle] = bone
    if not handles:
        _keep(settings_of(armature), _RESTS, np.empty(0))
        return
    before, now = _kept(settings_of(armature), _RESTS).reshape(-1, 5, 3), _rests(data)
    stretched = _stretched(before, now)
    if stretched is not None:
        for handle, bone in handles.items():
            place = _kept(handle, _PLACE)
            if len(place):
                point = stretched[:3, :3] @ (place @ before[bone, :3] + before[bone, 3]) + stretched[:3, 3]
                _put(handle, now[bone, :3] @ (point - now[bone, 3]), data.bones[bone].length)
        _scale_muscles(armature, float(np.cbrt(abs(np.linalg.det(stretched)))))
    for handle, bone in handles.items():
        _keep(handle, _PLACE, place_in_bone(handle, data.bones[bone].length))
    _keep(settings_of(armature), _RESTS, now)


def _put(handle: bpy.types.Object, place: Floats, length: float) -> None:
    """Move a handle to a place at rest in the space of its bone."""
    x, y, z = place.tolist()
    basis = handle.matrix_basis.copy()
    basis.translation = handle.matrix_parent_inverse.inverted_safe() @ Vector((x, y - length, z))
    handle.matrix_basis = basis


def _scale_muscles(armature: bpy.types.Object, factor: float) -> None:
    for muscle in settings_of(armature).muscles:
        muscle.radius *= factor
        muscle.reach *= factor
        belly: bpy.types.Object | None = muscle.belly
        if belly is not None and belly.parent == armature and belly.library is None:
            # Its vertices are in the space of the armature.
            belly.matrix_parent_inverse = Matrix()
            belly.matrix_basis = Matrix()


def _follow_by_zones(data: bpy.types.Armature) -> None:
    zones = {row: settings for row, bone in enumerate(data.bones) if (settings := settings_of_bone(bone)).own_zone}
    if not zones:
        _keep(_armature_settings(data), _RESTS, np.empty(0))
        return
    before, now = _kept(_armature_settings(data), _RESTS).reshape(-1, 5, 3), _rests(data)
    if _stretched(before, now) is not None:
        factors = np.linalg.norm(now[:, 4] - now[:, 3], axis=1) / np.linalg.norm(before[:, 4] - before[:, 3], axis=1)
        for row, zone in zones.items():
            start, end = float(factors[row]) * zone.t_min, float(factors[row]) * zone.t_max
            # The end is never before the start.
            zone.t_max = max(end, zone.t_max)
            zone.t_min, zone.t_max = start, end
    _keep(_armature_settings(data), _RESTS, now)


def _armature_settings(data: bpy.types.Armature) -> bpy.types.PropertyGroup:
    """Our settings of an armature."""
    return cast("bpy.types.PropertyGroup", data.sbs)  # type: ignore[attr-defined]  # is added when we are registered


def _kept(owner: bpy.types.ID | bpy.types.PropertyGroup, key: str) -> NDArray[np.float64]:
    return np.array(owner[key] if has_key(owner, key) else (), np.float64)


def _keep(owner: bpy.types.ID | bpy.types.PropertyGroup, key: str, values: Floats) -> None:
    if not np.array_equal(_kept(owner, key), values.ravel()):
        owner[key] = values.ravel().tolist()
