# SPDX-License-Identifier: GPL-3.0-or-later
"""The zone of a bone, its own or by the radius of the limb, and where it is in the pose."""

from __future__ import annotations

from typing import NamedTuple

import bpy
from mathutils import Matrix

from ..core.blended import BlendedBinding
from ..engine.live import registry, states
from ..settings.given import pose_of
from ..settings.properties import settings_of, settings_of_bone
from ..settings.typed import armature_data, owner_of


class Zone(NamedTuple):
    """Where a bone is blended with its parent."""

    #: Along the bone, from its head
    t_min: float
    t_max: float
    radius: float  #: The largest distance of its vertices from the bone; 0 if there are none


def find(bone: bpy.types.PoseBone) -> Zone | None:
    """The zone of a bone; None if no mesh blends it with its parent."""
    armature = owner_of(bone)
    place = pose_of(armature).bones.find(bone.name)
    for item in registry.bound_objects():
        state = states.state_of(item)
        binding = state and state.binding
        if settings_of(item).armature != armature or not isinstance(binding, BlendedBinding):
            continue
        if place < len(binding.rig.names) and binding.rig.names[place] == bone.name:
            found = binding.zone_of(place)
            if found is not None:
                own = settings_of_bone(bone.bone)
                # A zone that was just set may not be in any binding yet.
                t_min, t_max = (own.t_min, own.t_max) if own.own_zone else found
                return Zone(t_min, t_max, binding.zone_radius(place))
    return None


def adopt(bone: bpy.types.PoseBone, zone: Zone) -> None:
    """Turn a zone that the limb determines into the bone's own, with the same ends."""
    settings = settings_of_bone(bone.bone)
    if not settings.own_zone:
        settings.t_min = zone.t_min
        settings.t_max = zone.t_max
        settings.own_zone = True


def ends(bone: bpy.types.PoseBone) -> tuple[Matrix, Matrix]:
    """The matrices from the space of a bone at rest to that of the posed armature, at both ends of its zone.

    At the start vertices follow the nearest ancestor that deforms, at the end only the bone.
    """
    at_rest = armature_data(owner_of(bone)).pose_position == "REST"
    own = bone.bone.matrix_local if at_rest else bone.matrix
    parent = next((other for other in bone.parent_recursive if other.bone.use_deform), None)
    if at_rest or parent is None:
        return own, own
    return parent.matrix @ parent.bone.matrix_local.inverted_safe() @ bone.bone.matrix_local, own
