# SPDX-License-Identifier: MIT
"""``--correctives``, ``--muscles`` and ``--twist`` of commands, and ``sbs correctives``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import refuse, run, succeed
from numpy.typing import NDArray

import sbs
import sbs.poses
from sbs.cli.how_to_deform import cut_part
from sbs.correctives import Correctives
from sbs.poses import axes, bone_axis, turned
from sbs.quality import Gauge, chosen
from sbs.quality.methods import METHODS, corrected, without_amount

Bent = tuple[Path, Path, sbs.Character, sbs.muscles.MuscleCover]
Knee = tuple[Path, Path, sbs.Character, Correctives, NDArray[np.float64]]
KNEE = ("--joint", "LeftLeg", "--rotate", "x:-90")


def moving(folder: Path, name: str, matrices: NDArray[np.float64]) -> tuple[Path, sbs.Character]:
    """A woman in a file, who gets from rest to this pose within a second."""
    woman = sbs.samples.load("woman")
    both = np.stack([np.tile(np.eye(4), (len(matrices), 1, 1)), matrices])
    clip = sbs.Animation.from_skinning_matrices(name, [0.0, 1.0], both, woman.rig)
    replace(woman, animations=sbs.Animations([clip]), source=None).save(folder / "woman.glb")
    return folder / "woman.glb", sbs.load(folder / "woman.glb")


@pytest.fixture(scope="module")
def twisted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, sbs.Character]:
    """A woman who turns her forearm by 120 degrees within a second."""
    skeleton = sbs.samples.load("woman").skeleton
    turns = turned(skeleton, "LeftForeArm", bone_axis(skeleton, "LeftForeArm"), 120)
    return moving(tmp_path_factory.mktemp("twist"), "turn", sbs.samples.load("woman").skinning_matrices(turns))


@pytest.fixture(scope="module")
def bent(tmp_path_factory: pytest.TempPathFactory) -> Bent:
    """A woman who bends her elbow within a second, and her muscles, in files and bound."""
    woman, folder = sbs.samples.load("woman"), tmp_path_factory.mktemp("muscles")
    path, loaded = moving(folder, "bend", woman.skinning_matrices(turned(woman.skeleton, "LeftForeArm", [1, 0, 0], 90)))
    sbs.muscles.write(folder / "muscles.json", sbs.muscles.fit(woman))
    cover = sbs.muscles.bind(loaded, sbs.muscles.read(folder / "muscles.json"))
    return path, folder / "muscles.json", loaded, cover


@pytest.fixture(scope="module")
def knee(tmp_path_factory: pytest.TempPathFactory) -> Knee:
    """A woman, a sculpted shape of her left knee bent by 90 degrees, solved for smooth twist, and that pose."""
    folder = tmp_path_factory.mktemp("knee")
    sbs.samples.copy(folder)
    woman = sbs.load(folder / "woman.glb")
    matrices = woman.skinning_matrices(turned(woman.skeleton, "LeftLeg", [1, 0, 0], -90))
    posed = woman.deform(matrices)
    below = np.flatnonzero(woman.mesh.joint_indices[:, 0] == woman.skeleton.index("LeftLeg"))[:50]
    posed[below] += np.array([0, 0, 0.1], np.float32)
    correctives = Correctives(woman.skeleton)
    correctives.add(matrices, posed, joints=["LeftLeg"], name="LeftKnee")
    skin, options = woman.smooth_twist
    correctives.solve(skin, **options)
    sbs.correctives.write(folder / "knee.json", correctives)
    return folder / "woman.glb", folder / "knee.json", woman, correctives, matrices


def test_a_corrected_pose(knee: Knee, tmp_path: Path) -> None:
    path, shapes, woman, correctives, matrices = knee
    succeed("deform", path, *KNEE, "--correctives", shapes, "-o", tmp_path / "pose.npy")
    expected = woman.deform(matrices, correctives=correctives)
    np.testing.assert_allclose(np.load(tmp_path / "pose.npy"), expected, atol=1e-5)
    assert np.abs(expected - woman.deform(matrices)).max() > 0.09


def test_a_file_made_for_another_method_is_told_once(knee: Knee, tmp_path: Path) -> None:
    """By all commands that deform, with both methods, also where meshes get parts; by none that solves it anew."""
    path, shapes, woman, correctives, _ = knee
    made, used = correctives["LeftKnee"].made_for, "method='linear'"
    assert made is not None
    linear = ("--method", "linear", "--correctives", shapes)
    for said in (
        succeed("deform", path, *KNEE, *linear, "-o", tmp_path / "pose.npy"),
        succeed("compare", path, *KNEE, "--methods", "LBS", "--correctives", shapes),
    ):
        assert said.count(made) == 1
        assert used in said
    for said in (
        succeed("deform", path, *KNEE, "--correctives", shapes, "-o", tmp_path / "pose.npy"),
        succeed("convert", path, *linear, "-o", tmp_path / "engine.glb"),
        succeed("correctives", "solve", path, shapes, "--method", "linear", "-o", tmp_path / "linear.json"),
    ):
        assert "Warning" not in said
    solved = sbs.correctives.read(tmp_path / "linear.json", woman.skeleton)
    assert solved["LeftKnee"].made_for == used


def test_corrected_frames_with_muscles(knee: Knee, tmp_path: Path) -> None:
    """The shapes come first, and the shaped skin covers the muscles."""
    _, shapes, _, correctives, matrices = knee
    path, loaded = moving(tmp_path, "bend", matrices)
    options = ("--animation", "bend", "--fps", 2, "--correctives", shapes, "--muscles", "fit")
    succeed("deform", path, *options, "-o", tmp_path / "run.npy")
    frames = loaded.animations["bend"].skinning_matrices(np.arange(3) / 2)
    skin, method = loaded.smooth_twist
    expected = np.array(skin.deform_many(frames, correctives=correctives, **method))
    sbs.muscles.bind(loaded, sbs.muscles.fit(loaded)).apply(expected, frames)
    np.testing.assert_array_equal(np.load(tmp_path / "run.npy"), expected)


def test_each_mesh_has_its_part_of_correctives(knee: Knee) -> None:
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


def test_compare_and_quality_with_correctives(knee: Knee) -> None:
    """A method more, with the amount of the one that is corrected."""
    path, shapes, woman, correctives, matrices = knee
    assert "smooth twist, with correctives" in succeed("compare", path, *KNEE, "--correctives", shapes)
    poses = ("--poses", "--joint", "LeftLeg", "--methods", "SBS", "--json")
    methods = json.loads(run("quality", path, *poses, "--correctives", shapes).stdout)["motions"][0]["methods"]
    assert list(methods) == ["SBS", "corrected"]
    assert methods["corrected"]["surface_energy"] != methods["SBS"]["surface_energy"]
    method = METHODS["smooth twist"]
    skin, options = without_amount(method, woman)
    found = corrected(method, correctives).skin(woman).deform(matrices, **corrected(method, correctives).options)
    np.testing.assert_array_equal(found, skin.deform(matrices, correctives=correctives, **options))


def test_correctives_are_listed(knee: Knee) -> None:
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


def test_correctives_are_mirrored_and_pruned(knee: Knee, tmp_path: Path) -> None:
    path, shapes, woman, *_ = knee
    succeed("correctives", "mirror", path, shapes, "-o", tmp_path / "both.json")
    both = sbs.correctives.read(tmp_path / "both.json", woman.skeleton)
    assert both.names == ("LeftKnee", "RightKnee")
    assert both["RightKnee"].driver.joints == ("RightLeg",)
    said = succeed("correctives", "prune", path, tmp_path / "both.json", "--tolerance", 1, "-o", tmp_path / "none.json")
    assert said.startswith("0 of ")


def test_correctives_solve_meets_the_target_by_another_method(knee: Knee, tmp_path: Path) -> None:
    path, shapes, woman, correctives, matrices = knee
    solved = tmp_path / "linear.json"
    assert "LeftKnee" in succeed("correctives", "solve", path, shapes, "--method", "linear", "-o", solved)
    found = woman.skin.deform(matrices, method="linear", correctives=sbs.correctives.read(solved, woman.skeleton))
    target = correctives["LeftKnee"].target
    assert target is not None
    np.testing.assert_allclose(found[target.vertices], target.positions, atol=2e-5)


def test_correctives_are_drafted(knee: Knee, tmp_path: Path) -> None:
    """The command and the function give the same, also by their defaults, by which both deform."""
    path, _, woman, *_ = knee
    for method in ([], ["--method", "linear"]):
        succeed("correctives", "draft", path, "--joint", "LeftLeg", *method, "-o", tmp_path / "drafts.json")
        found = sbs.correctives.read(tmp_path / "drafts.json", woman.skeleton)
        linear: Any = {"skin": woman.skin, "method": "linear"} if method else {}
        expected = sbs.correctives.draft(woman, ["LeftLeg"], **linear)
        assert found.names == expected.names
        for mine, theirs in zip(found, expected, strict=True):
            assert mine.shape is not None
            assert theirs.shape is not None
            assert mine.made_for == theirs.made_for
            np.testing.assert_array_equal(mine.shape.deltas, theirs.shape.deltas)
        if not method:
            target = found[1].target
            assert target is not None
            posed = woman.deform(target.skinning_matrices, correctives=found)
            np.testing.assert_allclose(posed[target.vertices], target.positions, atol=2e-5)


def test_correctives_that_are_refused(knee: Knee, tmp_path: Path) -> None:
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


# -------------------------------------------------------------------------------------------------------------- muscles


def test_poses_and_frames_with_muscles(bent: Bent, tmp_path: Path) -> None:
    """The muscles of a file are those that are placed without one: JSON keeps numbers to the last digit."""
    path, muscles, woman, cover = bent
    matrices = woman.animations[0].skinning_matrices(np.arange(3) / 2)
    skin, method = woman.smooth_twist
    bare = skin.deform_many(matrices, **method)
    expected = np.array(bare)
    cover.apply(expected, matrices)
    for name, source, times in (
        ("pose.npy", muscles, ("--time", 1)),
        ("run_#.npy", "fit", ("--fps", 2)),
        ("run.npy", "fit", ("--fps", 2)),
    ):
        succeed("deform", path, "--animation", "bend", *times, "--muscles", source, "-o", tmp_path / name)
    np.testing.assert_array_equal(np.load(tmp_path / "run.npy"), expected)
    for name in ("pose.npy", "run_2.npy"):
        np.testing.assert_array_equal(np.load(tmp_path / name), expected[2])
    assert np.abs(expected - bare).max() > 0.02


def test_each_mesh_covers_muscles_in_a_file_of_its_own(bent: Bent, tmp_path: Path) -> None:
    """Placed by the whole character, not by the mesh alone."""
    path, *_, woman, cover = bent
    succeed("deform", path, "--animation", "bend", "--time", 1, "--muscles", "fit", "-o", tmp_path / "{mesh}.npy")
    (name,) = tmp_path.iterdir()
    matrices = woman.animations[0].skinning_matrices(1)
    expected = np.array(woman.deform(matrices))
    cover.apply(expected, matrices)
    np.testing.assert_array_equal(np.load(name), expected)


def numbers_of(output: str, heading: str) -> list[str]:
    """The numbers of a method in the table of compare."""
    (line,) = [line for line in output.splitlines() if heading in line]
    return line.partition(heading)[2].split()


def test_compare_with_muscles(bent: Bent) -> None:
    """A bent elbow by LBS, SBS and SBS with muscles: the table has the distances that the library's arrays have."""
    path, muscles, woman, cover = bent
    output = succeed(
        "compare", path, "--joint", "LeftForeArm", "--rotate", "bend:120", "--methods", "LBS,SBS", "--muscles", muscles
    )
    axis = axes(woman.skeleton, woman.skeleton.index("LeftForeArm"))[0]
    matrices = woman.skinning_matrices(turned(woman.skeleton, "LeftForeArm", axis, 120))
    linear, covered = woman.skin.deform(matrices, method="linear"), np.array(woman.skin.deform(matrices))
    bare = covered.copy()
    cover.apply(covered, matrices)
    size = np.linalg.norm(np.ptp(linear, axis=0))
    for heading, positions in (("spherical (SBS)", bare), ("SBS with muscles", covered)):
        distances = np.linalg.norm(positions - linear, axis=1) / size
        assert numbers_of(output, heading)[:2] == [f"{distances.mean():.3%}", f"{distances.max():.3%}"]
    assert numbers_of(output, "spherical (SBS)") != numbers_of(output, "SBS with muscles")


