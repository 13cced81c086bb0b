# SPDX-License-Identifier: GPL-3.0-or-later
"""Swings of bones: rotation vectors across the limb, in the axes of the bone at rest.

A limb need not lie along the y axis of its bone: importers of FBX leave the axes of the file, where bones often lie
across. So the direction of the limb is that of the library, to the joints of the children.
"""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Quaternion
from numpy.typing import NDArray

from ...core import library
from ...settings.given import pose_of
from .. import reading

Vector3 = tuple[float, float, float]

#: The direction of a bone in its own axes.
ALONG_BONE: Vector3 = (0.0, 1.0, 0.0)

# A limb that is so nearly along its bone, in radians, is taken to be.
_ALONG = 1e-3
# A bone that is farther than this from its limb lies across it: the cosine.
_ACROSS = np.sqrt(0.5)


def limb_axes(armature: bpy.types.Object) -> dict[str, Vector3]:
    """The direction of the limb of each bone that deforms, in the axes of the bone at rest.

    A bone without children has its own direction, unless its parent lies across its limb: then that of the library,
    which goes on in the direction of the bone above.
    """
    rig = reading.rig(armature, armature)
    bones, parents = rig.joints()
    if not len(bones):
        return {}
    heads = rig.rests[bones, :3, 3].astype(np.float64)
    turns = rig.rests[bones, :3, :3].astype(np.float64)
    tails = library.load("_core").bone_tails(parents, heads)
    own = np.einsum("bij,bi->bj", turns, tails - heads)
    lengths = np.linalg.norm(own, axis=1)
    axes = np.where(lengths[:, None] > 0, own / np.maximum(lengths, 1e-30)[:, None], ALONG_BONE)
    is_leaf = ~np.isin(np.arange(len(bones)), parents)
    is_across = axes[:, 1] < _ACROSS
    for number in np.flatnonzero(axes[:, 1] > np.cos(_ALONG)).tolist():
        axes[number] = ALONG_BONE
    for number in np.flatnonzero(is_leaf & ((parents < 0) | ~is_across[parents])).tolist():
        axes[number] = ALONG_BONE
    return {rig.names[bone]: as_vector(axis) for bone, axis in zip(bones.tolist(), axes, strict=True)}


def as_vector(values: NDArray[np.float64]) -> Vector3:
    """Three numbers as Python has them."""
    x, y, z = (float(value) for value in values)
    return x, y, z


def swing_of(armature: bpy.types.Object, bone: str, axis: Vector3, depsgraph: bpy.types.Depsgraph) -> Vector3:
    """The swing of a limb along an axis, in radians, as constraints leave its bone."""
    posed = armature.evaluated_get(depsgraph)
    pose_bone = pose_of(posed).bones[bone]
    local = posed.convert_space(pose_bone=pose_bone, matrix=pose_bone.matrix, from_space="POSE", to_space="LOCAL")
    return split(local.to_quaternion(), axis)[0]


def split(rotation: Quaternion, axis: Vector3) -> tuple[Vector3, Quaternion]:
    """A rotation as a swing across an axis, and the twist about it that comes first."""
    w, turned = rotation.w, np.array([rotation.x, rotation.y, rotation.z])
    along = np.array(axis)
    about = float(turned @ along)
    length = float(np.hypot(w, about))
    twist = Quaternion((w, *(about * along))).normalized() if length > 1e-7 else Quaternion()
    across = turned - about * along
    sine = float(np.linalg.norm(across))
    if sine == 0.0:
        return (0.0, 0.0, 0.0), twist
    direction = across if length <= 1e-7 else (w * across + about * np.cross(along, across)) / length
    return as_vector(2.0 * np.arctan2(sine, length) / sine * direction), twist


def rotation_of(swing: Vector3) -> Quaternion:
    """The rotation of a rotation vector."""
    angle = float(np.linalg.norm(swing))
    return Quaternion(swing, angle) if angle > 0.0 else Quaternion()
