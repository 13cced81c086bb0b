# SPDX-License-Identifier: MIT
"""Normalize, limit, prune and smooth: by hand, by properties of any weights, and with input that is of no use."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from meshes import Precision

from sbs import weights
from sbs._core import adjacency, weld
from sbs.weights import Influences

JOINTS = 6

SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
SQUARE_TRIANGLES = np.array([[0, 1, 2], [1, 3, 2]])


@st.composite
def influences(draw: st.DrawFn, vertices: int | None = None, *, normalized: bool = False) -> Influences:
    """Weights of any size, with zeros and joints that repeat."""
    shape = (vertices or draw(st.integers(1, 6)), draw(st.integers(1, 5)))
    precisions: list[Precision] = [np.float32, np.float64]
    dtype = draw(st.sampled_from(precisions))
    width: Literal[32, 64] = 32 if dtype == np.float32 else 64
    weight = st.one_of(st.just(0.0), st.floats(0.0, 1.0, width=width), st.floats(0.0, 2.0**100, width=width))
    given_weights = draw(hnp.arrays(dtype, shape, elements=weight))
    indices = draw(hnp.arrays(np.int32, shape, elements=st.integers(0, JOINTS - 1)))
    return weights.normalize(indices, given_weights) if normalized else Influences(indices, given_weights)


locks = st.one_of(st.none(), st.lists(st.integers(0, JOINTS - 1), unique=True))


def dense(pair: Influences) -> np.ndarray:
    return weights.to_dense(*pair, JOINTS)


def assert_same_bits(a: Influences, b: Influences) -> None:
    for left, right in zip(a, b, strict=True):
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)


def assert_in_order(pair: Influences) -> None:
    """By decreasing weight, ties by joint; padded with zeros; no joint twice."""
    for joints, row in zip(*pair, strict=True):
        count = np.count_nonzero(row)
        assert not row[count:].any()
        assert not joints[count:].any()
        keys = list(zip(-row[:count], joints[:count], strict=True))
        assert keys == sorted(keys)
        assert len(set(joints[:count])) == count


def tolerance(pair: Influences) -> float:
    """What rounding may leave of a sum of so many weights."""
    return float(4 * pair.joint_weights.shape[1] * np.finfo(pair.joint_weights.dtype).eps)


# ------------------------------------------------------------------------------------------------------------ by hand


def assert_kept(after: np.ndarray, before: np.ndarray, pair: Influences) -> None:
    """Locked joints keep their weight; to the last bits where one is named several times, whose weights are added."""
    np.testing.assert_allclose(after, before, rtol=8 * float(np.finfo(pair.joint_weights.dtype).eps))


def test_normalize_by_hand() -> None:
    result = weights.normalize([[2, 0, 1], [3, 3, 0], [0, 0, 0]], [[0.5, 0.25, 1.25], [0.25, 0.25, 0.5], [0.0, 0, 0]])
    assert result.joint_indices.tolist() == [[1, 2, 0], [0, 3, 0], [0, 0, 0]]
    assert result.joint_weights.tolist() == [[0.625, 0.25, 0.125], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    assert result.joint_indices.dtype == np.int32


def test_normalize_keeps_locked_joints() -> None:
    indices, given_weights = [[0, 1, 2]] * 4, [[0.5, 0.5, 0.5], [1.0, 0.5, 0.5], [1.5, 0.5, 0.0], [0.5, 0.0, 0.0]]
    result = weights.to_dense(*weights.normalize(indices, given_weights, locked=[0]), 3)
    # half is left for two; nothing is left, as much, or more than that; and no joint is there to take the rest
    assert result.tolist() == [[0.5, 0.25, 0.25], [1.0, 0.0, 0.0], [1.5, 0.0, 0.0], [0.5, 0.0, 0.0]]
    masked = weights.normalize(indices, given_weights, locked=[True, False, False])
    np.testing.assert_array_equal(weights.to_dense(*masked, 3), result)


def test_limit_by_hand() -> None:
    indices, given_weights = [[0, 1, 2, 3]], [[0.25, 0.5, 0.125, 0.125]]
    two = weights.limit(indices, given_weights, 2)
    assert two.joint_indices.tolist() == [[1, 0]]
    np.testing.assert_allclose(two.joint_weights, [[2 / 3, 1 / 3]], rtol=4e-16)
    three = weights.limit(indices, given_weights, 3, normalize=False)  # of equal weights the lower joint stays
    assert three.joint_indices.tolist() == [[1, 0, 2]]
    assert three.joint_weights.tolist() == [[0.5, 0.25, 0.125]]
    assert weights.limit(indices, given_weights, 9).joint_weights.shape == (1, 4)
    locked = weights.limit(indices, given_weights, 2, locked=[3])
    assert locked.joint_indices.tolist() == [[1, 3]]
    assert locked.joint_weights.tolist() == [[0.875, 0.125]]
    all_locked = weights.limit(indices, given_weights, 2, locked=[0, 2, 3])
    assert all_locked.joint_indices.tolist() == [[0, 2, 3]]
    assert all_locked.joint_weights.tolist() == [[0.25, 0.125, 0.125]]


def test_prune_by_hand() -> None:
    indices, given_weights = [[0, 1, 2, 3]], [[1.0, 2.0, 0.5, 0.5]]
    shares = weights.prune(indices, given_weights, 0.2)  # of a sum of 4
    assert shares.joint_indices.tolist() == [[1, 0, 0, 0]]
    np.testing.assert_allclose(shares.joint_weights, [[2 / 3, 1 / 3, 0, 0]], rtol=4e-16)
    as_given = weights.prune(indices, given_weights, 0.6, normalize=False)
    assert as_given.joint_weights.tolist() == [[2.0, 1.0, 0.0, 0.0]]
    locked = weights.prune(indices, np.array(given_weights) / 4, 0.2, locked=[3])
    np.testing.assert_allclose(weights.to_dense(*locked, 4), [[0.875 / 3, 1.75 / 3, 0, 0.125]], rtol=4e-16)


def test_smooth_by_hand() -> None:
    # From a corner of joint 0, half the way to the mean: of {1, 1} there, of {0, 1, 1} beside it, of {1, 1} across.
    result = weights.smooth(SQUARE, SQUARE_TRIANGLES, [[0], [1], [1], [1]], np.ones((4, 1)), limit=2)
    expected = [[0.5, 0.5], [1 / 6, 5 / 6], [1 / 6, 5 / 6], [0.0, 1.0]]
    np.testing.assert_allclose(weights.to_dense(*result, 2), expected, rtol=4e-16)


def test_smooth_across_a_seam() -> None:
    """As if the two triangles were not cut apart, which they are along the diagonal."""
    positions, triangles = SQUARE[[0, 1, 2, 1, 3, 2]], [[0, 1, 2], [3, 4, 5]]
    joints = np.array([[0], [1], [1], [1]])
    whole = weights.smooth(SQUARE, SQUARE_TRIANGLES, joints, np.ones((4, 1)), limit=2, iterations=3)
    cut = weights.smooth(positions, triangles, joints[[0, 1, 2, 1, 3, 2]], np.ones((6, 1)), limit=2, iterations=3)
    corners = [0, 1, 2, 1, 3, 2]
    assert_same_bits(cut, Influences(whole.joint_indices[corners], whole.joint_weights[corners]))


def test_smooth_makes_seams_equal() -> None:
    positions, triangles = SQUARE[[0, 1, 2, 1, 3, 2]], [[0, 1, 2], [3, 4, 5]]
    result = weights.smooth(positions, triangles, [[0], [0], [1], [1], [1], [0]], np.ones((6, 1)), limit=2)
    for array in result:
        np.testing.assert_array_equal(array[[1, 2]], array[[3, 5]])


def test_smooth_where_the_mask_is() -> None:
    joints, mask = [[0], [1], [1], [1]], [0.0, 0.5, 0.0, 0.0]
    result = weights.smooth(SQUARE, SQUARE_TRIANGLES, joints, np.ones((4, 1)), limit=2, mask=mask)
    expected = np.array([[1, 0], [1 / 12, 11 / 12], [0, 1], [0, 1]])
    np.testing.assert_allclose(weights.to_dense(*result, 2), expected, rtol=4e-16)
    chosen = weights.smooth(
        SQUARE, SQUARE_TRIANGLES, joints, np.ones((4, 1)), limit=2, mask=[True, False, False, False]
    )
    expected = np.array([[0.5, 0.5], [0, 1], [0, 1], [0, 1]])
    np.testing.assert_allclose(weights.to_dense(*chosen, 2), expected, rtol=4e-16)


def test_smooth_leaves_loose_points_alone() -> None:
    result = weights.smooth(SQUARE[:2], np.zeros((0, 3), int), [[0], [1]], [[0.25], [1.0]], normalize=False)
    assert result.joint_weights.tolist() == [[0.25], [1.0]]


# ---------------------------------------------------------------------------------------------------------- any weights


@given(influences(), locks)
def test_normalize(pair: Influences, locked: list[int] | None) -> None:
    once = weights.normalize(*pair, locked=locked)
    assert_in_order(once)
    assert_same_bits(weights.normalize(*once, locked=locked), once)
    before, after = dense(pair), dense(once)
    keep = locked or []
    assert_kept(after[:, keep], before[:, keep], pair)
    free = np.setdiff1d(np.arange(JOINTS), keep)
    kept_sums = after[:, keep].astype(float).sum(axis=1)
    for row in range(len(after)):
        if before[row, free].any() and kept_sums[row] < 1:
            assert abs(after[row].astype(float).sum() - 1) <= tolerance(pair)
        if kept_sums[row] > 1 + tolerance(pair):
            assert not after[row, free].any()


@given(influences(), st.integers(1, 6), locks, st.booleans())
def test_limit(pair: Influences, count: int, locked: list[int] | None, normalize: bool) -> None:
    once = weights.limit(*pair, count, locked=locked, normalize=normalize)
    assert_in_order(once)
    assert_same_bits(weights.limit(*once, count, locked=locked, normalize=normalize), once)
    keep = locked or []
    assert_kept(dense(once)[:, keep], dense(pair)[:, keep], pair)
    most = np.maximum(count, np.count_nonzero(dense(pair)[:, keep], axis=1))
    assert (np.count_nonzero(once.joint_weights, axis=1) <= most).all()


@given(influences(), st.floats(0.0, 1.0), locks, st.booleans())
def test_prune(pair: Influences, threshold: float, locked: list[int] | None, normalize: bool) -> None:
    once = weights.prune(*pair, threshold, locked=locked, normalize=normalize)
    assert_in_order(once)
    assert_same_bits(weights.prune(*once, threshold, locked=locked, normalize=normalize), once)
    keep = locked or []
    assert_kept(dense(once)[:, keep], dense(pair)[:, keep], pair)
    free = np.delete(dense(once), keep, axis=1)
    below = (free > 0) & (free < threshold)
    assert (np.count_nonzero(below, axis=1) <= 1).all()  # but for the heaviest
    assert (np.count_nonzero(free[below.any(axis=1)], axis=1) == 1).all()


@given(influences(), st.randoms(use_true_random=False))
def test_order_of_influences_changes_no_bit(pair: Influences, random: Random) -> None:
    order = list(range(pair.joint_indices.shape[1]))
    random.shuffle(order)
    shuffled = (pair.joint_indices[:, order], pair.joint_weights[:, order])
    assert_same_bits(weights.normalize(*shuffled), weights.normalize(*pair))
    assert_same_bits(weights.limit(*shuffled, 2), weights.limit(*pair, 2))


def grid(columns: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A flat mesh."""
    positions = np.array([[x, y, 0.0] for y in range(rows) for x in range(columns)])
    first = np.array([y * columns + x for y in range(rows - 1) for x in range(columns - 1)])[:, None]
    return positions, np.vstack([first + np.array([0, 1, columns]), first + np.array([1, columns + 1, columns])])


