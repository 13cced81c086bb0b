# SPDX-License-Identifier: GPL-3.0-or-later
"""A tube about the bones of an arm, and what the library says of it with twists spread along them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import addon
import bpy
import numpy as np
import rigs
from expected import Floats, array, move, read
from mathutils import Quaternion

NAMES = ("Shoulder", "UpperArm", "ForeArm", "Hand")
LIMBS = ("UpperArm", "ForeArm")


def make(rows: int = 41) -> tuple[bpy.types.Object, bpy.types.Object]:
    """The tube and its armature, not bound."""
    armature, tube = rigs.make_armature(), rigs.make_tube(rows=rows)
    for number, name in enumerate(NAMES):
        tube.vertex_groups[f"B{number}"].name = name
        armature.data.bones[f"B{number}"].name = name
    return tube, armature


def twist(armature: bpy.types.Object, bone: str, degrees: float) -> None:
    """Turn a bone about its own axis, from rest."""
    armature.pose.bones[bone].rotation_quaternion = Quaternion((0.0, 1.0, 0.0), math.radians(degrees))


def deformed(
    item: bpy.types.Object,
    armature: bpy.types.Object,
    names: Sequence[str] | Callable[[Any, Sequence[bpy.types.PoseBone]], Any] | None = LIMBS,
    *,
    across: float = 0.4,
    twists: Floats | None = None,
    rest: Floats | None = None,
    mesh: bpy.types.Mesh | None = None,
    centers: Floats | None = None,
    smooth: bool = False,
    frames: int = 4,
    **options: object,
) -> Floats:
    """The mesh deformed by `sbs.Character.twisted_skin` in armature space, and brought back to its own space, (V, 3).

    Parameters
    ----------
    item, armature : Object
    names : sequence of str or callable, optional
        The bones along which twists are spread; None for those that the library finds. A function makes the `sbs.Twist`
        of the package and the bones that deform; None if there is none.
    across : float
        Of `sbs.twist_amounts`.
    twists : (B, 2) ndarray, optional
        Radians; by default those of the pose.
    rest : (V, 3) ndarray, optional
        Where the vertices are that move, if shape keys move them; those of the mesh are where they are along bones.
    mesh : Mesh, optional
    centers : (V, 3) ndarray, optional
        Rotation centers in the space of the mesh.
    smooth, frames
        Of `sbs.limb_twist`.
    **options
        Of `sbs.Skin.deform`.
    """
    sbs = addon.module("core.library").load()
    to_rig, bones, weights, matrices = read(item, armature, mesh)
    places = move(to_rig, np.array([vertex.co for vertex in (mesh or item.data).vertices], np.float64))
    bone_names = [bone.name for bone in bones]
    parents = [
        next((bone_names.index(other.name) for other in bone.parent_recursive if other.name in bone_names), -1)
        for bone in bones
    ]
    skeleton = sbs.Skeleton(parents, [array(bone.bone.matrix_local) for bone in bones], bone_names)
    indices = np.broadcast_to(np.arange(len(bones)), weights.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        faces = np.empty((0, 3), np.int32)
        character = sbs.Character.from_mesh(sbs.Mesh(places, faces, indices, weights), skeleton)
        if callable(names):
            spread = names(sbs, bones)
        else:
            spread = sbs.limb_twist(character, names, smooth=smooth, frames=frames)
        given = {} if centers is None else {"centers": move(to_rig, centers)}
        skin = sbs.Skin(places, indices, weights, joint_count=len(bones), twist=spread, **given)
        moved = {} if rest is None else {"rest_positions": move(to_rig, rest)}
        if across < 1.0 and spread is not None:
            options["amount"] = sbs.twist_amounts(character, spread, across)
        found = skin.deform(matrices, twists=twists, **moved, **options)
    return move(np.linalg.inv(to_rig), found)
