# SPDX-License-Identifier: MIT
"""``--muscles`` of deform, compare, quality and view: poses and frames whose skin covers muscles."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from commands import refuse, succeed

import sbs
from sbs.poses import axes
from sbs.quality import Gauge
from sbs.rigging.animation import Animations

Bent = tuple[Path, Path, sbs.Character, sbs.muscles.MuscleCover]
HAND = str(resources.files("sbs.characters") / "data" / "hand.glb")


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


def test_poses_and_frames(bent: Bent, tmp_path: Path) -> None:
    """The muscles of a file are those that are placed without one: JSON keeps numbers to the last digit."""
    path, muscles, woman, cover = bent
    matrices = woman.animations[0].skinning_matrices(np.arange(3) / 2)
    bare = woman.skin.deform_many(matrices)
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


def test_each_mesh_covers_them_in_a_file_of_its_own(bent: Bent, tmp_path: Path) -> None:
    """Placed by the whole character, not by the mesh alone."""
    path, *_, woman, cover = bent
    succeed("deform", path, "--animation", "bend", "--time", 1, "--muscles", "fit", "-o", tmp_path / "{mesh}.npy")
    (name,) = tmp_path.iterdir()
    matrices = woman.animations[0].skinning_matrices(1)
    expected = np.array(woman.skin.deform(matrices))
    cover.apply(expected, matrices)
    np.testing.assert_array_equal(np.load(name), expected)


def apart(output: str, heading: str) -> list[str]:
    """The numbers of a method in the table of compare."""
    (line,) = [line for line in output.splitlines() if heading in line]
    return line.partition(heading)[2].split()


def test_compare(bent: Bent) -> None:
    """A bent elbow by LBS, SBS and SBS with muscles: the table has the distances that the library's arrays have."""
    path, muscles, woman, cover = bent
    output = succeed("compare", path, "--joint", "LeftForeArm", "--rotate", "bend:120", "--muscles", muscles)
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
        assert apart(output, heading)[:2] == [f"{distances.mean():.3%}", f"{distances.max():.3%}"]
    assert apart(output, "spherical (SBS)") != apart(output, "SBS with muscles")


def test_quality(bent: Bent) -> None:
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


def test_what_is_wrong_is_told(bent: Bent, tmp_path: Path) -> None:
    path, muscles, woman, cover = bent

    def refused(source: object, character: object = path) -> str:
        line = refuse("deform", character, "--muscles", source, "-o", tmp_path / "pose.npy")
        assert "--muscles" in line
        return line

    damaged = tmp_path / "muscles.json"
    damaged.write_text(muscles.read_text().replace("LeftForeArm", "Elbow"))
    assert "muscle 'biceps left': no joint is named 'Elbow'" in refused(damaged)
    damaged.write_text("{}")
    assert "muscles.json" in refused(damaged)
    shape = sbs.BlendShape("fat", np.array([0], np.int32), np.ones((1, 3), np.float32))
    mesh = replace(woman.mesh, shapes=(shape,))
    sbs.Character(woman.name, mesh, woman.skeleton, woman.rig, woman.animations).save(tmp_path / "shaped.glb")
    assert "blend shapes" in refused("fit", tmp_path / "shaped.glb")
    shapes = sbs.ShapeMotion(woman.mesh.positions, (shape,))
    with pytest.raises(ValueError, match="blend shapes"):
        sbs.formats.bake(tmp_path / "run.npy", woman.skin, woman.animations[0], range(2), shapes=shapes, muscles=cover)
