# SPDX-License-Identifier: GPL-3.0-or-later
"""Dual Quaternion beside Preserve Volume of the Armature modifier: where they are the same, and why not elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import bpy
import numpy as np
import pytest
import real_characters
import rigs
from expected import error
from mathutils import Euler, Quaternion, Vector
from objects import ArmatureObject, MeshObject, armature_object, current_layer, current_scene, mesh_object
from preserve_volume import farthest_turn, preserved

# Both compute in single precision; Blender's splitting of scaled bones loses a few roundings more.
TOLERANCE = 1e-6
SINGLE = 1e-5


def make_rig(seed: int, bones: int = 7) -> tuple[MeshObject, ArmatureObject, np.random.Generator]:
    """A tree of bones in any directions, and points that up to five of them move, in any order of their groups."""
    random = np.random.default_rng(seed)
    data = bpy.data.armatures.new("Rig")
    armature = armature_object(bpy.data.objects.new("Rig", data))
    current_scene().collection.objects.link(armature)
    with rigs.editing(armature):
        made: list[bpy.types.EditBone] = []
        for number in range(bones):
            bone = data.edit_bones.new(f"B{number}")
            bone.head = Vector(random.uniform(-1, 1, 3).tolist())
            bone.tail = bone.head + Vector(random.uniform(-1, 1, 3).tolist())
            bone.roll = random.uniform(-3, 3)
            bone.parent = made[random.integers(number)] if number else None
            made.append(bone)
    points = random.uniform(-1, 1, (150, 3))
    mesh = bpy.data.meshes.new("Points")
    mesh.from_pydata(points.tolist(), [], [])
    item = mesh_object(bpy.data.objects.new("Points", mesh))
    current_scene().collection.objects.link(item)
    groups = [item.vertex_groups.new(name=bone.name) for bone in data.bones]
    for vertex in range(len(points)):
        for bone in random.permutation(bones)[: random.integers(1, 6)]:
            groups[bone].add([vertex], random.uniform(0.05, 1.0), "ADD")
    return item, armature, random


def turn(armature: ArmatureObject, random: np.random.Generator, most: float) -> None:
    """Every bone about any axis by up to `most` radians."""
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = Quaternion(random.normal(size=3).tolist(), random.uniform(-most, most))
        bone.location = Vector((random.normal(size=3) * 0.2).tolist())


def scale(
    armature: ArmatureObject,
    random: np.random.Generator,
    inherit: Literal["FULL", "ALIGNED", "AVERAGE", "NONE"],
    mirror: bool = False,
) -> None:
    """Every bone along its axes by 0.5 to 2; children that do not inherit that are not sheared."""
    for bone in armature.pose.bones:
        bone.bone.inherit_scale = inherit
        bone.scale = Vector((2.0 ** random.uniform(-1, 1, 3)).tolist())
        if mirror and random.random() < 0.3:
            bone.scale[0] *= -1.0


def turn_and_scale(
    armature: ArmatureObject,
    random: np.random.Generator,
    most: float,
    inherit: Literal["FULL", "ALIGNED", "AVERAGE", "NONE"],
    mirror: bool = False,
) -> None:
    turn(armature, random, most)
    scale(armature, random, inherit, mirror)


def shown(item: MeshObject, armature: ArmatureObject, preserve_volume: bool) -> np.ndarray:
    """What the Armature modifier shows with Preserve Volume, or ours as Dual Quaternion."""
    if not preserve_volume:
        item.sbs.method = "DUAL_QUATERNION"
        rigs.bind(item, armature)
        return rigs.evaluated(item)
    modifier = item.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    modifier.use_deform_preserve_volume = True
    found = rigs.evaluated(item)
    item.modifiers.remove(modifier)
    return found


# Blender 3.4 blends what bones scale by apart from how they move.
PIVOTED = pytest.mark.blender(since=(4, 5))

POSES: dict[str, Callable[[ArmatureObject, np.random.Generator], object]] = {
    "turned a little": lambda armature, random: turn(armature, random, 0.25),
    "turned": lambda armature, random: turn(armature, random, 0.8),
    "turned anyhow": lambda armature, random: turn(armature, random, 3.1),
    "scaled": lambda armature, random: turn_and_scale(armature, random, 0.25, "NONE"),
    "scaled, turned anyhow": lambda armature, random: turn_and_scale(armature, random, 3.1, "NONE"),
    "sheared": lambda armature, random: turn_and_scale(armature, random, 0.25, "FULL"),
    "mirrored": lambda armature, random: turn_and_scale(armature, random, 0.25, "NONE", mirror=True),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "pose", [pytest.param(name, marks=[] if name.startswith("turned") else PIVOTED) for name in POSES]
)
def test_what_either_does(pose: str, seed: int) -> None:
    """Signs and shear are all that the two differ by: one formula gives either, by whose choices it makes."""
    item, armature, random = make_rig(seed)
    POSES[pose](armature, random)
    current_layer().update()
    assert error(shown(item, armature, preserve_volume=True), preserved(item, armature)) < SINGLE
    ours = shown(item, armature, preserve_volume=False)
    if pose == "mirrored":
        # A vertex between bones that are mirrored and others that are not is not specified.
        return
    assert error(ours, preserved(item, armature, signs="heaviest", turns="nearest")) < SINGLE


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pose", ["turned a little", pytest.param("scaled", marks=PIVOTED)])
def test_the_same_within_90_degrees(pose: str, seed: int) -> None:
    """Also of bones that are scaled: stretches leave every vertex where its bones take it."""
    item, armature, random = make_rig(seed)
    POSES[pose](armature, random)
    current_layer().update()
    assert farthest_turn(item, armature) < 90
    theirs, ours = (shown(item, armature, preserve_volume) for preserve_volume in (True, False))
    assert error(ours, theirs) < TOLERANCE


@PIVOTED
@pytest.mark.parametrize("location", [(0.0, 0.0, 0.0), (0.0, 0.0, 7.0)])
def test_scaled_bones_wherever_the_origin_is(location: tuple[float, float, float]) -> None:
    """The origin of the armature is nothing that a mesh is to depend on."""
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rigs.turn(armature, angle=0.6)
    armature.pose.bones["B1"].scale = (1.5, 1.5, 1.5)
    armature.pose.bones["B3"].scale = (0.6, 0.6, 0.6)
    for bone in armature.data.bones:
        bone.inherit_scale = "NONE"
    with rigs.editing(armature):
        for edited in armature.data.edit_bones:
            if edited.parent is None or not edited.use_connect:
                edited.head = edited.head + Vector(location)
            edited.tail = edited.tail + Vector(location)
    moved = rigs.positions(tube.data) + location
    tube.data.vertices.foreach_set("co", moved.ravel())
    current_layer().update()
    theirs, ours = (shown(tube, armature, preserve_volume) for preserve_volume in (True, False))
    assert error(ours, theirs) < SINGLE


def test_two_bones_a_vertex_are_the_same_at_any_angle() -> None:
    item, armature, random = make_rig(5)
    for vertex in item.data.vertices:
        groups = sorted((entry.weight, entry.group) for entry in vertex.groups)
        for _, group in groups[:-2]:
            item.vertex_groups[group].remove([vertex.index])
    turn(armature, random, 3.1)
    current_layer().update()
    theirs, ours = (shown(item, armature, preserve_volume) for preserve_volume in (True, False))
    assert error(ours, theirs) < SINGLE


@pytest.mark.parametrize("name", ["hand_webxr", "arnaud_ozz", "rat_quaternius", "knight_kaykit"])
def test_real_characters(name: str) -> None:
    """In a frame of their motions, and with every bone turned by 0.8 radians about any axis."""
    character = real_characters.load(name)
    item, armature = character.mesh, character.armature
    random = np.random.default_rng(1)
    character.pose(len(character.motions) // 2)
    current_layer().update()
    theirs = shown(item, armature, preserve_volume=True)
    assert error(theirs, preserved(item, armature)) < SINGLE
    within = farthest_turn(item, armature) < 90
    ours = shown(item, armature, preserve_volume=False)
    assert error(ours, preserved(item, armature, signs="heaviest", turns="nearest")) < SINGLE
    if within:
        assert error(ours, theirs) < SINGLE
    for bone in armature.pose.bones:
        bone.matrix_basis = Euler(random.uniform(-0.8, 0.8, 3).tolist()).to_matrix().to_4x4()
    current_layer().update()
    assert error(rigs.evaluated(item), preserved(item, armature, signs="heaviest", turns="nearest")) < SINGLE
    bpy.data.objects.remove(item)
