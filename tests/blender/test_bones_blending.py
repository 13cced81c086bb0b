# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones blending as a method of the modifier: for all bones and for marked ones, through edits and files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, bones_blended, deformed, error, fitted_zones
from mathutils import Quaternion
from objects import ArmatureObject, Character, MeshObject, current_layer, current_scene


@pytest.fixture
def character() -> Character:
    """A bound tube with a twisted and bent armature."""
    tube, armature = rigs.make_bound()
    tube.sbs.method = "BONES_BLENDING"
    rigs.turn(armature)
    armature.pose.bones["B2"].rotation_quaternion = Quaternion((0.0, 1.0, 0.0), math.radians(170.0))
    return tube, armature


def mark(armature: ArmatureObject, *names: str) -> None:
    rigs.select_bones(armature, *names)
    assert addon.ops.mark_bones() == {"FINISHED"}


def assert_right(
    tube: MeshObject, armature: ArmatureObject, marked: tuple[str, ...] | None = None, **options: Any
) -> None:
    assert error(rigs.evaluated(tube), bones_blended(tube, armature, marked, **options)) < TOLERANCE


def problem_of(tube: MeshObject) -> str:
    current_layer().update()
    problem: str = rigs.state_of(tube).problem
    return problem


def test_all_bones_in_every_frame(character: Character) -> None:
    tube, armature = character
    assert_right(tube, armature)
    assert error(rigs.evaluated(tube), deformed(tube, armature)) > 0.01
    # A tube about its bones keeps its radius where one is twisted: the purpose of the method.
    rigs.animate(armature)
    for frame in (1, 20, 7, 8, 2):
        current_scene().frame_set(frame)
        assert_right(tube, armature)


def test_weights_only_tell_which_bone(character: Character) -> None:
    tube, armature = character
    before = rigs.evaluated(tube)
    state_of = addon.module("engine.live.states").state_of
    skin = state_of(tube).binding._by_bones
    for group in tube.vertex_groups:
        for vertex in tube.data.vertices:
            for entry in vertex.groups:
                if entry.group == group.index:
                    entry.weight *= 0.5
    tube.data.update()
    assert error(rigs.evaluated(tube), before) < TOLERANCE
    assert state_of(tube).binding._by_bones is skin, "painting must not bind anew what stays"
    # Where another bone becomes the heaviest, vertices go over to that.
    tube.vertex_groups["B3"].add(list(range(200, 300)), 1.0, "REPLACE")
    tube.data.update()
    assert error(rigs.evaluated(tube), before) > 0.01
    assert_right(tube, armature)
    tube.vertex_groups["B1"].remove([5, 6, 7])
    tube.vertex_groups["B0"].remove([5, 6, 7])
    tube.data.update()
    np.testing.assert_allclose(rigs.evaluated(tube)[5:8], rigs.positions(tube.data)[5:8], atol=1e-6)


def test_marked_bones(character: Character) -> None:
    tube, armature = character
    everything = rigs.evaluated(tube)
    tube.sbs.blended_bones = "MARKED"
    assert error(rigs.evaluated(tube), deformed(tube, armature, method="linear")) < TOLERANCE
    mark(armature, "B2")
    assert_right(tube, armature, ("B2",))
    assert error(rigs.evaluated(tube), everything) > 0.01
    mark(armature, "B1")
    assert_right(tube, armature, ("B1", "B2"))
    rigs.select_bones(armature, "B2", "B3")
    assert addon.ops.mark_bones(mark=False) == {"FINISHED"}
    assert_right(tube, armature, ("B1",))
    # A bone keeps its mark through Edit Mode, and when it is renamed.
    armature.data.bones["B1"].name = "Elbow"
    rigs.select([armature])
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [bone.name for bone in armature.data.bones if bone.sbs.bones_blending] == ["Elbow"]
    assert_right(tube, armature, ("Elbow",))


def test_own_zones(character: Character) -> None:
    tube, armature = character
    automatic = rigs.evaluated(tube)
    bone = armature.data.bones["B2"].sbs
    bone.t_min, bone.t_max = -0.2, 0.7
    assert error(rigs.evaluated(tube), automatic) < TOLERANCE, "until the zone is its own"
    bone.own_zone = True
    assert_right(tube, armature, zones={"B2": (-0.2, 0.7)})
    assert error(rigs.evaluated(tube), automatic) > 0.001
    bone.t_max = 0.3
    assert_right(tube, armature, zones={"B2": (-0.2, 0.3)})
    # One end past the other takes that along.
    bone.t_min = 0.5
    assert bone.t_max > bone.t_min
    assert_right(tube, armature, zones={"B2": (bone.t_min, bone.t_max)})
    bone.t_max = -0.8
    assert bone.t_max > bone.t_min
    assert problem_of(tube) == ""
    bone.own_zone = False
    assert error(rigs.evaluated(tube), automatic) < TOLERANCE


