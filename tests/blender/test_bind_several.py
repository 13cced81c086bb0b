# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters of several meshes: all that is selected is bound, all that a rig moves, and they share settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import addon
import bpy
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import ArmatureObject, Family, MeshObject, current_layer


@pytest.fixture
def knight() -> Family:
    """An armature, and six tubes with Armature modifiers."""
    armature = rigs.make_armature()
    tubes = [rigs.make_tube(rows=9 + number, name=f"Part{number}") for number in range(6)]
    for tube in tubes:
        tube.modifiers.new("Armature", "ARMATURE").object = armature
    rigs.turn(armature)
    # New objects are in no list of selected ones before.
    current_layer().update()
    return armature, tubes


def are_bound(items: Sequence[MeshObject]) -> list[bool]:
    stack = addon.module("engine.stack.stack")
    return [stack.find(item) is not None for item in items]


def assert_right(items: Sequence[MeshObject], armature: ArmatureObject, **options: Any) -> None:
    for item in items:
        assert error(rigs.evaluated(item), deformed(item, armature, **options)) < TOLERANCE, item.name


@pytest.mark.parametrize("modifier", ["", "Armature"])
def test_all_selected_meshes_are_bound(knight: Family, modifier: str) -> None:
    armature, tubes = knight
    rigs.select(tubes[:5])
    assert addon.ops.bind(modifier=modifier) == {"FINISHED"}
    assert are_bound(tubes) == [True] * 5 + [False]
    for tube in tubes[:5]:
        tube.sbs.center = "JOINT_SET"
    assert_right(tubes[:5], armature)


def test_each_by_its_own_armature(knight: Family) -> None:
    """A modifier of the same name may be of another armature there."""
    armature, (first, second, *_) = knight
    other = rigs.make_armature(name="Other")
    rigs.turn(other, seed=5)
    second.modifiers["Armature"].object = other
    rigs.select([first, second])
    assert addon.ops.bind(modifier="Armature") == {"FINISHED"}
    assert (first.sbs.armature, second.sbs.armature) == (armature, other)


def test_the_chosen_one_of_two_armatures(knight: Family) -> None:
    first = knight[1][0]
    other = rigs.make_armature(name="Other")
    first.modifiers.new("Second", "ARMATURE").object = other
    rigs.select([first])
    assert addon.ops.bind(modifier="Second") == {"FINISHED"}
    assert first.sbs.armature == other
    assert first.modifiers["Armature"].show_viewport and not first.modifiers["Second"].show_viewport


def test_what_has_no_armature_is_told(knight: Family, capfd: pytest.CaptureFixture[str]) -> None:
    _, tubes = knight
    prop = rigs.make_tube(name="Prop")
    current_layer().update()
    rigs.select([tubes[0], prop, tubes[1]])
    assert addon.ops.bind() == {"FINISHED"}
    assert are_bound([tubes[0], tubes[1], prop]) == [True, True, False]
    assert "Warning: Prop has no armature" in capfd.readouterr().out


def test_bind_all_meshes_while_posing(knight: Family) -> None:
    armature, tubes = knight
    sword = rigs.make_tube(name="Sword")
    sword.parent, sword.parent_type, sword.parent_bone = armature, "BONE", "B3"
    rigs.select([armature])
    bpy.ops.object.mode_set(mode="POSE")
    assert addon.ops.bind(all_meshes=True) == {"FINISHED"}
    assert all(are_bound(tubes)) and not any(are_bound([sword]))
    armature.sbs.center = "JOINT_SET"
    assert_right(tubes, armature)
    assert addon.ops.rebind(all_meshes=True) == {"FINISHED"}
    assert addon.ops.unbind(all_meshes=True) == {"FINISHED"}
    assert not any(are_bound(tubes))
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("weights", ["KEEP", "HEAT"])
def test_what_a_bone_carries_is_left_alone(knight: Family, weights: str, capfd: pytest.CaptureFixture[str]) -> None:
    """All is selected: a sword in a hand moves with its bone already, and would be moved twice."""
    armature, tubes = knight
    sword, cape = rigs.make_tube(name="Sword"), rigs.make_tube(name="Cape")
    for item in (sword, cape):
        item.vertex_groups.clear()
        item.parent, item.parent_type, item.parent_bone = armature, "BONE", "B3"
    current_layer().update()
    place = sword.matrix_world.copy()
    rigs.select([armature, sword, *tubes, cape])
    assert addon.ops.bind(weights=weights, parent=True) == {"FINISHED"}
    assert all(are_bound(tubes)) and not any(are_bound([sword, cape]))
    assert not sword.modifiers and not sword.vertex_groups and sword.parent_type == "BONE"
    assert sword.matrix_world == place
    assert "Sword, Cape: what is a child of a bone moves with it as a whole" in capfd.readouterr().out
    rigs.select([sword, armature])
    with pytest.raises(RuntimeError, match="Sword: what is a child of a bone moves with it as a whole"):
        addon.ops.bind()
    # With a modifier it is deformed, wherever it is.
    sword.modifiers.new("Armature", "ARMATURE").object = armature
    assert addon.ops.bind() == {"FINISHED"}
    assert are_bound([sword]) == [True]


def test_all_meshes_by_one_of_them(knight: Family) -> None:
    _, tubes = knight
    rigs.select(tubes[2:3])
    assert addon.ops.bind(all_meshes=True) == {"FINISHED"}
    assert all(are_bound(tubes))


def test_a_mesh_of_another_rig_is_not_ours(knight: Family) -> None:
    """What an unbound mesh was once bound to does not count."""
    armature, tubes = knight
    rigs.select(tubes)
    addon.ops.bind()
    addon.ops.unbind()
    other = rigs.make_armature(name="Other")
    tubes[0].modifiers["Armature"].object = other
    rigs.select([armature])
    assert addon.ops.bind(all_meshes=True) == {"FINISHED"}
    assert are_bound(tubes) == [False] + [True] * 5
