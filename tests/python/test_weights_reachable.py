# SPDX-License-Identifier: MIT
"""Where weights can take a vertex."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from meshes import skinning_matrices

import sbs
from sbs import weights
from sbs.options import Center, Method

POSITION = np.array([0.3, -1.0, 0.7])


def test_linear_blending_reaches_a_triangle() -> None:
    """The corners are where each joint takes the vertex, and all else lies between them."""
    matrices = skinning_matrices(3)
    patch = weights.reachable(POSITION, matrices, method="linear", steps=7)
    corners = matrices[:, :3, :3] @ POSITION + matrices[:, :3, 3]
    np.testing.assert_allclose(patch.points, patch.weights @ corners, atol=1e-14)
    areas = np.linalg.norm(np.cross(*np.diff(patch.points[patch.triangles], axis=1).transpose(1, 0, 2)), axis=1) / 2
    whole = np.linalg.norm(np.cross(*np.diff(corners, axis=0))) / 2
    np.testing.assert_allclose(areas, whole / 49, rtol=1e-10)  # 7 x 7 alike
    assert len(patch.triangles) == 49
    assert len(patch.points) == 36
    # a border: each of its points begins one edge and ends one
    assert sorted(patch.edges[:, 0]) == sorted(patch.edges[:, 1]) == sorted(set(patch.edges.ravel().tolist()))
    assert len(patch.edges) == 21


@pytest.mark.parametrize("center", ["weighted", "joint_set", "optimized"])
def test_every_point_is_what_a_skin_makes_of_its_weights(center: Center) -> None:
    matrices = skinning_matrices(3, seed=3)
    own = np.array([0.1, 0.2, -0.5]) if center == "optimized" else None
    patch = weights.reachable(POSITION, matrices, center=center, rotation_center=own, steps=4)
    for point, shares in zip(patch.points, patch.weights, strict=True):
        centers = None if own is None else own[None]
        skin = sbs.Skin(POSITION[None], [[0, 1, 2]], shares[None], centers=centers, joint_count=3)
        np.testing.assert_allclose(skin.deform(matrices, center=center)[0], point, atol=1e-12)


def test_two_joints_about_one_axis_reach_an_arc() -> None:
    turns = sbs.rotations.matrices_from_axis_angle([0, 0, 1], [0, 120], degrees=True)
    matrices = np.concatenate([turns, np.zeros((2, 3, 1))], axis=2)
    arc = weights.reachable([2.0, 0.0, 1.0], matrices, steps=16)
    # the damping of weighted centers, 1e-6, moves them by less than that share of the radius
    np.testing.assert_allclose(np.hypot(arc.points[:, 0], arc.points[:, 1]), 2, atol=2e-6)
    np.testing.assert_allclose(arc.points[:, 2], 1, atol=2e-6)
    assert arc.triangles.shape == (0, 3)
    assert arc.edges.tolist() == [[i, i + 1] for i in range(16)]


@pytest.mark.parametrize("method", ["spherical", "dual_quaternion"])
def test_a_patch_is_cut_where_signs_flip(method: Method) -> None:
    """By 130 degrees and again by 130: the first and the last quaternion are 130 degrees apart, the others 65."""
    turns = sbs.rotations.matrices_from_axis_angle([0.1, 0, 1], [0, 130, 260], degrees=True)
    matrices = np.concatenate([turns, np.zeros((3, 3, 1))], axis=2)
    place = [2.0, 0.0, 1.0]
    patch = weights.reachable(place, matrices, method=method, steps=24)
    assert 350 < len(patch.triangles) < 24 * 24 - 24
    assert sorted(patch.edges[:, 0]) == sorted(patch.edges[:, 1])
    # Whatever is drawn can be reached: points of a finer patch are as near as its pieces are long.
    finer = weights.reachable(place, matrices, method=method, steps=48).points
    middles = patch.points[patch.triangles].mean(axis=1)
    assert np.linalg.norm(middles[:, None] - finer, axis=2).min(axis=1).max() < 0.15
    # Without the cut neighbors are more than a radius apart.
    whole = weights.reachable(place, matrices, method="linear", steps=24).triangles
    longest = np.linalg.norm(np.diff(patch.points[whole], axis=1), axis=2).max()
    assert longest > 2 > 4 * np.linalg.norm(np.diff(patch.points[patch.triangles], axis=1), axis=2).max()


def test_fitting_finds_the_weights_of_a_reachable_point() -> None:
    matrices = skinning_matrices(3, seed=5)
    patch = weights.reachable(POSITION, matrices, steps=6)
    for point in patch.points:
        found = weights.fit(POSITION[None], point[None, None], matrices[None], influences=3)
        assert found.errors[0] <= 1e-4 * np.linalg.norm(POSITION)


def test_bad_input() -> None:
    matrices = skinning_matrices(3)
    cases: list[tuple[Any, Any, dict[str, Any], str]] = [
        (POSITION, matrices[:1], {}, "two or three joints"),
        (POSITION[None], matrices, {}, "position"),
        (POSITION, matrices, {"steps": 0}, "steps"),
        (POSITION, matrices, {"method": "LBS", "center": "joint_set"}, "center has no effect"),
        (POSITION, matrices, {"rotation_center": POSITION}, "rotation_center"),
        (POSITION, matrices, {"center": "optimized"}, "rotation_center"),
    ]
    for position, given, options, message in cases:
        with pytest.raises(ValueError, match=message):
            weights.reachable(position, given, **options)