@given(influences(vertices=1), st.integers(1, 4), st.floats(0.0, 1.0), locks)
def test_smooth_keeps_constants(pair: Influences, iterations: int, strength: float, locked: list[int] | None) -> None:
    positions, triangles = grid(4, 3)
    one = weights.limit(*pair, 9, normalize=False)
    constant = Influences(np.repeat(one.joint_indices, 12, axis=0), np.repeat(one.joint_weights, 12, axis=0))
    options: dict[str, Any] = {"iterations": iterations, "strength": strength, "locked": locked, "limit": 9}
    smoothed = weights.smooth(positions, triangles, *constant, **options, normalize=False)
    np.testing.assert_array_equal(dense(smoothed), dense(constant))
    normalized = weights.normalize(*constant)
    np.testing.assert_array_equal(
        dense(weights.smooth(positions, triangles, *normalized, **options)), dense(normalized)
    )


@given(influences(vertices=12, normalized=True), st.integers(1, 3), st.floats(0.0, 1.0), locks)
def test_smooth_is_what_matrices_say(
    pair: Influences, iterations: int, strength: float, locked: list[int] | None
) -> None:
    positions, triangles = grid(4, 3)
    offsets, neighbors = adjacency(triangles, weld(positions))
    expected = dense(pair).astype(float)
    free = np.setdiff1d(np.arange(JOINTS), locked or [])
    for _ in range(iterations):
        means = np.array([expected[neighbors[a:b]].mean(axis=0) for a, b in pairwise(offsets)])
        expected[:, free] += strength * (means - expected)[:, free]
    smoothed = weights.smooth(
        positions, triangles, *pair, iterations=iterations, strength=strength, locked=locked, limit=9, normalize=False
    )
    # sums of at most 6 neighbors of weights up to 1, a few times, then rounded to the type
    np.testing.assert_allclose(dense(smoothed), expected, atol=100 * float(np.finfo(smoothed.joint_weights.dtype).eps))
    assert_in_order(smoothed)


