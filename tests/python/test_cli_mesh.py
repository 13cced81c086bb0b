# SPDX-License-Identifier: MIT
"""``sbs subdivide``, ``sbs curvature`` and bones blending by other commands."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from commands import succeed
from marks import paints
from PIL import Image

import sbs
from sbs import mesh, quality
from sbs.cli import main

DATA = resources.files("sbs.demo") / "data"
WOMAN, HAND = str(DATA / "woman.glb"), str(DATA / "hand.glb")
ARM = ("LeftArm", "LeftForeArm")
ZONES = ("deform", "-o", "a.npy", "--bones-blending", "LeftArm")


def test_subdivide_writes_the_finer_character(tmp_path: Path) -> None:
    path = tmp_path / "fine.glb"
    options = [option for joint in ARM for option in ("--joint", joint)]
    output = succeed("subdivide", WOMAN, *options, "--scheme", "1:3", "--levels", 2, "-o", path)
    expected = mesh.subdivide_near_joints(sbs.load(WOMAN), ARM, scheme="1:3", levels=2)
    written = sbs.load(path)
    np.testing.assert_array_equal(written.mesh.positions, expected.mesh.positions)
    np.testing.assert_array_equal(written.mesh.triangles, expected.mesh.triangles)
    assert f"{len(expected.mesh.positions)} vertices of 13380" in output


def test_subdivide_where_bends_need_it(tmp_path: Path) -> None:
    """Smoother than twice near the joint, by a tenth of the triangles."""
    path = tmp_path / "fine.glb"
    bones = ("--bones-blending", "LeftLeg", "--profile", "smoothstep", "--zone-scale", 1.5)
    succeed("subdivide", WOMAN, "--joint", "LeftLeg", "--bent", 10, "--levels", 2, *bones, "-o", path)
    fine, original = sbs.load(path), sbs.load(WOMAN)
    assert len(original.mesh.triangles) < len(fine.mesh.triangles) < len(original.mesh.triangles) + 1636
    arguments = ("--joint", "LeftLeg", "--bend", "90:120", "--steps", 2, *bones, "--levels", 2, "--json")
    bent = json.loads(succeed("curvature", path, *arguments))["curvature"]["original"]
    _, _, twice = json.loads(succeed("curvature", WOMAN, *arguments))["curvature"].values()
    assert twice["triangles"] > len(original.mesh.triangles) + 16360
    assert bent["degrees"][1] < twice["degrees"][1]
    assert bent["degrees"][0] < twice["degrees"][0] + 1


def test_curvature_tells_and_draws(tmp_path: Path) -> None:
    path = tmp_path / "bend.png"
    arguments = ("curvature", WOMAN, "--joint", "LeftForeArm", "--bend", "0:90", "--steps", 3)
    told = json.loads(succeed(*arguments, "--json", "--subdivide", "LeftForeArm", "-o", path))
    assert told["bend"] == [0, 45, 90]
    original, divided = told["curvature"].values()
    assert (original["vertices"], original["triangles"]) == (13380, 26756)
    assert divided["triangles"] > 26756
    assert original["degrees"][0] == pytest.approx(divided["degrees"][0], abs=1)  # nearly as at bind
    assert original["degrees"][2] > original["degrees"][0]
    with Image.open(path) as picture:
        assert np.asarray(picture).std() > 1
    assert "1:4" in succeed(*arguments)


def test_curvature_by_bones_blending_is_of_both_sides_of_the_joint() -> None:
    arguments = ("curvature", WOMAN, "--joint", "LeftForeArm", "--bend", "0:90", "--steps", 2, "--json")
    told = json.loads(succeed(*arguments, "--bones-blending", "all"))
    assert told["method"] == "bones blending"
    original, divided = told["curvature"].values()
    assert divided["degrees"][1] < original["degrees"][1] < 100


def test_deform_by_bones_blending(tmp_path: Path) -> None:
    path = tmp_path / "pose.npy"
    succeed("deform", HAND, "--animation", "fist", "--time", 1, "--bones-blending", "all", "-o", path)
    hand = sbs.load(HAND)
    blending = sbs.bones_blending(
        hand.skeleton, hand.mesh.positions, influences=(hand.mesh.joint_indices, hand.mesh.joint_weights)
    )
    expected = blending.skin().deform(hand.animations[0].skinning_matrices(1), **blending.options)
    np.testing.assert_array_equal(np.load(path), expected)
    joint = "index-finger-phalanx-proximal"
    succeed("deform", HAND, "--animation", "fist", "--bones-blending", joint, "-o", tmp_path / "pose.obj")


def test_deform_by_bones_blending_in_zones_of_their_own(tmp_path: Path) -> None:
    """A number for all joints, and one joint that has another; bones of the hand are a few centimeters long."""
    path = tmp_path / "pose.npy"
    hand = sbs.load(HAND)
    name = "index-finger-phalanx-proximal"
    options = ("--t-min=-0.004", "--t-max", "0.004", "--t-max", f"{name}=0.012")
    succeed("deform", HAND, "--animation", "fist", "--time", 1, "--bones-blending", "all", *options, "-o", path)
    highest = np.full(len(hand.skeleton), 0.004)
    highest[hand.skeleton.index(name)] = 0.012
    blending = sbs.bones_blending(
        hand.skeleton,
        hand.mesh.positions,
        influences=(hand.mesh.joint_indices, hand.mesh.joint_weights),
        t_min=-0.004,
        t_max=highest,
    )
    expected = blending.skin().deform(hand.animations[0].skinning_matrices(1), **blending.options)
    np.testing.assert_array_equal(np.load(path), expected)


def test_deform_by_another_profile_in_wider_zones(tmp_path: Path) -> None:
    path = tmp_path / "pose.npy"
    hand = sbs.load(HAND)
    options = ("--bones-blending", "all", "--profile", "smoothstep", "--zone-scale", "0.5")
    succeed("deform", HAND, "--animation", "fist", "--time", 1, *options, "-o", path)
    blending = sbs.bones_blending(
        hand.skeleton,
        hand.mesh.positions,
        influences=(hand.mesh.joint_indices, hand.mesh.joint_weights),
        profile="smoothstep",
        zone_scale=0.5,
    )
    expected = blending.skin().deform(hand.animations[0].skinning_matrices(1), **blending.options)
    np.testing.assert_array_equal(np.load(path), expected)


def test_deform_in_fitted_zones(tmp_path: Path) -> None:
    path = tmp_path / "pose.npy"
    hand = sbs.load(HAND)
    joint = hand.skeleton.index("index-finger-phalanx-distal")
    options = ("--bones-blending", "all", "--fit-zones", "--t-max", f"{hand.skeleton.names[joint]}=0.004")
    succeed("deform", HAND, "--animation", "fist", "--time", 1, *options, "-o", path)
    t_max = np.full(len(hand.skeleton), np.nan)
    t_max[joint] = 0.004
    blending = quality.fit_zones(
        hand.skeleton,
        hand.mesh.positions,
        hand.mesh.triangles,
        influences=(hand.mesh.joint_indices, hand.mesh.joint_weights),
        t_max=t_max,
    )
    expected = blending.skin().deform(hand.animations[0].skinning_matrices(1), **blending.options)
    np.testing.assert_array_equal(np.load(path), expected)


def test_curvature_keeps_fitted_zones_on_divided_meshes() -> None:
    """The divided knee is as smooth as in the zones that were fitted to the original one."""
    arguments = ("curvature", WOMAN, "--joint", "LeftLeg", "--bend", "60:110", "--steps", 3, "--json")
    fitted = json.loads(succeed(*arguments, "--bones-blending", "LeftLeg", "--fit-zones"))
    woman = sbs.load(WOMAN)
    found = quality.fit_zones(
        woman.skeleton,
        woman.mesh.positions,
        woman.mesh.triangles,
        joints=["LeftLeg"],
        influences=(woman.mesh.joint_indices, woman.mesh.joint_weights),
    )
    leg = woman.skeleton.index("LeftLeg")
    ends = (f"--t-min={float(found.t_min[leg])!r}", f"--t-max={float(found.t_max[leg])!r}")
    assert fitted == json.loads(succeed(*arguments, "--bones-blending", "LeftLeg", *ends))


def test_a_wider_zone_bends_rounder() -> None:
    """What the guide of bones blending says, and that curvature and compare take the options as well."""
    arguments = ("curvature", WOMAN, "--joint", "LeftForeArm", "--bend", "0:90", "--steps", 2, "--json")
    bones = ("--bones-blending", "LeftForeArm")
    largest = []
    for reach in (0.1, 0.5):  # of an arm that is as thick as the latter
        zone = (f"--t-min=LeftForeArm={-reach}", f"--t-max=LeftForeArm={reach}")
        original, _ = json.loads(succeed(*arguments, *bones, *zone))["curvature"].values()
        largest.append(original["degrees"][1])
    assert largest[1] < largest[0]
    turned = ("compare", WOMAN, "--joint", "LeftForeArm", "--rotate", "bone:180", *bones)
    assert succeed(*turned) != succeed(*turned, "--t-max", "0.2")


@paints
def test_compare_shows_bones_blending(tmp_path: Path) -> None:
    path = tmp_path / "arm.png"
    arguments = ("compare", WOMAN, "--joint", "LeftForeArm", "--rotate", "bone:180", "--bones-blending", "LeftForeArm")
    output = succeed(*arguments, "-o", path, "--width", 250, "--samples", 1)
    assert "bones blending" in output
    with Image.open(path) as picture:
        assert picture.width == 250


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("subdivide", "--joint", "Tail", "-o", "a.glb"), "no joint 'Tail'; the file has: Hips"),
        (("subdivide", "--joint", "LeftArm", "-o", "a.obj"), "a.obj"),
        (("subdivide", "--joint", "LeftArm", "--levels", 0, "-o", "a.glb"), "--levels"),
        (("subdivide", "-o", "a.glb"), "Missing option '--joint'"),
        (("subdivide", "--joint", "LeftArm", "--bent", "-1", "-o", "a.glb"), "-1.0 is not in the range x>=0"),
        (("subdivide", "--joint", "LeftArm", "--method", "linear", "-o", "a.glb"), "--method needs --bent"),
        (("curvature", "--joint", "Tail"), "no joint 'Tail'"),
        (("curvature", "--joint", "LeftArm", "--bones-blending", "Tail"), "for --bones-blending: no joint 'Tail'"),
        (("curvature", "--joint", "LeftArm", "--subdivide", "Tail"), "for --subdivide: no joint 'Tail'"),
        (("deform", "--bones-blending", "Tail", "-o", "a.npy"), "no joint 'Tail'"),
        (
            ("deform", "--bones-blending", "all", "--method", "linear", "-o", "a.npy"),
            "--bones-blending takes the place of --method",
        ),
        (("deform", "--t-min", "-1", "-o", "a.npy"), "--t-min needs --bones-blending"),
        (("compare", "--joint", "LeftArm", "--rotate", "x:9", "--t-max", "1"), "--t-max needs --bones-blending"),
        (("curvature", "--joint", "LeftArm", "--t-max", "LeftArm=1"), "--t-max needs --bones-blending"),
        (("deform", "--profile", "smoothstep", "-o", "a.npy"), "--profile needs --bones-blending"),
        (("deform", "--zone-scale", "1.5", "-o", "a.npy"), "--zone-scale needs --bones-blending"),
        (("deform", "--fit-zones", "-o", "a.npy"), "--fit-zones needs --bones-blending"),
        ((*ZONES, "--fit-zones", "--zone-scale", "2"), "--fit-zones takes the place of --zone-scale"),
        ((*ZONES, "--fit-zones", "--t-min", "-1", "--t-max", "1"), "all ends of zones are given"),
        ((*ZONES, "--profile", "cubic"), "'cubic' is not one of 'linear', 'smoothstep'"),
        ((*ZONES, "--zone-scale", "0"), "0.0 is not in the range x>0"),
        ((*ZONES, "--zone-scale", "2", "--t-min", "-1", "--t-max", "1"), "all ends of zones are given"),
        ((*ZONES, "--t-min", "Tail=-1"), "no joint 'Tail'"),
        ((*ZONES, "--t-min", "LeftArm=far"), "'LeftArm=far' is neither NUMBER nor NAME=NUMBER"),
        ((*ZONES, "--t-min", "nan"), "'nan' is neither NUMBER nor NAME=NUMBER"),
        ((*ZONES, "--t-max", "1", "--t-max", "2"), "'2': all joints had a number before"),
        ((*ZONES, "--t-max", "LeftArm=1", "--t-max", "LeftArm=2"), "'LeftArm=2': LeftArm had a number before"),
        ((*ZONES, "--t-max", "LeftForeArm=1"), "joint 'LeftForeArm' is not blended with a parent"),
        ((*ZONES, "--t-max", "1", "--t-max", "LeftArm=1"), "the number for all joints has no joint left"),
        ((*ZONES, "--t-min", "1", "--t-max", "-1"), "t_min is 1, not below t_max, -1, of joint 'LeftArm'"),
        (("curvature", "--joint", "LeftArm", "--bend", "135"), "'135' is not FROM:TO"),
        (("curvature", "--joint", "LeftArm", "--bend", "5:5"), "'5:5' is not FROM:TO"),
        (("curvature", "--joint", "LeftArm", "--axis", "up"), "'up' is not a direction"),
        (("curvature", "--joint", "LeftArm", "-o", "a.jpg"), "'a.jpg' does not end in .png or .svg"),
    ],
)
def test_mistakes_are_explained_in_a_line(
    arguments: tuple[object, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command, *rest = arguments
    result = CliRunner().invoke(main, [str(argument) for argument in (command, WOMAN, *rest)])
    assert result.exit_code == 2
    assert reason in result.output.splitlines()[-1]
    assert not list(tmp_path.iterdir())
