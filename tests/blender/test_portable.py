# SPDX-License-Identifier: GPL-3.0-or-later
"""Portable objects: what nodes make of a pose, against the library."""

from __future__ import annotations

import itertools
import math

import addon
import bpy
import numpy as np
import pytest
import real_characters
import rigs
from expected import deformed, error
from mathutils import Quaternion
from objects import armature_named, current_layer, current_scene, mesh_named
from portables import (
    TOLERANCE,
    assert_passes,
    assert_right,
    get_input,
    library_says,
    make_character,
    make_portable,
    needs_bone_info,
    warnings,
)


@pytest.fixture(params=["OPTIMIZED", "JOINT_SET"])
def center(request: pytest.FixtureRequest) -> str:
    """What vertices turn about: centers that are given to nodes, or that nodes find."""
    chosen: str = request.param
    return chosen


@needs_bone_info
@pytest.mark.parametrize("bones", [2, 4, 9])
def test_generated(bones: int, center: str) -> None:
    tube, armature = make_character(bones, center)
    make_portable(tube)
    for seed, angle in enumerate((0.5, 1.0, 2.0, 3.0)):
        rigs.turn(armature, seed, angle)
        assert_right(tube, armature)
    rigs.turn(armature, angle=0.0)
    assert_right(tube, armature)


@needs_bone_info
def test_many_influences(center: str) -> None:
    armature, tube = rigs.make_armature(10), rigs.make_tube(10)
    tube.parent = armature
    # All bones move the vertices of one half, and all but three those of the other.
    for number, group in enumerate(tube.vertex_groups):
        for vertex, point in enumerate(rigs.positions(tube.data)):
            if point[0] > 0.0 or number % 3:
                group.add([vertex], 1.0 / (1.0 + (point[2] - 0.4 * number) ** 2), "REPLACE")
    rigs.bind(tube, armature, center)
    make_portable(tube)
    for angle in (0.2, 1.5):
        rigs.turn(armature, angle=angle)
        assert_right(tube, armature)


@needs_bone_info
def test_joints_that_move_alike(center: str) -> None:
    tube, armature = make_character(5, center)
    make_portable(tube)
    rigs.turn(armature, angle=0.0)
    armature.pose.bones["B2"].rotation_quaternion = Quaternion((0.3, 0.5, 0.1), 2.0)
    assert_right(tube, armature)
    # Half a turn, and hardly any.
    armature.pose.bones["B2"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), math.pi)
    armature.pose.bones["B3"].rotation_quaternion = Quaternion((0.0, 1.0, 0.2), 1e-4)
    assert_right(tube, armature)


@needs_bone_info
@pytest.mark.parametrize(
    ("name", "center"),
    [
        *itertools.product(["hand_webxr", "arnaud_ozz", "rat_quaternius"], ["JOINT_SET", "OPTIMIZED"]),
        ("woman_makehuman_default", "JOINT_SET"),  # whose data has no faces to find centers between
    ],
)
def test_real(name: str, center: str) -> None:
    character = real_characters.load(name)
    rigs.bind(character.mesh, character.armature, center)
    make_portable(character.mesh)
    for frame in range(len(character.motions)):
        character.pose(frame)
        assert_right(character.mesh, character.armature)


@needs_bone_info
def test_imported(center: str) -> None:
    import addon_utils

    addon_utils.enable("io_scene_gltf2")
    bpy.ops.import_scene.gltf(filepath=str(real_characters.DATA / "Fox.glb"))
    mesh, armature = mesh_named("fox"), armature_named("root")
    rigs.bind(mesh, armature, center)
    make_portable(mesh)
    for frame in (1, 9, 17, 25):
        current_scene().frame_set(frame)
        assert_right(mesh, armature)


@needs_bone_info
def test_transforms(center: str) -> None:
    tube, armature = make_character(center=center)
    armature.matrix_world = ((0.3, 0.4, 0.0, 1.0), (-0.4, 0.3, 0.0, 2.0), (0.0, 0.0, 0.5, 3.0), (0.0, 0.0, 0.0, 1.0))
    make_portable(tube)
    assert_right(tube, armature)
    tube.parent = None
    tube.location, tube.rotation_euler, tube.scale = (1.0, -2.0, 0.5), (0.3, 0.2, 0.1), (1.0, 2.0, 0.5)
    current_layer().update()
    assert_right(tube, armature)


@needs_bone_info
@pytest.mark.parametrize("scale", [(0.5, 0.5, 0.5), (-0.5, 0.5, 0.5), (0.5, 0.5, 0.5001)])
def test_transforms_that_nearly_keep_angles(scale: tuple[float, float, float], center: str) -> None:
    tube, armature = make_character(center=center)
    tube.parent = None
    tube.location, tube.rotation_euler, tube.scale = (8.0, -5.0, 3.0), (0.3, 1.2, 0.1), scale
    armature.pose.bones["B1"].scale = (1.0, 1.2, 0.9)
    make_portable(tube)
    assert_right(tube, armature)
    armature.pose.bones["B1"].scale = (1.0, 1.0, 1.0)
    assert_right(tube, armature)


@needs_bone_info
@pytest.mark.parametrize(
    ("bone", "scale"),
    [
        ("B1", (2.0, 2.0, 2.0)),
        ("B1", (1.0, 2.0, 0.7)),
        ("B0", (-1.0, 1.0, 1.0)),
        # Of bones that inherit a scale of 0, rounding errors would decide whether they are mirrored.
        ("B3", (0.0, 1.0, 1.0)),
    ],
)
def test_scaled_joints(bone: str, scale: tuple[float, float, float], center: str) -> None:
    tube, armature = make_character(center=center)
    make_portable(tube)
    armature.pose.bones[bone].scale = scale
    assert_right(tube, armature)


