# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the limbs of an armature by all the meshes that it moves."""

from __future__ import annotations

import bpy
import numpy as np

from ..core import library
from ..core.bendy_bones import joint_counts
from ..engine import reading
from ..interface import character
from ..settings.given import pose_of
from ..settings.limbs import BONE_TWIST, settings_of_pose_bone
from ..settings.properties import settings_of


def find(armature: bpy.types.Object) -> int:
    """Tick the limbs of an armature, and no other bones; return how many there are.

    Each bone gets the reason why it is one, or why not. Nothing happens if there is a hindrance.
    """
    if character.hindrance(armature):
        return 0
    found = _judge(armature)
    for bone in pose_of(armature).bones:
        about = settings_of_pose_bone(bone)
        about.is_limb, about.twist_reason = found.get(bone.name, (False, "it does not deform"))
        if getattr(bone, BONE_TWIST) != about.is_limb:
            setattr(bone, BONE_TWIST, about.is_limb)
    settings = settings_of(armature)
    settings.twist_found = True
    limbs = [number for number, bone in enumerate(pose_of(armature).bones) if settings_of_pose_bone(bone).is_limb]
    settings.twist_row = limbs[0] if limbs else 0
    return len(limbs)


def _judge(armature: bpy.types.Object) -> dict[str, tuple[bool, str]]:
    """Whether each bone that deforms is a limb, and why, by their names."""
    sbs = library.load()
    rig = reading.rig(armature, armature)
    deforming = np.flatnonzero(rig.deforms)
    if not len(deforming):
        return {}
    names = [rig.names[bone] for bone in deforming.tolist()]
    found = {bone.name: (bone.spread, bone.reason) for bone in sbs.twist_bones(character.from_rig(armature))}
    for bone, segments in zip(names, joint_counts(rig.segments[deforming]).tolist(), strict=True):
        if segments > 1 and found[bone][0]:
            found[bone] = False, "a bendy bone, whose segments spread the twist"
    return found
