# SPDX-License-Identifier: MIT
"""Capsules that fit a mesh: by hand, on real characters, and on input that can't be used."""

from __future__ import annotations

from typing import Any

import characters
import numpy as np
import pytest
from numpy.typing import ArrayLike

import sbs
from sbs import weights


def make_skeleton(positions: list[list[float]], parents: list[int]) -> sbs.Skeleton:
    bind = np.tile(np.eye(4), (len(positions), 1, 1))
    bind[:, :3, 3] = positions
    return sbs.Skeleton(parents, bind)


def tube(x: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Rings of 16 points about the x axis, (16 * len(x), 3)."""
    angles = np.tile(np.arange(16) * np.pi / 8, len(x))
    radii = np.repeat(radii, 16)
    return np.stack([np.repeat(x, 16), radii * np.cos(angles), radii * np.sin(angles)], axis=1)


# Bones along x from 0 to 1, to 2, and on to 3.
ARM = make_skeleton([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [-1, 0, 1])


def test_bones() -> None:
    capsules = weights.fit_capsules(ARM, tube(np.linspace(0, 3, 31), np.full(31, 0.1)))
    np.testing.assert_allclose(capsules.heads[:, 0], [0, 1, 2])
    np.testing.assert_allclose(capsules.tails[:, 0], [1, 2, 3])
    assert capsules.names == ARM.names
    assert capsules.enabled.all()


def test_radii_taper_with_the_mesh() -> None:
    """Radius 0.4 for x < 1.5, 0.2 from there on: both ends of bone 0 and the head of bone 1 are wide."""
    x = np.linspace(0, 3, 301)
    capsules = weights.fit_capsules(ARM, tube(x, np.where(x <= 1.5, 0.4, 0.2)), inner=0.5, outer=2.0)
    np.testing.assert_allclose(capsules.inner_radii, [[0.2, 0.2], [0.2, 0.1], [0.1, 0.1]], rtol=1e-12)
    np.testing.assert_allclose(capsules.outer_radii, [[0.8, 0.8], [0.8, 0.4], [0.4, 0.4]], rtol=1e-12)


def test_percentile() -> None:
    """Of 101 vertices over each place, at 0.00, 0.01, ... 1.00, the percentile p is at p / 100."""
    y = np.tile(np.linspace(0, 1, 101), 20)
    x = np.repeat(np.linspace(0.1, 0.9, 20), 101)
    points = np.stack([x, y, 0 * x], axis=1)
    for percentile in (0, 30, 100):
        capsules = weights.fit_capsules(ARM, points, percentile=percentile, inner=1, outer=1)
        np.testing.assert_allclose(capsules.outer_radii[0], percentile / 100, atol=1e-12)


def test_few_vertices_at_an_end_leave_it_to_the_whole_bone() -> None:
    """Two stray vertices near the tail of the last bone, half as far away as the 160 at its head."""
    points = np.concatenate([tube(np.linspace(2, 2.4, 10), np.full(10, 0.2)), [[2.9, 0.1, 0], [2.9, 0, 0.1]]])
    capsules = weights.fit_capsules(ARM, points, inner=1, outer=1)
    np.testing.assert_allclose(capsules.outer_radii[2], [0.2, 0.2], rtol=1e-12)


def test_joints_without_vertices_are_off() -> None:
    capsules = weights.fit_capsules(ARM, tube(np.linspace(0, 0.9, 10), np.full(10, 0.1)))
    np.testing.assert_array_equal(capsules.enabled, [True, False, False])
    np.testing.assert_allclose(capsules.outer_radii, np.full((3, 2), 0.15), rtol=1e-12)


def test_joints_that_shall_have_no_weight() -> None:
    points = tube(np.linspace(0, 3, 31), np.full(31, 0.1))
    capsules = weights.fit_capsules(ARM, points, enabled=[True, False, True])
    np.testing.assert_array_equal(capsules.enabled, [True, False, True])
    assert not (weights.capsule_weights(points, capsules, dense=True)[:, 1] > 0).any()


def test_a_lone_joint_gets_a_sphere() -> None:
    lone = make_skeleton([[1, 2, 3]], [-1])
    corners = np.array([[x, y, z] for x in (0, 2) for y in (1, 3) for z in (2, 4)])
    capsules = weights.fit_capsules(lone, corners, inner=1, outer=1)
    np.testing.assert_array_equal(capsules.tails, capsules.heads)
    np.testing.assert_allclose(capsules.outer_radii, np.sqrt([[3, 3]]), rtol=1e-15)


def test_moves_and_scales_with_the_character() -> None:
    rotation = sbs.rotations.matrices_from_euler([10, 20, 30], "XYZ", degrees=True)
    points = tube(np.linspace(0.003, 2.99, 100), 0.3 + 0.1 * np.sin(np.arange(100)))  # no vertex is at half of a bone
    moved = make_skeleton((100 * ARM.joint_positions @ rotation.T + 7).tolist(), [-1, 0, 1])
    before, after = weights.fit_capsules(ARM, points), weights.fit_capsules(moved, 100 * points @ rotation.T + 7)
    # Distances carry a few eps of coordinates of 300; radii are at least 10.
    np.testing.assert_allclose(after.outer_radii, 100 * before.outer_radii, rtol=1e-13)


@pytest.mark.parametrize("name", characters.NAMES)
def test_real_characters(name: str) -> None:
    """A first click gives something usable: next to no vertex is outside, and all move much as the artist had them."""
    character = characters.load(name)
    joint_count = len(character.parents)
    bind = np.tile(np.eye(4), (joint_count, 1, 1))
    bind[:, :3] = character.bind_matrices
    moving = np.isin(np.arange(joint_count), character.joint_indices[character.joint_weights > 0])
    points = character.rest_positions
    capsules = weights.fit_capsules(sbs.Skeleton(character.parents, bind), points, enabled=moving)
    assert capsules.count_outside(points) < 0.02 * len(points)

    clip, frame = next(character.poses())
    by_artist, by_capsules = (
        sbs.Skin(points, *influences, joint_count=joint_count).deform(character.clips[clip].skinning_matrices(frame))
        for influences in (
            weights.normalize(character.joint_indices, character.joint_weights),
            weights.capsule_weights(points, capsules, limit=4),
        )
    )
    size = np.linalg.norm(np.ptp(points, axis=0))
    assert np.linalg.norm(by_capsules - by_artist, axis=1).mean() < 0.02 * size


@pytest.mark.parametrize(
    ("points", "options", "error", "message"),
    [
        (np.zeros((0, 3)), {}, ValueError, "points is empty"),
        (np.zeros((4, 2)), {}, ValueError, r"points has shape \(4, 2\), expected \(V, 3\)"),
        ([[0, 0, np.nan]], {}, ValueError, r"points\[0, 2\] is nan"),
        (np.zeros((4, 3), "U1"), {}, TypeError, "points must hold real numbers"),
        (np.zeros((4, 3)), {"percentile": 101}, ValueError, "percentile must be between 0 and 100, not 101"),
        (np.zeros((4, 3)), {"inner": 2, "outer": 1}, ValueError, "inner and outer must be finite, .* not 2 and 1"),
        (np.zeros((4, 3)), {"outer": np.inf}, ValueError, "inner and outer must be finite"),
        (np.zeros((4, 3)), {"enabled": [True]}, ValueError, r"heads has shape \(3, 3\), enabled \(1,\)"),
        (np.zeros((4, 3)), {"enabled": [False] * 3}, ValueError, "no capsule is enabled"),
        (np.zeros((4, 3)), {"enabled": [1, 1, 1]}, TypeError, "enabled must hold bool"),
    ],
)
def test_bad_input(points: ArrayLike, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        weights.fit_capsules(ARM, points, **options)