@given(influences(vertices=12), locks, st.integers(1, 3))
def test_smooth_normalizes_and_keeps_locked_joints(pair: Influences, locked: list[int] | None, limit: int) -> None:
    positions, triangles = grid(4, 3)
    given_weights = weights.limit(*weights.prune(*pair), 3)  # shares between 0 and 1
    counts = np.count_nonzero(dense(given_weights)[:, locked or []], axis=1)
    if counts.max() > limit:
        with pytest.raises(ValueError, match="limit must be at least the number of locked joints"):
            weights.smooth(positions, triangles, *given_weights, locked=locked, limit=limit)
        return
    smoothed = weights.smooth(positions, triangles, *given_weights, locked=locked, limit=limit)
    assert smoothed.joint_weights.shape == (12, limit)
    assert_in_order(smoothed)
    np.testing.assert_array_equal(dense(smoothed)[:, locked or []], dense(given_weights)[:, locked or []])
    sums = dense(smoothed).astype(float).sum(axis=1)
    assert (sums <= 1 + tolerance(given_weights)).all()
    if locked is None:
        weighted = sums > 0
        np.testing.assert_allclose(sums[weighted], 1, atol=tolerance(given_weights))


# ----------------------------------------------------------------------------------------------------------- bad input

GOOD: dict[str, Any] = {"joint_indices": [[0, 1], [1, 0]], "joint_weights": [[0.5, 0.5], [1.0, 0.0]]}
MESH: dict[str, Any] = {"positions": SQUARE[:2], "triangles": [[0, 1, 1]]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint_indices": [0, 1]}, r"joint_indices has shape \(2,\), expected \(V, K\)"),
        ({"joint_weights": [[0.5], [1.0]]}, r"joint_indices has shape \(2, 2\), joint_weights \(2, 1\)"),
        ({"joint_indices": np.zeros((2, 0), int), "joint_weights": np.zeros((2, 0))}, "joint_indices"),
        ({"joint_indices": np.zeros((0, 2), int), "joint_weights": np.zeros((0, 2))}, "joint_indices"),
        ({"joint_indices": [[0, 1], [-1, 0]]}, r"joint_indices\[1, 0\] = -1 is out of range for 2 joints"),
        ({"locked": [0, -1]}, r"locked\[1\] = -1 is out of range for 2 joints"),
        ({"locked": [[True, False]]}, r"locked has shape \(1, 2\), expected \(J,\) as a mask"),
        ({"locked": [[0, 1]]}, r"locked has shape \(1, 2\), expected \(L,\)"),
    ],
)
def test_bad_weights(changes: dict[str, Any], message: str) -> None:
    for tool, more in (
        (weights.normalize, {}),
        (weights.limit, {"count": 2}),
        (weights.prune, {}),
        (weights.smooth, MESH),
    ):
        with pytest.raises(ValueError, match=message):
            tool(**{**GOOD, **more, **changes})
    with pytest.raises(TypeError, match="the order is positions, triangles"):
        weights.smooth([[0], [1], [1], [1]], np.ones((4, 1)), SQUARE, SQUARE_TRIANGLES)
    for threshold in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="threshold"):
            weights.prune(**GOOD, threshold=threshold)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint_indices": [[0.0, 1.0], [1.0, 0.0]]}, "joint_indices must hold integers, not float64"),
        ({"joint_weights": [["a", "b"], ["c", "d"]]}, "joint_weights"),
        ({"positions": np.zeros((3, 3))}, "positions"),
        ({"positions": np.zeros((2, 2))}, r"positions.*\(2, 2\)"),
        ({"positions": [[0, 0, 0], [0, np.nan, 0]]}, r"positions\[1, 1\] is nan"),
        ({"triangles": [[0, 1]]}, "triangles"),
        ({"triangles": [[0, 1, 2]]}, r"triangles\[0, 2\] = 2"),
        ({"triangles": [[0, -1, 1]]}, r"triangles\[0, 1\] = -1"),
        ({"iterations": 0}, "iterations"),
        ({"strength": 1.5}, "strength"),
        ({"strength": np.nan}, "strength"),
        ({"strength": "1"}, "strength"),
        ({"limit": 0}, "limit"),
        ({"mask": [1.0]}, "mask"),
        ({"mask": [0.5, 2.0]}, r"mask\[1\]"),
    ],
)
def test_bad_arguments_of_smooth(changes: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        weights.smooth(**{**GOOD, **MESH, **changes})


# ---------------------------------------------------------------------------------------------------- the mesh itself


def test_weld_and_adjacency() -> None:
    positions = SQUARE[[0, 1, 2, 1, 3, 2]]
    representatives = weld(positions.astype(np.float32))
    assert representatives.tolist() == [0, 1, 2, 1, 4, 2]
    offsets, neighbors = adjacency([[0, 1, 2], [3, 4, 5]], representatives)
    lists = [neighbors[a:b].tolist() for a, b in pairwise(offsets)]
    assert lists == [[1, 2], [0, 2, 4], [0, 1, 4], [], [1, 2], []]


def test_bad_meshes() -> None:
    with pytest.raises(ValueError, match="positions must not be empty"):
        weld(np.zeros((0, 3)))
    with pytest.raises(ValueError, match=r"positions\[0, 2\] is inf"):
        weld([[0, 0, np.inf]])
    with pytest.raises(ValueError, match=r"representatives\[1\] = 5 is out of range for 2 vertices"):
        adjacency([[0, 1, 1]], [0, 5])
    with pytest.raises(ValueError, match=r"triangles\[0, 0\] = 7 is out of range for 2 vertices"):
        adjacency([[7, 1, 1]], [0, 1])
