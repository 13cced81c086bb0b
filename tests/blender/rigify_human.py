# SPDX-License-Identifier: GPL-3.0-or-later
"""The rig that Rigify makes of a human meta-rig, and a body for it."""

from __future__ import annotations

import math
from typing import Any

import addon_utils
import bpy
import numpy as np
import rigs
from objects import ArmatureObject, Character, MeshObject, armature_object, current_scene, mesh_named

# Bones of a Rigify rig that have flesh around them: by the beginnings of their names, in meters.
FLESH = {"spine": 0.11, "spine.004": 0.05, "spine.006": 0.09, "pelvis": 0.09, "shoulder": 0.05, "upper_arm": 0.05} | {
    "forearm": 0.04, "hand": 0.03, "thigh": 0.08, "shin": 0.05, "foot": 0.035, "toe": 0.03,
}  # fmt: skip


def flesh(armature: ArmatureObject, *, balls: int = 6, voxel: float = 0.03) -> MeshObject:
    """A body around the bones of a Rigify rig that deform: balls along each, melted into one surface."""
    ring = np.linspace(0.0, 2.0 * math.pi, 12, endpoint=False)
    heights = np.linspace(-1.0, 1.0, 7)
    ball = np.array(
        [((1 - z * z) ** 0.5 * math.cos(a), (1 - z * z) ** 0.5 * math.sin(a), z) for z in heights for a in ring]
    )
    faces = [
        (row * 12 + i, row * 12 + (i + 1) % 12, (row + 1) * 12 + (i + 1) % 12, (row + 1) * 12 + i)
        for row in range(len(heights) - 1)
        for i in range(12)
    ]
    points: list[np.ndarray] = []
    corners: list[tuple[int, ...]] = []
    for bone in armature.data.bones:
        kinds = [kind for kind in FLESH if bone.name.removeprefix("DEF-").startswith(kind)]
        if not bone.use_deform or not kinds:
            continue
        for along in np.linspace(0.0, 1.0, balls):
            place = np.array(bone.head_local) * (1 - along) + np.array(bone.tail_local) * along
            corners += [tuple(len(points) * len(ball) + corner for corner in face) for face in faces]
            points.append(place + FLESH[max(kinds, key=len)] * ball)
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata(np.concatenate(points).tolist(), [], corners)
    body = bpy.data.objects.new("Body", mesh)
    current_scene().collection.objects.link(body)
    rigs.select([body])
    mesh.remesh_voxel_size = voxel
    assert bpy.ops.object.voxel_remesh() == {"FINISHED"}
    return mesh_named("Body")


def generate(*, is_whole: bool = False) -> ArmatureObject:
    """The rig; unless it is to be whole, without fingers and face, which take a minute."""
    addon_utils.enable("rigify", default_set=True)
    operators: Any = bpy.ops  # those of Rigify are there only now
    kind = "human" if is_whole else "basic_human"
    getattr(operators.object, f"armature_{kind}_metarig_add")()
    assert operators.pose.rigify_generate() == {"FINISHED"}
    return armature_object(bpy.context.object)


def make() -> Character:
    """The rig with a body by Blender's automatic weights, not bound."""
    rig = generate()
    body = flesh(rig)
    rigs.select([rig, body])
    assert bpy.ops.object.parent_set(type="ARMATURE_AUTO") == {"FINISHED"}
    return body, rig


def bend_elbow(rig: ArmatureObject, degrees: float) -> bpy.types.PoseBone:
    """Bend the left elbow by its control, forward kinematics chosen; return the control."""
    return _bend(rig, "forearm_fk.L", degrees)


def bend_knee(rig: ArmatureObject, degrees: float) -> bpy.types.PoseBone:
    """Bend the left knee by its control, forward kinematics chosen; return the control."""
    return _bend(rig, "shin_fk.L", degrees)


def _bend(rig: ArmatureObject, name: str, degrees: float) -> bpy.types.PoseBone:
    for bone in rig.pose.bones:
        if "IK_FK" in bone.keys():  # noqa: SIM118 - a bone's properties are no iterable for the type checker
            bone["IK_FK"] = 1.0
    control = rig.pose.bones[name]
    control.rotation_mode = "XYZ"
    control.rotation_euler.x = math.radians(degrees)
    rig.update_tag()
    return control