def test_profile_and_width_of_zones(character: Character, tmp_path: Path) -> None:
    tube, armature = character
    for scale in (0.5, 0.25):  # the limb is thick: wider zones would end in the middle of bones, as others do
        tube.sbs.zone_scale = scale
        assert_right(tube, armature, zone_scale=scale)
    linear = rigs.evaluated(tube)
    binding = rigs.state_of(tube).binding
    tube.sbs.bones_profile = "SMOOTHSTEP"
    assert_right(tube, armature, profile="smoothstep", zone_scale=0.25)
    assert error(rigs.evaluated(tube), linear) > 0.001
    assert rigs.state_of(tube).binding.skin is binding.skin
    bone = armature.data.bones["B2"].sbs
    bone.t_min, bone.t_max, bone.own_zone = -0.2, 0.7, True
    mark(armature, "B1", "B2")
    tube.sbs.blended_bones = "MARKED"
    options = {"zones": {"B2": (-0.2, 0.7)}, "profile": "smoothstep", "zone_scale": 0.25}
    assert_right(tube, armature, ("B1", "B2"), **options)
    tube, armature = rigs.reopen(tmp_path / "file.blend")
    assert_right(tube, armature, ("B1", "B2"), **options)


def test_fitted_zones(character: Character) -> None:
    """Those of `sbs.quality.fit_zones`, for selected bones, or for all if none is selected."""
    tube, armature = character
    for vertex in tube.data.vertices:  # a thin limb, whose zones do not end in the middle of bones
        vertex.co.x, vertex.co.y = 0.4 * vertex.co.x, 0.4 * vertex.co.y
    tube.data.update()
    automatic = rigs.evaluated(tube)
    sbs = addon.module("core.library").load()
    expected = fitted_zones(sbs, tube, armature)
    rigs.select_bones(armature, "B2")
    assert addon.ops.fit_zones() == {"FINISHED"}
    own = {bone.name: (bone.sbs.t_min, bone.sbs.t_max) for bone in armature.data.bones if bone.sbs.own_zone}
    assert own == {"B2": pytest.approx(expected["B2"], rel=1e-5)}
    assert_right(tube, armature, zones=own)
    rigs.select_bones(armature)
    assert addon.ops.fit_zones() == {"FINISHED"}
    own = {bone.name: (bone.sbs.t_min, bone.sbs.t_max) for bone in armature.data.bones if bone.sbs.own_zone}
    assert own == {name: pytest.approx(zone, rel=1e-5) for name, zone in expected.items()}
    assert_right(tube, armature, zones=own)
    assert error(rigs.evaluated(tube), automatic) > 0.001
    tube.sbs.method = "SPHERICAL"
    current_layer().update()
    with pytest.raises(RuntimeError, match="Bones Blending"):
        addon.ops.fit_zones()


def test_zones_are_of_the_rig(character: Character) -> None:
    """Zones are in the rig's unit of length, wherever the mesh is; a change of one keeps the skin."""
    tube, armature = character
    tube.scale = (2.0, 2.0, 2.0)
    tube.location.x = 0.1
    armature.scale = (0.5, 0.5, 0.5)
    bone = armature.data.bones["B2"].sbs
    bone.t_min, bone.t_max, bone.own_zone = -0.2, 0.7, True
    assert_right(tube, armature, zones={"B2": (-0.2, 0.7)})
    binding = rigs.state_of(tube).binding
    bone.t_max = 0.5
    assert_right(tube, armature, zones={"B2": (-0.2, 0.5)})
    assert rigs.state_of(tube).binding.skin is binding.skin
    # Changed while another method is chosen, they count when theirs comes back.
    tube.sbs.method = "LINEAR"
    current_layer().update()
    bone.t_max = 0.6
    current_layer().update()
    tube.sbs.method = "BONES_BLENDING"
    assert_right(tube, armature, zones={"B2": (-0.2, 0.6)})


