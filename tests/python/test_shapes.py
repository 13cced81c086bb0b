# SPDX-License-Identifier: MIT
"""Blend shapes: applied before joints move the mesh, with the weights of animations; and kept when they are saved."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from gltf_builder import Builder, arm
from gltf_reference import opened

import sbs
from sbs.cli import main
from sbs.formats import bake
from sbs.quality import chosen, clip, evaluate
from sbs.rigging.animation import Track
from sbs.view.posing import Posing
from sbs.view.shape import Surface

# Of the four vertices of the arm: one target moves two of them, the other all.
FIRST = [[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 2, 0]]
SECOND = [[0, 0, 1], [0, 0, 2], [0, 0, 3], [0, 0, 4]]
TIMES = [0.0, 1.0, 3.0]
KEYS = [[0.0, 0.25], [1.0, 0.5], [0.5, -1.0]]


def mesh_node(builder: Builder) -> int:
    return next(number for number, node in enumerate(builder.json["nodes"]) if "mesh" in node)


def talking(**sampler: Any) -> Builder:
    """An arm with two targets, whose elbow turns while their weights change."""
    builder = arm()
    (primitive,) = builder.json["meshes"][0]["primitives"]
    primitive["targets"] = [{"POSITION": builder.accessor(target)} for target in (FIRST, SECOND)]
    builder.json["meshes"][0]["weights"] = [0.0, 0.75]
    builder.json["meshes"][0]["extras"] = {"targetNames": ["smile", "\ud800 wide"]}
    half = np.sqrt(0.5)
    builder.animation(
        (1, "rotation", [0.0, 3.0], [[0, 0, 0, 1], [0, 0, half, half]]),
        (mesh_node(builder), "weights", TIMES, builder.accessor(np.ravel(KEYS))),
    )
    return builder


def load(builder: Builder, tmp_path: Path) -> sbs.Character:
    path = tmp_path / "arm.glb"
    builder.save(path)
    return sbs.load(path)


def by_hand(character: sbs.Character, time: float, weights: list[float], **options: Any) -> np.ndarray:
    """A skin made anew of the shaped mesh."""
    rest = character.mesh.positions.astype(np.float64)
    rest = rest + weights[0] * np.array(FIRST) + weights[1] * np.array(SECOND)
    skin = sbs.Skin(
        rest.astype(np.float32),
        character.mesh.joint_indices,
        character.mesh.joint_weights,
        parents=character.skeleton.parents,
        joint_positions=character.skeleton.joint_positions,
    )
    return np.asarray(skin.deform(character.animations[0].skinning_matrices(time), **options))


@pytest.mark.parametrize(("time", "weights"), [(0, [0, 0.25]), (0.5, [0.5, 0.375]), (2, [0.75, -0.25]), (9, [0.5, -1])])
def test_shapes_come_before_joints(tmp_path: Path, time: float, weights: list[float]) -> None:
    character = load(talking(), tmp_path)
    (animation,) = character.animations
    shapes = character.shape_motion(animation)
    np.testing.assert_allclose(shapes.weights(time), weights, rtol=0, atol=1e-7)  # keys are float32
    for method in ("linear", "spherical"):
        found = character.skin.deform(
            animation.skinning_matrices(time), rest_positions=shapes.rest_positions(time), method=method
        )
        np.testing.assert_allclose(found, by_hand(character, time, weights, method=method), rtol=0, atol=1e-6)


def test_what_is_read(tmp_path: Path) -> None:
    character = load(talking(), tmp_path)
    smile, wide = character.mesh.shapes
    assert (smile.name, wide.name) == ("smile", "\ufffd wide")
    assert (smile.weight, wide.weight) == (0.0, 0.75)
    np.testing.assert_array_equal(smile.vertices, [2, 3])  # moved vertices
    np.testing.assert_array_equal(smile.offsets, FIRST[2:])
    at_rest = character.shape_motion()
    np.testing.assert_array_equal(at_rest.weights([0, 5]), [[0, 0.75]] * 2)
    expected = character.mesh.positions + 0.75 * np.array(SECOND, np.float32)
    np.testing.assert_array_equal(at_rest.rest_positions(), expected)


def test_weights_of_the_node_come_first(tmp_path: Path) -> None:
    builder = talking()
    builder.json["nodes"][mesh_node(builder)]["weights"] = [0.125, 0.0]
    assert [shape.weight for shape in load(builder, tmp_path).mesh.shapes] == [0.125, 0.0]


@pytest.mark.parametrize("interpolation", ["STEP", "CUBICSPLINE"])
def test_interpolation(tmp_path: Path, interpolation: str) -> None:
    """Splines by their definition (glTF 2.0, appendix C.5), half way between two keys."""
    builder = talking()
    sampler = builder.json["animations"][0]["samplers"][1]
    sampler["interpolation"] = interpolation
    tangents = np.array([[0.5, 0.25], [-1, 2], [0, 1]])
    if interpolation == "CUBICSPLINE":
        sampler["output"] = builder.accessor(np.ravel(np.stack([tangents, KEYS, 2 * tangents], axis=1)))
        duration, keys = 2.0, np.array(KEYS)
        expected = (keys[1] + keys[2]) / 2 + duration / 8 * (2 * tangents[1] - tangents[2])
    else:
        expected = np.array(KEYS[1])
    character = load(builder, tmp_path)
    np.testing.assert_allclose(character.shape_motion(character.animations[0]).weights(2.0), expected, atol=1e-7)


def test_scaled_characters(tmp_path: Path) -> None:
    """An armature scaled by 10: offsets grow with the mesh."""
    builder = talking()
    builder.json["nodes"][0]["scale"] = [10, 10, 10]
    character = load(builder, tmp_path)
    (animation,) = character.animations
    plain = character.skin.deform(animation.skinning_matrices(0))
    shaped = character.skin.deform(
        animation.skinning_matrices(0), rest_positions=character.shape_motion(animation).rest_positions(0)
    )
    np.testing.assert_allclose(shaped - plain, 10 * 0.25 * np.array(SECOND), rtol=0, atol=1e-5)


def test_several_meshes(tmp_path: Path) -> None:
    """Two meshes of one skin, each with targets and weights of its own."""
    builder = talking()
    twin = {**builder.json["meshes"][0], "weights": [0.5, 0.0], "extras": 3}
    builder.json["meshes"].append(twin)
    builder.node(mesh=1, skin=0)
    character = load(builder, tmp_path)
    assert [shape.name for shape in character.mesh.shapes][2:] == ["shape_0", "shape_1"]
    np.testing.assert_array_equal(character.mesh.shapes[2].vertices, [6, 7])
    shapes = character.shape_motion(character.animations[0])
    np.testing.assert_allclose(shapes.weights(1.0), [1, 0.5, 0.5, 0], atol=1e-7)
    copy = tmp_path / "copy.glb"
    dataclasses.replace(character, source=None).save(copy)  # as one mesh
    again = sbs.load(copy)
    for time in (0.0, 0.7, 3.0):
        np.testing.assert_allclose(
            again.shape_motion(again.animations[0]).rest_positions(time), shapes.rest_positions(time), atol=1e-6
        )


def test_shapes_are_added_to_a_file(tmp_path: Path) -> None:
    """Two meshes, one of which gets a shape more: it stands behind those that are there, with weights of its own."""
    builder = talking()
    builder.json["meshes"].append({**builder.json["meshes"][0], "extras": 3})
    twin = builder.node(mesh=1, skin=0, weights=[0.5, 0.0])
    builder.json["materials"] = [{"name": "kept"}]
    before = load(builder, tmp_path)
    added = sbs.BlendShape("fist", np.array([5, 7], np.int32), np.full((2, 3), 0.5, np.float32), 0.25)
    first, second = before.mesh.parts
    shapes = (*before.mesh.shapes, added)
    mesh = dataclasses.replace(
        before.mesh, shapes=shapes, parts=(first, dataclasses.replace(second, shapes=range(2, 5)))
    )
    (animation,) = before.animations
    keys = Track("weights", "LINEAR", np.array([4]), np.array([0.0, 3.0]), np.array([[[0.0]], [[1.0]]]))
    moving = dataclasses.replace(animation, shape_tracks=(*animation.shape_tracks, keys))
    dataclasses.replace(before, mesh=mesh, animations=sbs.Animations([moving])).save(tmp_path / "more.glb")
    found = opened(tmp_path / "more.glb")[0]
    assert found["materials"] == [{"name": "kept"}]
    assert [len(each["primitives"][0]["targets"]) for each in found["meshes"]] == [2, 3]
    assert found["meshes"][1]["extras"] == {"targetNames": ["shape_0", "shape_1", "fist"]}
    assert found["nodes"][twin]["weights"] == [0.5, 0.0, 0.25]
    again = sbs.load(tmp_path / "more.glb")
    wanted, motion = (each.shape_motion(each.animations[0]) for each in (before, again))
    for time in (0.0, 0.7, 3.0):
        np.testing.assert_allclose(motion.weights(time)[:4], wanted.weights(time), atol=1e-6)
        assert motion.weights(time)[4] == pytest.approx(time / 3, abs=1e-6)
    np.testing.assert_array_equal(again.mesh.shapes[4].offsets, added.offsets)
    np.testing.assert_array_equal(again.mesh.shapes[4].vertices, added.vertices)


@pytest.mark.parametrize("keeps_source", [True, False])
def test_saved_and_read_again(tmp_path: Path, keeps_source: bool) -> None:
    """Also animations that are new; the file itself is otherwise kept byte for byte."""
    character = load(talking(), tmp_path)
    (animation,) = character.animations
    copy = tmp_path / "copy.glb"
    renamed = dataclasses.replace(animation, name="again")
    changed = dataclasses.replace(character, animations=sbs.Animations((animation, renamed)))
    (changed if keeps_source else dataclasses.replace(changed, source=None)).save(copy)
    again = sbs.load(copy)
    assert [shape.name for shape in again.mesh.shapes] == [shape.name for shape in character.mesh.shapes]
    assert [shape.weight for shape in again.mesh.shapes] == [0, 0.75]
    for found in again.animations:
        for time in (0.0, 0.5, 2.0):
            expected = character.shape_motion(animation).rest_positions(time)
            np.testing.assert_array_equal(again.shape_motion(found).rest_positions(time), expected)


def test_shapes_that_are_taken_away_are_not_saved(tmp_path: Path) -> None:
    character = load(talking(), tmp_path)
    bare = dataclasses.replace(
        character.with_mesh(dataclasses.replace(character.mesh, shapes=())),
        animations=sbs.Animations(dataclasses.replace(a, shape_tracks=()) for a in character.animations),
    )
    bare.save(tmp_path / "bare.glb")
    assert sbs.load(tmp_path / "bare.glb").mesh.shapes == ()


def test_caches_and_the_command(tmp_path: Path) -> None:
    character = load(talking(), tmp_path)
    (animation,) = character.animations
    shapes = character.shape_motion(animation)
    bake(tmp_path / "a.npy", character.skin, animation, range(10), fps=3, shapes=shapes)
    expected = [by_hand(character, n / 3, list(shapes.weights(n / 3))) for n in range(10)]
    np.testing.assert_allclose(np.load(tmp_path / "a.npy"), np.array(expected), rtol=0, atol=1e-6)

    def run(*arguments: object) -> np.ndarray:
        output = tmp_path / "b.npy"
        given = ["deform", str(tmp_path / "arm.glb"), "--method", "SBS", *map(str, arguments), "-o", str(output)]
        result = CliRunner().invoke(main, given)
        assert result.exit_code == 0, result.output
        return np.asarray(np.load(output))

    np.testing.assert_allclose(run("--animation", animation.name, "--fps", 3), expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run("--animation", animation.name, "--time", 1), expected[3], rtol=0, atol=1e-6)
    at_rest = character.skin.deform(character.rest_matrices, rest_positions=character.shape_motion().rest_positions())
    np.testing.assert_array_equal(run(), at_rest)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda json: json["meshes"][0]["primitives"][0]["targets"][0].update(POSITION=99), "99, but there are"),
        (lambda json: json["meshes"][0].update(weights=[1.0]), "2 numbers are needed, found 1"),
        (lambda json: json["accessors"][json["animations"][0]["samplers"][1]["output"]].update(count=5),
         "5 values, 6 are needed for 3 times of 2 targets"),
        (lambda json: json["meshes"][0]["primitives"].append({**json["meshes"][0]["primitives"][0], "targets": []}),
         "0 morph targets, the first primitive has 2"),
        (lambda json: json["meshes"][0]["primitives"][0]["targets"][0].update(POSITION=1),
         "elements for 4 vertices|is needed, found"),
    ],
)  # fmt: skip
def test_damaged(tmp_path: Path, change: Any, message: str) -> None:
    builder = talking()
    change(builder.json)
    with pytest.raises(ValueError, match=message):
        load(builder, tmp_path)


def test_mistakes(tmp_path: Path) -> None:
    character = load(talking(), tmp_path)
    shapes = character.mesh.shapes
    with pytest.raises(ValueError, match=r"weights has shape \(3,\), one for each of 2 shapes"):
        sbs.rigging.shapes.shaped(character.mesh.positions, shapes, [0, 1, 2])
    with pytest.raises(ValueError, match=r"weights\[1\] = nan is not finite"):
        sbs.rigging.shapes.shaped(character.mesh.positions, shapes, [0, np.nan])
    with pytest.raises(ValueError, match="finite"):
        rest = sbs.rigging.shapes.shaped(character.mesh.positions, shapes, [1e300, 0])  # and no warning of NumPy's
        character.skin.deform(character.rest_matrices, rest_positions=rest)
    with pytest.raises(ValueError, match="shape 'smile' moves vertices that are out of range for 4"):
        wrong = dataclasses.replace(shapes[0], vertices=np.array([2, 4], np.int32))
        dataclasses.replace(character.mesh, shapes=(wrong,))
    with pytest.raises(ValueError, match="the animation moves shape 1, but the mesh has 0"):
        character.with_mesh(dataclasses.replace(character.mesh, shapes=())).shape_motion(character.animations[0])


def with_shape(hand: sbs.Character, weights: list[float]) -> tuple[sbs.Character, sbs.Character]:
    """The hand with a shape that its animation has by these weights at its keys, and one whose mesh has it by 0.5."""
    mesh = hand.mesh
    vertices = np.flatnonzero(mesh.positions[:, 2] < np.median(mesh.positions[:, 2])).astype(np.int32)
    # Alike on both sides of seams, and smooth.
    offsets = 4e-3 * np.sin(60 * mesh.positions[vertices][:, [1, 2, 0]])
    shape = sbs.BlendShape("swollen", vertices, offsets, weight=0.5)
    times = np.linspace(0.0, hand.animations[0].duration, len(weights))
    track = sbs.rigging.animation.Track(
        "weights", "LINEAR", np.array([0]), times, np.reshape(weights, (-1, 1, 1)).astype(float)
    )
    moving = dataclasses.replace(hand.animations[0], shape_tracks=(track,))
    shaped = dataclasses.replace(
        hand, mesh=dataclasses.replace(mesh, shapes=(shape,)), animations=sbs.Animations((moving,))
    )
    by_hand = mesh.positions.copy()
    by_hand[vertices] = (by_hand[vertices].astype(np.float64) + 0.5 * offsets).astype(np.float32)
    return shaped, hand.with_mesh(dataclasses.replace(mesh, positions=by_hand))


@pytest.mark.parametrize("weights", [[0.5, 0.5], [0.0, 1.0]])
def test_measures_are_those_of_the_shaped_mesh(weights: list[float]) -> None:
    """In the middle of the animation the weight is 0.5; moves of the shape are no pops of the method."""
    shaped, by_hand = with_shape(sbs.samples.load("hand"), weights)
    methods = chosen(["LBS", "SBS"])
    found, expected = (
        evaluate(character, [clip(character.animations[0], poses=1, rate=30)], methods)
        for character in (shaped, by_hand)
    )
    for key, result in expected.results.items():
        for measure, statistics in result.poses[0].items():
            for statistic, value in statistics.items():
                # Single precision rests; tears and energies are of second order in differences of positions.
                assert found.results[key].poses[0][measure][statistic] == pytest.approx(value, rel=1e-3), measure
        np.testing.assert_allclose(found.results[key].limbs, result.limbs, rtol=1e-5)
        if weights[0] == weights[1]:
            # Shares of the size of the mesh, and percentiles by its areas: here of the mesh without the shape.
            np.testing.assert_allclose(found.results[key].pops[0]["high"], result.pops[0]["high"], rtol=0.03)
        else:
            plain = sbs.samples.load("hand")
            plain_pops = evaluate(plain, [clip(plain.animations[0], poses=1, rate=30)], methods).results[key].pops[0]
            # The shape moves vertices by up to 7 mm of a hand of 190 in a second.
            assert np.abs(found.results[key].pops[0]["largest"] - plain_pops["largest"]).max() < 2e-3


def test_compare_shows_the_shaped_mesh(tmp_path: Path) -> None:
    shaped, by_hand = with_shape(sbs.samples.load("hand"), [0.0, 1.0])
    shaped.save(tmp_path / "shaped.glb")
    by_hand.save(tmp_path / "by_hand.glb")
    tables = []
    words = ("--animation", "fist", "--time", "0.5", "--methods", "LBS,SBS")  # no centers, which the shape would move
    for name in ("shaped", "by_hand"):
        arguments = ["compare", str(tmp_path / f"{name}.glb"), *words]
        ran = CliRunner().invoke(main, arguments)
        assert ran.exit_code == 0, ran.output
        tables.append(ran.output)
    assert tables[0] == tables[1]
    plain = sbs.samples.load("hand")
    plain.save(tmp_path / "plain.glb")
    assert tables[0] != CliRunner().invoke(main, [*arguments[:1], str(tmp_path / "plain.glb"), *arguments[2:]]).output


def test_the_page_shows_the_shaped_mesh() -> None:
    shaped, by_hand = with_shape(sbs.samples.load("hand"), [0.0, 1.0])
    pose = Posing(shaped)
    np.testing.assert_array_equal(pose.rest_positions(), by_hand.mesh.positions)  # 0.5, the weight of the file
    pose.animation, pose.time = "fist", 0.5
    halfway = pose.rest_positions()
    assert halfway is not None
    np.testing.assert_allclose(halfway, by_hand.mesh.positions, rtol=0, atol=1e-7)
    pose.time = 0.0
    np.testing.assert_array_equal(pose.rest_positions(), shaped.mesh.positions)
    assert Posing(by_hand).rest_positions() is None
    rest = by_hand.mesh.positions
    moved = shaped.skin.deform(shaped.animations[0].skinning_matrices(0.5), rest_positions=rest)
    np.testing.assert_array_equal(Surface(shaped).areas(moved, rest), Surface(by_hand).areas(moved))
    assert np.any(Surface(shaped).areas(moved, rest) != Surface(shaped).areas(moved))
