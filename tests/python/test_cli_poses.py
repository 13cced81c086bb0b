# SPDX-License-Identifier: MIT
"""Poses by joints and rotations, joints listed and completed, poses as OBJ and GLB."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pygltflib
import pytest
import trimesh
from click.shell_completion import ShellComplete
from commands import refuse, run, succeed

import sbs
from sbs.cli import main
from sbs.poses import axes

HAND = Path(sbs.__file__).parent / "characters" / "data" / "hand.glb"


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return sbs.load(HAND)


@pytest.mark.parametrize("options", [[], ["--animation", "fist", "--frames", "0:1"]])
def test_other_files_are_written_after_a_bad_one(tmp_path: Path, options: list[str]) -> None:
    sbs.samples.copy(tmp_path)
    bad, worse = tmp_path / "bad.glb", tmp_path / "worse.glb"
    bad.write_bytes(b"glTF")
    worse.write_bytes(b"glTF")
    output = tmp_path / "out/"
    result = run("deform", bad, tmp_path / "hand.glb", worse, *options, "-o", f"{output}/")
    assert result.exit_code == 2
    assert [path.stem for path in output.iterdir()] == ["hand"]
    assert sum(line.startswith("Error: ") for line in result.output.splitlines()) == 2
    assert "worse.glb" in result.output.splitlines()[-1]


def test_a_file_without_the_animation_is_named(tmp_path: Path) -> None:
    sbs.samples.copy(tmp_path)
    files = [tmp_path / "woman.glb", tmp_path / "hand.glb"]
    said = refuse("deform", *files, "--animation", "fist", "--frames", "0:1", "-o", f"{tmp_path}/{{file}}.pc2")
    assert (tmp_path / "hand.pc2").exists()
    assert "woman.glb" in said


def test_info_lists_the_joints(hand: sbs.Character) -> None:
    told = json.loads(succeed("info", HAND, "--json"))
    joints = {joint["name"]: joint for joint in told["skeleton"]}
    assert set(joints) == set(hand.skeleton.names)
    assert told["skeleton"][0] == joints["wrist"]
    assert joints["wrist"]["parent"] is None
    tip = joints["thumb-tip"]
    assert (tip["parent"], tip["depth"], tip["share"], tip["vertices"]) == ("thumb-phalanx-distal", 4, 0, 0)
    assert sum(joint["share"] for joint in joints.values()) == pytest.approx(1)
    dense = sbs.weights.to_dense(*hand.skin.influences(), 25)
    for name, joint in joints.items():
        number = hand.skeleton.index(name)
        assert joint["number"] == number
        assert joint["vertices"] == np.count_nonzero(dense[:, number])
        assert joint["share"] == pytest.approx(dense[:, number].mean())
    places = hand.skeleton.joint_positions[[hand.skeleton.index(f"thumb-{end}") for end in ("phalanx-distal", "tip")]]
    assert joints["thumb-phalanx-distal"]["bone"] == pytest.approx(np.linalg.norm(np.subtract(*places)))
    shown = succeed("info", HAND)
    assert "        thumb-tip " in shown
    assert "11.88%" in shown


def completed(*arguments: str) -> list[str]:
    *before, last = arguments
    return [item.value for item in ShellComplete(main, {}, "sbs", "_SBS_COMPLETE").get_completions(before, last)]


def test_joints_and_animations_are_completed() -> None:
    assert completed("deform", str(HAND), "--animation", "") == ["fist"]
    assert completed("deform", str(HAND), "--animation", "x") == []
    assert completed("deform", str(HAND), "--joint", "Thumb-t") == ["thumb-tip"]
    for command, option in (
        ("compare", "--joint"),
        ("curvature", "--subdivide"),
        ("subdivide", "--joint"),
        ("quality", "--joint"),
        ("weights", "--show"),
        ("deform", "--bones-blending"),
    ):
        assert completed(command, str(HAND), option, "wri") == ["wrist"]
    assert completed("deform", "--joint", "wri") == []
    assert completed("deform", str(HAND.with_name("LICENSES.md")), "--joint", "wri") == []


def test_deform_turns_joints(hand: sbs.Character, tmp_path: Path) -> None:
    path = tmp_path / "pose.npy"
    succeed(
        "deform", HAND, "--joint", "wrist", "--rotate", "x:30", "--joint", "thumb-metacarpal", "--rotate", "bend:40",
        "-o", path,
    )  # fmt: skip
    vectors = np.zeros((25, 3))
    vectors[hand.skeleton.index("wrist"), 0] = np.radians(30)
    thumb = hand.skeleton.index("thumb-metacarpal")
    vectors[thumb] = np.radians(40) * axes(hand.skeleton, thumb)[0]
    expected = hand.deform(hand.skinning_matrices(rotation_vectors=vectors))
    np.testing.assert_allclose(np.load(path), expected, atol=1e-6)
    one = ("compare", HAND, "--joint", "wrist", "--rotate", "bend:90")
    assert succeed(*one) != succeed(*one, "--joint", "thumb-metacarpal", "--rotate", "bend:90")


@pytest.fixture
def textured(hand: sbs.Character, tmp_path: Path) -> Path:
    """The hand with texture coordinates."""
    uvs = np.random.default_rng(3).uniform(size=(1360, 2)).astype(np.float32)
    hand.with_mesh(replace(hand.mesh, uvs=uvs)).save(tmp_path / "textured.glb")
    return tmp_path / "textured.glb"


def test_obj_has_texture_coordinates(textured: Path, tmp_path: Path) -> None:
    """Those of OBJ count from the lower left."""
    path = tmp_path / "hand.obj"
    hand = sbs.load(textured)
    assert hand.mesh.uvs is not None
    succeed("deform", textured, "--animation", "fist", "--time", 1, "-o", path)
    lines = path.read_text().splitlines()
    uvs = np.array([line.split()[1:] for line in lines if line.startswith("vt ")], np.float32)
    np.testing.assert_array_equal(uvs, np.stack([hand.mesh.uvs[:, 0], 1 - hand.mesh.uvs[:, 1]], axis=1))
    corners = [line.split()[1:] for line in lines if line.startswith("f ")]
    assert corners[0] == [f"{v + 1}/{v + 1}/{v + 1}" for v in hand.mesh.triangles[0]]
    positions = np.array([line.split()[1:] for line in lines if line.startswith("v ")], np.float32)
    np.testing.assert_array_equal(positions, hand.deform(hand.animations["fist"].skinning_matrices(1)))
    read: Any = trimesh.load(path, process=False, force="mesh")
    assert read.visual.uv.shape == (1360, 2)


def test_frames_as_a_sequence(hand: sbs.Character, tmp_path: Path) -> None:
    told = succeed("deform", HAND, "--animation", "fist", "--fps", 4, "-o", tmp_path / "fist_####.obj")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"fist_{frame:04d}.obj" for frame in range(5)]
    assert "5 files" in told
    for frame in (0, 3):
        succeed("deform", HAND, "--animation", "fist", "--time", frame / 4, "-o", tmp_path / "one.obj")
        assert (tmp_path / f"fist_{frame:04d}.obj").read_bytes() == (tmp_path / "one.obj").read_bytes()
    succeed("deform", HAND, "--animation", "fist", "--frames", "30:31", "--fps", 100, "-o", tmp_path / "#.glb")
    assert {"30.glb", "31.glb"} <= {path.name for path in tmp_path.iterdir()}


def test_a_pose_as_glb(textured: Path, tmp_path: Path) -> None:
    path = tmp_path / "pose.glb"
    hand = sbs.load(textured)
    assert hand.mesh.uvs is not None
    succeed("deform", textured, "--animation", "fist", "--time", 1, "-o", path)
    read: Any = trimesh.load(path, process=False, force="mesh")
    positions, normals = hand.deform(hand.animations["fist"].skinning_matrices(1), normals=True)
    np.testing.assert_array_equal(read.vertices, positions)
    np.testing.assert_array_equal(read.faces, hand.mesh.triangles)
    gltf = pygltflib.GLTF2().load(path)
    attributes = gltf.meshes[0].primitives[0].attributes
    for accessor, expected in ((attributes.NORMAL, normals), (attributes.TEXCOORD_0, hand.mesh.uvs)):
        view = gltf.bufferViews[gltf.accessors[accessor].bufferView]
        written = np.frombuffer(gltf.binary_blob(), np.float32, expected.size, view.byteOffset)
        np.testing.assert_allclose(written.reshape(expected.shape), expected, atol=1e-6)
    assert not gltf.skins
