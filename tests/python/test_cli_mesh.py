# SPDX-License-Identifier: MIT
"""``sbs subdivide``, ``sbs curvature`` and bones blending by other commands."""

from __future__ import annotations

import json
from importlib import resources

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import sbs
from sbs import mesh
from sbs.cli import main

DATA = resources.files("sbs.demo") / "data"
WOMAN, HAND = str(DATA / "woman.glb"), str(DATA / "hand.glb")
ARM = ("LeftArm", "LeftForeArm")


def succeed(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_subdivide_writes_the_finer_character(tmp_path):
    path = tmp_path / "fine.glb"
    options = [option for joint in ARM for option in ("--joint", joint)]
    output = succeed("subdivide", WOMAN, *options, "--scheme", "1:3", "--levels", 2, "-o", path)
    expected = mesh.subdivide_near_joints(sbs.load(WOMAN), ARM, scheme="1:3", levels=2)
    written = sbs.load(path)
    np.testing.assert_array_equal(written.mesh.positions, expected.mesh.positions)
    np.testing.assert_array_equal(written.mesh.triangles, expected.mesh.triangles)
    assert f"{len(expected.mesh.positions)} vertices of 13380" in output


def test_curvature_tells_and_draws(tmp_path):
    path = tmp_path / "bend.png"
    arguments = ("curvature", WOMAN, "--joint", "LeftForeArm", "--axis", "y", "--bend", "0:90", "--steps", 3)
    told = json.loads(succeed(*arguments, "--json", "--subdivide", "LeftForeArm", "-o", path))
    assert told["bend"] == [0, 45, 90]
    original, divided = told["curvature"].values()
    assert (original["vertices"], original["triangles"]) == (13380, 26756)
    assert divided["triangles"] > 26756
    assert original["degrees"][0] == pytest.approx(divided["degrees"][0], abs=0.01)  # nothing bends at rest
    assert original["degrees"][2] > original["degrees"][0]
    with Image.open(path) as picture:
        assert np.asarray(picture).std() > 1
    assert "1:4" in succeed(*arguments)


def test_curvature_by_bones_blending_is_of_both_sides_of_the_joint():
    arguments = ("curvature", WOMAN, "--joint", "LeftForeArm", "--axis", "y", "--bend", "0:90", "--steps", 2, "--json")
    told = json.loads(succeed(*arguments, "--bones-blending", "all"))
    assert told["method"] == "bones blending"
    original, divided = told["curvature"].values()
    assert divided["degrees"][1] < original["degrees"][1] < 100


def test_deform_by_bones_blending(tmp_path):
    path = tmp_path / "pose.npy"
    succeed("deform", HAND, "--animation", "fist", "--time", 1, "--bones-blending", "all", "-o", path)
    hand = sbs.load(HAND)
    blending = sbs.bones_blending(
        hand.skeleton, hand.mesh.positions, influences=(hand.mesh.joint_indices, hand.mesh.joint_weights)
    )
    expected = blending.skin().deform(hand.animations[0].skinning_matrices(1), **blending.options)
    np.testing.assert_array_equal(np.load(path), expected)
    succeed("deform", HAND, "--animation", "fist", "--bones-blending", "wrist", "-o", tmp_path / "pose.obj")


def test_compare_shows_bones_blending(tmp_path):
    path = tmp_path / "arm.png"
    arguments = ("compare", WOMAN, "--joint", "LeftForeArm", "--rotate", "bone:180", "--bones-blending", "LeftForeArm")
    output = succeed(*arguments, "-o", path, "--width", 250, "--samples", 1)
    assert "bones blending" in output
    with Image.open(path) as picture:
        assert picture.width > 250


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("subdivide", "--joint", "Tail", "-o", "a.glb"), "no joint 'Tail'; the file has: Hips"),
        (("subdivide", "--joint", "LeftArm", "-o", "a.obj"), "a.obj"),
        (("subdivide", "--joint", "LeftArm", "--levels", 0, "-o", "a.glb"), "--levels"),
        (("subdivide", "-o", "a.glb"), "Missing option '--joint'"),
        (("curvature", "--joint", "Tail"), "no joint 'Tail'"),
        (("curvature", "--joint", "LeftArm", "--bones-blending", "Tail"), "no joint 'Tail'"),
        (("deform", "--bones-blending", "Tail", "-o", "a.npy"), "no joint 'Tail'"),
        (
            ("deform", "--bones-blending", "all", "--method", "linear", "-o", "a.npy"),
            "--bones-blending takes the place of --method",
        ),
        (("curvature", "--joint", "LeftArm", "--bend", "135"), "'135' is not FROM:TO"),
        (("curvature", "--joint", "LeftArm", "--bend", "5:5"), "'5:5' is not FROM:TO"),
        (("curvature", "--joint", "LeftArm", "--axis", "up"), "'up' is not a direction"),
        (("curvature", "--joint", "LeftArm", "-o", "a.jpg"), "'a.jpg' does not end in .png or .svg"),
    ],
)
def test_mistakes_are_explained_in_a_line(arguments, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command, *rest = arguments
    result = CliRunner().invoke(main, [command, WOMAN, *(str(argument) for argument in rest)])
    assert result.exit_code == 2
    assert reason in result.output.splitlines()[-1]
    assert not list(tmp_path.iterdir())
