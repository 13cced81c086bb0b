# SPDX-License-Identifier: MIT
"""Correctives as blend shapes of files: other programs deform these by linear blending."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pygltflib
import pytest
from commands import succeed
from gltf_validity import check_validity

import sbs
from sbs.correctives import Correctives, as_blend_shapes, from_shapes, to_linear, write
from sbs.correctives.drivers import find_coordinates, find_driver
from sbs.correctives.linear import pose_alone
from sbs.rigging.triangle_mesh import diagonal

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "pose-drivers.schema.json").read_text(encoding="utf-8"))

DATA = Path(__file__).parents[1] / "data"
CURL = ["index-finger-phalanx-proximal", "index-finger-phalanx-intermediate", "index-finger-phalanx-distal"]


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    """A hand whose index finger curls within a second."""
    hand = sbs.samples.load("hand")
    fist = hand.animations["fist"].skinning_matrices(0.5)
    driver = find_driver(hand.skeleton, CURL, "swing")
    coordinates = find_coordinates(hand.skeleton, driver, fist)
    poses = [pose_alone(hand.skeleton, driver, share * coordinates) for share in np.linspace(0, 1, 11)]
    matrices = np.tile(np.eye(4), (11, len(hand.skeleton), 1, 1))
    matrices[:, :, :3] = poses
    clip = sbs.Animation.from_skinning_matrices("curl", np.linspace(0, 1, 11), matrices, hand.rig)
    return replace(hand, animations=sbs.Animations([clip]))


@pytest.fixture(scope="module")
def fist(hand: sbs.Character) -> tuple[np.ndarray, np.ndarray]:
    """The end of the clip, and what a sculptor makes of the finger there."""
    pose = hand.animations["curl"].skinning_matrices(1.0)
    sculpted = hand.skin.deform(pose, center="weighted")
    finger = np.isin(hand.mesh.joint_indices[:, 0], hand.skeleton.indices(CURL))
    sculpted[finger] += np.float32(0.002) * np.sin(300 * hand.mesh.positions[finger])
    return pose, sculpted


@pytest.fixture(scope="module")
def linear(hand: sbs.Character, fist: tuple[np.ndarray, np.ndarray]) -> Correctives:
    """Correctives that were solved for weighted centers, for linear blending."""
    made = Correctives(hand.skeleton)
    made.add(*fist, joints=CURL, name="fist")
    made.solve(hand.skin, center="weighted")
    found, _ = to_linear(made, hand.skin, hand.skin, triangles=hand.mesh.triangles, center="weighted")
    return found


def by_linear_blending(character: sbs.Character, time: float) -> np.ndarray:
    """What a program makes of a file that knows nothing but blend shapes and linear blending."""
    clip = character.animations["curl"]
    shaped = character.shape_motion(clip).rest_positions(time)
    return np.asarray(character.skin.deform(clip.skinning_matrices(time), method="linear", rest_positions=shaped))


@pytest.mark.parametrize("ending", ["kept.glb", "new.glb", "new.usdc"])
def test_files_meet_the_sculpt(
    hand: sbs.Character,
    fist: tuple[np.ndarray, np.ndarray],
    linear: Correctives,
    tmp_path: Path,
    ending: str,
) -> None:
    """At its pose within 1e-6 of the size, for files have float32; and 1e-4 between keys of weights."""
    if ending == "new.usdc":
        pytest.importorskip("pxr")
    size = diagonal(hand.mesh.positions)
    path = tmp_path / ending
    made = as_blend_shapes(hand, linear)
    (made if ending == "kept.glb" else replace(made, source=None)).save(path)
    read = sbs.load(path)
    assert [shape.name for shape in read.mesh.shapes] == list(linear.names)
    for shape, corrective in zip(read.mesh.shapes, linear, strict=True):
        assert corrective.shape is not None
        np.testing.assert_array_equal(shape.vertices, corrective.shape.vertices)
        np.testing.assert_allclose(shape.offsets, corrective.shape.deltas, atol=1e-7)
        assert shape.normals is not None and corrective.shape.normal_deltas is not None
        np.testing.assert_allclose(shape.normals, corrective.shape.normal_deltas, atol=1e-6)
    assert np.linalg.norm(by_linear_blending(read, 1.0) - fist[1], axis=1).max() < 1e-6 * size
    for time in np.linspace(0, 1, 7):
        matrices = hand.animations["curl"].skinning_matrices(time)
        wanted = hand.skin.deform(matrices, method="linear", correctives=linear)
        assert np.abs(by_linear_blending(read, time) - wanted).max() < 1e-4 * size


@pytest.mark.parametrize("keeps_source", [True, False])
def test_from_shapes_reads_them_again(
    hand: sbs.Character, linear: Correctives, tmp_path: Path, keeps_source: bool
) -> None:
    """With their drivers, so weights in other poses are the same, too."""
    made = as_blend_shapes(hand, linear)
    (made if keeps_source else replace(made, source=None)).save(tmp_path / "hand.glb")
    read = sbs.load(tmp_path / "hand.glb")
    found = from_shapes(read)
    assert found.names == linear.names
    assert {each.made_for for each in found} == {each.made_for for each in linear} == {"method='linear'"}
    fist = sbs.samples.load("hand").animations["fist"].skinning_matrices([0.2, 0.4])
    np.testing.assert_allclose(found.weights(fist), linear.weights(fist), atol=1e-6)
    as_blend_shapes(read, found).save(tmp_path / "again.glb")
    (before,), (after,) = extras(tmp_path / "hand.glb"), extras(tmp_path / "again.glb")
    rotations = [
        [pose["target_rotations"] for pose in each["pose_drivers"][0]["pose_targets"]] for each in (before, after)
    ]
    np.testing.assert_allclose(rotations[0], rotations[1], atol=1e-6)


@pytest.mark.parametrize(
    "change",
    [
        {"source_bones": ["nobody"] * 3},
        {"source_bones": 7},
        {"eval_space_bones": [None]},
        {"eval_space_bones": [0, 0, 0]},
        {"twist_axes": [[0, 1], [2]]},
        {"part": "spin"},
        {"pose_targets": [{"driven_name": 3, "target_rotations": [[1, 0, 0]] * 3}]},
        {"pose_targets": [{"driven_name": "fist", "target_rotations": "far"}]},
        {"pose_targets": None},
    ],
)
def test_what_is_no_driver_is_left_out(
    hand: sbs.Character, linear: Correctives, tmp_path: Path, change: dict[str, Any]
) -> None:
    path = tmp_path / "hand.glb"
    as_blend_shapes(hand, linear).save(path)
    gltf = pygltflib.GLTF2().load(str(path))
    (mesh,) = (mesh for mesh in gltf.meshes if mesh.extras)
    mesh.extras["pose_drivers"] = ["nothing", {**mesh.extras["pose_drivers"][0], **change}]
    gltf.save(str(path))
    assert [shape.driver for shape in sbs.load(path).mesh.shapes] == [None, None]


def extras(path: Path) -> list[dict[str, Any]]:
    return [mesh.extras for mesh in pygltflib.GLTF2().load(str(path)).meshes]


def test_drivers_in_files(hand: sbs.Character, linear: Correctives, tmp_path: Path) -> None:
    path = tmp_path / "hand.glb"
    as_blend_shapes(hand, linear).save(path)
    check_validity(path)
    (found,) = extras(path)
    assert found["targetNames"] == list(linear.names)
    (driver,) = found["pose_drivers"]
    joints = sorted(hand.skeleton.indices(CURL))
    assert driver["source_joints"] == joints
    assert driver["source_bones"] == [hand.skeleton.names[joint] for joint in joints]
    assert driver["eval_space_joints"] == hand.skeleton.parents[joints].tolist()
    assert [pose["driven_name"] for pose in driver["pose_targets"]] == list(linear.names)
    jsonschema.validate(found["pose_drivers"], SCHEMA)
    with pytest.raises(ValueError, match="fps"):
        as_blend_shapes(hand, linear, fps=0)


def test_drivers_come_back_from_usd(hand: sbs.Character, linear: Correctives, tmp_path: Path) -> None:
    """Of shapes whose names are no identifiers, by which the file knows them, too."""
    pytest.importorskip("pxr")
    driven = as_blend_shapes(hand, linear)
    shapes = tuple(replace(shape, name=f"{shape.name} 1.5") for shape in driven.mesh.shapes)
    replace(driven, mesh=replace(driven.mesh, shapes=shapes)).save(tmp_path / "hand.usdc")
    for shape, again in zip(shapes, sbs.load(tmp_path / "hand.usdc").mesh.shapes, strict=True):
        assert shape.driver is not None and again.driver is not None
        assert (again.name, again.driver.joints, again.driver.part) == (
            shape.name,
            shape.driver.joints,
            shape.driver.part,
        )
        # bind matrices have rounded rotations
        np.testing.assert_allclose(again.driver.coordinates, shape.driver.coordinates, atol=1e-6)


def test_skinned_by_usd_core(
    hand: sbs.Character, fist: tuple[np.ndarray, np.ndarray], linear: Correctives, tmp_path: Path
) -> None:
    """USD's own blend shapes and skinning meet the sculpt within 1e-5 of the size: its skinning is in float32."""
    gf, usd, usd_geom, usd_skel = (pytest.importorskip(f"pxr.{name}") for name in ("Gf", "Usd", "UsdGeom", "UsdSkel"))
    as_blend_shapes(hand, linear).save(tmp_path / "hand.usdc")
    stage = usd.Stage.Open(str(tmp_path / "hand.usdc"))
    last = stage.GetEndTimeCode()
    assert usd_skel.BakeSkinning(usd_skel.Root(stage.GetDefaultPrim()), gf.Interval(last))
    (mesh,) = (usd_geom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(usd_geom.Mesh))
    points = np.array(mesh.GetPointsAttr().Get(last))
    texts = (prim.GetCustomDataByKey("pose_drivers") for prim in stage.Traverse())
    (driver,) = json.loads(next(filter(None, texts)))
    # Parents come first in USD.
    assert driver["source_joints"] != sorted(hand.skeleton.indices(CURL))
    assert [pose["driven_name"] for pose in driver["pose_targets"]] == ["fist_1_2", "fist"]
    size = diagonal(hand.mesh.positions)
    assert np.linalg.norm(points - fist[1], axis=1).max() < 1e-5 * size


