# SPDX-License-Identifier: MIT
"""``sbs weights``: files that other programs open, checks and pictures."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest
from gltf_builder import IDENTITY, arm
from marks import paints
from PIL import Image

import sbs
from sbs import weights

DATA = resources.files("sbs.characters") / "data"
HAND = str(DATA / "hand.glb")
refuse = partial(commands.refuse, "weights")
run = partial(commands.run, "weights")
succeed = partial(commands.succeed, "weights")


@pytest.mark.parametrize("method", [["--heat"], ["--capsules", "auto"], ["--capsules", "auto", "--heat"]])
def test_a_glb_with_new_weights(tmp_path: Path, method: list[str]) -> None:
    path = tmp_path / "out.glb"
    output = succeed(HAND, *method, "--limit", 4, "--prune", 0.01, "--smooth", 2, "-o", path)
    assert "1360 vertices, up to 4 influences" in output
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.glb"]  # nothing half-written beside it
    before, after = sbs.load(HAND), sbs.load(path, strict=True)
    np.testing.assert_array_equal(after.mesh.positions, before.mesh.positions)
    np.testing.assert_array_equal(after.mesh.triangles, before.mesh.triangles)
    assert after.skeleton.names == before.skeleton.names
    assert [animation.name for animation in after.animations] == ["fist"]
    assert after.skin.unweighted_vertex_count == 0
    assert after.skin.max_influences <= 4
    given = after.mesh.joint_weights
    assert given[given > 0].min() >= 0.01 - 1e-7  # float32
    assert weights.check(after.mesh.joint_indices, given, 25, positions=after.mesh.positions).ok
    assert not np.array_equal(given, before.mesh.joint_weights)


def by_heat(hand: sbs.Character) -> tuple[np.ndarray, np.ndarray]:
    joints = np.unique(hand.mesh.joint_indices[hand.mesh.joint_weights > 0])
    bones = weights.bone_segments(hand.skeleton)
    return weights.heat_weights(hand.mesh.positions, hand.mesh.triangles, *bones, joints=joints)[:2]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--heat"], by_heat),
        (["--heat", "--joints", "all"], None),
        (["--for", "spherical"], weights.for_spherical),
        (["--for", "spherical", "--reach", "0.25"], partial(weights.for_spherical, reach=0.25)),
        (["--limit", "2"], lambda hand: weights.limit(hand.mesh.joint_indices, hand.mesh.joint_weights, 2)),
    ],
    ids=lambda options: " ".join(options) if isinstance(options, list) else "",
)
def test_weights_are_those_of_the_library(tmp_path: Path, options: list[str], expected: Any) -> None:
    hand = sbs.load(HAND)
    assert "1360 vertices, up to " in succeed(HAND, *options, "-o", tmp_path / "out.glb")
    written = sbs.load(tmp_path / "out.glb").mesh
    found = weights.to_dense(written.joint_indices, written.joint_weights, 25)
    if expected is None:
        without_weight = weights.to_dense(hand.mesh.joint_indices, hand.mesh.joint_weights, 25).sum(axis=0) == 0
        assert found[:, without_weight].any()
        return
    joints, shares = expected(hand)
    # float32 in the file, whose sum is made exact, and weights that are tidied before
    np.testing.assert_allclose(found, weights.to_dense(joints, shares, 25), atol=5e-6)


def test_capsules_go_out_and_come_back(tmp_path: Path) -> None:
    capsules, first, second = tmp_path / "capsules.json", tmp_path / "first.glb", tmp_path / "second.glb"
    succeed(HAND, "--capsules", "auto", "--capsules-out", capsules, "-o", first)
    document = json.loads(capsules.read_text())
    assert (document["format"], document["version"]) == ("sbs-capsules", 1)
    document["capsules"].reverse()  # names tell which is which
    capsules.write_text(json.dumps(document))
    succeed(HAND, "--capsules", capsules, "-o", second)
    a, b = sbs.load(first).mesh, sbs.load(second).mesh
    np.testing.assert_array_equal(a.joint_weights, b.joint_weights)
    np.testing.assert_array_equal(a.joint_indices, b.joint_indices)


def test_check_says_what_is_wrong_and_sets_the_status(damaged_hand: Path) -> None:
    assert succeed(HAND, "--check").splitlines()[-1] == "nothing wrong"
    result = run(damaged_hand, "--check")
    assert result.exit_code == 1
    assert "unweighted: 3, 7" in result.output
    assert "unequal seams" in result.output
    assert result.output.splitlines()[-1] == "not all is well"
    assert run(HAND, "--check", "--limit", 4).exit_code == 0


@paints
def test_show_paints_the_weights(tmp_path: Path) -> None:
    output = succeed(
        HAND, "--show", "index-finger-phalanx-proximal", "--width", 200, "--samples", 4, "-o", tmp_path / "picture.png"
    )
    assert "picture.png" in output
    with Image.open(tmp_path / "picture.png") as picture:
        colors = np.asarray(picture, int)
    assert colors.shape[1] >= 200
    ink = (colors < 240).any(axis=2)
    blue = ink & (colors[..., 2] > colors[..., 0] + 15)
    clay = ink & (colors[..., 0] > colors[..., 2] + 15)
    assert blue.sum() > 20
    assert clay.sum() > blue.sum()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: document.update(version=99), "version"),
        (lambda document: document["capsules"].pop(), "no capsule for joint"),
        (lambda document: document["capsules"][0].update(name="elbow"), "no capsule for joint 'wrist'"),
        (lambda document: document["capsules"][0].update(inner_radii=[9, 9]), "radi"),
    ],
)
def test_capsule_files_that_do_not_fit(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    path = tmp_path / "capsules.json"
    succeed(HAND, "--capsules", "auto", "--capsules-out", path)
    document = json.loads(path.read_text())
    order = [entry["name"] for entry in document["capsules"]].index("wrist")
    document["capsules"].insert(0, document["capsules"].pop(order))
    change(document)
    path.write_text(json.dumps(document))
    line = refuse(HAND, "--capsules", path, "-o", tmp_path / "out.glb")
    assert "capsules.json" in line
    assert message in line
    assert not (tmp_path / "out.glb").exists()
    weights.Capsules([[0, 0, 0]], [[0, 1, 0]], [[0.1, 0.1]], [[0.2, 0.2]]).to_json(path)
    assert "1 capsules without names, for 25 joints" in refuse(HAND, "--capsules", path, "--check")


@pytest.mark.filterwarnings("ignore")
def test_one_mesh_of_a_file_and_other_formats(tmp_path: Path) -> None:
    builder = arm()
    ring = builder.primitive([[0, 0, 0], [0, 1, 0], [1, 0, 0]], [[0] * 4] * 3, [[1, 0, 0, 0]] * 3)
    bone = builder.node(name="bone")
    builder.node(name="ring", mesh=builder.mesh(ring), skin=builder.skin([bone], [IDENTITY]))
    path = builder.save(tmp_path / "two.glb")
    commands.succeed("weights", path, "--mesh", "body", "--limit", "1", "-o", tmp_path / "rigid.glb")
    assert sbs.load(tmp_path / "rigid.glb", mesh="body").skin.max_influences == 1
    assert sbs.load(tmp_path / "rigid.glb", mesh="ring").skin.vertex_count == 3
    commands.refuse("weights", path, "--limit", "1", "-o", tmp_path / "rigid.obj")
    assert json.loads(commands.succeed("info", path, "--skin", 1, "--json"))["meshes"] == {"ring": 3}
    commands.succeed("deform", path, "--skin", 1, "-o", tmp_path / "ring.npy")
    assert np.load(tmp_path / "ring.npy").shape == (3, 3)
    assert "no skin 2" in commands.refuse("weights", path, "--skin", 2, "--check")
