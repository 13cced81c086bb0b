# SPDX-License-Identifier: GPL-3.0-or-later
"""The zone of a bone: what it says itself, or what goes by the limb; and where that is in the pose."""

from __future__ import annotations

from typing import NamedTuple

import bpy
from mathutils import Matrix

from ..core.blended import BlendedBinding
from ..engine import live, registry
from ..settings.typed import armature_data, owner_of, settings_of, settings_of_bone

__all__ = ["Zone", "adopt", "ends", "find"]


class Zone(NamedTuple):
    """Where a bone is blended with its parent.

    Attributes
    ----------
    t_min, t_max : float
        Along the bone, from its head.
    radius : float
        How far from the bone vertices are there, the farthest; 0 if there are none.
    """

    t_min: float
    t_max: float
    radius: float


def find(bone: bpy.types.PoseBone) -> Zone | None:
    """The zone of a bone; None if no mesh blends it with its parent."""
    armature = owner_of(bone)
    place = armature.pose.bones.find(bone.name)
    for item in registry.bound_objects():
        state = live.state_of(item)
        binding = state and state.binding
        if settings_of(item).armature != armature or not isinstance(binding, BlendedBinding):
            continue
        if place < len(binding.rig.names) and binding.rig.names[place] == bone.name:
            found = binding.zone_of(place)
            if found is not None:
                own = settings_of_bone(bone.bone)
                # What was set a moment ago, no mesh may have been bound by yet.
                t_min, t_max = (own.t_min, own.t_max) if own.own_zone else found
                return Zone(t_min, t_max, binding.zone_radius(place))
    return None


def adopt(bone: bpy.types.PoseBone, zone: Zone) -> None:
    """Make a zone that goes by the limb the bone's own, as it is."""
    settings = settings_of_bone(bone.bone)
    if not settings.own_zone:
        settings.t_min = zone.t_min
        settings.t_max = zone.t_max
        settings.own_zone = True


def ends(bone: bpy.types.PoseBone) -> tuple[Matrix, Matrix]:
    """What leads from the space of a bone at rest to that of the posed armature, at the start of its zone and its end.

    At the start vertices follow the next ancestor that deforms, at the end the bone alone.
    """
    at_rest = armature_data(owner_of(bone)).pose_position == "REST"
    own = bone.bone.matrix_local if at_rest else bone.matrix
    parent = next((other for other in bone.parent_recursive if other.bone.use_deform), None)
    if at_rest or parent is None:
        return own, own
    return parent.matrix @ parent.bone.matrix_local.inverted_safe() @ bone.bone.matrix_local, own
