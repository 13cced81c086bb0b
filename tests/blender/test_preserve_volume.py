# SPDX-License-Identifier: GPL-3.0-or-later
"""Dual Quaternion beside Preserve Volume of the Armature modifier: where they are the same."""

from __future__ import annotations

import numpy as np
import pytest
import real_characters
import rigs
from expected import error, read
from mathutils import Matrix, Vector
from objects import ArmatureObject, MeshObject, current_layer

# Both compute in single precision; Blender's splitting of scaled bones loses a few roundings more.
SINGLE = 1e-5


def farthest_turn(item: MeshObject, armature: ArmatureObject) -> float:
    """How far any joint of a vertex turns against its heaviest one, in degrees."""
    _, _, weights, matrices = read(item, armature)
    turns = np.array([Matrix(matrix.tolist()).to_quaternion() for matrix in matrices])
    cosines = np.abs(turns[weights.argmax(axis=1)] @ turns.T)[weights > 0.0]
    return float(2.0 * np.degrees(np.arccos(cosines.min().clip(0.0, 1.0))))


def assert_same(item: MeshObject, armature: ArmatureObject) -> None:
    """Our Dual Quaternion shows the same as the Armature modifier with Preserve Volume."""
    modifier = item.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    modifier.use_deform_preserve_volume = True
    theirs = rigs.evaluated(item)
    item.modifiers.remove(modifier)
    item.sbs.method = "DUAL_QUATERNION"
    rigs.bind(item, armature)
    assert error(rigs.evaluated(item), theirs) < SINGLE


# Blender 3.4 blends the scales of bones apart from their motions.
@pytest.mark.parametrize("is_scaled", [False, pytest.param(True, marks=pytest.mark.blender(since=(4, 5)))])
@pytest.mark.parametrize("location", [(0.0, 0.0, 0.0), (0.0, 0.0, 7.0)])
def test_within_90_degrees(is_scaled: bool, location: tuple[float, float, float]) -> None:
    """Also of bones that are scaled, and not sheared, wherever the origin of the armature is."""
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rigs.turn(armature, angle=0.6)
    if is_scaled:
        armature.pose.bones["B1"].scale = (1.5, 0.8, 1.2)
        armature.pose.bones["B3"].scale = (0.6, 0.6, 0.6)
        for bone in armature.data.bones:
            bone.inherit_scale = "NONE"
    with rigs.editing(armature):
        for edited in armature.data.edit_bones:
            if edited.parent is None or not edited.use_connect:
                edited.head = edited.head + Vector(location)
            edited.tail = edited.tail + Vector(location)
    tube.data.vertices.foreach_set("co", (rigs.positions(tube.data) + location).ravel())
    current_layer().update()
    assert farthest_turn(tube, armature) < 90
    assert_same(tube, armature)


def test_two_bones_a_vertex_at_any_angle() -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    for vertex in tube.data.vertices:
        groups = sorted((entry.weight, entry.group) for entry in vertex.groups)
        for _, group in groups[:-2]:
            tube.vertex_groups[group].remove([vertex.index])
    rigs.turn(armature, angle=3.1)
    current_layer().update()
    assert farthest_turn(tube, armature) > 90
    assert_same(tube, armature)


@pytest.mark.parametrize("name", ["hand_webxr", "arnaud_ozz", "rat_quaternius", "knight_kaykit"])
def test_real_characters(name: str) -> None:
    character = real_characters.load(name)
    for bone in character.armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
    rigs.turn(character.armature, angle=0.5)
    current_layer().update()
    assert farthest_turn(character.mesh, character.armature) < 90
    assert_same(character.mesh, character.armature)
