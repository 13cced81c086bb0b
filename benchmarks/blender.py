# SPDX-License-Identifier: MIT
"""Times Blender's Armature modifier on a workload, by the dialogue of native/worker.h.

To be run by a Python that has Blender as its module ``bpy``, and NumPy; nothing else is needed:

    python blender.py <workload> <file for positions>

``frame linear`` and ``frame dual_quaternion`` (Preserve Volume) are times of a whole update of the scene after a change
of pose, the mesh having vertices only; ``frame none`` is one without the modifier. One thread, positions only.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, cast

# Before Blender counts the processors it may use.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import bpy  # noqa: E402
import numpy as np  # noqa: E402
from mathutils import Matrix  # noqa: E402
from numpy.typing import DTypeLike, NDArray  # noqa: E402

MODIFIERS = {"linear": False, "dual_quaternion": True}  # method: Preserve Volume


class Workload:
    """The file that native/workload.h documents."""

    def __init__(self, path: str) -> None:
        with Path(path).open("rb") as file:
            assert file.read(8) == b"SBSLOAD1"
            vertices, joints, influences, frames = (int(count) for count in np.fromfile(file, np.uint64, 4))

            def read(dtype: DTypeLike, *shape: int) -> NDArray[Any]:
                return np.fromfile(file, dtype, int(np.prod(shape))).reshape(shape)

            matrices = read(np.float64, frames, joints, 3, 4)
            self.joint_positions = read(np.float64, joints, 3)
            self.rest_positions = read(np.float32, vertices, 3)
            read(np.float32, vertices, 3)
            self.joint_weights = read(np.float32, vertices, influences)
            self.joint_indices = read(np.int32, vertices, influences)
        self.skinning_matrices = np.zeros((frames, joints, 4, 4))
        self.skinning_matrices[:, :, :3] = matrices
        self.skinning_matrices[:, :, 3, 3] = 1


def make_armature(load: Workload) -> Any:
    """One bone for each joint, without parents: poses are then independent."""
    armature = bpy.data.objects.new("armature", bpy.data.armatures.new("armature"))
    bpy.data.scenes[0].collection.objects.link(armature)
    bpy.data.scenes[0].view_layers[0].objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for number, position in enumerate(load.joint_positions):
        bone = cast("bpy.types.Armature", armature.data).edit_bones.new(f"joint_{number}")
        bone.head = position
        bone.tail = position + np.array([0.0, 0.1, 0.0])
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def make_mesh(load: Workload, armature: Any) -> tuple[Any, Any]:
    """The mesh, with a vertex group for each bone, and an Armature modifier."""
    mesh = bpy.data.meshes.new("mesh")
    mesh.vertices.add(len(load.rest_positions))
    mesh.vertices.foreach_set("co", load.rest_positions.ravel())
    target = bpy.data.objects.new("mesh", mesh)
    bpy.data.scenes[0].collection.objects.link(target)
    groups = [target.vertex_groups.new(name=bone.name) for bone in armature.data.bones]
    for vertex, slot in zip(*np.nonzero(load.joint_weights > 0), strict=True):
        weight = float(load.joint_weights[vertex, slot])
        groups[load.joint_indices[vertex, slot]].add((int(vertex),), weight, "REPLACE")
    modifier = cast("bpy.types.ArmatureModifier", target.modifiers.new("armature", "ARMATURE"))
    modifier.object = armature
    return target, modifier


def make_poses(load: Workload, armature: Any) -> list[list[Any]]:
    """The matrix of each bone in its own axes, for every frame."""
    rest = np.array([np.array(bone.matrix_local) for bone in armature.data.bones])
    basis = np.linalg.inv(rest) @ load.skinning_matrices @ rest
    return [[Matrix(matrix) for matrix in frame] for frame in basis]


def set_pose(armature: Any, pose: list[Any]) -> None:
    """Pose the bones, to take effect with the next update."""
    for bone, matrix in zip(armature.pose.bones, pose, strict=True):
        bone.matrix_basis = matrix


def main(path: str, positions_path: str) -> None:
    bpy.ops.wm.read_homefile(use_empty=True)
    load = Workload(path)
    armature = make_armature(load)
    target, modifier = make_mesh(load, armature)
    poses = make_poses(load, armature)
    layer = bpy.data.scenes[0].view_layers[0]
    layer.update()
    print(json.dumps({"version": bpy.app.version_string}), flush=True)

    for line in sys.stdin:
        part, method, _, _, repetitions = line.split()
        modifier.show_viewport = method in MODIFIERS
        modifier.use_deform_preserve_volume = MODIFIERS.get(method, False)
        times = []
        for number in range(int(repetitions)):
            set_pose(armature, poses[0 if part == "positions" else number % len(poses)])
            start = time.perf_counter_ns()
            layer.update()
            times.append(time.perf_counter_ns() - start)
        if part == "positions":
            evaluated = target.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
            positions = np.empty(load.rest_positions.size, np.float32)
            evaluated.vertices.foreach_get("co", positions)
            positions.tofile(positions_path)
        print(*times, flush=True)

    # Blender's own way out may hang.
    sys.stdout.flush()
    os._exit(0)


main(*sys.argv[1:])
