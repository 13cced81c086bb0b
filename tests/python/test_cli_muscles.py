# SPDX-License-Identifier: MIT
"""``--muscles`` of deform, compare, quality and view: poses and frames whose skin covers muscles."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import sbs
from sbs.cli import main
from sbs.poses import axes
from sbs.quality import Gauge
from sbs.rigging.animation import Animations

Bent = tuple[Path, Path, sbs.Character, sbs.muscles.MuscleCover]
HAND = str(resources.files("sbs.demo") / "data" / "hand.glb")


@pytest.fixture(scope="module")
def bent(tmp_path_factory: pytest.TempPathFactory) -> Bent:
    """A woman who bends her elbow within a second, and her muscles, in files and bound."""
    woman = sbs.samples.load("woman")
    local = np.tile(np.eye(3), (2, len(woman.skeleton), 1, 1))
    local[1, woman.skeleton.index("LeftForeArm")] = sbs.rotations.matrices_from_axis_angle([1, 0, 0], 90, degrees=True)
    bending = sbs.Animation.from_skinning_matrices("bend", [0.0, 1.0], woman.skinning_matrices(local), woman.rig)
    folder = tmp_path_factory.mktemp("muscles")
    sbs.Character(woman.name, woman.mesh, woman.skeleton, woman.rig, Animations((bending,))).save(folder / "woman.glb")
    sbs.muscles.write(folder / "muscles.json", sbs.muscles.fit(woman))
    loaded = sbs.load(folder / "woman.glb")
    cover = sbs.muscles.bind(loaded, sbs.muscles.read(folder / "muscles.json"))
    return folder / "woman.glb", folder / "muscles.json", loaded, cover


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_a_pose(bent: Bent, tmp_path: Path) -> None:
    path, muscles, woman, cover = bent
    for name in ("pose.npy", "run_#.npy"):
        times: tuple[object, ...] = ("--fps", 1) if "#" in name else ("--time", 1)
        result = run("deform", path, "--animation", "bend", *times, "--muscles", muscles, "-o", tmp_path / name)
        assert result.exit_code == 0, result.output
    matrices = woman.animations[0].skinning_matrices(1)
    expected = np.array(woman.skin.deform(matrices))
    before = expected.copy()
    cover.apply(expected, matrices)
    np.testing.assert_array_equal(np.load(tmp_path / "pose.npy"), expected)
    np.testing.assert_array_equal(np.load(tmp_path / "run_1.npy"), expected)
    assert np.abs(expected - before).max() > 0.02


def test_frames_with_normals(bent: Bent, tmp_path: Path) -> None:
    path, muscles, woman, cover = bent
    result = run("deform", path, "--animation", "bend", "--fps", 4, "--muscles", muscles, "-o", tmp_path / "run.npy")
    assert result.exit_code == 0, result.output
    matrices = woman.animations[0].skinning_matrices(np.arange(5) / 4)
    expected = np.array(woman.skin.deform_many(matrices))
    cover.apply(expected, matrices)
    np.testing.assert_array_equal(np.load(tmp_path / "run.npy"), expected)


def test_those_of_a_human_body_need_no_file(bent: Bent, tmp_path: Path) -> None:
    path, muscles, *_ = bent
    for number, source in enumerate((muscles, "fit")):
        name = tmp_path / f"{number}.npy"
        result = run("deform", path, "--animation", "bend", "--time", 1, "--muscles", source, "-o", name)
        assert result.exit_code == 0, result.output
    # JSON keeps numbers to the last digit.
    np.testing.assert_array_equal(np.load(tmp_path / "0.npy"), np.load(tmp_path / "1.npy"))


def test_each_mesh_covers_them_in_a_file_of_its_own(bent: Bent, tmp_path: Path) -> None:
    """Placed by the whole character, not by the mesh alone."""
    path, *_, woman, cover = bent
    result = run("deform", path, "--animation", "bend", "--time", 1, "--muscles", "fit", "-o", tmp_path / "{mesh}.npy")
    assert result.exit_code == 0, result.output
    (name,) = tmp_path.iterdir()
    matrices = woman.animations[0].skinning_matrices(1)
    expected = np.array(woman.skin.deform(matrices))
    cover.apply(expected, matrices)
    np.testing.assert_array_equal(np.load(name), expected)


def apart(output: str, heading: str) -> list[str]:
    """The numbers of a method in the table of compare."""
    (line,) = [line for line in output.splitlines() if heading in line]
    return line.partition(heading)[2].split()


@pytest.mark.parametrize("source", ["file", "fit"])
def test_compare(bent: Bent, source: str) -> None:
    """A bent elbow by LBS, SBS and SBS with muscles: the table has the distances that the library's arrays have."""
    path, muscles, woman, cover = bent
    given = muscles if source == "file" else "fit"
    result = run("compare", path, "--joint", "LeftForeArm", "--rotate", "bend:120", "--muscles", given)
    assert result.exit_code == 0, result.output
    local = np.tile(np.eye(3), (len(woman.skeleton), 1, 1))
    joint = woman.skeleton.index("LeftForeArm")
    local[joint] = sbs.rotations.matrices_from_axis_angle(axes(woman.skeleton, joint)[0], 120, degrees=True)
    matrices = woman.skinning_matrices(local)
    linear, covered = woman.skin.deform(matrices, method="linear"), np.array(woman.skin.deform(matrices))
    bare = covered.copy()
    cover.apply(covered, matrices)
    size = np.linalg.norm(np.ptp(linear, axis=0))
    for heading, positions in (("spherical (SBS)", bare), ("SBS with muscles", covered)):
        distances = np.linalg.norm(positions - linear, axis=1) / size
        assert apart(result.output, heading)[:2] == [f"{distances.mean():.3%}", f"{distances.max():.3%}"]
    assert apart(result.output, "spherical (SBS)") != apart(result.output, "SBS with muscles")


