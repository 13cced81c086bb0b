# SPDX-License-Identifier: MIT
"""What shaders need of skins and poses. That their arithmetic finds the same is told by the C tests and by shaders."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from solids import turned

import sbs


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return sbs.samples.load("hand")


def test_influences_are_those_of_the_skin(hand: sbs.Character) -> None:
    bound, wanted = hand.skin.bound_influences(), hand.skin.influences()
    assert bound.joint_indices.dtype == np.int32
    assert bound.joint_weights.dtype == np.float32
    assert bound.joint_indices.shape == (hand.skin.vertex_count, hand.skin.max_influences)
    assert bound.lost == 0.0
    there = bound.joint_weights > 0.0
    np.testing.assert_array_equal(bound.joint_indices[there], wanted.joint_indices[:, : there.shape[1]][there])
    # Blocks leave out one weight of each vertex and have it in the skin's type: an ulp of float32.
    np.testing.assert_allclose(bound.joint_weights, wanted.joint_weights[:, : there.shape[1]], atol=1.2e-7)


def test_fewer_influences(hand: sbs.Character) -> None:
    all_of_them, two = hand.skin.bound_influences(), hand.skin.bound_influences(2)
    assert two.joint_weights.shape[1] == 2
    np.testing.assert_allclose(two.joint_weights.sum(axis=1), 1.0, atol=1.2e-7)
    assert two.lost == pytest.approx(all_of_them.joint_weights[:, 2:].sum(axis=1).max(), abs=3e-7)
    assert two.lost > 0.0
    with pytest.raises(ValueError, match="width"):
        hand.skin.bound_influences(0)


def test_palette_of_poses(hand: sbs.Character) -> None:
    """Matrices as given, quaternions that turn as they do, and centers of the skin: all rounded to float32."""
    matrices = hand.animations[0].skinning_matrices(np.linspace(0.0, 1.0, 7))
    palette = hand.skin.pose_palette(matrices, centers=True)
    assert palette.joints.dtype == np.float32
    np.testing.assert_allclose(palette.joints[:, :, :3], matrices[:, :, :3], atol=1e-6)
    linear = hand.skin.pose_palette(matrices, method="linear")
    np.testing.assert_array_equal(linear.joints[:, :, :3], matrices[:, :, :3].astype(np.float32))
    x, y, z, w = np.moveaxis(palette.joints[:, :, 3].astype(float), -1, 0)
    found = sbs.rotations.matrices_from_quaternions(np.stack([w, x, y, z], axis=-1))
    np.testing.assert_allclose(found, matrices[:, :, :3, :3], atol=1e-6)  # float32 matrices are rotations to that
    assert palette.centers is not None
    for frame, pose in enumerate(matrices):
        wanted = hand.skin.rotation_centers(pose)
        np.testing.assert_array_equal(palette.centers[frame, :, :3], wanted.astype(np.float32))
    assert palette.scaled_joints == palette.stretched_joints == 0
    assert hand.skin.pose_palette(matrices).centers is None
    assert hand.skin.pose_palette(matrices[:0]).joints.shape == (0, len(hand.skeleton), 4, 4)


def test_frames_of_a_twist_follow_the_joints() -> None:
    woman = sbs.samples.load("woman")
    twist = sbs.limb_twist(woman)
    assert twist is not None
    skin = woman.twisted_skin(twist)
    matrices = np.stack(
        [turned(woman, woman.skeleton.names[twist.joints[0]], [1.0, 0.0, 0.0], angle) for angle in (60.0, 150.0)]
    )
    angles = twist.angles(matrices, follow=True)
    palette = skin.pose_palette(matrices, method="linear", twists=angles)
    wanted = np.stack([twist.pose(pose, twists) for pose, twists in zip(matrices, angles, strict=True)])
    np.testing.assert_array_equal(palette.joints[:, :, :3], wanted[..., :3, :].astype(np.float32))
    assert skin.bound_influences().joint_indices.max() >= len(woman.skeleton)


def test_rounding_of_matrices_is_no_scale(hand: sbs.Character) -> None:
    """Spherical blending takes the nearest rotation, here the identity, linear blending the given matrix."""
    matrices = np.tile(np.eye(4), (1, len(hand.skeleton), 1, 1))
    matrices[..., :3, :3] *= 1 + 2e-6
    for method, kept in (("spherical", 0.0), ("linear", 2e-6)):
        joints = hand.skin.pose_palette(matrices, method=method).joints  # type: ignore[arg-type] # of a table
        np.testing.assert_allclose(np.diagonal(joints[0, :, :3, :3], axis1=1, axis2=2), 1.0 + kept, atol=1e-7)


def test_joints_that_are_not_rigid_are_counted(hand: sbs.Character) -> None:
    matrices = np.tile(np.eye(4), (3, len(hand.skeleton), 1, 1))
    matrices[0, 2, :3, :3] *= 1.5
    matrices[2, 4, 0, 0] = 0.5
    palette = hand.skin.pose_palette(matrices)
    assert (palette.scaled_joints, palette.stretched_joints) == (1, 1)
    assert np.linalg.norm(palette.joints[0, 2, 3]) == pytest.approx(1.5**0.5)


def test_options_that_would_be_ignored(hand: sbs.Character) -> None:
    matrices = np.tile(np.eye(4), (1, len(hand.skeleton), 1, 1))
    with pytest.raises(ValueError, match="without centers=True"):
        hand.skin.pose_palette(matrices, damping=1e-4)
    with pytest.raises(ValueError, match="centers has no effect"):
        hand.skin.pose_palette(matrices, method="linear", centers=True)
    with pytest.raises(ValueError, match="for no shader"):
        hand.skin.pose_palette(matrices, method="DQS")
    with pytest.raises(ValueError, match="twists has no effect"):
        hand.skin.pose_palette(matrices, twists=np.zeros((1, 0, 2)))
    with pytest.raises(ValueError, match=r"\(F, J, 4, 4\)"):
        hand.skin.pose_palette(matrices[0])


def test_the_palette_of_the_manual(hand: sbs.Character) -> None:
    """An engine makes it from matrices alone; quaternions have either sign."""
    manual = (Path(__file__).parents[2] / "docs" / "deformer.md").read_text()
    lines: dict[str, Any] = {"np": np}
    exec(re.findall(r"```python\n(def palette.*?)```", manual, re.DOTALL)[0], lines)
    inverse_binds = np.linalg.inv(hand.skeleton.bind_matrices)
    scaled = np.diag([2.0, 2.0, 2.0, 1.0])
    for matrices in (
        *hand.animations[0].skinning_matrices([0.0, 0.4, 0.8]),
        scaled @ hand.animations[0].skinning_matrices(0.4),
    ):
        found = lines["palette"](matrices @ hand.skeleton.bind_matrices, inverse_binds)
        wanted = hand.skin.pose_palette(matrices[None]).joints[0].reshape(-1, 16)
        signs = np.sign((found[:, 12:] * wanted[:, 12:]).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(found[:, :12], wanted[:, :12], atol=1e-6)
        np.testing.assert_allclose(signs * found[:, 12:], wanted[:, 12:], atol=1e-6)
