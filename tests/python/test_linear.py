# SPDX-License-Identifier: MIT
"""Characters for engines that know linear blending alone: fitted weights and helper joints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from gltf_reference import Scene

import sbs
from sbs.cli import main
from sbs.poses import axes, turned
from sbs.rigging.animation import Animation, Animations
from sbs.weights.linear import LinearCharacter, _given_back, _Measured, to_linear


@pytest.fixture(scope="module")
def woman() -> sbs.Character:
    """Her left forearm turns by 250 degrees in two seconds; the right elbow bends meanwhile."""
    character = sbs.samples.load("woman")
    skeleton = character.skeleton
    right = skeleton.index("RightForeArm")
    local = []
    for share in np.linspace(0.0, 1.0, 6):
        pose = turned(skeleton, "LeftForeArm", axes(skeleton, skeleton.index("LeftForeArm"))[1], 250.0 * share)
        pose[right] = turned(skeleton, right, axes(skeleton, right)[0], 100.0 * share)[right]
        local.append(pose)
    motion = Animation.from_skinning_matrices(
        "turn", np.linspace(0.0, 2.0, 6), character.skinning_matrices(np.stack(local)), character.rig
    )
    return replace(character, animations=Animations((motion,)), source=None)


@pytest.fixture(scope="module")
def made(woman: sbs.Character) -> LinearCharacter:
    return to_linear(woman, rate=10)


def test_within_three_thousandths_of_the_size(woman: sbs.Character, made: LinearCharacter) -> None:
    """Two helpers for each limb, of frames that were fitted, of frames between them, and of made poses."""
    assert len(made.character.skeleton) == len(woman.skeleton) + 16
    assert made.character.skin.max_influences <= 4
    assert [(error.name, error.fitted) for error in made.errors] == [
        ("turn", True),
        ("turn", False),
        ("made poses", True),
    ]
    for error in made.errors:
        assert error.mean < 0.003
        assert error.mean < 0.5 * error.before


@pytest.mark.parametrize("time", [0.0, 0.55, 1.3, 2.0])
def test_an_engine_sees_what_was_fitted(
    time: float, woman: sbs.Character, made: LinearCharacter, tmp_path: Path
) -> None:
    """By the specification of glTF alone: keys, nodes, linear blending; the twist goes beyond half a turn."""
    made.character.save(tmp_path / "engine.glb")
    scene = Scene(tmp_path / "engine.glb")
    seen = np.array(scene.deform(scene.animation("turn"), time))
    twist = sbs.limb_twist(woman)
    assert twist is not None
    frames = woman.animations[0].skinning_matrices(np.append(np.arange(0, time, 0.1), time))
    shown = woman.twisted_skin(twist).deform(
        frames[-1], center="weighted", twists=twist.angles(frames, follow=True)[-1]
    )
    size = float(np.linalg.norm(np.ptp(np.asarray(woman.mesh.positions), axis=0)))
    assert np.sqrt(np.square(seen - shown).sum(axis=1).mean()) < 0.003 * size
    # float32 in the file, of positions and matrices
    matrices = made.character.animations[0].skinning_matrices(time)
    np.testing.assert_allclose(seen, made.character.skin.deform(matrices, method="linear"), atol=2e-6 * size)


def test_no_clip_is_farther_off_than_it_was() -> None:
    """Also one in which fingers bend by a fifth of what they do in the other."""
    hand = sbs.samples.load("hand")
    fist = hand.animations[0]
    times = np.linspace(0, fist.duration, 7)
    quiet = fist.skinning_matrices(0.2 * times)
    clips = Animations((fist, Animation.from_skinning_matrices("quiet", times, quiet, hand.rig)))
    made = to_linear(replace(hand, animations=clips, source=None), 8)
    assert [error.name for error in made.errors] == ["fist", "fist", "quiet", "quiet", "made poses"]
    for error in made.errors:
        assert error.mean <= max(error.before, 1e-5) * (1 + 1e-6)
    assert made.errors[0].mean < 0.75 * made.errors[0].before
    # The table is that of the character, in which some vertices have their own weights again.
    matrices = made.character.animations[1].skinning_matrices(times)
    seen = hand.twisted_skin(sbs.limb_twist(hand)).deform_many(quiet, center="weighted")
    size = float(np.linalg.norm(np.ptp(np.asarray(hand.mesh.positions), axis=0)))
    before, after = (
        np.sqrt(np.square(skin.deform_many(given, method="linear") - seen.astype(float)).sum(axis=2).mean()) / size
        for skin, given in ((hand.skin, quiet), (made.character.skin, matrices))
    )
    assert after <= max(before, 1e-5) * 1.01


def test_vertices_that_get_their_weights_back() -> None:
    """Of five vertices, two at one place: the second clip, which may be off by 12, is off by 19, the first by less.

    Vertex 2 comes first: the second clip gains 4 by it, and the first loses 1. Vertices 3 and 4 together, 4 for 2, are
    next, and enough; vertex 1 would be 3 for 10.
    """
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [3, 0, 0]])

    def measured(before: list[float], after: list[float]) -> _Measured:
        sums = (np.array(before), np.array(after), np.array(before))
        return _Measured("clip", True, 2, *sums, sums[1], sums[2])

    first = measured([9, 11, 9, 9, 9], [1, 1, 8, 8, 8])
    second = measured([4, 2, 2, 2, 2], [0, 5, 6, 4, 4])
    assert _given_back([first, second], rest, 1e-9).tolist() == [False, False, True, True, True]
    error = second.error(np.array([False, False, True, True, True]), 2.0)
    assert error.mean == pytest.approx(np.sqrt((0 + 5 + 2 + 2 + 2) / 10) / 2)
    assert error.most == pytest.approx(np.sqrt(5) / 2)
    # In a mesh so large nobody sees it.
    assert not _given_back([first, second], rest, 1e6).any()


def test_helpers_are_children_and_given_joints_stay(woman: sbs.Character, made: LinearCharacter) -> None:
    count = len(woman.skeleton)
    skeleton = made.character.skeleton
    assert skeleton.names[:count] == woman.skeleton.names
    for name, parent in zip(skeleton.names[count:], skeleton.parents[count:], strict=True):
        assert name.startswith(f"{skeleton.names[parent]}_helper_")
        assert 0 <= parent < count
    times = [0.1, 1.9]
    np.testing.assert_allclose(
        made.character.animations[0].skinning_matrices(times)[:, :count],
        woman.animations[0].skinning_matrices(times),
        atol=1e-12,
    )
    apart = made.character.skin.deform(made.character.rest_matrices, method="linear") - woman.mesh.positions
    assert np.abs(apart).max() < 1e-4  # she is 17 tall; at rest all joints are where they are at bind


def test_no_helpers_and_another_method() -> None:
    """Weights alone; the method may be linear blending itself."""
    hand = sbs.samples.load("hand")
    same = to_linear(hand, 0, skin=hand.skin, method="linear")
    assert len(same.character.skeleton) == len(hand.skeleton)
    assert max(error.mean for error in same.errors) < 1e-6
    told: list[float] = []
    spherical = to_linear(hand, 3, skin=hand.skin, influences=3, progress=told.append)
    assert spherical.character.skin.max_influences <= 3
    assert told == sorted(told)
    assert told[-1] == 1
    assert spherical.errors[-1].mean < 0.6 * spherical.errors[-1].before


def test_bad_arguments(woman: sbs.Character) -> None:
    hand = sbs.samples.load("hand")
    with pytest.raises(ValueError, match="joints is -1"):
        to_linear(hand, -1)
    with pytest.raises(ValueError, match="rate is 0"):
        to_linear(hand, rate=0)
    with pytest.raises(ValueError, match="skin has 1360 vertices and 25 joints, the character 13380 and 31"):
        to_linear(woman, skin=hand.skin)


def test_the_command(tmp_path: Path) -> None:
    sbs.samples.copy(tmp_path)

    def run(*arguments: object) -> str:
        result = CliRunner().invoke(main, ["linear", str(tmp_path / "hand.glb"), *map(str, arguments)])
        assert "Traceback" not in result.output
        return f"{result.exit_code} {result.output}"

    output = run("--joints", 4, "-o", tmp_path / "engine.glb")
    assert output.startswith("0 ")
    assert "fist, held out" in output
    assert "4 helper joints, up to 4 influences" in output
    assert len(sbs.load(tmp_path / "engine.glb").skeleton) == 29
    assert "does not end in .glb" in run("-o", tmp_path / "engine.fbx")
    assert "no joint 'Tail'" in run("--twist", "Tail", "-o", tmp_path / "x.glb")