@needs_bone_info
def test_unweighted_vertices_stay(center: str) -> None:
    tube, armature = make_character(center=center)
    loose = list(range(5 * rigs.RING, 7 * rigs.RING))
    for group in tube.vertex_groups:
        group.remove(loose)
    make_portable(tube)
    assert_right(tube, armature)
    np.testing.assert_allclose(rigs.evaluated(tube)[loose], rigs.positions(tube.data)[loose], atol=1e-6)


@needs_bone_info
@pytest.mark.parametrize(
    ("other", "method"), [("NONE", None), ("RIGID", "rigid"), ("LINEAR", "linear")], ids=["none", "rigid", "linear"]
)
def test_amount(other: str, method: str | None, center: str) -> None:
    tube, armature = make_character(center=center)
    amounts = rigs.paint_amounts(tube)
    tube.sbs.amount_method = other
    make_portable(tube)
    others = rigs.positions(tube.data) if method is None else deformed(tube, armature, method)
    wanted = others + amounts[:, None] * (library_says(tube, armature) - others)
    assert error(rigs.evaluated(tube), wanted) < TOLERANCE


@needs_bone_info
def test_modifiers_around() -> None:
    tube, armature = make_character(center="JOINT_SET")
    mirror = tube.modifiers.new("Mirror", "MIRROR")
    tube.modifiers.move(len(tube.modifiers) - 1, 0)
    mirror.use_mirror_merge = False
    tube.modifiers.new("Subdivision", "SUBSURF")
    make_portable(tube)
    tube.modifiers["Subdivision"].show_viewport = False
    rest = rigs.positions(tube.data)
    count = len(rest)
    found = rigs.evaluated(tube)
    assert error(found[:count], deformed(tube, armature)) < TOLERANCE
    assert error(found[count:], deformed(tube, armature, rest=rest * (-1.0, 1.0, 1.0))) < TOLERANCE
    assert not warnings(tube)
    mirror.show_viewport = False
    assert_passes(tube)
    assert any("other vertices" in message for message in warnings(tube))


@needs_bone_info
def test_shape_keys_before(center: str) -> None:
    tube, armature = make_character(center=center)
    key = rigs.add_shape(tube, (1.3, 1.0, 1.1))
    wide = rigs.positions(tube.data) * (1.3, 1.0, 1.1)
    make_portable(tube)
    assert error(rigs.evaluated(tube), library_says(tube, armature, rest=wide)) < TOLERANCE
    key.value = 0.0
    assert_right(tube, armature)


@needs_bone_info
@pytest.mark.parametrize("kind", ["MIRROR", "SUBSURF"])
def test_centers_behind_modifiers_that_change_faces(kind: str) -> None:
    """Live, these have weighted centers; nodes get those of the faces that come to them."""
    sbs = addon.module("core.library").load()
    tube, armature = make_character()
    before = tube.modifiers.new("Before", kind)
    if kind == "SUBSURF":
        before.levels = before.render_levels = 1
    tube.modifiers.move(len(tube.modifiers) - 1, 0)
    tube.modifiers.new("After", "TRIANGULATE")
    make_portable(tube)
    assert [modifier.show_viewport for modifier in tube.modifiers if modifier.type != "ARMATURE"] == [True] * 3

    # The nodes' input, and the output to expect.
    portable = addon.module("engine.bake.portable").find(tube)
    portable.show_viewport = tube.modifiers["After"].show_viewport = False
    mesh = tube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.copy()
    weights = rigs.weights(tube, mesh=mesh).astype(np.float64)
    everyone = np.broadcast_to(np.arange(weights.shape[1]), weights.shape)
    centers = sbs.optimized_centers(rigs.positions(mesh), rigs.triangles(mesh), everyone, weights)
    portable.show_viewport = True
    wanted = deformed(tube, armature, mesh=mesh, center="optimized", centers=centers)
    assert before.show_viewport
    # The library merges nearly equal weights by their order, which moves centers by some 1e-6 of the size.
    assert error(rigs.evaluated(tube), wanted) < TOLERANCE


@needs_bone_info
def test_given_centers_take_fewer_nodes() -> None:
    portable = addon.module("engine.bake.portable")

    def nodes_of(center: str) -> int:
        tube, _armature = make_character(center=center)
        count: int = portable.make_portable(tube, bpy.context.evaluated_depsgraph_get()).nodes
        return count

    assert nodes_of("OPTIMIZED") < nodes_of("JOINT_SET")


@needs_bone_info
def test_vertices_of_the_same_weights_move_as_one() -> None:
    tube, armature = make_character()
    joints = get_input(make_portable(tube), "Joint Sets").data.attributes["is_influence"]
    is_influence = np.empty(len(joints.data), bool)
    joints.data.foreach_get("value", is_influence)
    # Those of a ring have the same, and all that one bone moves alone.
    weights = {tuple((entry.group, entry.weight) for entry in vertex.groups) for vertex in tube.data.vertices}
    several = {each for each in weights if len(each) > 1}
    alone = {each[0][0] for each in weights if len(each) == 1}
    assert is_influence.sum() == len(several) + len(alone) <= len(tube.data.vertices) // rigs.RING
    assert_right(tube, armature)
