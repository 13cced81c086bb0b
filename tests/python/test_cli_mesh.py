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
    output = succeed(
        "subdivide", WOMAN, "--joint", ARM[0], "--joint", ARM[1], "--scheme", "1:3", "--levels", 2, "-o", path
    )
    expected = mesh.subdivide_near_joints(sbs.load(WOMAN), ARM, scheme="1:3", levels=2)
    written = sbs.load(path)
    np.testing.assert_array_equal(written.mesh.positions, expected.mesh.positions)
    np.testing.assert_array_equal(written.mesh.triangles, expected.mesh.triangles)
    assert f"{len(expected.mesh.positions)} vertices of 13380" in output
    bones = ("--bones-blending", "LeftLeg", "--profile", "smoothstep", "--zone-scale", 1.5)
    succeed("subdivide", WOMAN, "--joint", "LeftLeg", "--bent", 10, "--levels", 2, *bones, "-o", path)
    assert 0 < len(sbs.load(path).mesh.triangles) - 26756 < 1636  # where bends need it alone


def test_curvature_tells_and_draws(tmp_path: Path) -> None:
    path = tmp_path / "bend.png"
    arguments = ("curvature", WOMAN, "--joint", "LeftForeArm", "--bend", "0:90", "--steps", 3)
    by_sets = ("--method", "SBS")  # whose centers a finer mesh does not change
    told = json.loads(succeed(*arguments, *by_sets, "--json", "--subdivide", "LeftForeArm", "-o", path))
    assert told["bend"] == [0, 45, 90]
    original, divided = told["curvature"].values()
    assert (original["vertices"], original["triangles"]) == (13380, 26756)
    assert divided["triangles"] > 26756
    assert original["degrees"][0] == pytest.approx(divided["degrees"][0], abs=1)  # nearly as at bind
    assert original["degrees"][2] > original["degrees"][0]
    with Image.open(path) as picture:
        assert np.asarray(picture).std() > 1
    assert "1:4" in succeed(*arguments)
    bones = ("--bones-blending", "all")  # of both sides of the joint
    told = json.loads(succeed(*arguments, "--json", *bones))
    assert told["method"] == "bones blending"
    original, divided = told["curvature"].values()
    assert divided["degrees"][2] < original["degrees"][2] < 100
    turned = ("compare", WOMAN, "--joint", "LeftForeArm", "--rotate", "bone:180", *bones)
    assert succeed(*turned) != succeed(*turned, "--t-max", "0.2")


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
