# SPDX-License-Identifier: GPL-3.0-or-later
"""The envelopes of bones as capsules.

The radii of a bone at head and tail are those of its inner capsule; plus its envelope distance, those of the outer one.
A connected bone has at its head the radius of its parent's tail, as Blender draws it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ..settings.choices import AS_OTHERS
from ..settings.properties import settings_of_bone


class BoneCapsules(NamedTuple):
    """The capsules of J bones, in the space of their armature."""

    #: (J, 3)
    heads: NDArray[np.float64]
    tails: NDArray[np.float64]
    #: (J, 2): at head and tail
    inner_radii: NDArray[np.float64]
    outer_radii: NDArray[np.float64]
    multipliers: NDArray[np.float64]  #: (J,): the envelope weight of each bone
    #: (J,): how the weight of each falls, in the library's words; None for the common fall-off
    falloffs: NDArray[np.object_]

    def select(self, chosen: list[int]) -> BoneCapsules:
        """Capsules of some bones, in order."""
        return BoneCapsules._make(part[chosen] for part in self)


def head_radius(bone: bpy.types.Bone | bpy.types.EditBone) -> float:
    """The radius of the inner capsule at the head."""
    parent = bone.parent
    return parent.tail_radius if parent is not None and bone.use_connect else bone.head_radius


def read(bones: Sequence[bpy.types.Bone | bpy.types.EditBone]) -> BoneCapsules:
    """The capsules of bones at rest, or of edit bones."""
    inner = np.array([(head_radius(bone), bone.tail_radius) for bone in bones], np.float64).reshape(-1, 2)
    distances = np.array([bone.envelope_distance for bone in bones], np.float64)
    return BoneCapsules(
        heads=np.array([_ends(bone)[0] for bone in bones], np.float64).reshape(-1, 3),
        tails=np.array([_ends(bone)[1] for bone in bones], np.float64).reshape(-1, 3),
        inner_radii=inner,
        outer_radii=inner + distances[:, None],
        multipliers=np.array([bone.envelope_weight for bone in bones], np.float64),
        falloffs=np.array([_falloff(bone) for bone in bones], object),
    )


def _falloff(bone: bpy.types.Bone | bpy.types.EditBone) -> str | None:
    """How the weight of a bone falls; None for the common fall-off."""
    # An edit bone has our properties from the bone that it was; a new one has none.
    kept = bone if isinstance(bone, bpy.types.Bone) else cast("bpy.types.Armature", bone.id_data).bones.get(bone.name)
    chosen = settings_of_bone(kept).capsule_falloff if kept is not None else AS_OTHERS
    return None if chosen == AS_OTHERS else chosen.lower()


def _ends(bone: bpy.types.Bone | bpy.types.EditBone) -> tuple[Vector, Vector]:
    """Head and tail in the space of the armature."""
    return (bone.head_local, bone.tail_local) if isinstance(bone, bpy.types.Bone) else (bone.head, bone.tail)


def write(bones: Sequence[bpy.types.Bone], inner_radii: NDArray[np.float64], outer_radii: NDArray[np.float64]) -> None:
    """Give bones the radii (J, 2) of capsules at head and tail.

    A bone has one envelope distance for both ends: the larger one, so that the outer capsule covers at least as much.
    """
    distances = (outer_radii - inner_radii).max(axis=1)
    for bone, (head, tail), distance in zip(bones, inner_radii.tolist(), distances.tolist(), strict=True):
        bone.head_radius = head
        bone.tail_radius = tail
        bone.envelope_distance = distance
    for bone in bones:
        # Otherwise Edit Mode would give this radius to the parent when the bone is first changed.
        bone.head_radius = head_radius(bone)
