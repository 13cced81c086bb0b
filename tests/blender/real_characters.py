# SPDX-License-Identifier: GPL-3.0-or-later
"""The real characters of tests/data, built in Blender: each joint a bone, whose poses are frames of their motions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
import rigs
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray
from objects import ArmatureObject, MeshObject, armature_object, current_scene, mesh_object

DATA = Path(__file__).parents[1] / "data"


@dataclass
class RealCharacter:
    """A mesh and its rig, and the motions that pose it."""

    mesh: MeshObject
    armature: ArmatureObject
    motions: list[tuple[NDArray[np.float32], NDArray[np.float32]]]  # of each frame, quaternions and translations

    def pose(self, frame: int) -> None:
        for number, (quaternion, translation) in enumerate(zip(*self.motions[frame], strict=False)):
            bone = self.armature.pose.bones[f"joint {number}"]
            rest = bone.bone.matrix_local
            move = Matrix.LocRotScale(Vector(translation), Quaternion(quaternion), None)
            bone.matrix_basis = rest.inverted() @ move @ rest


def load(name: str) -> RealCharacter:
    """Build a character; tests/data/README.md lists them."""
    with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    rest_positions, bind_matrices = arrays["rest_positions"], arrays["bind_matrices"]
    length = 0.03 * float(np.ptp(rest_positions, axis=0).max())
    data = bpy.data.armatures.new(name)
    armature = armature_object(bpy.data.objects.new(name, data))
    current_scene().collection.objects.link(armature)
    with rigs.editing(armature):
        for number, matrix in enumerate(bind_matrices):
            bone = data.edit_bones.new(f"joint {number}")
            bone.tail = (0.0, length, 0.0)
            bone.matrix = Matrix(np.vstack([matrix, (0.0, 0.0, 0.0, 1.0)]).tolist())

    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(rest_positions.tolist(), [], arrays.get("triangles", np.empty((0, 3))).tolist())
    item = mesh_object(bpy.data.objects.new(name, mesh))
    current_scene().collection.objects.link(item)
    item.parent = armature
    groups = [item.vertex_groups.new(name=f"joint {number}") for number in range(len(bind_matrices))]
    for vertex, (joints, weights) in enumerate(zip(arrays["joint_indices"], arrays["joint_weights"], strict=False)):
        for joint, weight in zip(joints.tolist(), weights.tolist(), strict=False):
            if weight > 0.0:
                groups[joint].add([vertex], min(weight, 1.0), "ADD")
    motions = [
        frame
        for key in sorted(arrays)
        if key.endswith(".quaternions")
        for frame in zip(arrays[key], arrays[key.replace(".quaternions", ".translations")], strict=False)
    ]
    return RealCharacter(item, armature, motions)
