# SPDX-License-Identifier: MIT
"""``sbs subdivide``, ``sbs curvature`` and bones blending by other commands."""

from __future__ import annotations

import json
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import succeed
from PIL import Image

import sbs
from sbs import mesh, quality

DATA = resources.files("sbs.characters") / "data"
WOMAN, HAND = str(DATA / "woman.glb"), str(DATA / "hand.glb")
ARM = ("LeftArm", "LeftForeArm")


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


FINGER = "index-finger-phalanx-proximal"


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("", {}),
        (f"--t-min=-0.004 --t-max 0.004 --t-max {FINGER}=0.012", {"t_min": -0.004, "t_max": (0.004, 0.012)}),
        ("--profile smoothstep --zone-scale 0.5", {"profile": "smoothstep", "zone_scale": 0.5}),
        (f"--fit-zones --t-max {FINGER}=0.004", {"t_max": (np.nan, 0.004)}),
    ],
)
def test_deform_by_bones_blending(line: str, options: dict[str, Any], tmp_path: Path) -> None:
    """`t_max` is of all joints and of the finger."""
    path, hand = tmp_path / "pose.npy", sbs.load(HAND)
    succeed("deform", HAND, "--animation", "fist", "--time", 1, "--bones-blending", "all", *line.split(), "-o", path)
    if "t_max" in options:
        numbers = np.full(len(hand.skeleton), options["t_max"][0])
        numbers[hand.skeleton.index(FINGER)] = options["t_max"][1]
        options = {**options, "t_max": numbers}
    mesh = hand.mesh
    bind = partial(quality.fit_zones, triangles=mesh.triangles) if "--fit-zones" in line else sbs.bones_blending
    blending = bind(hand.skeleton, mesh.positions, influences=(mesh.joint_indices, mesh.joint_weights), **options)
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
    """As the guide of bones blending says; and curvature and compare take the options as well."""
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
