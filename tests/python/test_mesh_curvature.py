# SPDX-License-Identifier: MIT
"""Curvature: angles known beforehand, an independent way to them, and triangles without any."""

from __future__ import annotations

import numpy as np
import pytest
from surfaces import torn, tube

from sbs.mesh import curvature, subdivide


def slow_curvature(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Of a closed surface, triangle by triangle, neighbors found by comparing all corners."""
    corners = [[tuple(point) for point in positions[triangle]] for triangle in triangles]
    result = np.zeros(len(triangles))
    for i, mine in enumerate(corners):
        for j, theirs in enumerate(corners):
            if i != j and len(set(mine) & set(theirs)) == 2:
                normals = [np.cross(np.subtract(b, a), np.subtract(c, a)) for a, b, c in (mine, theirs)]
                cosine = normals[0] @ normals[1] / np.prod(np.linalg.norm(normals, axis=1))
                result[i] = max(result[i], np.arccos(np.clip(cosine, -1, 1)))
    return result


@pytest.mark.parametrize("seams", [False, True])
def test_of_a_dented_tube(seams: bool) -> None:
    positions, triangles = tube(5, 6)
    dented = positions + 0.1 * np.random.default_rng(1).normal(size=positions.shape)
    expected = slow_curvature(dented, triangles)
    if seams:
        positions = positions[triangles.ravel()]
        dented, triangles = torn(dented, triangles)
    found = curvature(dented, triangles, rest_positions=positions)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)  # arccos loses digits of small angles
    np.testing.assert_array_equal(curvature(np.stack([positions, dented]), triangles)[1], found)


def test_of_a_cube() -> None:
    positions = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    squares = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = np.array([[a, b, c] for a, b, c, d in squares] + [[a, c, d] for a, b, c, d in squares])
    np.testing.assert_allclose(curvature(positions, triangles), np.pi / 2, rtol=1e-15)
    fine = subdivide(positions, triangles, np.ones(12, bool), levels=2)
    angles = np.degrees(curvature(fine.interpolate(positions), fine.triangles))
    assert set(angles.round(9)) == {0.0, 90.0}


def test_unmoved_seams_tell_neighbors_of_a_torn_surface() -> None:
    """Neighbors are found at rest: where deformation tears a seam apart, they still are."""
    positions, triangles = torn(
        np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), np.array([[0, 1, 2], [1, 3, 2]])
    )
    apart = positions.copy()
    apart[3:] = apart[3:] @ np.diag([1.0, 1.0, -1.0]) + [0, 0, 5]
    apart[4, 2] = 9
    assert curvature(apart, triangles).max() == 0
    assert (curvature(apart, triangles, rest_positions=positions) > 1).all()


def test_what_has_no_area_has_no_curvature() -> None:
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [2, 2, 1], [9, 9, 9]])
    triangles = np.array([[0, 1, 2], [1, 3, 2], [1, 4, 3]])  # the second has its corners on a line
    np.testing.assert_array_equal(curvature(positions, triangles), 0)


def test_bad_input() -> None:
    square = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    with pytest.raises(ValueError, match=r"positions has shape \(3,\), expected \(V, 3\) or \(F, V, 3\)"):
        curvature([1, 2, 3], [[0, 1, 2]])
    with pytest.raises(ValueError, match=r"positions has shape \(0, 3, 3\)"):
        curvature(np.empty((0, 3, 3)), [[0, 1, 2]])
    with pytest.raises(ValueError, match=r"triangles\[0, 2\] = 3 is out of range for 3 vertices"):
        curvature(square, [[0, 1, 3]])
    with pytest.raises(ValueError, match=r"positions has shape \(3, 3\), representatives \(2,\)"):
        curvature(square, [[0, 1, 2]], rest_positions=square[:2])
    with pytest.raises(ValueError, match=r"positions\[0, 0\] is inf"):
        curvature(square + np.inf, [[0, 1, 2]], rest_positions=square)
