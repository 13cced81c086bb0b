# SPDX-License-Identifier: MIT
"""Twists spread by joints of a file, as an engine with linear blending alone sees them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gltf_reference import Scene

import sbs
from sbs.poses import axes, turned
from sbs.rigging.animation import Animation, Animations, Track
from sbs.samples import load as load_sample

FRAMES = 6


@pytest.fixture(scope="module")
def woman() -> sbs.Character:
    """Her left forearm turns by 250 degrees in two seconds, and her knee bends meanwhile."""
    character = load_sample("woman")
    skeleton = character.skeleton
    _, bone = axes(skeleton, skeleton.index("LeftForeArm"))
    local = []
    for share in np.linspace(0.0, 1.0, 6):
        pose = turned(skeleton, "LeftForeArm", bone, 250.0 * share)
        pose[skeleton.index("LeftLeg")] = turned(skeleton, "LeftLeg", (1, 0, 0), -90.0 * share)[
            skeleton.index("LeftLeg")
        ]
        local.append(pose)
    motion = Animation.from_skinning_matrices(
        "turn", np.linspace(0.0, 2.0, 6), character.skinning_matrices(np.stack(local)), character.rig
    )
    return sbs.Character(character.name, character.mesh, character.skeleton, character.rig, Animations((motion,)))


@pytest.mark.parametrize("time", [0.0, 0.4, 1.1, 2.0])
def test_an_engine_with_linear_blending_sees_the_twist_spread(
    time: float, woman: sbs.Character, tmp_path: Path
) -> None:
    twist = sbs.limb_twist(woman, frames=FRAMES)
    assert twist is not None
    path = tmp_path / "woman.glb"
    woman.with_twist_joints(twist).save(path)
    frames = woman.animations[0].skinning_matrices(np.append(np.arange(0, time, 0.1), time))
    twists = twist.angles(frames, follow=True)[-1]
    expected = woman.twisted_skin(twist).deform(frames[-1], method="linear", twists=twists)
    # Numbers of the file are float32: 1e-6 of the size of 1.7.
    scene = Scene(path)
    np.testing.assert_allclose(scene.deform(scene.animation("turn"), time), expected, atol=5e-6)


def test_a_forearm_keeps_its_radius_with_six_frames(woman: sbs.Character) -> None:
    """By linear blending a limb loses 1 - cos(x / 2) where two frames differ by x: 17 degrees are x / 2 here."""
    twist = sbs.limb_twist(woman, ["LeftForeArm"], frames=FRAMES)
    assert twist is not None
    made = woman.with_twist_joints(twist)
    matrices = made.animations[0].skinning_matrices(2.0 * 170 / 250)
    positions = np.asarray(made.skin.deform(matrices, method="linear"), float)
    joint = woman.skeleton.index("LeftForeArm")
    mesh = woman.mesh
    alone = np.any((mesh.joint_indices == joint) & (mesh.joint_weights > 0.999), axis=1)
    place = matrices[joint]

    def radii(points: np.ndarray, head: np.ndarray, tail: np.ndarray) -> np.ndarray:
        along = (tail - head) / np.linalg.norm(tail - head)
        offset = points - head
        return np.asarray(np.linalg.norm(offset - np.outer(offset @ along, along), axis=1))

    head, tail = (place[:3, :3] @ end[0] + place[:3, 3] for end in (twist.heads, twist.tails))
    kept = radii(positions[alone], head, tail) / radii(
        np.asarray(mesh.positions, float)[alone], *twist.heads, *twist.tails
    )
    assert alone.sum() > 50
    assert kept.min() == pytest.approx(np.cos(np.radians(17)), abs=1e-3)
    assert kept.max() <= 1 + 1e-5


def test_the_original_joints_stay_and_no_twist_is_spread_again(woman: sbs.Character) -> None:
    twist = sbs.limb_twist(woman)
    assert twist is not None
    made = woman.with_twist_joints(twist)
    count = len(woman.skeleton)
    assert made.skeleton.names[:count] == woman.skeleton.names
    assert len(made.skeleton) == count + twist.bone_count * twist.frames
    assert made.rig.names[: len(woman.rig.names)] == woman.rig.names
    assert sbs.limb_twist(made).bone_count == 0
    np.testing.assert_allclose(made.rest_matrices[:count], woman.rest_matrices, atol=1e-12)
    # At rest nothing twists but by the rounding of the file's float32, so that a frame is where its joint is.
    np.testing.assert_allclose(
        made.rest_matrices[count:], np.repeat(woman.rest_matrices[twist.joints], twist.frames, axis=0), atol=2e-7
    )


def test_tangents_shapes_and_their_weights_are_kept(woman: sbs.Character) -> None:
    count = len(woman.mesh.positions)
    smile = sbs.BlendShape("smile", np.array([3, 5], np.int32), np.ones((2, 3), np.float32))
    mesh = replace(woman.mesh, shapes=(smile,), tangents=np.tile([1.0, 0, 0, 1], (count, 1)))
    weights = Track("weights", "LINEAR", np.array([0]), np.array([0.0, 2.0]), np.array([[[0.0]], [[1.0]]]))
    motion = replace(woman.animations[0], shape_tracks=(weights,))
    character = replace(woman, mesh=mesh, animations=Animations((motion,)))
    twist = sbs.limb_twist(character)
    assert twist is not None
    made = character.with_twist_joints(twist)
    assert made.mesh.shapes == (smile,)
    np.testing.assert_array_equal(made.mesh.tangents, mesh.tangents)
    assert made.animations[0].shape_tracks == (weights,)


def test_names_of_frames_are_free(woman: sbs.Character) -> None:
    """A joint of the file may be called as a frame would be."""
    names = ["LeftForeArm_twist_0" if name == "Head" else name for name in woman.skeleton.names]
    skeleton = sbs.Skeleton(woman.skeleton.parents, woman.skeleton.bind_matrices, names)
    renamed = sbs.Character(woman.name, woman.mesh, skeleton, woman.rig)
    twist = sbs.limb_twist(renamed, ["LeftForeArm"], frames=2)
    assert twist is not None
    made = renamed.with_twist_joints(twist)
    assert made.skeleton.names[-2:] == ("LeftForeArm_twist_0_", "LeftForeArm_twist_1")


def test_bad_arguments_are_refused(woman: sbs.Character) -> None:
    twist = sbs.limb_twist(woman)
    assert twist is not None
    for rate in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="rate is"):
            woman.with_twist_joints(twist, rate=rate)
    hand = load_sample("hand")
    with pytest.raises(ValueError, match=r"twist is of \d+ joints, where there are \d+"):
        hand.with_twist_joints(twist)


def turning_hand(height: float) -> tuple[sbs.Character, sbs.Twist]:
    """A forearm whose joint is scaled across its bone; a clip turns the hand by a quarter."""
    bind = np.tile(np.eye(4), (3, 1, 1))
    bind[1:, 0, 3] = 1.0, 3.0
    bind[1, :3, :3] = np.diag([1.0, height, 1.0])
    skeleton = sbs.Skeleton([-1, 0, 1], bind)
    mesh = sbs.Mesh(np.eye(3), np.array([[0, 1, 2]], np.int32), np.full((3, 1), 1, np.int32), np.ones((3, 1)))
    bound = sbs.Character.from_mesh(mesh, skeleton)
    hand = Track("rotation", "LINEAR", bound.rig.joints[2:], np.zeros(1), np.array([[[1.0, 1.0, 0.0, 0.0]]]))
    turned_hand = Animation("turned hand", (hand,), bound.rig)
    character = sbs.Character("", mesh, skeleton, bound.rig, Animations((turned_hand,)))
    twist = sbs.Twist([1], [[1.0, 0, 0]], [[3.0, 0, 0]], parents=[0], joint_count=3, children=[2])
    return character, twist


@pytest.mark.parametrize("seconds", [1e5, 1e300])
def test_a_clip_of_days_is_refused(woman: sbs.Character, seconds: float) -> None:
    """A key a day costs a few bytes in a file, and gigabytes between."""
    (turn,) = woman.animations
    slow = replace(turn, tracks=tuple(replace(track, times=track.times * seconds) for track in turn.tracks))
    twist = sbs.limb_twist(woman)
    assert twist is not None
    with pytest.raises(ValueError, match="frames"):
        replace(woman, animations=Animations((slow,))).with_twist_joints(twist)


def test_uneven_scales_are_told() -> None:
    """A node below a joint that is 2 high and 1 wide would be sheared when it turns."""
    character, twist = turning_hand(2.0)
    with pytest.warns(UserWarning, match="'joint_1' has different scales along its axes at bind"):
        character.with_twist_joints(twist)


@pytest.mark.filterwarnings("error")
def test_scales_uneven_by_rounding_are_even() -> None:
    """By 1e-4, as files have them: clips move the mesh as with even scales, but for that share."""
    shown = []
    for height in (1.0, 1.0001):
        character, twist = turning_hand(height)
        made = character.with_twist_joints(twist)
        shown.append(made.skin.deform(made.animations[0].skinning_matrices(0.0), method="linear"))
    np.testing.assert_allclose(shown[1], shown[0], atol=3e-4)  # positions up to 3
