# SPDX-License-Identifier: GPL-3.0-or-later
"""Twists spread along limbs while weights, meshes, bones and places are edited, and through undo."""

from __future__ import annotations

import addon
import bpy
import limbs
import numpy as np
import pytest
import rigs
from expected import deformed, error
from limbs import EXACT, LIMBS, assert_spread, binding_of, pose, ticked
from objects import Character, armature_named, mesh_named


@pytest.fixture
def character() -> Character:
    return limbs.bound()


def test_weights_are_painted(character: Character) -> None:
    tube, armature = character
    rigs.evaluated(tube)
    binding = binding_of(tube)
    tube.vertex_groups["ForeArm"].add(list(range(200, 330)), 0.9, "REPLACE")
    tube.vertex_groups["UpperArm"].remove(list(range(240, 260)))
    tube.data.update()
    assert_spread(tube, armature)
    assert binding_of(tube).twist is binding.twist, "painting must not look for limbs again"
    # A limb that moved no vertex here until now.
    tube.vertex_groups["UpperArm"].remove(range(len(tube.data.vertices)))
    tube.data.update()
    assert_spread(tube, armature)
    tube.vertex_groups["UpperArm"].add(list(range(150, 350)), 0.7, "REPLACE")
    tube.data.update()
    assert_spread(tube, armature)


def test_the_mesh_is_edited(character: Character) -> None:
    tube, armature = character
    rigs.evaluated(tube)
    for vertex in tube.data.vertices:
        vertex.co.z *= 0.9
    tube.data.update()
    assert_spread(tube, armature)


def test_shape_keys_move_no_vertex_along_its_limb(character: Character) -> None:
    tube, armature = character
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 0.3
        point.co.x *= 1.2
    rest = np.array([point.co for point in key.data])
    key.value = 1.0
    assert_spread(tube, armature, rest=rest)
    skin = binding_of(tube).skin
    key.value = 0.5
    basis = rigs.positions(tube.data)
    assert_spread(tube, armature, rest=0.5 * (rest + basis))
    np.testing.assert_array_equal(binding_of(tube).skin.joint_set_of_vertex, skin.joint_set_of_vertex)


def test_bones_are_renamed(character: Character) -> None:
    tube, armature = character
    armature.data.bones["ForeArm"].name = "Elbow to Wrist"
    assert ticked(armature) == ["UpperArm", "Elbow to Wrist"]
    assert_spread(tube, armature, "UpperArm", "Elbow to Wrist")


def test_bones_are_edited(character: Character) -> None:
    tube, armature = character
    with rigs.editing(armature):
        armature.data.edit_bones["Hand"].head.z += 0.3
        armature.data.edit_bones.new("New").tail = (0.0, 0.0, -1.0)
    assert ticked(armature) == list(LIMBS)
    assert_spread(tube, armature)


def test_a_bone_that_moves_nothing_ends_no_limb(character: Character) -> None:
    tube, armature = character
    with rigs.editing(armature):
        socket = armature.data.edit_bones.new("Socket")
        socket.parent = armature.data.edit_bones["ForeArm"]
        socket.head, socket.tail = (0.5, 0.0, 2.5), (0.7, 0.0, 2.5)
    rigs.select([tube])
    assert addon.ops.find_limbs() == {"FINISHED"}
    assert ticked(armature) == list(LIMBS)
    assert_spread(tube, armature)


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (1.3, 0.7, 1.0), (-1.0, 1.0, 1.0)])
def test_mesh_and_rig_anywhere(character: Character, scale: tuple[float, float, float]) -> None:
    tube, armature = character
    tube.location = (0.1, -0.2, 0.05)
    tube.scale = scale
    armature.location = (3.0, 1.0, 0.0)
    armature.rotation_euler = (0.3, 0.5, -1.0)
    tube.rotation_euler = (0.3, 0.5, -1.0)
    tube.location += armature.location
    assert_spread(tube, armature)
    armature.scale = (0.5, 0.5, 0.5)
    tube.scale *= 0.5
    assert_spread(tube, armature)


def test_scaled_and_mirrored_bones(character: Character) -> None:
    tube, armature = character
    armature.pose.bones["ForeArm"].scale = (1.2, 0.9, 1.1)
    armature.pose.bones["UpperArm"].scale = (1.0, 1.3, 1.0)
    assert_spread(tube, armature)
    # A mirrored bone beside one that is not: vertices between them are unspecified, but the limb is not.
    armature.pose.bones["ForeArm"].scale = (-1.0, 1.0, 1.0)
    assert_spread(tube, armature)


def test_bones_between_that_do_not_deform(character: Character) -> None:
    """A twist is relative to the nearest bone above that deforms."""
    tube, armature = character
    armature.data.bones["UpperArm"].use_deform = False
    assert_spread(tube, armature, "ForeArm")
    limb = binding_of(tube).limbs[0]
    assert armature.pose.bones[limb.parent].name == "Shoulder"


def test_undo() -> None:
    tube, armature = limbs.make()
    rigs.bind(tube, armature)
    pose(armature)
    rigs.select([tube])
    bpy.ops.ed.undo_push(message="Start")
    tube.sbs.spread_twist = True
    bpy.ops.ed.undo_push(message="Spread")
    armature.pose.bones["UpperArm"].sbs_twist = False
    bpy.ops.ed.undo_push(message="Tick")

    def objects() -> Character:
        return mesh_named("Tube"), armature_named("Rig")

    assert_spread(*objects(), "ForeArm")
    bpy.ops.ed.undo()
    assert_spread(*objects())
    bpy.ops.ed.undo()
    assert ticked(objects()[1]) == [] and not objects()[1].sbs.twist_found
    assert error(rigs.evaluated(objects()[0]), deformed(*objects())) < EXACT
    bpy.ops.ed.redo()
    assert_spread(*objects())
    bpy.ops.ed.redo()
    assert_spread(*objects(), "ForeArm")
