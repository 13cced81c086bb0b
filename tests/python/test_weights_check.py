# SPDX-License-Identifier: MIT
"""Checks and statistics, defect by defect."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from surfaces import moved, together, torn, tube

import sbs
from sbs import weights

GOOD = np.array([[0, 1], [1, 0], [2, 0]]), np.array([[0.5, 0.5], [1.0, 0.0], [1.0, 0.0]])


def test_nothing_wrong() -> None:
    found = weights.check(*GOOD, 3, max_influences=2)
    assert found.ok
    assert found.defects() == {}
    assert str(found) == "nothing wrong"
    np.testing.assert_array_equal(weights.check(*GOOD, 3, max_influences=1).too_many, [0])


@pytest.mark.parametrize(
    ("name", "index", "weight"),
    [
        ("nan", [0, 1], [np.nan, 1.0]),
        ("infinite", [0, 1], [np.inf, 1.0]),
        ("infinite", [0, 1], [1.0, -np.inf]),
        ("negative", [0, 1], [1.0, -0.1]),
        ("bad_joints", [0, 3], [1.0, 0.0]),
        ("bad_joints", [-1, 0], [0.0, 1.0]),
        ("duplicates", [1, 1], [0.5, 0.5]),
        ("off_sum", [0, 1], [0.5, 0.4]),
        ("off_sum", [0, 1], [1.0, 0.002]),
        ("unweighted", [0, 0], [0.0, 0.0]),
    ],
)
def test_one_defect_on_one_vertex(name: str, index: list[int], weight: list[float]) -> None:
    indices, values = (array.copy() for array in GOOD)
    indices[1], values[1] = index, weight
    found = weights.check(indices, values, 3)
    np.testing.assert_array_equal(getattr(found, name), [1])
    assert not found.ok
    assert f"{name.replace('_', ' ')}: 1" in str(found)
    others = {"negative"} if np.isinf(weight).any() and min(weight) < 0 else set()
    assert set(found.defects()) == {name} | others


def test_a_joint_listed_twice_is_fine_where_one_weight_is_zero() -> None:
    assert weights.check([[1, 1, 0, 0]], [[1.0, 0.0, 0.0, 0.0]], 2).ok


def test_joints_without_weight_are_told_and_are_no_defect() -> None:
    found = weights.check(*GOOD, 5)
    np.testing.assert_array_equal(found.joints_without_weight, [3, 4])
    assert found.ok


def test_islands_without_weight() -> None:
    body, hat = tube(), tube(rings=3, length=1.0)
    positions, triangles = together(body, (moved(hat[0], 0, 3, 0), hat[1]))
    values = np.ones((len(positions), 1))
    values[len(body[0]) :] = 0
    values[5] = 0
    found = weights.check(np.zeros_like(values, int), values, 1, positions=positions, triangles=triangles)
    (island,) = found.unweighted_islands
    np.testing.assert_array_equal(island, np.arange(len(body[0]), len(positions)))
    np.testing.assert_array_equal(found.unweighted, [5, *island])


def test_islands_are_welded() -> None:
    positions, triangles = torn(*tube())
    values = np.ones((len(positions), 1))
    values[:3] = 0
    found = weights.check(np.zeros_like(values, int), values, 1, positions=positions, triangles=triangles)
    assert found.unweighted_islands == ()
    apart = weights.check(np.zeros_like(values, int), values, 1, triangles=triangles)
    np.testing.assert_array_equal(apart.unweighted_islands[0], [0, 1, 2])


def test_unequal_seams() -> None:
    positions = [[0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]]
    indices = [[0, 1], [0, 1], [1, 0], [0, 1], [0, 2]]
    values = [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75], [0.4, 0.6], [0.75, 0.25]]
    found = weights.check(indices, values, 3, positions=positions)
    np.testing.assert_array_equal(found.unequal_seams, [0, 1, 3, 4])  # 0 and 2 say the same in another order
    rounded = np.add(values[:3], [[1e-6, -1e-6], [0.0, 0.0], [0.0, 0.0]])
    assert weights.check(indices[:3], rounded, 3, positions=positions[:3]).ok


def test_the_check_finds_what_the_skin_repairs() -> None:
    indices = [[0, 1], [0, 0], [0, 1], [0, 1]]
    values = [[np.nan, 1.0], [0.5, 0.5], [0.0, 0.0], [0.5, 0.4]]
    found = weights.check(indices, values, 2)
    with pytest.warns(sbs.WeightWarning):
        report = sbs.Skin(np.zeros((4, 3)), indices, values).weight_report
    assert len(found.nan) == report.nan == 1
    assert len(found.duplicates) == report.duplicate == 1
    assert len(found.unweighted) == report.unweighted == 1
    assert len(found.off_sum) == report.off_sum == 1


def test_statistics_by_hand() -> None:
    found = weights.statistics(*GOOD, 4)
    np.testing.assert_array_equal(found.vertices_by_influences, [0, 2, 1])
    assert found.max_influences == 2
    assert found.mean_influences == pytest.approx(4 / 3)
    np.testing.assert_array_equal(found.vertices_by_joint, [1, 2, 1, 0])
    np.testing.assert_allclose(found.weight_by_joint, [0.5, 1.5, 1.0, 0.0])
    assert (found.smallest, found.largest) == (0.5, 1.0)


def test_no_vertices() -> None:
    nothing = np.empty((0, 2), int), np.empty((0, 2))
    assert weights.check(*nothing, 3, triangles=np.empty((0, 3), int)).ok
    assert weights.statistics(*nothing, 3).max_influences == 0
    assert np.isnan(weights.statistics(*nothing, 3).largest)


@pytest.mark.parametrize("function", [weights.check, weights.statistics])
def test_bad_input(function: Callable[..., object]) -> None:
    for indices, values, message in (
        ([[0, 0]], [[1.0]], "joint_weights"),
        ([[0.0]], [[1.0]], "joint_indices"),
        ([[0]], [["one"]], "joint_weights"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            function(indices, values, 1)
    with pytest.raises(ValueError, match=r"joint_indices\[0, 0\] = 2"):
        weights.statistics([[2]], [[1.0]], 2)
    with pytest.raises(ValueError, match="positions"):
        weights.check(*GOOD, 3, positions=[[0, 0, 0]])