def test_quality(bent: Bent) -> None:
    path, _, woman, cover = bent
    some = ("--animation", "bend", "--frames", 2, "--rate", 4, "--methods", "LBS,SBS", "--json")
    result = run("quality", path, *some, "--muscles", "fit")
    assert result.exit_code == 0, result.output
    measured = json.loads(result.stdout)["motions"][0]["methods"]
    assert list(measured) == ["LBS", "SBS", "muscles"]
    matrices = woman.animations[0].skinning_matrices([0.0, 1.0])
    covered = np.array(woman.skin.deform_many(matrices))
    cover.apply(covered, matrices)
    volumes = [Gauge(woman).measure(*pose)["volume"]["largest"] for pose in zip(matrices, covered, strict=True)]
    # Six digits are written.
    assert measured["muscles"]["volume"]["largest"] == pytest.approx(max(volumes), abs=2e-6)
    assert measured["muscles"]["volume"] != measured["SBS"]["volume"]
    assert "muscles" not in json.loads(run("quality", path, *some).stdout)["motions"][0]["methods"]


COMMANDS: dict[str, Callable[[Path], tuple[object, ...]]] = {
    "deform": lambda folder: ("-o", folder / "pose.npy"),
    "compare": lambda _: ("--joint", 2, "--rotate", "x:10"),
    "quality": lambda _: ("--poses",),
    "view": lambda _: ("--no-browser",),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_wrong_is_told(bent: Bent, tmp_path: Path, command: str) -> None:
    path, muscles, woman, _ = bent

    def refused(source: object, character: object = path) -> str:
        result = run(command, character, "--muscles", source, *COMMANDS[command](tmp_path))
        assert result.exit_code == 2, result.output
        assert "--muscles" in result.output
        return " ".join(result.output.replace("│", " ").split())

    damaged = tmp_path / "muscles.json"
    damaged.write_text(muscles.read_text().replace("LeftForeArm", "Elbow"))
    assert "muscle 'biceps left': no joint is named 'Elbow'" in refused(damaged)
    damaged.write_text("{}")
    assert "muscles.json" in refused(damaged)
    assert "does not exist" in refused(tmp_path / "none.json")
    assert "no joint is known as" in refused("fit", HAND)
    shaped = replace(woman.mesh, shapes=(sbs.BlendShape("fat", np.array([0], np.int32), np.ones((1, 3), np.float32)),))
    sbs.Character(woman.name, shaped, woman.skeleton, woman.rig, woman.animations).save(tmp_path / "shaped.glb")
    assert "the mesh has blend shapes, which move it away from muscles" in refused("fit", tmp_path / "shaped.glb")
    assert not (tmp_path / "pose.npy").exists()


def test_a_cluster_deforms_without_them(bent: Bent, tmp_path: Path) -> None:
    path, muscles, *_ = bent
    farm = ("--animation", "bend", "--fps", 4, "--scheduler", "tcp://farm:8786")
    result = run("deform", path, *farm, "--muscles", muscles, "-o", tmp_path / "run.npy")
    assert result.exit_code == 2 and "--scheduler deforms without --muscles" in result.output
    assert not (tmp_path / "run.npy").exists()


def test_view_shows_three_at_most(bent: Bent) -> None:
    path, *_ = bent
    methods = ("--method", "LBS", "--method", "SBS", "--method", "DQS")
    result = run("view", path, *methods, "--muscles", "fit", "--no-browser")
    assert result.exit_code == 2
    words = " ".join(result.output.replace("│", " ").split())
    assert "up to three different ones are shown, with that of --muscles" in words


def test_beside_blend_shapes_they_are_refused(bent: Bent, tmp_path: Path) -> None:
    _, _, woman, cover = bent
    offsets = np.ones((1, 3), np.float32)
    shape = sbs.BlendShape("fat", np.array([0], np.int32), offsets)
    shapes = sbs.ShapeMotion(woman.mesh.positions, (shape,))
    with pytest.raises(ValueError, match="muscles are bound to the mesh at rest, which blend shapes change"):
        sbs.formats.bake(tmp_path / "run.npy", woman.skin, woman.animations[0], range(2), shapes=shapes, muscles=cover)