def test_parts_get_the_shapes_that_change_them(hand: sbs.Character, linear: Correctives) -> None:
    """And all poses of their drivers, by which an engine finds weights."""
    moved = max(int(each.shape.vertices.max()) for each in linear if each.shape is not None) + 1
    inside = hand.mesh.triangles.max(axis=1) < moved
    parts = (sbs.MeshPart("finger", range(moved)), sbs.MeshPart("rest", range(moved, len(hand.mesh.positions))))
    across = inside | (hand.mesh.triangles.min(axis=1) >= moved)
    apart = replace(hand, mesh=replace(hand.mesh, triangles=hand.mesh.triangles[across], parts=parts), source=None)
    found = as_blend_shapes(apart, linear)
    assert [len(part.shapes) for part in found.mesh.parts] == [2, 0]


def test_other_shapes_stay(hand: sbs.Character, linear: Correctives) -> None:
    smile = sbs.BlendShape("smile", np.array([5], np.int32), np.ones((1, 3), np.float32), 0.25)
    stale = sbs.BlendShape("fist", np.array([5], np.int32), np.ones((1, 3), np.float32))
    track = sbs.rigging.animation.Track(
        "weights", "LINEAR", np.array([0, 1]), np.array([0.0, 1.0]), np.array([[[1.0], [0.0]], [[1.0], [0.5]]])
    )
    clip = replace(hand.animations["curl"], shape_tracks=(track,))
    before = replace(
        hand, mesh=replace(hand.mesh, shapes=(stale, smile)), animations=sbs.Animations([clip]), source=None
    )
    found = as_blend_shapes(before, linear)
    assert [shape.name for shape in found.mesh.shapes] == ["smile", *linear.names]
    motion = found.shape_motion(found.animations["curl"])
    np.testing.assert_allclose(motion.weights(0.5)[0], 0.25, atol=1e-12)
    wanted = linear.weights(hand.animations["curl"].skinning_matrices(0.5))
    np.testing.assert_allclose(motion.weights(0.5)[1:], wanted, atol=1e-6)


