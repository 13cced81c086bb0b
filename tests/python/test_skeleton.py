# SPDX-License-Identifier: MIT
"""Forward kinematics by hand and by a walk over the joints, and trees of every kind.

Tolerances: coordinates are of size 1 to 10 and go through up to 12 products of 4 by 4 matrices; 1e-12 is a hundred
times their rounding.
"""

import copy
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from meshes import skinning_matrices

import sbs
from sbs import rotations

TOLERANCE = 1e-12


def translations(vectors: Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
    matrices = np.tile(np.eye(4), (len(vectors), 1, 1))
    matrices[:, :3, 3] = vectors
    return matrices


@st.composite
def trees(draw: st.DrawFn) -> np.ndarray:
    """Parents of up to 12 joints: any tree or trees, in any order."""
    count = draw(st.integers(1, 12))
    parents = np.array([-1] + [draw(st.integers(-1, joint - 1)) for joint in range(1, count)])
    new_number = np.array(draw(st.permutations(range(count))))
    shuffled = np.empty(count, dtype=int)
    shuffled[new_number] = np.where(parents < 0, -1, new_number[parents])
    return shuffled


def skeletons() -> st.SearchStrategy[sbs.Skeleton]:
    return trees().map(lambda parents: sbs.Skeleton(parents, skinning_matrices(len(parents), seed=7)))


def walk(skeleton: sbs.Skeleton, local: np.ndarray, joint: int) -> np.ndarray:
    """F(j), by the formula."""
    own = skeleton.local_bind_matrices[joint] @ local[joint]
    parent = skeleton.parents[joint]
    pose: np.ndarray = own if parent < 0 else walk(skeleton, local, parent) @ own
    return pose


# ------------------------------------------------------------------------------------------------------------ by hand


def test_arm_by_hand() -> None:
    """Shoulder at x = 0, elbow at 2, wrist at 3; the elbow turns by 90 degrees about z, the wrist by 90 about x."""
    arm = sbs.Skeleton(
        [-1, 0, 1], translations([[0, 0, 0], [2, 0, 0], [3, 0, 0]]), names=["shoulder", "elbow", "wrist"]
    )
    np.testing.assert_array_equal(arm.local_bind_matrices[:, :3, 3], [[0, 0, 0], [2, 0, 0], [1, 0, 0]])
    pose = arm.forward(rotations.matrices_from_euler([[0, 0, 0], [0, 0, 90], [90, 0, 0]], "XYZ", degrees=True))
    np.testing.assert_allclose(pose[:, :3, 3], [[0, 0, 0], [2, 0, 0], [2, 1, 0]], atol=TOLERANCE)
    # a finger tip at x = 4 and a thumb beside the wrist: x of the hand is y of the scene, its y is z, its z is x
    matrices = arm.skinning_matrices(pose)
    np.testing.assert_allclose(matrices[2] @ [4, 0, 0, 1], [2, 2, 0, 1], atol=TOLERANCE)
    np.testing.assert_allclose(matrices[2] @ [3, 1, 0, 1], [2, 1, 1, 1], atol=TOLERANCE)
    np.testing.assert_array_equal(arm.joint_positions, [[0, 0, 0], [2, 0, 0], [3, 0, 0]])
    assert arm.index("wrist") == 2


def test_scale_of_a_parent_reaches_its_children() -> None:
    arm = sbs.Skeleton([-1, 0], translations([[0, 0, 0], [2, 0, 0]]))
    local = np.tile(np.eye(4), (2, 1, 1))
    local[0, :3, :3] *= 3.0
    pose = arm.forward(local)
    np.testing.assert_allclose(pose[1, :3], [[3, 0, 0, 6], [0, 3, 0, 0], [0, 0, 3, 0]], atol=TOLERANCE)


# --------------------------------------------------------------------------------------------------------------- trees


@given(trees())
def test_order_roots_and_levels(parents: np.ndarray) -> None:
    skeleton = sbs.Skeleton(parents, skinning_matrices(len(parents)))
    assert sorted(skeleton.order) == list(range(len(parents)))
    seen = {-1}
    for joint in skeleton.order:
        assert skeleton.parents[joint] in seen
        seen.add(joint)
    assert skeleton.roots == tuple(np.flatnonzero(parents == -1))
    assert len(skeleton) == len(parents)
    assert skeleton.parents.dtype == np.int32


@given(skeletons(), st.integers(0, 2**32 - 1))
def test_forward_is_the_formula(skeleton: sbs.Skeleton, seed: int) -> None:
    local = skinning_matrices(3, len(skeleton), seed=seed)
    pose = skeleton.forward(local)
    assert pose.shape == local.shape
    for frame in range(3):
        expected = [walk(skeleton, local[frame], joint) for joint in range(len(skeleton))]
        np.testing.assert_allclose(pose[frame], expected, atol=TOLERANCE)
    np.testing.assert_array_equal(skeleton.forward(local[1]), pose[1])
    np.testing.assert_array_equal(pose[..., 3, :], np.broadcast_to([0.0, 0.0, 0.0, 1.0], (3, len(skeleton), 4)))


@given(skeletons())
def test_identity_is_the_bind_pose(skeleton: sbs.Skeleton) -> None:
    pose = skeleton.forward(np.tile(np.eye(3), (len(skeleton), 1, 1)))
    np.testing.assert_allclose(pose, skeleton.bind_matrices, atol=TOLERANCE)
    identity = np.broadcast_to(np.eye(4), pose.shape)
    np.testing.assert_allclose(skeleton.skinning_matrices(pose), identity, atol=TOLERANCE)
    np.testing.assert_allclose(skeleton.bind_matrices @ skeleton.inverse_bind_matrices, identity, atol=TOLERANCE)


@given(skeletons(), st.integers(0, 2**32 - 1))
def test_local_is_the_inverse_of_forward(skeleton: sbs.Skeleton, seed: int) -> None:
    local = skinning_matrices(2, len(skeleton), seed=seed)
    local[..., :3, :3] *= 1.5
    # scales of up to 1.5 ** 12 = 130 along a chain
    np.testing.assert_allclose(skeleton.local(skeleton.forward(local)), local, atol=200 * TOLERANCE)


def test_order_of_joints_does_not_matter() -> None:
    """A chain numbered from its tip deforms as the same chain numbered from its root."""
    bind, local = skinning_matrices(5, seed=3), skinning_matrices(5, seed=4)
    forwards = sbs.Skeleton([-1, 0, 1, 2, 3], bind).forward(local)
    backwards = sbs.Skeleton([1, 2, 3, 4, -1], bind[::-1]).forward(local[::-1])
    np.testing.assert_array_equal(backwards[::-1], forwards)


def test_long_chain() -> None:
    """As deep as any rig is, and deeper than Python recurses."""
    count = 2000
    skeleton = sbs.Skeleton(np.arange(-1, count - 1), translations(np.arange(count)[:, None] * [1.0, 0.0, 0.0]))
    pose = skeleton.forward(np.tile(np.eye(3), (count, 1, 1)))
    np.testing.assert_array_equal(pose, skeleton.bind_matrices)


def test_skin_of_a_skeleton() -> None:
    """A pose of the skeleton deforms the skin."""
    skeleton = sbs.Skeleton([-1, 0], translations([[0, 0, 0], [2, 0, 0]]))
    skin = sbs.Skin(
        [[1.0, 0.5, 0.0], [3.0, 0.5, 0.0]],
        [[0], [1]],
        [[1.0], [1.0]],
        parents=skeleton.parents,
        joint_positions=skeleton.joint_positions,
    )
    pose = skeleton.forward(rotations.matrices_from_axis_angle([0, 0, 1], [0, np.pi / 2]))
    positions = skin.deform(skeleton.skinning_matrices(pose))
    np.testing.assert_allclose(positions, [[1.0, 0.5, 0.0], [1.5, 1.0, 0.0]], atol=TOLERANCE)


# ------------------------------------------------------------------------------------------------------------- object


def test_immutable_repr_names_and_copies() -> None:
    given_matrices = skinning_matrices(2)
    skeleton = sbs.Skeleton([-1, -1], given_matrices)
    given_matrices[:] = 0.0
    assert np.all(skeleton.bind_matrices[:, 3, 3] == 1.0)
    assert repr(skeleton) == "<sbs.Skeleton 2 joints, 2 roots>"
    assert repr(sbs.Skeleton([-1], np.eye(4)[None])) == "<sbs.Skeleton 1 joint, 1 root>"
    assert skeleton.names == ("joint_0", "joint_1")
    with pytest.raises(KeyError, match="no joint is named 'elbow'"):
        skeleton.index("elbow")
    for again in (pickle.loads(pickle.dumps(skeleton)), copy.deepcopy(skeleton)):
        for name in (
            "parents",
            "bind_matrices",
            "inverse_bind_matrices",
            "local_bind_matrices",
            "joint_positions",
            "order",
        ):
            array = getattr(again, name)
            assert not array.flags.writeable
            assert array.tobytes() == getattr(skeleton, name).tobytes()
        assert again.names == skeleton.names


# ---------------------------------------------------------------------------------------------------------- bad input

BIND = skinning_matrices(3)


def with_entry(matrices: np.ndarray, index: tuple[int | slice, ...], value: float) -> np.ndarray:
    result = matrices.copy()
    result[index] = value
    return result


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], np.zeros((0, 4, 4))), r"parents.*\(0,\)"),
        (([[-1]], BIND[:1]), r"parents.*\(1, 1\)"),
        (([-1.0, 0.0, 1.0], BIND), "parents"),
        (([-1, 0, 3], BIND), r"parents\[2\] = 3"),
        (([-1, -2, 0], BIND), r"parents\[1\] = -2"),
        ((np.array([-1, 2**32, 0]), BIND), r"parents\[1\] = 4294967296"),
        (([-1, 1, 0], BIND), r"parents\[1\] = 1"),
        (([1, 2, 0], BIND), r"parents\[0\] = 1"),
        (([-1, 2, 1], BIND), r"parents\[1\] = 2"),
        (([-1, 0], BIND), r"bind_matrices.*\(3, 4, 4\)"),
        (([-1, 0, 1], BIND[0]), r"bind_matrices.*\(4, 4\)"),
        (([-1, 0, 1], BIND[:, :3]), r"bind_matrices.*\(3, 3, 4\)"),
        (([-1, 0, 1], with_entry(BIND, (2, 1, 3), np.nan)), r"bind_matrices\[2, 1, 3\] is nan"),
        (([-1, 0, 1], with_entry(BIND, (1, 3, 0), 1e-3)), r"bind_matrices\[1\]"),
        (([-1, 0, 1], with_entry(BIND, (1, slice(3), 2), 0.0)), r"bind_matrices\[1\].*'joint_1'"),
        (([-1, 0, 1], BIND, ["a", "b"]), "names"),
        (([-1, 0, 1], BIND, ["a", "b", "a"]), r"names\[2\] = 'a'"),
    ],
)
def test_bad_skeletons(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        sbs.Skeleton(*arguments)


def test_bad_poses() -> None:
    skeleton = sbs.Skeleton([-1, 0, 1], BIND, names=["a", "b", "c"])
    pose = np.tile(np.eye(4), (2, 3, 1, 1))
    for call, name in (
        (skeleton.forward, "local"),
        (skeleton.from_local, "local_matrices"),
        (skeleton.local, "pose"),
        (skeleton.skinning_matrices, "pose"),
    ):
        with pytest.raises(ValueError, match=rf"{name} has shape \(2, 2, 4, 4\), expected .*\(\.\.\., 3, 4, 4\)"):
            call(pose[:, :2])
        with pytest.raises(ValueError, match=rf"{name}\[1, 2, 0, 3\] is inf, where a finite number is needed"):
            call(with_entry(pose, (1, 2, 0, 3), np.inf))
        with pytest.raises(ValueError, match=rf"the last row of {name}\[1, 0\] must be \(0, 0, 0, 1\)"):
            call(with_entry(pose, (1, 0, 3, 1), 1.0))
    with pytest.raises(ValueError, match=r"pose\[1, 1\], of joint 'b', is singular and has children"):
        skeleton.local(with_entry(pose, (1, 1, 0, 0), 0.0))
    skeleton.local(with_entry(pose, (1, 2, 0, 0), 0.0))  # a joint without children may vanish
    with pytest.raises(ValueError, match=r"quaternions\[0, 1\] is zero or not finite"):
        skeleton.forward(quaternions=[[[1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]])
    with pytest.raises(TypeError, match="exactly one of local, quaternions and rotation_vectors"):
        skeleton.forward(pose, quaternions=np.ones((2, 3, 4)))