def test_zones_for_the_viewport(character: Character) -> None:
    tube, armature = character
    current_layer().update()
    zones = addon.module("blending.zones")
    assert zones.find(armature.pose.bones["B0"]) is None, "it has no parent"
    bone = armature.pose.bones["B2"]
    found = zones.find(bone)
    # 1.2 radii of the tube, of half axes 0.5 and 0.4, but not beyond the middle of a bone of length 1.
    assert (found.t_min, found.t_max, found.radius) == pytest.approx((-0.5, 0.5, 0.5), abs=1e-5)
    before = rigs.evaluated(tube)
    zones.adopt(bone, found)
    assert bone.bone.sbs.own_zone
    assert error(rigs.evaluated(tube), before) < TOLERANCE
    bone.bone.sbs.t_max = 0.25
    assert zones.find(bone).t_max == 0.25
    # The start goes with the parent, at rest as with the bone.
    start, end = zones.ends(bone)
    parent = armature.pose.bones["B1"]
    np.testing.assert_allclose(end, np.array(bone.matrix), atol=1e-6)
    wanted = parent.matrix @ parent.bone.matrix_local.inverted() @ bone.bone.matrix_local
    np.testing.assert_allclose(start, np.array(wanted), atol=1e-6)


def test_rest_edits(character: Character) -> None:
    tube, armature = character
    armature.data.bones["B1"].use_deform = False
    assert_right(tube, armature)
    armature.data.bones["B1"].use_deform = True
    with rigs.editing(armature):
        armature.data.edit_bones["B2"].head.z += 0.3
        # A bone that goes elsewhere than its child, and a tail that has none.
        armature.data.edit_bones["B2"].use_connect = False
        armature.data.edit_bones["B1"].tail.x += 0.4
        armature.data.edit_bones["B3"].tail.y += 0.5
    assert_right(tube, armature)
    tube.data.vertices[100].co.z += 0.7
    tube.data.update()
    assert_right(tube, armature)


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (2.0, 2.0, 2.0), (1.0, 2.0, 0.5), (-1.0, 1.0, 1.0)])
def test_places(character: Character, scale: tuple[float, float, float]) -> None:
    tube, armature = character
    tube.scale = scale
    tube.location = (0.1, 0.0, 0.3)
    armature.location = (5.0, 1.0, 0.0)
    armature.rotation_euler = (0.3, 0.0, 1.0)
    tube.parent = armature
    assert_right(tube, armature)
    # The rig takes the mesh along, which must not be bound anew for it.
    binding = rigs.state_of(tube).binding
    armature.location = (50.0, 3.3, 0.7)
    armature.rotation_euler = (1.3, 0.2, 0.1)
    assert_right(tube, armature)
    assert rigs.state_of(tube).binding is binding
    tube.location.z += 0.1
    assert_right(tube, armature)
    assert rigs.state_of(tube).binding is not binding


def test_shape_keys_move_vertices_along_no_bone(character: Character) -> None:
    tube, armature = character
    key = rigs.add_shape(tube, (1.3, 1.0, 1.2))
    rest = rigs.positions(tube.data)
    longer = rest * (1.3, 1.0, 1.2)
    for value in (0.0, 1.0, 0.5):
        key.value = value
        assert_right(tube, armature, rest=rest + value * (longer - rest))


@pytest.mark.parametrize("other", ["LINEAR", "SPHERICAL", "NONE"])
@pytest.mark.parametrize("turned_round", [False, True])
def test_amount(character: Character, other: str, turned_round: bool) -> None:
    tube, armature = character
    amounts = rigs.paint_amounts(tube)
    tube.sbs.amount_method = other
    if turned_round and other != "NONE":
        tube.sbs.method, tube.sbs.amount_method = other, "BONES_BLENDING"
        amounts = 1.0 - amounts
    blended = bones_blended(tube, armature)
    rest = rigs.positions(tube.data)
    elsewhere = rest if other == "NONE" else deformed(tube, armature, method=other.lower())
    wanted = elsewhere + amounts[:, None] * (blended - elsewhere)
    assert error(rigs.evaluated(tube), wanted) < TOLERANCE


def test_two_rigs_and_a_limit(character: Character) -> None:
    tube, armature = character
    tube.sbs.influence_limit = 1
    assert_right(tube, armature)
    second, other = rigs.make_armature(name="Second"), rigs.make_tube(name="Other")
    rigs.bind(other, second)
    rigs.turn(second, seed=9)
    assert error(rigs.evaluated(other), deformed(other, second)) < TOLERANCE
    assert_right(tube, armature)


def test_says_that_bendy_bones_are_none(character: Character) -> None:
    tube, armature = character
    armature.data.bones["B1"].bbone_segments = 4
    assert "bone B1" in problem_of(tube)
    tube.sbs.method = "SPHERICAL"
    assert problem_of(tube) == ""
    tube.sbs.method = "BONES_BLENDING"
    armature.data.bones["B1"].bbone_segments = 1
    assert problem_of(tube) == ""
    assert_right(tube, armature)
