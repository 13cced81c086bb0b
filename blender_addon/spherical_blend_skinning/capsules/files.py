# SPDX-License-Identifier: GPL-3.0-or-later
"""Export and import capsules of bones as JSON files."""

from __future__ import annotations

import bpy
import numpy as np

from ..core import library
from ..settings.choices import AS_OTHERS
from ..settings.properties import settings_of_bone
from ..settings.typed import armature_data
from . import bones as bone_capsules


def export_file(armature: bpy.types.Object, path: str) -> int:
    """Write the capsules of all deforming bones, and return how many.

    Raises OSError if the file cannot be written; an existing file is then unchanged.
    """
    bones = [bone for bone in armature_data(armature).bones if bone.use_deform]
    weights = library.load("weights")
    capsules = weights.Capsules(**bone_capsules.read(bones)._asdict(), names=[bone.name for bone in bones])
    capsules.to_json(path)
    return len(bones)


def import_file(armature: bpy.types.Object, path: str) -> tuple[int, int]:
    """Give bones the radii from a file, by their names; return how many of its capsules have a bone, and how many none.

    A file that cannot be read is an OSError, and one of no capsules with names a ValueError.
    """
    capsules = library.load("weights").Capsules.from_json(path)
    if capsules.names is None:
        raise ValueError(f"{path}: the capsules have no names")
    here: list[tuple[int, bpy.types.Bone | None]] = [
        (bone, armature_data(armature).bones.get(name)) for bone, name in enumerate(capsules.names)
    ]
    known = [(number, bone) for number, bone in here if bone is not None]
    numbers = np.array([number for number, _ in known], np.intp)
    bone_capsules.write([bone for _, bone in known], capsules.inner_radii[numbers], capsules.outer_radii[numbers])
    for number, bone in known:
        bone.envelope_weight = capsules.multipliers[number]
        falloff = capsules.falloffs and capsules.falloffs[number]
        settings_of_bone(bone).capsule_falloff = falloff.upper() if falloff else AS_OTHERS
    armature_data(armature).update_tag()
    return len(known), len(here) - len(known)