def test_quality_with_muscles(bent: Bent) -> None:
    path, _, woman, cover = bent
    some = ("--animation", "bend", "--frames", 2, "--rate", 4, "--methods", "LBS,SBS", "--json")
    measured = json.loads(succeed("quality", path, *some, "--muscles", "fit"))["motions"][0]["methods"]
    assert list(measured) == ["LBS", "SBS", "muscles"]
    matrices = woman.animations[0].skinning_matrices([0.0, 1.0])
    covered = np.array(woman.skin.deform_many(matrices))
    cover.apply(covered, matrices)
    volumes = [Gauge(woman).measure(*pose)["volume"]["largest"] for pose in zip(matrices, covered, strict=True)]
    # Six digits are written.
    assert measured["muscles"]["volume"]["largest"] == pytest.approx(max(volumes), abs=2e-6)
    assert measured["muscles"]["volume"] != measured["SBS"]["volume"]
    assert "muscles" not in json.loads(succeed("quality", path, *some))["motions"][0]["methods"]


def test_muscles_that_are_refused(bent: Bent, tmp_path: Path) -> None:
    path, muscles, woman, cover = bent
    output = ("-o", tmp_path / "pose.npy")
    damaged = tmp_path / "muscles.json"
    damaged.write_text(muscles.read_text().replace("LeftForeArm", "Elbow"))
    assert "'biceps left': no joint is named 'Elbow'" in refuse("deform", path, "--muscles", damaged, *output)
    damaged.write_text("{}")
    assert "muscles.json" in refuse("deform", path, "--muscles", damaged, *output)
    shape = sbs.BlendShape("fat", np.array([0], np.int32), np.ones((1, 3), np.float32))
    mesh = replace(woman.mesh, shapes=(shape,))
    replace(woman, mesh=mesh, source=None).save(tmp_path / "shaped.glb")
    assert "blend shapes" in refuse("deform", tmp_path / "shaped.glb", "--muscles", "fit", *output)
    shapes = sbs.ShapeMotion(woman.mesh.positions, (shape,))
    with pytest.raises(ValueError, match="blend shapes"):
        sbs.formats.bake(tmp_path / "run.npy", woman.skin, woman.animations[0], range(2), shapes=shapes, muscles=cover)


