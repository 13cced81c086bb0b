# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters of several meshes: all that is selected is bound, all that a rig moves, and they share settings."""

from __future__ import annotations

import addon
import bpy
import pytest
import rigs
from expected import TOLERANCE, deformed, error

Character = tuple[bpy.types.Object, list[bpy.types.Object]]


@pytest.fixture
def knight() -> Character:
    """An armature, and six tubes with Armature modifiers."""
    armature = rigs.make_armature()
    tubes = [rigs.make_tube(rows=9 + number, name=f"Part{number}") for number in range(6)]
    for tube in tubes:
        tube.modifiers.new("Armature", "ARMATURE").object = armature
    rigs.turn(armature)
    # What is new is in no list of selected objects before.
    bpy.context.view_layer.update()
    return armature, tubes


def are_bound(items: list[bpy.types.Object]) -> list[bool]:
    stack = addon.module("engine.stack")
    return [stack.find(item) is not None for item in items]


def assert_right(items: list[bpy.types.Object], armature: bpy.types.Object, **options: str) -> None:
    for item in items:
        assert error(rigs.evaluated(item), deformed(item, armature, **options)) < TOLERANCE, item.name


@pytest.mark.parametrize("modifier", ["", "Armature"])
def test_all_selected_meshes_are_bound(knight: Character, modifier: str) -> None:
    armature, tubes = knight
    rigs.select(tubes[:5])
    assert bpy.ops.sbs.bind(modifier=modifier) == {"FINISHED"}
    assert are_bound(tubes) == [True] * 5 + [False]
    for tube in tubes[:5]:
        tube.sbs.center = "JOINT_SET"
    assert_right(tubes[:5], armature)


def test_each_by_its_own_armature(knight: Character) -> None:
    """A modifier of the same name may be of another armature there."""
    armature, (first, second, *_) = knight
    other = rigs.make_armature(name="Other")
    rigs.turn(other, seed=5)
    second.modifiers["Armature"].object = other
    rigs.select([first, second])
    assert bpy.ops.sbs.bind(modifier="Armature") == {"FINISHED"}
    assert (first.sbs.armature, second.sbs.armature) == (armature, other)


def test_the_chosen_one_of_two_armatures(knight: Character) -> None:
    first = knight[1][0]
    other = rigs.make_armature(name="Other")
    first.modifiers.new("Second", "ARMATURE").object = other
    rigs.select([first])
    assert bpy.ops.sbs.bind(modifier="Second") == {"FINISHED"}
    assert first.sbs.armature == other
    assert first.modifiers["Armature"].show_viewport and not first.modifiers["Second"].show_viewport


def test_what_has_no_armature_is_told(knight: Character, capfd: pytest.CaptureFixture[str]) -> None:
    _, tubes = knight
    prop = rigs.make_tube(name="Prop")
    bpy.context.view_layer.update()
    rigs.select([tubes[0], prop, tubes[1]])
    assert bpy.ops.sbs.bind() == {"FINISHED"}
    assert are_bound([tubes[0], tubes[1], prop]) == [True, True, False]
    assert "Warning: Prop has no armature" in capfd.readouterr().out


def test_bind_all_meshes_while_posing(knight: Character) -> None:
    armature, tubes = knight
    sword = rigs.make_tube(name="Sword")
    sword.parent, sword.parent_type, sword.parent_bone = armature, "BONE", "B3"
    rigs.select([armature])
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.sbs.bind(all_meshes=True) == {"FINISHED"}
    assert all(are_bound(tubes)) and not any(are_bound([sword]))
    armature.sbs.center = "JOINT_SET"
    assert_right(tubes, armature)
    assert bpy.ops.sbs.rebind(all_meshes=True) == {"FINISHED"}
    assert bpy.ops.sbs.unbind(all_meshes=True) == {"FINISHED"}
    assert not any(are_bound(tubes))
    bpy.ops.object.mode_set(mode="OBJECT")


def test_all_meshes_by_one_of_them(knight: Character) -> None:
    _, tubes = knight
    rigs.select(tubes[2:3])
    assert bpy.ops.sbs.bind(all_meshes=True) == {"FINISHED"}
    assert all(are_bound(tubes))


def test_a_mesh_of_another_rig_is_not_ours(knight: Character) -> None:
    """What an unbound mesh was once bound to does not count."""
    armature, tubes = knight
    rigs.select(tubes)
    bpy.ops.sbs.bind()
    bpy.ops.sbs.unbind()
    other = rigs.make_armature(name="Other")
    tubes[0].modifiers["Armature"].object = other
    rigs.select([armature])
    assert bpy.ops.sbs.bind(all_meshes=True) == {"FINISHED"}
    assert are_bound(tubes) == [False] + [True] * 5
