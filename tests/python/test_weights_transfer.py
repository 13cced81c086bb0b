# SPDX-License-Identifier: MIT
"""Transfer to another mesh: by hand, against a search over all triangles, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from sbs import weights

SQUARE = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [2, 2, 0]], float)
FACES = np.array([[0, 1, 2], [1, 3, 2]])
INDICES = np.array([[0, 1], [1, 0], [2, 0], [1, 2]])
WEIGHTS = np.array([[0.5, 0.5], [1, 0], [1, 0], [0.5, 0.5]])


def dense(result: weights.Influences | weights.Transfer, joint_count: int = 3) -> np.ndarray:
    return weights.to_dense(result[0], result[1], joint_count)


def test_by_hand() -> None:
    points = np.array([[0, 0, 5], [1, 0, 1], [0.5, 0.5, -2], [3, 0, 0], [1, 1, 0]])
    result = weights.transfer(SQUARE, FACES, INDICES, WEIGHTS, points)
    expected = [
        [0.5, 0.5, 0.0],  # above a corner
        [0.25, 0.75, 0.0],  # above the middle of an edge
        [0.25, 0.5, 0.25],  # above (1/2, 1/4, 1/4) of the first triangle
        [0.0, 1.0, 0.0],  # beside a corner
        [0.0, 0.5, 0.5],  # on the diagonal
    ]
    np.testing.assert_allclose(dense(result), expected, atol=1e-15)
    np.testing.assert_allclose(result.distances, [5, 1, 2, 1, 0], atol=1e-15)
    assert len(result.unmatched) == 0


def test_far_points_get_nothing() -> None:
    result = weights.transfer(SQUARE, FACES, INDICES, WEIGHTS, [[0.0, 0.0, 1.0], [0.0, 0.0, 1.5]], max_distance=1.0)
    np.testing.assert_array_equal(result.unmatched, [1])
    np.testing.assert_array_equal(result.joint_weights.sum(axis=1), [1, 0])


@pytest.mark.parametrize(("scale", "shift"), [(100.0, 0.0), (0.01, 0.0), (1.0, 20.0)])
def test_other_units_and_places_are_told(scale: float, shift: float) -> None:
    sphere = trimesh.creation.icosphere(subdivisions=2)
    count = len(sphere.vertices)
    given = np.zeros((count, 1), int), np.ones((count, 1))
    points = np.add(sphere.vertices, [0.0, 0.0, shift]) * scale
    with pytest.warns(UserWarning, match="units"):
        weights.transfer(sphere.vertices, sphere.faces, *given, points)
    weights.transfer(sphere.vertices, sphere.faces, *given, points, max_distance=0.1)


def test_a_small_thing_near_the_surface_is_not_told() -> None:
    sphere = trimesh.creation.icosphere(subdivisions=2)
    count = len(sphere.vertices)
    given = np.zeros((count, 1), int), np.ones((count, 1))
    button = 0.02 * np.asarray(sphere.vertices) + [0.0, 0.0, 1.01]
    weights.transfer(sphere.vertices, sphere.faces, *given, button)
    weights.transfer(sphere.vertices, sphere.faces, *given, 1.2 * np.asarray(sphere.vertices))


def test_limit() -> None:
    result = weights.transfer(SQUARE, FACES, INDICES, WEIGHTS, [[0.5, 0.5, 0]], limit=2)
    assert result.joint_indices.shape == (1, 2)
    np.testing.assert_allclose(result.joint_weights, [[2 / 3, 1 / 3]])


def test_corners_without_weight_leave_it_to_the_others() -> None:
    bare = WEIGHTS.copy()
    bare[[0, 1]] = 0
    result = weights.transfer(SQUARE, FACES, INDICES, bare, [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(dense(result), [[0, 0, 1], [0, 0, 0]])


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_nearest_points_agree_with_trimesh(seed: int) -> None:
    rng = np.random.default_rng(seed)
    positions, triangles = rng.normal(size=(12, 3)), rng.integers(0, 12, (20, 3))
    points = 2 * rng.normal(size=(30, 3))
    values = weights.normalize(*weights.from_dense(rng.random((12, 3))))
    result = weights.transfer(positions, triangles, *values, points, max_distance=100.0)
    proper = [t for t in triangles if len(set(t)) == 3]
    if not proper:
        return
    nearest = np.min(
        [
            np.linalg.norm(trimesh.triangles.closest_point(np.tile(positions[t], (30, 1, 1)), points) - points, axis=1)
            for t in proper
        ],
        axis=0,
    )
    assert (result.distances <= nearest + 1e-12).all()
    np.testing.assert_allclose(dense(result).sum(axis=1), 1, rtol=1e-14)
    again = weights.transfer(positions, triangles, *values, np.concatenate([points, points[::-1]]), max_distance=100.0)
    np.testing.assert_array_equal(dense(again)[30:], dense(again)[:30][::-1])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"triangles": np.empty((0, 3), int)}, ValueError, "triangles must not be empty"),
        ({"triangles": [[0, 1, 4]]}, ValueError, r"triangles\[0, 2\] = 4 is out of range for 4 vertices"),
        ({"points": [[0, 0, np.nan]]}, ValueError, r"points\[0, 2\] is nan"),
        ({"points": [[0, 0]]}, ValueError, r"points has shape \(1, 2\)"),
        ({"positions": SQUARE[:3], "triangles": [[0, 1, 2]]}, ValueError, r"positions has shape \(3, 3\)"),
        ({"max_distance": -1}, ValueError, "max_distance must be None or at least 0"),
        ({"max_distance": np.nan}, ValueError, "max_distance must be None or at least 0"),
        ({"limit": 0}, ValueError, "limit|count"),
    ],
)
def test_bad_input(change: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments: dict[str, Any] = {
        "positions": SQUARE,
        "triangles": FACES,
        "joint_indices": INDICES,
        "joint_weights": WEIGHTS,
        "points": [[0.0, 0.0, 0.0]],
    }
    with pytest.raises(error, match=message):
        weights.transfer(**(arguments | change))
