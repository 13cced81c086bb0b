# SPDX-License-Identifier: MIT
"""The command line: its output, the files that it writes, and refusals."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import refuse, run, succeed
from gltf_builder import arm
from marks import paints
from PIL import Image

import sbs
from sbs.rigging.animation import Animations

DATA = resources.files("sbs.characters") / "data"
WOMAN, HAND = str(DATA / "woman.glb"), str(DATA / "hand.glb")


def test_info() -> None:
    output = succeed("info", WOMAN)
    assert "13380" in output
    expected = {
        "vertices": 1360,
        "joints": 25,
        "joint_sets": 114,
        "nontrivial_joint_sets": 86,
        "vertices_by_influences": {"1": 249, "2": 433, "3": 365, "4": 313},
        "vertices_with_bad_weights": {},
        "animations": {"fist": 1.0},
    }
    assert json.loads(succeed("info", HAND, "--json")).items() >= expected.items()


def test_info_warns_of_bad_weights_in_one_line(tmp_path: Path) -> None:
    builder = arm()
    weights = [[0.5, 0.25, 0, 0], *[[0.5, 0.5, 0, 0]] * 3]
    builder.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = builder.accessor(weights)
    path = builder.save(tmp_path / "bad.glb")
    result = run("info", path)
    assert result.exit_code == 0
    warnings = [line for line in result.stderr.splitlines() if line.startswith("Warning: ")]
    assert len(warnings) == 1
    assert "1 with weights that do not sum to 1" in warnings[0]
    assert "off_sum: 1" in result.stdout
    assert "joint_weights" in refuse("info", path, "--strict")


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("--method lbs", {"method": "linear"}),
        ("--rotation average --center weighted", {"rotation": "average", "center": "weighted"}),
        ("--amount 0.25", {"amount": 0.25}),
        ("--across 0.35 --base rigid", {"amount": 0.35, "base": "rigid"}),  # of a hand, which has no limbs
        (
            "--amount amount.npy --base rigid --method linear",
            {"method": "linear", "amount": np.linspace(0, 1, 1360), "base": "rigid"},
        ),
    ],
)
def test_deform_by_options(line: str, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("amount.npy", np.linspace(0, 1, 1360))
    output = succeed("deform", HAND, "--animation", "fist", "--time", 0.5, *line.split(), "-o", "fist.npy")
    assert "1360 vertices" in output
    hand = sbs.load(HAND)
    matrices = hand.animations[0].skinning_matrices(0.5)
    np.testing.assert_array_equal(np.load("fist.npy"), hand.skin.deform(matrices, **options))
    assert not np.array_equal(np.load("fist.npy"), hand.skin.deform(matrices))
    succeed("deform", HAND, "-o", "rest.npy")
    np.testing.assert_allclose(np.load("rest.npy"), hand.mesh.positions, atol=1e-7)


def test_deform_blends_across_joints_of_limbs(tmp_path: Path) -> None:
    path, fox_path = tmp_path / "pose.npy", Path(__file__).parents[1] / "data" / "Fox.glb"
    fox = sbs.load(fox_path)
    moment = ("deform", fox_path, "--animation", "Run", "--time", 0.25, "--twist", "auto", "--across", 0.5)
    succeed(*moment, "-o", path)
    twist = sbs.limb_twist(fox)
    run = next(each for each in fox.animations if each.name.endswith("Run"))
    expected = fox.twisted_skin(twist).deform(
        run.skinning_matrices(0.25), amount=sbs.twist_amounts(fox, twist, across=0.5)
    )
    np.testing.assert_array_equal(np.load(path), expected)


def test_deform_about_optimized_centers_that_are_kept(tmp_path: Path) -> None:
    cache, output = tmp_path / "hand.centers", tmp_path / "fist.npy"
    arguments = ("deform", HAND, "--animation", "fist", "--time", 0.5, "--center", "optimized", "-o", output)
    hand = sbs.load(HAND)
    expected = hand.optimized_skin().deform(hand.animations[0].skinning_matrices(0.5), center="optimized")
    for _ in range(2):  # the second time from the file
        succeed(*arguments, "--centers-cache", cache)
        assert cache.exists()
        np.testing.assert_array_equal(np.load(output), expected)
    assert not np.array_equal(expected, hand.skin.deform(hand.animations[0].skinning_matrices(0.5)))


def test_obj_and_ply_bring_back_every_bit(tmp_path: Path) -> None:
    hand = sbs.load(HAND)
    positions, normals = hand.deform(hand.animations[0].skinning_matrices(1), normals=True)
    for suffix in (".obj", ".ply"):
        succeed("deform", HAND, "--animation", "fist", "--time", 1, "-o", tmp_path / f"fist{suffix}")
    lines = [line.split() for line in (tmp_path / "fist.obj").read_text().splitlines()]
    np.testing.assert_array_equal(np.array([line[1:] for line in lines if line[0] == "v"], np.float32), positions)
    np.testing.assert_array_equal(np.array([line[1:] for line in lines if line[0] == "vn"], np.float32), normals)
    faces = [[int(corner.split("//")[0]) - 1 for corner in line[1:]] for line in lines if line[0] == "f"]
    np.testing.assert_array_equal(faces, hand.mesh.triangles)
    header, _, body = (tmp_path / "fist.ply").read_bytes().partition(b"end_header\n")
    assert b"element vertex 1360\n" in header
    assert b"element face 2314\n" in header
    vertices = np.frombuffer(body, "<f4", 1360 * 6).reshape(1360, 6)
    np.testing.assert_array_equal(vertices, np.concatenate([positions, normals], axis=1))
    triangles = np.frombuffer(body, [("count", "u1"), ("corners", "<i4", 3)], offset=1360 * 24)
    assert (triangles["count"] == 3).all()
    np.testing.assert_array_equal(triangles["corners"], hand.mesh.triangles)


@paints
def test_compare_measures_and_draws(tmp_path: Path) -> None:
    path = tmp_path / "arm.png"
    arguments = ("compare", WOMAN, "--joint", "LeftForeArm", "--rotate", "bone:170", "--methods", "LBS,SBS,DQS")
    output = succeed(*arguments, "-o", path, "--width", 331, "--samples", 1)
    rows = {line.split(" (")[0].strip(): line for line in output.splitlines() if "(" in line}
    assert "2.2" in rows["spherical"]  # per cent of the diagonal: about the radius of the elbow
    assert "0.000%" in rows["linear"]
    with Image.open(path) as picture:
        assert picture.width == 331
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    assert pixels.min() < 100
    red = (pixels[..., 0] > pixels[..., 2] + 90) & (pixels[..., 0] > 1.8 * pixels[..., 1])
    columns = np.flatnonzero(red.any(axis=0))  # where methods differ: not where the first method is
    assert len(columns) > 10
    assert columns.min() > 331 / 2
    assert "linear (LBS)" in succeed("compare", HAND, "--animation", "fist", "--time", 1)


def test_compare_goes_past_an_animation_that_stays_at_bind(tmp_path: Path) -> None:
    """Godot's "RESET", or a T-pose, often comes first."""
    hand = sbs.load(HAND)
    still = np.tile(np.eye(4), (2, len(hand.skeleton), 1, 1))
    reset = sbs.Animation.from_skinning_matrices("RESET", [0, 1], still, hand.rig)
    replace(hand, animations=Animations([reset, hand.animations["fist"]])).save(tmp_path / "hand.glb")
    assert "fist at" in succeed("compare", tmp_path / "hand.glb", "--methods", "LBS,DQS")


