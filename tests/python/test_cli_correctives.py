# SPDX-License-Identifier: MIT
"""``sbs correctives``, and ``--correctives`` of deform, compare, quality and view."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import refuse, succeed
from numpy.typing import NDArray

import sbs
from sbs.cli.how_to_deform import cut_part
from sbs.correctives import Correctives
from sbs.quality.methods import METHODS, corrected, without_amount

Knee = tuple[Path, Path, sbs.Character, Correctives, NDArray[np.float64]]
KNEE = ("--joint", "LeftLeg", "--rotate", "x:-90")


@pytest.fixture(scope="module")
def knee(tmp_path_factory: pytest.TempPathFactory) -> Knee:
    """A woman, a sculpted shape of her left knee bent by 90 degrees, which is solved for SBS, and that pose."""
    folder = tmp_path_factory.mktemp("knee")
    sbs.samples.copy(folder)
    woman = sbs.load(folder / "woman.glb")
    turns = np.tile(np.eye(3), (len(woman.skeleton), 1, 1))
    turns[woman.skeleton.index("LeftLeg")] = sbs.rotations.matrices_from_axis_angle([1, 0, 0], -90, degrees=True)
    matrices = woman.skinning_matrices(turns)
    posed = woman.skin.deform(matrices)
    below = np.flatnonzero(woman.mesh.joint_indices[:, 0] == woman.skeleton.index("LeftLeg"))[:50]
    posed[below] += np.array([0, 0, 0.1], np.float32)
    correctives = Correctives(woman.skeleton)
    correctives.add(matrices, posed, joints=["LeftLeg"], name="LeftKnee")
    correctives.solve(woman.skin)
    sbs.correctives.write(folder / "knee.json", correctives)
    return folder / "woman.glb", folder / "knee.json", woman, correctives, matrices


def test_a_pose(knee: Knee, tmp_path: Path) -> None:
    path, shapes, woman, correctives, matrices = knee
    succeed("deform", path, *KNEE, "--correctives", shapes, "-o", tmp_path / "pose.npy")
    expected = woman.skin.deform(matrices, correctives=correctives)
    np.testing.assert_allclose(np.load(tmp_path / "pose.npy"), expected, atol=1e-5)
    assert np.abs(expected - woman.skin.deform(matrices)).max() > 0.09


def test_frames_and_muscles(knee: Knee, tmp_path: Path) -> None:
    """The shapes come first, and the shaped skin covers the muscles."""
    _, shapes, woman, correctives, matrices = knee
    turning = sbs.Animation.from_skinning_matrices(
        "bend", [0.0, 1.0], np.stack([np.eye(4) + 0 * matrices, matrices]), woman.rig
    )
    moving = sbs.Character(
        woman.name, woman.mesh, woman.skeleton, woman.rig, sbs.rigging.animation.Animations((turning,))
    )
    moving.save(tmp_path / "moving.glb")
    options = ("--animation", "bend", "--fps", 2, "--correctives", shapes, "--muscles", "fit")
    succeed("deform", tmp_path / "moving.glb", *options, "-o", tmp_path / "run.npy")
    loaded = sbs.load(tmp_path / "moving.glb")
    frames = loaded.animations["bend"].skinning_matrices(np.arange(3) / 2)
    expected = np.array(loaded.skin.deform_many(frames, correctives=correctives))
    sbs.muscles.bind(loaded, sbs.muscles.fit(loaded)).apply(expected, frames)
    np.testing.assert_array_equal(np.load(tmp_path / "run.npy"), expected)


def test_each_mesh_has_its_part(knee: Knee) -> None:
    _, _, woman, correctives, matrices = knee
    shape = correctives["LeftKnee"].shape
    assert shape is not None
    middle = int(np.median(shape.vertices))
    parts = [cut_part(correctives, *ends) for ends in ((0, middle), (middle, len(woman.mesh.positions)))]
    vertices, deltas = [], []
    for part, first in zip(parts, (0, middle), strict=True):
        found = part["LeftKnee"].shape
        assert found is not None
        assert len(found.vertices)
        vertices.append(found.vertices + first)
        deltas.append(found.deltas)
        np.testing.assert_array_equal(part.weights(matrices), correctives.weights(matrices))
    np.testing.assert_array_equal(np.concatenate(vertices), shape.vertices)
    np.testing.assert_array_equal(np.concatenate(deltas), shape.deltas)


def test_compare_shows_them(knee: Knee) -> None:
    path, shapes, *_ = knee
    assert "SBS with correctives" in succeed("compare", path, *KNEE, "--correctives", shapes)


def test_quality_has_one_method_more(knee: Knee) -> None:
    path, shapes, *_ = knee
    poses = ("--poses", "--joint", "LeftLeg", "--methods", "SBS", "--json")
    methods = json.loads(succeed("quality", path, *poses, "--correctives", shapes))["motions"][0]["methods"]
    assert list(methods) == ["SBS", "corrected"]
    assert methods["corrected"]["surface_energy"] != methods["SBS"]["surface_energy"]


def test_what_is_corrected_has_the_amount_of_its_method(knee: Knee) -> None:
    _, _, woman, correctives, matrices = knee
    method = METHODS["smooth twist"]
    skin, options = without_amount(method, woman)
    found = corrected(method, correctives).skin(woman).deform(matrices, **corrected(method, correctives).options)
    np.testing.assert_array_equal(found, skin.deform(matrices, correctives=correctives, **options))


def test_list(knee: Knee) -> None:
    path, shapes, _, correctives, _ = knee
    assert "LeftKnee" in succeed("correctives", "list", path, shapes)
    (row,) = json.loads(succeed("correctives", "list", path, shapes, "--json"))
    shape = correctives["LeftKnee"].shape
    assert shape is not None
    assert row["joints"] == ["LeftLeg"]
    assert row["degrees"] == pytest.approx(90, abs=1e-3)
    assert row["vertices"] == len(shape.vertices)
    assert row["solved"]
    assert row["target"]


def test_mirror_then_prune(knee: Knee, tmp_path: Path) -> None:
    path, shapes, woman, *_ = knee
    succeed("correctives", "mirror", path, shapes, "-o", tmp_path / "both.json")
    both = sbs.correctives.read(tmp_path / "both.json", woman.skeleton)
    assert both.names == ("LeftKnee", "RightKnee")
    assert both["RightKnee"].driver.joints == ("RightLeg",)
    said = succeed("correctives", "prune", path, tmp_path / "both.json", "--tolerance", 1, "-o", tmp_path / "none.json")
    assert said.startswith("0 of ")


def test_solve_meets_the_target_by_another_method(knee: Knee, tmp_path: Path) -> None:
    path, shapes, woman, correctives, matrices = knee
    solved = tmp_path / "linear.json"
    assert "LeftKnee" in succeed("correctives", "solve", path, shapes, "--method", "linear", "-o", solved)
    found = woman.skin.deform(matrices, method="linear", correctives=sbs.correctives.read(solved, woman.skeleton))
    target = correctives["LeftKnee"].target
    assert target is not None
    np.testing.assert_allclose(found[target.vertices], target.positions, atol=2e-5)


def test_drafts_of_one_joint(knee: Knee, tmp_path: Path) -> None:
    """The command and the word draft give the same."""
    path, _, woman, *_ = knee
    succeed("correctives", "draft", path, "--joint", "LeftLeg", "--method", "linear", "-o", tmp_path / "drafts.json")
    found = sbs.correctives.read(tmp_path / "drafts.json", woman.skeleton)
    expected = sbs.correctives.draft(woman, ["LeftLeg"], skin=woman.skin, method="linear")
    assert found.names == expected.names
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.shape is not None
        assert theirs.shape is not None
        np.testing.assert_array_equal(mine.shape.vertices, theirs.shape.vertices)


def test_what_is_refused(knee: Knee, tmp_path: Path) -> None:
    path, shapes, woman, _, matrices = knee
    pose = ("deform", path, *KNEE, "-o", tmp_path / "pose.npy")
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    assert "--correctives" in refuse(*pose, "--correctives", tmp_path / "bad.json")
    assert "without --mesh" in refuse(*pose, "--correctives", shapes, "--mesh", woman.parts.names[0])
    assert "--bones-blending deforms without" in refuse(*pose, "--correctives", shapes, "--bones-blending", "LeftLeg")
    unsolved = Correctives(woman.skeleton)
    unsolved.add(matrices, woman.skin.deform(matrices), joints=["LeftLeg"], name="knee")
    sbs.correctives.write(tmp_path / "unsolved.json", unsolved)
    assert "'knee' is not solved" in refuse(*pose, "--correctives", tmp_path / "unsolved.json")
    negative = ("correctives", "mirror", path, shapes, "--from", "negative", "-o", tmp_path / "x.json")
    assert "negative side" in refuse(*negative)
    hand = path.with_name("hand.glb")
    assert "SHAPES: no joint is named 'LeftLeg'" in refuse("correctives", "list", hand, shapes)
