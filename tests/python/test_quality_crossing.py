# SPDX-License-Identifier: MIT
"""Triangles that cross, by hand and against all pairs in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from measured import close
from numpy.typing import NDArray
from solids import grid

import sbs
from sbs import _core
from sbs.quality import Gauge


def gauge_of(points: NDArray[np.float64], triangles: NDArray[np.int32]) -> Gauge:
    """Of a mesh that follows one joint."""
    mesh = sbs.Mesh(points, triangles, np.zeros((len(points), 1), np.int32), np.ones((len(points), 1)))
    return Gauge(sbs.Character.from_mesh(mesh, sbs.Skeleton([-1], np.eye(4)[None])))


def two_sheets(apart: float) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """A sheet of 8 by 4 squares' lengths in the plane z = 0, and the same above it."""
    points, triangles = grid(8)
    return np.concatenate([points, points + np.array([0, 0, apart])]), np.concatenate(
        [triangles, triangles + len(points)]
    )


def all_pairs(points: NDArray[np.float64], triangles: NDArray[np.int32]) -> NDArray[np.bool_]:
    """By the signs of volumes: a side crosses a triangle if its ends are on both sides and it passes within."""
    corners = points[triangles]
    starts, ends = corners, np.roll(corners, -1, axis=1)

    def side_of(*corners: NDArray[np.float64]) -> NDArray[np.float64]:
        a, b, c, d = corners
        return np.asarray(np.sign(np.einsum("...i,...i->...", a - d, np.cross(b - d, c - d))))

    one, two = starts[:, None, :], ends[:, None, :]
    a, b, c = (corners[None, :, None, corner] for corner in range(3))
    sides = [side_of(one, two, *pair) for pair in ((a, b), (b, c), (c, a))]
    within = (sides[0] == sides[1]) & (sides[1] == sides[2])
    pierced = np.any((side_of(a, b, c, one) != side_of(a, b, c, two)) & within, axis=2)
    shared = np.any(triangles[:, None, :, None] == triangles[None, :, None, :], axis=(2, 3))
    crossing = (pierced | pierced.T) & ~shared
    return np.asarray(crossing.any(axis=1))


@pytest.mark.parametrize("count", [2, 40, 300])
def test_crossing_triangles_are_those_of_all_pairs(count: int) -> None:
    random = np.random.default_rng(count)
    points = (random.uniform(0, 1, (count, 1, 3)) + random.uniform(-0.15, 0.15, (count, 3, 3))).reshape(-1, 3)
    triangles = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
    triangles[1::2, 0] = triangles[::2, 0]  # pairs share a vertex
    expected = all_pairs(points, triangles)
    np.testing.assert_array_equal(_core.triangles_crossing(points, triangles), expected)
    if count > 2:
        assert 0 < expected.sum() < count


def test_vertices_with_one_representative_are_one() -> None:
    points = np.array([[0, 0, 0], [4, 0, 0], [0, 3, 0], [0, 0, 0], [1, 1, -1], [1, 1, 1.0]])
    triangles = [[0, 1, 2], [3, 4, 5]]
    assert _core.triangles_crossing(points, triangles).all()
    assert not _core.triangles_crossing(points, triangles, representatives=_core.weld(points)).any()
    with pytest.raises(ValueError, match="representatives"):
        _core.triangles_crossing(points, triangles, representatives=[0, 1])


def test_a_sheet_that_is_pushed_through_another_crosses_where_it_passes() -> None:
    """The upper sheet is turned about its middle line: there one column of squares of each crosses the other."""
    points, triangles = two_sheets(0.5)
    gauge = gauge_of(points, triangles)
    count = len(points) // 2
    turned = points.copy()
    turned[count:, 2] = points[count:, 0] - 4.4
    crossing = gauge.crossing(turned)
    middle = points[triangles].mean(axis=1)[:, 0]
    assert set(np.unique(np.floor(middle[crossing]))) == {4.0}
    close(
        gauge.measure(np.eye(4)[None], turned)["crossing"],
        triangles=crossing.sum(),
        area=gauge.surface.areas[crossing].sum() / gauge.surface.areas.sum(),
    )
    assert not gauge.crossing(points).any()


def test_what_crosses_at_rest_does_not_count() -> None:
    points, triangles = two_sheets(0.5)
    points[len(points) // 2 :, 2] = points[len(points) // 2 :, 0] - 4.4
    gauge = gauge_of(points, triangles)
    close(gauge.measure(np.eye(4)[None], points * [1, 1, 2])["crossing"], triangles=0, area=0)
