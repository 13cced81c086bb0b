# SPDX-License-Identifier: GPL-3.0-or-later
"""All meshes of an armature as a character of the library, in armature space."""

from __future__ import annotations

import warnings
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import library
from ..engine import reading
from ..settings import rig as rig_settings
from ..settings.typed import mesh_of
from .rigged import RiggedMesh


def hindrance(armature: bpy.types.Object) -> str:
    """Why there is no character to look at, for the artist; empty if there is."""
    if armature.library is not None:
        return f"{armature.name} belongs to a library; make a library override of it"
    if armature.pose is None:
        return f"{armature.name} has no pose before Blender evaluates it in a view layer"
    meshes = rig_settings.meshes_of(armature)
    if armature.mode == "EDIT" or any(item.mode == "EDIT" for item in meshes):
        return "Leave Edit Mode first"
    if not any(len(mesh_of(item).vertices) for item in meshes):
        return f"No mesh is bound to {armature.name}"
    return library.problem()


def from_rig(armature: bpy.types.Object, *, with_triangles: bool = False) -> Any:
    """The `sbs.Character` of an armature without a `hindrance`: bones that deform, and all meshes as one.

    Its mesh has triangles only if they are asked for. Raises ValueError if no bone deforms.
    """
    sbs = library.load()
    rig = reading.rig(armature, armature)
    bones, parents = rig.joints()
    if not len(bones):
        raise ValueError(f"{armature.name} has no bone that deforms")
    skeleton = sbs.Skeleton(parents, rig.rests[bones], [rig.names[bone] for bone in bones.tolist()])
    with warnings.catch_warnings():
        # The status of each mesh tells of vertices without weights.
        warnings.simplefilter("ignore", sbs.WeightWarning)
        return sbs.Character.from_mesh(_joined(sbs, armature, with_triangles), skeleton)


def _joined(sbs: Any, armature: bpy.types.Object, with_triangles: bool) -> Any:
    """All meshes of an armature as one, in its space, with the weights of its bones that deform."""
    positions, joints, weights = [], [], []
    triangles, count = [np.empty((0, 3), np.int32)], 0
    for item in rig_settings.meshes_of(armature):
        mesh = RiggedMesh(item, armature)
        indices, values = mesh.influences()
        points = mesh.positions.astype(np.float64)
        positions.append(points @ mesh.to_rig[:3, :3].T + mesh.to_rig[:3, 3])
        joints.append(indices)
        weights.append(values)
        if with_triangles:
            triangles.append(mesh.triangles + count)
        count += len(points)
    width = max(rows.shape[1] for rows in joints)

    def joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in arrays])

    return sbs.Mesh(np.concatenate(positions), np.concatenate(triangles), joined(joints), joined(weights))
