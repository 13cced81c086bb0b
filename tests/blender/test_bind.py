# SPDX-License-Identifier: GPL-3.0-or-later
"""Binding: with new weights, of several meshes, to rigs without a pose; and the settings that meshes share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import addon
import bpy
import expected
import numpy as np
import pytest
import rigs
from expected import error
from objects import (
    ArmatureObject,
    Character,
    Family,
    MeshObject,
    Object,
    armature_named,
    armature_object,
    current_layer,
    current_scene,
    mesh_named,
)


@pytest.fixture
def bare() -> Character:
    """A tube without vertex groups, and a posed armature that is active; both are selected."""
    armature, tube = rigs.make_armature(), rigs.make_tube()
    tube.vertex_groups.clear()
    rigs.turn(armature)
    # New objects can't be selected before.
    current_layer().update()
    rigs.select([armature, tube])
    return tube, armature


def sums(tube: MeshObject) -> list[float]:
    return [sum(entry.weight for entry in vertex.groups) for vertex in tube.data.vertices]


@pytest.mark.parametrize("weights", ["HEAT", "CAPSULES"])
def test_one_step(bare: Character, weights: str) -> None:
    tube, armature = bare
    still = rigs.evaluated(tube)
    armature.sbs.center = "JOINT_SET"
    assert addon.ops.bind(parent=True, weights=weights) == {"FINISHED"}
    assert tube.parent == armature
    np.testing.assert_allclose(sums(tube), 1.0, atol=1e-5)
    expected.assert_right(tube, armature)
    assert error(rigs.evaluated(tube), still) > 0.05


def test_new_weights_of_what_is_bound(bare: Character) -> None:
    tube, _ = bare
    addon.ops.bind()
    assert sums(tube) == [0.0] * len(tube.data.vertices)
    assert addon.ops.bind(weights="HEAT") == {"FINISHED"}
    np.testing.assert_allclose(sums(tube), 1.0, atol=1e-5)
    assert [modifier.type for modifier in tube.modifiers].count("NODES") == 1


def test_capsules_are_fitted_only_if_new(bare: Character) -> None:
    armature = bare[1]
    bones = armature.data.bones
    addon.ops.bind(weights="CAPSULES")
    fitted = [bone.envelope_distance for bone in bones]
    assert 0.25 not in fitted
    bones["B1"].envelope_distance = 0.7
    addon.ops.automatic_weights(weights="CAPSULES")
    assert bones["B1"].envelope_distance == pytest.approx(0.7)
    addon.ops.automatic_weights(weights="CAPSULES", fit_capsules=True)
    assert [bone.envelope_distance for bone in bones] == pytest.approx(fitted)


def test_no_weights_are_a_warning(bare: Character, capfd: pytest.CaptureFixture[str]) -> None:
    assert addon.ops.bind() == {"FINISHED"}
    assert "Warning: Tube: " in capfd.readouterr().out


@pytest.mark.parametrize("by_groups", [False, True])
def test_envelopes_are_told(bare: Character, by_groups: bool, capfd: pytest.CaptureFixture[str]) -> None:
    """Envelopes are no weights, whether they move all vertices or only vertices without a group."""
    tube, armature = bare
    modifier = tube.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    modifier.use_bone_envelopes, modifier.use_vertex_groups = True, by_groups
    if by_groups:
        tube.vertex_groups.new(name="B0").add([0, 1, 2], 1.0, "REPLACE")
    assert addon.ops.bind() == {"FINISHED"}
    assert "Warning: Tube: The Armature" in capfd.readouterr().out
    assert addon.ops.automatic_weights(weights="CAPSULES") == {"FINISHED"}
    np.testing.assert_allclose(sums(tube), 1.0, atol=1e-5)


def test_without_bones_that_deform(bare: Character) -> None:
    tube, armature = bare
    for bone in armature.data.bones:
        bone.use_deform = False
    with pytest.raises(RuntimeError, match="Rig"):
        addon.ops.bind(weights="HEAT")
    assert not tube.modifiers and tube.parent is None


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
        expected.assert_right(item, armature, **options)


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
    assert "Warning: Prop" in capfd.readouterr().out


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
    assert "Sword, Cape: " in capfd.readouterr().out
    rigs.select([sword, armature])
    with pytest.raises(RuntimeError, match="Sword: "):
        addon.ops.bind()
    # With a modifier it is deformed, wherever it is.
    sword.modifiers.new("Armature", "ARMATURE").object = armature
    assert addon.ops.bind() == {"FINISHED"}
    assert are_bound([sword]) == [True]


def test_a_mesh_of_another_rig_is_not_ours(knight: Family) -> None:
    """The rig that an unbound mesh was once bound to does not count."""
    armature, tubes = knight
    rigs.select(tubes[2:3])
    assert addon.ops.bind(all_meshes=True) == {"FINISHED"}
    assert all(are_bound(tubes))
    rigs.select(tubes)
    addon.ops.unbind()
    other = rigs.make_armature(name="Other")
    tubes[0].modifiers["Armature"].object = other
    rigs.select([armature])
    assert addon.ops.bind(all_meshes=True) == {"FINISHED"}
    assert are_bound(tubes) == [False] + [True] * 5


def select_without_active(*items: bpy.types.Object) -> None:
    current_layer().objects.active = None
    for item in items:
        item.select_set(True)


def unposed(armature: ArmatureObject) -> ArmatureObject:
    """A second object of an armature, to which Blender has given no pose yet."""
    item = armature_object(bpy.data.objects.new("Unposed", armature.data))
    assert item.pose is None
    return item


def test_binds_selected_objects_without_an_active_one() -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    select_without_active(tube, armature)
    tube.sbs.center = "JOINT_SET"
    assert addon.ops.bind() == {"FINISHED"}
    rigs.turn(armature)
    expected.assert_right(tube, armature)


def test_automatic_weights_of_a_mesh_and_a_selected_armature(bare: Character) -> None:
    tube, armature = bare
    rigs.select([tube, armature])
    assert addon.ops.automatic_weights() == {"FINISHED"}
    assert sorted(tube.vertex_groups.keys()) == ["B0", "B1", "B2", "B3"]


def test_twists_of_a_rig_without_a_pose() -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rig = unposed(armature)
    rigs.bind(tube, armature)
    tube.sbs.armature = rig
    tube.sbs.spread_twist = True
    # The panel offers to look for them again, and says why they were not found.
    assert not rig.sbs.twist_found and addon.module("interface.character").hindrance(rig)


@pytest.mark.parametrize("is_shown", [True, False])
def test_binds_to_a_rig_without_a_pose(is_shown: bool) -> None:
    rig, tube = unposed(rigs.make_armature()), rigs.make_tube()
    addon.preferences().spread_twist = True
    if is_shown:
        current_scene().collection.objects.link(rig)
    state = addon.module("bind.operators").bind(bpy.context, tube, rig)
    assert not state.problem
    assert rig.sbs.twist_found == is_shown


@pytest.fixture
def character() -> Family:
    """A posed armature, and three tubes that are bound to it one after the other."""
    armature = rigs.make_armature()
    tubes = [bind_new(armature) for _ in range(3)]
    for number, tube in enumerate(tubes):
        tube.name = f"Part{number}"
    rigs.turn(armature)
    return armature, tubes


def bind_new(armature: ArmatureObject, **settings: str) -> MeshObject:
    """One more mesh, with settings that were chosen before, bound to the rig."""
    new = rigs.make_tube(rows=9, name="New")
    for name, value in settings.items():
        setattr(new.sbs, name, value)
    rigs.select([new, armature])
    current_layer().update()
    assert addon.ops.bind() == {"FINISHED"}
    return new


def methods(items: Sequence[Object]) -> list[str]:
    return [item.sbs.method for item in items]


def test_new_meshes_share_settings(character: Family) -> None:
    armature, tubes = character
    assert [tube.sbs.scope for tube in tubes] == ["RIG"] * 3
    assert [tube.sbs.center for tube in tubes] == ["OPTIMIZED"] * 3
    armature.sbs.method = "DUAL_QUATERNION"
    armature.sbs.influence_limit = 2
    assert methods(tubes) == ["DUAL_QUATERNION"] * 3
    assert [tube.sbs.influence_limit for tube in tubes] == [2] * 3
    armature.sbs.influence_limit = 0
    for tube in tubes:
        expected.assert_right(tube, armature, "dual_quaternion")
    assert bind_new(armature).sbs.method == "DUAL_QUATERNION"


def test_a_mesh_has_its_own(character: Family) -> None:
    armature, tubes = character
    tubes[1].sbs.method = "LINEAR"
    assert (tubes[1].sbs.scope, methods(tubes)) == ("MESH", ["SPHERICAL", "LINEAR", "SPHERICAL"])
    armature.sbs.method = "RIGID"
    assert methods(tubes) == ["RIGID", "LINEAR", "RIGID"]
    tubes[1].sbs.scope = "RIG"
    assert methods(tubes) == ["RIGID"] * 3


def test_apply_to_all_meshes(character: Family) -> None:
    armature, tubes = character
    tubes[1].sbs.method = "LINEAR"
    tubes[1].sbs.influence_limit = 3
    rigs.select(tubes[1:2])
    assert addon.ops.share_settings() == {"FINISHED"}
    assert methods([*tubes, armature]) == ["LINEAR"] * 4
    assert {tube.sbs.influence_limit for tube in tubes} == {3}
    assert {tube.sbs.scope for tube in tubes} == {"RIG"}


def test_what_was_chosen_before(character: Family) -> None:
    """A script that chooses settings and binds then has them for that mesh alone."""
    armature, tubes = character
    new = bind_new(armature, method="LINEAR")
    assert (new.sbs.scope, new.sbs.method, methods(tubes)) == ("MESH", "LINEAR", ["SPHERICAL"] * 3)


def test_files_from_before(character: Family, tmp_path: Path) -> None:
    armature, tubes = character
    tubes[0].sbs.method = "LINEAR"
    for tube in tubes:
        tube.sbs.property_unset("scope")
    for name in ("method", "rotation", "center", "blended_bones", "influence_limit"):
        armature.sbs.property_unset(name)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    armature, tubes = armature_named("Rig"), [mesh_named(f"Part{number}") for number in range(3)]
    armature.sbs.method = "RIGID"
    assert methods(tubes) == ["LINEAR", "SPHERICAL", "SPHERICAL"]
    rigs.select(tubes[1:2])
    addon.ops.unbind()
    addon.ops.bind()
    assert (tubes[1].sbs.scope, tubes[1].sbs.center) == ("MESH", "OPTIMIZED")
    armature.sbs.property_unset("method")
    new = bind_new(armature)
    assert (new.sbs.scope, new.sbs.method) == ("RIG", "LINEAR"), "as a mesh that is bound already"


def test_unbinding_keeps_whose_they_are(character: Family) -> None:
    armature, tubes = character
    rigs.select(tubes)
    addon.ops.unbind()
    armature.sbs.method = "LINEAR"
    rigs.select([*tubes, armature])
    addon.ops.bind()
    assert methods(tubes) == ["LINEAR"] * 3


@pytest.mark.parametrize("owner", ["rig", "mesh"])
def test_presets(character: Family, owner: str) -> None:
    armature, tubes = character
    armature.sbs.spread_twist = True
    settings = (armature if owner == "rig" else tubes[0]).sbs
    assert settings.preset == "QUALITY"
    for preset, wanted in {
        "SPEED": ("SPHERICAL", "QLERP", "JOINT_SET", 4),
        "GAME": ("LINEAR", "QLERP", "JOINT_SET", 4),
        "QUALITY": ("SPHERICAL", "QLERP", "OPTIMIZED", 0),
    }.items():
        settings.preset = preset
        assert settings.preset == preset
        values = (settings.method, settings.rotation, settings.center, settings.influence_limit)
        assert values == wanted
        assert (tubes[1].sbs.preset == preset) == (owner == "rig" or preset == "QUALITY")
    settings.rotation = "AVERAGE"
    assert settings.preset == "CUSTOM"
    settings.preset = "CUSTOM"
    assert settings.rotation == "AVERAGE"
    assert (tubes[0].sbs.scope == "RIG") == (owner == "rig")
