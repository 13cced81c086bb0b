# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the limbs of an armature by all the meshes that it moves."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import library
from ..core.bendy_bones import joint_counts
from ..engine import reading
from ..interface.rigged import RiggedMesh
from ..settings import rig as rig_settings
from ..settings.properties import BONE_TWIST
from ..settings.typed import mesh_of, settings_of, settings_of_pose_bone

__all__ = ["find", "hindrance"]


def hindrance(armature: bpy.types.Object) -> str:
    """Why the limbs of an armature cannot be found, for the artist; empty if they can."""
    if armature.library is not None:
        return f"{armature.name} belongs to a library; make a library override of it"
    meshes = rig_settings.meshes_of(armature)
    if armature.mode == "EDIT" or any(item.mode == "EDIT" for item in meshes):
        return "Leave Edit Mode first"
    if not any(len(mesh_of(item).vertices) for item in meshes):
        return f"No mesh is bound to {armature.name}"
    return library.problem()


def find(armature: bpy.types.Object) -> int:
    """Tick the limbs of an armature, and no other bones; return how many there are.

    Each bone gets the reason why it is one, or why not. Nothing happens if there is a `hindrance`.
    """
    if hindrance(armature):
        return 0
    bones = [bone for bone in armature.pose.bones if bone.bone.use_deform]
    found = _judge(armature)
    for bone in armature.pose.bones:
        about = settings_of_pose_bone(bone)
        about.is_limb, about.twist_reason = found.get(bone.name, (False, "it does not deform"))
        if getattr(bone, BONE_TWIST) != about.is_limb:
            setattr(bone, BONE_TWIST, about.is_limb)
    settings = settings_of(armature)
    settings.twist_found = True
    limbs = [number for number, bone in enumerate(armature.pose.bones) if settings_of_pose_bone(bone).is_limb]
    settings.twist_row = limbs[0] if limbs else 0
    return len([bone for bone in bones if settings_of_pose_bone(bone).is_limb])


def _judge(armature: bpy.types.Object) -> dict[str, tuple[bool, str]]:
    """Whether each bone that deforms is a limb, and why, by their names."""
    sbs = library.load()
    rig = reading.rig(armature, armature)
    deforming = np.flatnonzero(rig.deforms)
    if not len(deforming):
        return {}
    # Number -1 is that of no parent.
    number = np.append(np.cumsum(rig.deforms) - 1, -1)
    names = [rig.names[bone] for bone in deforming.tolist()]
    skeleton = sbs.Skeleton(number[rig.deforming_parents()[deforming]], rig.rests[deforming], names)
    with warnings.catch_warnings():
        # The status of each mesh tells of vertices without weights.
        warnings.simplefilter("ignore", sbs.WeightWarning)
        character = sbs.Character.from_mesh(_joined(sbs, armature), skeleton)
    found = {bone.name: (bone.spread, bone.reason) for bone in sbs.twist_bones(character)}
    for bone, segments in zip(names, joint_counts(rig.segments[deforming]).tolist(), strict=True):
        if segments > 1 and found[bone][0]:
            found[bone] = False, "a bendy bone, whose segments spread the twist"
    return found


def _joined(sbs: ModuleType, armature: bpy.types.Object) -> Any:
    """All meshes of an armature as one, in its space, with the weights of its bones that deform."""
    positions, joints, weights = [], [], []
    for item in rig_settings.meshes_of(armature):
        mesh = RiggedMesh(item, armature)
        indices, values = mesh.influences()
        points = mesh.positions.astype(np.float64)
        positions.append(points @ mesh.to_rig[:3, :3].T + mesh.to_rig[:3, 3])
        joints.append(indices)
        weights.append(values)
    width = max(rows.shape[1] for rows in joints)

    def joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in arrays])

    return sbs.Mesh(np.concatenate(positions), np.empty((0, 3), np.int32), joined(joints), joined(weights))
