# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows a rig whose bones have all become longer by one factor, as by Apply Scale: muscles, and zones of bones.

Blender knows no lengths of ours, and moves children of bones as if these had not changed. So handles keep where they
were at rest, and armatures with zones how long their bones were: each in the data-block that it is about, so that undo
brings back both together.
"""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ..core.matrices import Floats
from ..settings.muscles import PARTS
from ..settings.typed import armature_data, has_key, settings_of, settings_of_bone
from . import deleted_muscles

__all__ = ["follow", "place_in_bone"]

# On a handle: the length of its bone, and its place in the space of that bone at rest.
_PLACE = "sbs_place"
# On an armature with zones: the lengths of all bones.
_LENGTHS = "sbs_lengths"
# What float32 lengths may differ by from one another, as a share, after they were multiplied by one factor.
_TOLERANCE = 1e-5


def follow(armature: bpy.types.Object) -> None:
    """Scale muscles and zones of an armature object as far as its bones have been, and remember how they are now."""
    if armature.library is None:
        _follow_by_muscles(armature)
    if armature_data(armature).library is None:
        _follow_by_zones(armature_data(armature))


def place_in_bone(handle: bpy.types.Object, length: float) -> Floats:
    """Where the child of a bone of that length is at rest, in the space of the bone; children move with its tail."""
    place = np.array(handle.matrix_parent_inverse @ handle.matrix_basis.translation, np.float64)
    place[1] += length
    return place


def _factor(before: Floats, now: Floats) -> float:
    """By what all lengths (N,) were multiplied; 1 if by different factors."""
    if before.shape != now.shape or not len(now) or not (before.min() > 0.0 and now.min() > 0.0):
        return 1.0
    ratios = now / before
    factor = float(np.median(ratios))
    is_one = np.ptp(ratios) <= _TOLERANCE * factor and abs(factor - 1.0) > _TOLERANCE
    return factor if is_one else 1.0


def _follow_by_muscles(armature: bpy.types.Object) -> None:
    lengths: dict[bpy.types.Object, float] = {}
    for row in deleted_muscles.present_rows(armature):
        for part in PARTS:
            handle = deleted_muscles.part_of(armature, row, part)
            if handle is None or handle.library or handle.parent != armature or handle.parent_type != "BONE":
                continue
            bone = armature_data(armature).bones.get(handle.parent_bone)
            if bone is not None:
                lengths[handle] = bone.length
    kept = {handle: _kept(handle, _PLACE) for handle in lengths}
    if all(map(len, kept.values())):
        before = np.array([place[0] for place in kept.values()])
        factor = _factor(before, np.array(list(lengths.values())))
        if factor != 1.0:
            for handle, place in kept.items():
                _put(handle, factor * place[1:], lengths[handle])
            _scale_muscles(armature, factor)
    for handle, length in lengths.items():
        _keep(handle, _PLACE, [length, *place_in_bone(handle, length).tolist()])


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
    zones = [settings for bone in data.bones if (settings := settings_of_bone(bone)).own_zone]
    if not zones:
        data.pop(_LENGTHS, None)
        return
    lengths = np.array([bone.length for bone in data.bones])
    factor = _factor(_kept(data, _LENGTHS), lengths)
    if factor != 1.0:
        for zone in zones:
            start, end = factor * zone.t_min, factor * zone.t_max
            # The end is never before the start.
            zone.t_max = max(end, zone.t_max)
            zone.t_min, zone.t_max = start, end
    _keep(data, _LENGTHS, lengths.tolist())


def _kept(block: bpy.types.ID, key: str) -> NDArray[np.float64]:
    return np.array(block[key] if has_key(block, key) else (), np.float64)


def _keep(block: bpy.types.ID, key: str, values: list[float]) -> None:
    if not np.array_equal(_kept(block, key), np.array(values)):
        block[key] = values
