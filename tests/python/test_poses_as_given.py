# SPDX-License-Identifier: MIT
"""Poses as people have them, and joints and animations by their names."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sbs
from sbs import rotations, weights
from sbs.rigging.animation import Animation, Animations

RNG = np.random.default_rng(5)
VECTORS = RNG.normal(size=(2, 24, 3))


def chain(count: int) -> sbs.Skeleton:
    bind = np.tile(np.eye(4), (count, 1, 1))
    bind[:, 0, 3] = np.arange(count)
    return sbs.Skeleton(np.arange(count) - 1, bind)


def test_rotation_vectors_turn_about_themselves() -> None:
    """A quarter turn about y takes z to x."""
    matrix = rotations.matrices_from_rotation_vectors([0, np.pi / 2, 0])
    np.testing.assert_allclose(matrix @ [0, 0, 1], [1, 0, 0], atol=1e-15)
    degrees = rotations.matrices_from_rotation_vectors([0, 90, 0], degrees=True)
    np.testing.assert_array_equal(degrees, matrix)
    with pytest.raises(ValueError, match=r"vectors\[1, 2\] is inf"):
        rotations.matrices_from_rotation_vectors([[0.0, 0, 0], [0.0, 0, np.inf]])
    with pytest.raises(ValueError, match=r"vectors.*\(2,\)"):
        rotations.matrices_from_rotation_vectors([0, 1])


def test_rotation_vectors_are_axes_by_angles() -> None:
    angles = np.linalg.norm(VECTORS, axis=-1)
    expected = rotations.matrices_from_axis_angle(VECTORS, angles)
    np.testing.assert_allclose(rotations.matrices_from_rotation_vectors(VECTORS), expected, atol=1e-15)
    back = rotations.rotation_vectors_from_matrices(expected)
    np.testing.assert_allclose(back, VECTORS * (1 - (angles > np.pi) * 2 * np.pi / angles)[..., None], atol=1e-14)


@pytest.mark.parametrize("size", [0.0, 1e-200, 1e-160, 1e-9, 1e-5])
def test_small_rotation_vectors(size: float) -> None:
    """A vector of zeros is the rest pose; near it R = 1 + [v], to the first order."""
    matrix = rotations.matrices_from_rotation_vectors([size, 0, 0])
    np.testing.assert_allclose(matrix, np.array([[1, 0, 0], [0, 1, -size], [0, size, 1]]), rtol=1e-15, atol=size**2)
    np.testing.assert_allclose(rotations.rotation_vectors_from_matrices(matrix), [size, 0, 0], rtol=1e-15, atol=0)


def test_half_turns_come_back_as_half_turns() -> None:
    for vector in np.pi * np.eye(3):
        matrix = rotations.matrices_from_rotation_vectors(vector)
        np.testing.assert_allclose(np.abs(rotations.rotation_vectors_from_matrices(matrix)), vector, atol=1e-15)


def test_forward_takes_poses_as_they_come() -> None:
    """SMPL has (24, 3), with zeros where a joint is at rest."""
    skeleton = chain(24)
    vectors = VECTORS.copy()
    vectors[:, 5] = 0
    matrices = rotations.matrices_from_rotation_vectors(vectors)
    expected = skeleton.forward(matrices)
    quaternions = rotations.quaternions_from_matrices(matrices)
    for pose in (vectors, quaternions):
        np.testing.assert_allclose(skeleton.forward(pose), expected, atol=1e-12)
        np.testing.assert_allclose(skeleton.forward(pose[1]), expected[1], atol=1e-12)
    np.testing.assert_array_equal(skeleton.forward(rotation_vectors=vectors), skeleton.forward(vectors))
    np.testing.assert_array_equal(skeleton.forward(quaternions=quaternions), skeleton.forward(quaternions))
    np.testing.assert_array_equal(skeleton.forward(np.zeros((24, 3))), skeleton.bind_matrices)
    character = sbs.Character.from_mesh(
        sbs.Mesh(np.eye(3), np.array([[0, 1, 2]], np.int32), np.zeros((3, 1), np.int32), np.ones((3, 1))), skeleton
    )
    for given in ({"local": vectors}, {"rotation_vectors": vectors}):
        np.testing.assert_array_equal(
            character.skinning_matrices(**given), skeleton.skinning_matrices(skeleton.forward(vectors))
        )


def test_a_pose_of_as_many_joints_as_columns() -> None:
    """Last axes (J, 3, 3) and (J, 4, 4) are matrices, whatever J is; keywords say it otherwise."""
    three, four = chain(3), chain(4)
    vectors, quaternions = RNG.normal(size=(3, 3)), RNG.normal(size=(4, 4))
    np.testing.assert_array_equal(three.forward(vectors), three.forward(rotation_vectors=vectors))
    np.testing.assert_array_equal(four.forward(quaternions), four.forward(quaternions=quaternions))
    turned = rotations.matrices_from_rotation_vectors(vectors)
    np.testing.assert_array_equal(three.forward(turned), three.forward(rotation_vectors=vectors))
    frames = RNG.normal(size=(3, 3, 3))
    one_by_one = np.stack([three.forward(frame) for frame in frames])
    np.testing.assert_array_equal(three.forward(rotation_vectors=frames), one_by_one)


@pytest.mark.parametrize("shape", [(24,), (72,), (23, 3), (24, 2), (2, 24, 5), (24, 4, 3), (0,)])
def test_forward_says_what_it_takes(shape: tuple[int, ...]) -> None:
    with pytest.raises(
        ValueError,
        match=r"\(\.\.\., 24, 3\) rotation vectors, \(\.\.\., 24, 4\) quaternions.*24, 3, 3\) or \(\.\.\., 24, 4, 4\)",
    ):
        chain(24).forward(np.zeros(shape))


def animations(*names: str) -> Animations:
    rig = sbs.Character.from_mesh(
        sbs.Mesh(np.eye(3), np.array([[0, 1, 2]], np.int32), np.zeros((3, 1), np.int32), np.ones((3, 1))), chain(1)
    ).rig
    return Animations(Animation(name, (), rig) for name in names)


def is_in(name: object, clips: Animations) -> bool:
    """Of a str, type checkers would say that animations are none."""
    return name in clips


def test_animations_by_name() -> None:
    clips = animations("Armature|TRex_Run", "Armature|TRex_Walk", "Run", "Armature|Overrun")
    assert clips["Armature|TRex_Run"] is clips[0]
    assert clips["TRex_Walk"] is clips["Walk"] is clips[1]
    assert clips["Run"] is clips[2]  # the very name before those that end in it
    assert clips["TRex_Run"] is clips[0]
    assert clips[-1] is clips["Overrun"]
    assert clips[:2] == (clips[0], clips[1])
    assert is_in("Walk", clips)
    assert clips[2] in clips
    assert not is_in("run", clips)
    assert pickle.loads(pickle.dumps(clips)).names == clips.names
    with pytest.raises(KeyError, match=r"no animation is named 'Jump'; there are: Armature\|TRex_Run, "):
        clips["Jump"]
    with pytest.raises(KeyError, match="did you mean 'Run'"):
        clips["run"]


def test_animations_that_end_alike() -> None:
    clips = animations("A|Run", "B|Run")
    with pytest.raises(KeyError, match=r"'Run' may be any of: A\|Run, B\|Run"):
        clips["Run"]
    assert not is_in("Run", clips)


INDICES, WEIGHTS = [[0, 1, 2], [2, 1, 0]], [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]
NAMES = ["hip", "knee", "ankle"]
SQUARE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
FACES = np.array([[0, 1, 2], [1, 3, 2]])


def same(first: tuple[NDArray[np.generic], ...], second: tuple[NDArray[np.generic], ...]) -> None:
    for ours, theirs in zip(first, second, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_locked_joints_by_name() -> None:
    for tool in (weights.normalize, weights.prune):
        same(tool(INDICES, WEIGHTS, locked=["ankle", "hip"], names=NAMES), tool(INDICES, WEIGHTS, locked=[0, 2]))
    both: list[Any] = ["ankle", 1]
    same(
        weights.limit(INDICES, WEIGHTS, 2, locked=both, names=NAMES),
        weights.limit(INDICES, WEIGHTS, 2, locked=[1, 2]),
    )
    points, faces = np.eye(3)[:2], np.empty((0, 3), np.int32)
    same(
        weights.smooth(points, faces, INDICES, WEIGHTS, locked=["hip"], names=NAMES),
        weights.smooth(points, faces, INDICES, WEIGHTS, locked=[0]),
    )


@pytest.mark.parametrize(
    ("locked", "names", "error", "message"),
    [
        (["knee"], None, ValueError, "locked has names, so names= is needed"),
        (["Knee"], NAMES, KeyError, "no joint is named 'Knee'; did you mean 'knee'"),
        ("knee", NAMES, TypeError, "locked must be several joints, not 'knee'"),
        (["knee", 3], NAMES, ValueError, "joint 3 is out of range for 3 joints"),
    ],
)
def test_names_that_say_nothing(
    locked: list[str], names: list[str] | None, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        weights.normalize(INDICES, WEIGHTS, locked=locked, names=names)


def test_heat_by_names() -> None:
    heads, tails = np.array([[0.0, 0, 1], [1, 0, 1], [9, 9, 9]]), np.array([[0.0, 1, 1], [1, 1, 1], [9, 9, 9]])
    by_name = weights.heat_weights(SQUARE, FACES, heads, tails, joints=["knee", "hip"], names=NAMES)
    same(by_name[:2], weights.heat_weights(SQUARE, FACES, heads, tails, joints=[0, 1])[:2])


def test_a_brush_that_knows_names() -> None:
    by_name, by_number = (
        weights.Brush(SQUARE, FACES, [[0, 2]] * 4, [[0.5, 0.5]] * 4, **options)
        for options in ({"names": NAMES}, {"joint_count": 3})
    )
    assert by_name.joint_count == 3
    same(
        by_name.stroke([[0, 0, 0]], "knee", radius=3, strength=0.5, locked=["ankle"]).new,
        by_number.stroke([[0, 0, 0]], 1, radius=3, strength=0.5, locked=[2]).new,
    )
    same(by_name.dab([0, 0, 0], "hip", radius=3).new, by_number.dab([0, 0, 0], 0, radius=3).new)
    with pytest.raises(KeyError, match="no joint is named 'toe'"):
        by_name.dab([0, 0, 0], "toe", radius=1)
    with pytest.raises(ValueError, match="joint has names, so names= is needed"):
        by_number.dab([0, 0, 0], "knee", radius=1)
    with pytest.raises(ValueError, match="joint_count is 4, names has 3"):
        weights.Brush(SQUARE, FACES, [[0]] * 4, [[1]] * 4, joint_count=4, names=NAMES)


def test_joints_of_a_skeleton() -> None:
    with pytest.raises(KeyError, match="no joint is named 'joint_9'"):
        chain(3).index("joint_9")
    assert chain(3).indices(["joint_2", 0]) == [2, 0]
    with pytest.raises(TypeError, match="joints must be several joints, not 'joint_1'"):
        chain(3).indices("joint_1")
