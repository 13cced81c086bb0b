# SPDX-License-Identifier: MIT
"""What damping does to a pose, beside the centers that the equations alone would give.

Of two joints of weight 1/2, one turned by a small angle and moved across its axis by t, the singular value of the
equations is 2 sin(angle / 2), so that damping d moves the center by d / (angle^2 + d) of its distance from the mean of
the vertices, t / angle; and a vertex by 1 - cos(angle / 2), that is angle^2 / 8, of it. The product, angle t d /
(8 (angle^2 + d)), is largest at the angle sqrt(d): t sqrt(d) / 16.
"""

from __future__ import annotations

import numpy as np
import pytest

import sbs
from sbs import rotations

DAMPING = 1e-8
WORST = np.sqrt(DAMPING) / 16


def moved_by_damping(angle: float, damping: float) -> float:
    """How far damping moves a vertex, as a share of the translation between two joints."""
    skin = sbs.Skin([[0.0, 0.0, 0.0]], [[0, 1]], [[0.5, 0.5]])
    matrices = np.stack([np.eye(4)] * 2)
    matrices[1, :3, :3] = rotations.matrices_from_axis_angle([0, 0, 1], angle)
    matrices[1, :3, 3] = 1, 0, 0
    # |C_a c - C_b c| = 0: the point that the turn about it by the angle moves by t.
    center = np.linalg.solve(np.eye(2) - matrices[1, :2, :2], [1, 0])
    half = rotations.matrices_from_axis_angle([0, 0, 1], angle / 2)[:2, :2]
    expected = center - half @ center  # all matrices take the center where it is
    return float(np.linalg.norm(skin.deform(matrices, damping=damping)[0, :2] - expected))


def test_damping_is_felt_most_at_its_root() -> None:
    """The formula holds to the second order of the angle, and rounding of centers 1e4 away to 1e-12."""
    assert moved_by_damping(1e-4, DAMPING) == pytest.approx(WORST, rel=1e-6)
    for angle in np.geomspace(1e-6, 3, 40):
        assert moved_by_damping(float(angle), DAMPING) <= WORST * (1 + 1e-6)
    assert moved_by_damping(np.radians(1), DAMPING) < 1e-7
    assert pytest.approx(6.25e-6) == WORST  # what the documentation says


def test_rcond_takes_the_center_nearest_to_the_mean() -> None:
    """The paper takes that of the least norm, which depends on where the origin is."""
    rest = np.array([[3.0, 1, 5], [3.0, -1, 7]])
    skin = sbs.Skin(rest, [[0, 1]] * 2, [[0.5, 0.5]] * 2)
    matrices = np.stack([np.eye(4)] * 2)
    matrices[1, :3, :3] = rotations.matrices_from_axis_angle([0, 0, 1], 1.0)  # any point of the z axis is a center
    centers = skin.rotation_centers(matrices, rcond=1e-3)
    np.testing.assert_allclose(centers, [[0, 0, 6]], atol=1e-12)


@pytest.mark.parametrize("joints", [2, 3])
def test_every_center_on_the_line_gives_the_same(joints: int) -> None:
    """Rotations about one axis relative to each other leave a line of centers; docs/mathematics.md has the proof."""
    random = np.random.default_rng(joints)
    axis = random.normal(size=3)
    matrices = np.tile(np.eye(4), (joints, 1, 1))
    turns = rotations.matrices_from_axis_angle(axis, random.uniform(-1.5, 1.5, joints))
    matrices[:, :3, :3] = rotations.matrices_from_rotation_vectors(random.normal(size=3)) @ turns
    matrices[:, :3, 3] = random.normal(size=(joints, 3))
    centers = random.normal(size=3) + np.linspace(-10, 10, 9)[:, None] * axis
    influences = np.tile(np.arange(joints), (9, 1)), np.tile(random.dirichlet(np.ones(joints)), (9, 1))
    skin = sbs.Skin(np.tile(random.normal(size=3), (9, 1)), *influences, centers=centers)
    positions = skin.deform(matrices, center="optimized")
    np.testing.assert_allclose(positions, np.tile(positions[0], (9, 1)), atol=1e-12)


@pytest.mark.parametrize(("angle", "dropped"), [(0.9e-5, True), (1.1e-5, False)])
def test_rcond_has_a_cut_off_besides(angle: float, dropped: bool) -> None:
    """Singular values up to 1e-5 are dropped whatever rcond is, so that the center stays where the mean is."""
    skin = sbs.Skin([[0.0, 0.0, 0.0]], [[0, 1]], [[0.5, 0.5]])
    matrices = np.stack([np.eye(4)] * 2)
    matrices[1, :3, :3] = rotations.matrices_from_axis_angle([0, 0, 1], angle)
    matrices[1, 0, 3] = 1
    (center,) = skin.rotation_centers(matrices, rcond=1e-9)
    assert (np.linalg.norm(center) == 0) == dropped