@pytest.mark.parametrize("method", ["spherical", "linear"])
def test_convert(hand: sbs.Character, fist: tuple[np.ndarray, np.ndarray], tmp_path: Path, method: str) -> None:
    """Correctives of a file, solved for the options of the command."""
    options: dict[str, Any] = {"method": "linear"} if method == "linear" else {"center": "weighted"}
    hand.save(tmp_path / "hand.glb")
    made = Correctives(hand.skeleton)
    made.add(*fist, joints=CURL, name="fist")
    made.solve(hand.skin, **options)
    write(tmp_path / "fist.json", made)
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    command = ["convert", tmp_path / "hand.glb", "--correctives", tmp_path / "fist.json", "-o", tmp_path / "out.glb"]
    succeed(*command, *words)
    read = sbs.load(tmp_path / "out.glb")
    assert len(read.mesh.shapes) == (1 if method == "linear" else 2)
    made.add(fist[0], fist[1] + np.float32(0.001), joints=CURL[:1], name="unsolved")
    with pytest.raises(ValueError, match="'unsolved' is not solved"):
        as_blend_shapes(hand, made)
    size = diagonal(hand.mesh.positions)
    assert np.linalg.norm(by_linear_blending(read, 1.0) - fist[1], axis=1).max() < 1e-6 * size


