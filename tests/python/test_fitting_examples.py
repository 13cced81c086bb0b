# SPDX-License-Identifier: MIT
"""The simulation that examples for fitting are made by, and the poses: known answers."""

from __future__ import annotations

import numpy as np
import pytest

import sbs
from pages.fitting import random_poses
from pages.sleeves import Sleeves


@pytest.fixture(scope="module")
def woman() -> sbs.Character:
    return sbs.samples.load("woman")


@pytest.fixture(scope="module")
def limbs(woman: sbs.Character) -> np.ndarray:
    twist = sbs.limb_twist(woman)
    assert twist is not None
    return np.asarray(twist.joints)


def test_nothing_moves_at_rest(woman: sbs.Character, limbs: np.ndarray) -> None:
    """Springs have their lengths, and every vertex is as far from its bone as it should be."""
    posed = Sleeves(woman, limbs).pose(np.zeros((len(woman.skeleton), 3)))
    np.testing.assert_allclose(posed, woman.mesh.positions, atol=1e-5)  # she is 17 tall, in float32


def test_cloth_keeps_its_lengths_and_distances(woman: sbs.Character, limbs: np.ndarray) -> None:
    """A forearm twisted by 80 degrees: pinned vertices follow joints, springs stretch little, bones are covered."""
    sleeves = Sleeves(woman, limbs)
    pose = np.zeros((len(woman.skeleton), 3))
    forearm = woman.skeleton.index("LeftForeArm")
    bone = woman.skeleton.bind_matrices[forearm][:3, :3].T @ (sleeves.tails - sleeves.heads)[forearm]
    pose[forearm] = np.radians(80) * bone / np.linalg.norm(bone)
    posed = sleeves.pose(pose)
    matrices = woman.skinning_matrices(rotation_vectors=pose)
    rigid = woman.skin.deform(matrices, method="rigid")
    pinned = ~sleeves.free[sleeves.surface_vertex]
    np.testing.assert_allclose(posed[pinned], rigid[pinned], atol=1e-5)
    points = np.empty_like(sleeves.rest)
    points[sleeves.surface_vertex] = posed
    ends = (
        np.einsum("jxy,jy->jx", matrices[:, :3, :3], at) + matrices[:, :3, 3] for at in (sleeves.heads, sleeves.tails)
    )
    away = np.linalg.norm(points - sleeves._nearest(points, *ends), axis=1)
    assert (away >= sleeves.radii - 1e-9)[sleeves.covered & sleeves.free].all()
    along = points[sleeves.springs[:, 0]] - points[sleeves.springs[:, 1]]
    strain = np.linalg.norm(along, axis=1) / np.maximum(sleeves.lengths, 1e-9) - 1
    linear = woman.skin.deform(matrices, method="linear")[np.unique(sleeves.surface_vertex, return_index=True)[1]]
    before = np.linalg.norm(linear[sleeves.springs[:, 0]] - linear[sleeves.springs[:, 1]], axis=1)
    worst = np.quantile(np.abs(before / np.maximum(sleeves.lengths, 1e-9) - 1), 0.999)
    assert np.quantile(np.abs(strain), 0.999) < 0.5 * worst


def test_poses_come_from_the_seed_and_turn_limbs_and_their_ends(woman: sbs.Character, limbs: np.ndarray) -> None:
    poses = random_poses(woman, limbs, 5)
    np.testing.assert_array_equal(poses, random_poses(woman, limbs, 5))
    turned = np.flatnonzero(np.abs(poses).max(axis=(0, 2)))
    assert set(limbs.tolist()) < set(turned.tolist())
    assert {woman.skeleton.names[joint] for joint in turned} >= {"LeftHand", "RightFoot"}
