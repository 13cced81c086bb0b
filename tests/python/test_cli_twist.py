# SPDX-License-Identifier: MIT
"""``--twist`` of the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import run

import sbs
import sbs.poses
from sbs.rigging.animation import Animations
from sbs.samples import load as load_sample


@pytest.fixture(scope="module")
def twisted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, sbs.Character]:
    """A woman who turns her forearm by 120 degrees within a second, in a file."""
    woman = load_sample("woman")
    local = np.tile(np.eye(3), (2, len(woman.skeleton), 1, 1))
    bone = sbs.poses.bone_axis(woman.skeleton, woman.skeleton.index("LeftForeArm"))
    local[1, woman.skeleton.index("LeftForeArm")] = sbs.rotations.matrices_from_axis_angle(bone, 120, degrees=True)
    turning = sbs.Animation.from_skinning_matrices("turn", [0.0, 1.0], woman.skinning_matrices(local), woman.rig)
    path = tmp_path_factory.mktemp("twist") / "woman.glb"
    sbs.Character(woman.name, woman.mesh, woman.skeleton, woman.rig, Animations((turning,))).save(path)
    return path, sbs.load(path)


@pytest.mark.parametrize("names", ["auto", "LeftForeArm,LeftArm"])
def test_deform_spreads_twists(names: str, twisted: tuple[Path, sbs.Character], tmp_path: Path) -> None:
    path, woman = twisted
    output = tmp_path / "pose.npy"
    result = run("deform", path, "--animation", "turn", "--time", 1, "--twist", names, "-o", output)
    assert result.exit_code == 0, result.output
    spread = sbs.limb_twist(woman, None if names == "auto" else names.split(","))
    assert spread is not None
    expected = woman.twisted_skin(spread).deform(woman.animations[0].skinning_matrices(1))
    np.testing.assert_array_equal(np.load(output), expected)
    assert np.abs(woman.skin.deform(woman.animations[0].skinning_matrices(1)) - expected).max() > 0.01


def test_none_is_none(twisted: tuple[Path, sbs.Character], tmp_path: Path) -> None:
    path, woman = twisted
    result = run("deform", path, "--animation", "turn", "--time", 1, "--twist", "none", "-o", tmp_path / "pose.npy")
    assert result.exit_code == 0, result.output
    expected = woman.skin.deform(woman.animations[0].skinning_matrices(1))
    np.testing.assert_array_equal(np.load(tmp_path / "pose.npy"), expected)


def test_compare_spreads_twists(twisted: tuple[Path, sbs.Character]) -> None:
    path, _ = twisted
    arguments = ("compare", path, "--joint", "LeftForeArm", "--rotate", "bone:150")
    plain, spread = run(*arguments), run(*arguments, "--twist", "auto")
    assert plain.exit_code == spread.exit_code == 0, plain.output + spread.output
    assert plain.output != spread.output


# ------------------------------------------------------------------------------------------------------------- quality

BRIEFLY = ("--frames", 2, "--rate", 4, "--json")


def measured(path: Path, *arguments: object) -> dict[str, dict[str, float]]:
    """The least thickness of each method."""
    result = run("quality", path, *BRIEFLY, *arguments)
    assert result.exit_code == 0, result.output
    (motion,) = json.loads(result.stdout)["motions"]
    return {name: found["thickness"] for name, found in motion["methods"].items()}


def test_quality_has_limbs_as_told(twisted: tuple[Path, sbs.Character]) -> None:
    path, _ = twisted
    found = measured(path, "--methods", "SBS,twist")
    told = measured(path, "--methods", "SBS,twist", "--twist", "LeftForeArm")
    elsewhere = measured(path, "--methods", "weighted,twist", "--twist", "RightForeArm")
    assert found["twist"]["low"] == pytest.approx(told["twist"]["low"], rel=1e-3)  # of an arm that alone is twisted
    assert found["twist"]["low"] > found["SBS"]["low"] + 0.1
    assert elsewhere["twist"]["low"] == pytest.approx(elsewhere["weighted"]["low"], abs=1e-6)  # float32


def test_quality_without_twists_has_no_method_that_spreads_them(twisted: tuple[Path, sbs.Character]) -> None:
    names = measured(twisted[0], "--twist", "none")
    assert list(names) == ["LBS", "DQS", "SBS", "average", "weighted", "optimized"]