@pytest.mark.parametrize("words", [(), ("--method", "linear"), ("--center", "weighted")])
@pytest.mark.parametrize("alone", [True, False])
def test_convert_meets_sculpts_of_any_method(
    hand: sbs.Character, fist: tuple[np.ndarray, np.ndarray], tmp_path: Path, words: tuple[str, ...], alone: bool
) -> None:
    """Options may differ from those of the solution, and other fingers may be bent, too."""
    pose, posed = fist
    if not alone:
        pose = sbs.samples.load("hand").animations["fist"].skinning_matrices(0.5)
        posed = hand.skin.deform(pose, center="weighted") + (fist[1] - hand.skin.deform(fist[0], center="weighted"))
        clip = sbs.Animation.from_skinning_matrices(
            "curl", [0, 1], np.stack([np.tile(np.eye(4), (len(pose), 1, 1)), pose]), hand.rig
        )
        hand = replace(hand, animations=sbs.Animations([clip]))
    hand.save(tmp_path / "hand.glb")
    made = Correctives(hand.skeleton)
    made.add(pose, posed, joints=CURL, name="fist")
    made.solve(hand.skin, center="weighted")
    write(tmp_path / "fist.json", made)
    assert made["fist"].target is not None
    sculpted = made["fist"].target.vertices
    command = ["convert", tmp_path / "hand.glb", "--correctives", tmp_path / "fist.json", "-o", tmp_path / "out.glb"]
    succeed(*command, *words)
    missed = np.linalg.norm(by_linear_blending(sbs.load(tmp_path / "out.glb"), 1.0) - posed, axis=1)[sculpted]
    assert len(missed) > 100 and missed.max() < 1.6e-6 * diagonal(hand.mesh.positions)


def test_convert_names_correctives_without_a_target(hand: sbs.Character, linear: Correctives, tmp_path: Path) -> None:
    hand.save(tmp_path / "hand.glb")
    made = Correctives(hand.skeleton)
    made.insert(replace(linear["fist"], target=None))
    write(tmp_path / "fist.json", made)
    command = ["convert", tmp_path / "hand.glb", "--correctives", tmp_path / "fist.json", "-o", tmp_path / "out.glb"]
    assert "fist: " in succeed(*command, "--method", "linear")


def test_all_else_of_a_file_is_kept(tmp_path: Path) -> None:
    """Materials, and the clips as they were, but for weights; shapes are in the space of the file, which is scaled."""
    rat = sbs.load(DATA / "Rat.glb")
    made = Correctives(rat.skeleton)
    shape = np.array([3, 700]), np.array([[0.01, 0.02, 0.03], [0.0, 0.05, 0.0]], np.float32)
    clip = rat.animations[0]
    turned = int(np.argmax(np.linalg.norm(_turns(rat, clip), axis=1)))
    made.add_shape(shape, _turns(rat, clip)[turned][None], joints=[turned], name="bend")
    path = tmp_path / "rat.glb"
    as_blend_shapes(rat, made).save(path)
    before, after = (pygltflib.GLTF2().load(str(each)) for each in (DATA / "Rat.glb", path))
    assert after.materials == before.materials and after.materials
    assert after.images == before.images
    for ours, theirs in zip(after.animations, before.animations, strict=True):
        assert ours.name == theirs.name
        assert ours.channels[: len(theirs.channels)] == theirs.channels
        assert {channel.target.path for channel in ours.channels[len(theirs.channels) :]} == {"weights"}
    read = sbs.load(path)
    np.testing.assert_allclose(
        np.concatenate([each.offsets for each in read.mesh.shapes if len(each.vertices)]), shape[1], atol=1e-6
    )
    size = diagonal(rat.mesh.positions)
    for time in (0.0, clip.duration / 2):
        wanted = rat.skin.deform(clip.skinning_matrices(time), method="linear", correctives=made)
        again = read.animations[0]
        shaped = read.shape_motion(again).rest_positions(time)
        found = read.skin.deform(again.skinning_matrices(time), method="linear", rest_positions=shaped)
        assert np.abs(found - wanted).max() < 1e-4 * size


def _turns(character: sbs.Character, clip: sbs.Animation) -> np.ndarray:
    """The rotation vector of each joint against its parent in the middle of a clip, as swings."""
    matrices = clip.skinning_matrices(clip.duration / 2)
    drivers = (find_driver(character.skeleton, [joint], "swing") for joint in range(len(character.skeleton)))
    return np.concatenate([find_coordinates(character.skeleton, driver, matrices) for driver in drivers])