# --------------------------------------------------------------------------------------------------------------- twists


@pytest.mark.parametrize("names", ["auto", "LeftForeArm,LeftArm"])
def test_deform_spreads_twists(names: str, twisted: tuple[Path, sbs.Character], tmp_path: Path) -> None:
    path, woman = twisted
    output = tmp_path / "pose.npy"
    succeed("deform", path, "--animation", "turn", "--time", 1, "--twist", names, "-o", output)
    spread = sbs.limb_twist(woman, None if names == "auto" else names.split(","))
    assert spread is not None
    expected = woman.twisted_skin(spread).deform(woman.animations[0].skinning_matrices(1))
    np.testing.assert_array_equal(np.load(output), expected)
    plain = woman.skin.deform(woman.animations[0].skinning_matrices(1))
    assert np.abs(plain - expected).max() > 0.01
    succeed("deform", path, "--animation", "turn", "--time", 1, "--twist", "none", "-o", output)
    np.testing.assert_array_equal(np.load(output), plain)


def test_compare_spreads_twists(twisted: tuple[Path, sbs.Character]) -> None:
    arguments = ("compare", twisted[0], "--joint", "LeftForeArm", "--rotate", "bone:150")
    assert "smooth twist" in succeed(*arguments)
    assert succeed(*arguments) != succeed(*arguments, "--twist", "RightForeArm")
    assert "smooth twist" not in succeed(*arguments, "--twist", "none")


def test_quality_has_limbs_as_told(twisted: tuple[Path, sbs.Character]) -> None:
    def measured(*arguments: object) -> dict[str, float]:
        """The least thickness of each method."""
        briefly = ("quality", twisted[0], "--frames", 2, "--rate", 4, "--json")
        (motion,) = json.loads(succeed(*briefly, *arguments))["motions"]
        return {name: found["thickness"]["low"] for name, found in motion["methods"].items()}

    found = measured("--methods", "SBS,twist")
    told = measured("--methods", "SBS,twist", "--twist", "LeftForeArm")
    elsewhere = measured("--methods", "weighted,twist", "--twist", "RightForeArm")
    assert found["twist"] == pytest.approx(told["twist"], rel=1e-3)  # of an arm that alone is twisted
    assert found["twist"] > found["SBS"] + 0.1
    assert elsewhere["twist"] == pytest.approx(elsewhere["weighted"], abs=1e-6)  # float32
    assert list(chosen(limbs="none")) == ["LBS", "DQS", "SBS", "average", "weighted", "optimized"]