def test_bench_in_json_and_as_a_table() -> None:
    small = ("bench", HAND, "--vertices", 600, "--rounds", 1, "--threads", "1")
    report = json.loads(succeed(*small, "--json"))
    assert [subject["name"] for subject in report["subjects"]] == ["hand.glb", "tube"]
    methods = [timing["method"] for timing in report["subjects"][1]["timings"]]
    assert methods == ["rigid", "linear", "spherical", "dual_quaternion"]
    assert report["paper_ratio"] == [1.26, 1.35]
    output = succeed(*small)
    assert "1.26 to 1.35" in output
    assert "spherical" in output


@paints
def test_demo_writes_its_figures_and_its_table(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    output = succeed("demo", "--output", folder, "--width", 200, "--samples", 1, "--rounds", 1)
    assert "twisted arm" in output
    assert sorted(path.name for path in folder.iterdir()) == ["demo.png", "methods.png", "table.csv", "table.md"]
    with Image.open(folder / "methods.png") as figure, Image.open(folder / "demo.png") as opening:
        assert figure.width > opening.width > 160
        assert figure.height > opening.height > 0
    with (folder / "table.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12  # three scenes by four methods
    assert rows[0]["thickness"] == "9%"
    assert (folder / "table.md").read_text(encoding="utf-8").startswith("| pose | method |")
