# SPDX-License-Identifier: MIT
"""One way to clean influences: what `tidy` gives is what a skin, the tools and a file make of the same ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sbs
from sbs.skinning.attachment import heaviest_joints
from sbs.weights import limit, normalize, tidy, to_dense
from sbs.weights.influences import merge

LARGE = {np.dtype(np.float32): 3e38, np.dtype(np.float64): 1.5e308}


def skin_shares(joint_indices: Any, joint_weights: Any, joint_count: int) -> np.ndarray:
    """Weights (V, J) as linear skinning shows them: each joint moves a point at 0 along an axis of its own."""
    found = []
    for first in range(0, joint_count, 3):
        matrices = np.tile(np.eye(4), (joint_count, 1, 1))
        for axis in range(min(3, joint_count - first)):
            matrices[first + axis, axis, 3] = 1.0
        skin = sbs.Skin(np.zeros((len(joint_indices), 3)), joint_indices, joint_weights, joint_count=joint_count)
        found.append(skin.deform(matrices, method="linear"))
    return np.concatenate(found, axis=1)[:, :joint_count]


def test_by_hand() -> None:
    joints = np.array([[3, 1, 3, 2], [5, 5, 5, 5], [0, 1, 0, 1], [7, 7, 2, 2], [4, 6, 4, 6]])
    weights = np.array([[0.25, 0.5, 0.5, 0.75], [0.25] * 4, [0.0, 0.5, 0.5, 0.0], [np.nan, 0.5, -1.0, 0.5], [0.0] * 4])
    found = tidy(joints, weights)
    assert found.joint_indices.dtype == np.int32
    assert found.joint_weights.dtype == np.float64
    np.testing.assert_array_equal(found.joint_indices, [[2, 3, 1], [5, 0, 0], [0, 1, 0], [2, 7, 0], [0, 0, 0]])
    np.testing.assert_array_equal(
        found.joint_weights, [[0.375, 0.375, 0.25], [1, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0]]
    )


def test_ties_are_in_the_order_of_joints_and_a_share_of_nothing_goes() -> None:
    np.testing.assert_array_equal(tidy([[3, 1]], [[0.5, 0.5]]).joint_indices, [[1, 3]])
    found = tidy([[1, 0]], [[5e-324, 1e10]])
    assert (found.joint_indices.tolist(), found.joint_weights.tolist()) == ([[0]], [[1.0]])


@pytest.mark.filterwarnings("ignore::sbs.WeightWarning")
@pytest.mark.parametrize("dtype", LARGE)
@pytest.mark.parametrize("joints", [[0, 1, 2], [0, 1, 1], [1, 1, 1]])
def test_sums_beyond_the_largest_number(dtype: np.dtype, joints: list[int]) -> None:
    weights = np.full((1, 3), LARGE[dtype], dtype)
    expected = np.bincount(joints, minlength=3)[None] / 3
    tolerance = 2 * np.finfo(dtype).eps  # of two rounded thirds
    np.testing.assert_allclose(to_dense(*tidy([joints], weights), 3), expected, rtol=1e-15)
    np.testing.assert_allclose(skin_shares([joints], weights, 3), expected, rtol=1e-15)
    np.testing.assert_allclose(to_dense(*normalize([joints], weights), 3), expected, rtol=tolerance)
    np.testing.assert_allclose(to_dense(*merge(np.array([joints], np.int32), weights), 3), expected, rtol=tolerance)


def test_a_sum_beyond_the_largest_number_keeps_ratios_where_nothing_is_normalized() -> None:
    joints, weights = limit([[0, 1, 1]], [[1.5e308, 1.5e308, 1.5e308]], 2, normalize=False)
    np.testing.assert_array_equal(joints, [[1, 0]])
    assert np.isfinite(weights).all()
    assert weights[0, 0] == 2 * weights[0, 1]


@pytest.mark.filterwarnings("ignore::sbs.WeightWarning")
def test_order_changes_no_bit_and_the_skin_has_the_same() -> None:
    rng = np.random.default_rng(7)
    joints = rng.integers(0, 6, (2000, 8))
    weights = rng.random((2000, 8)) * rng.choice([0.0, 1.0, 1e-6], (2000, 8))
    order = rng.permuted(np.tile(np.arange(8), (2000, 1)), axis=1)
    shuffled = np.take_along_axis(joints, order, axis=1), np.take_along_axis(weights, order, axis=1)
    found, again = tidy(joints, weights), tidy(*shuffled)
    np.testing.assert_array_equal(found.joint_indices, again.joint_indices)
    np.testing.assert_array_equal(found.joint_weights, again.joint_weights)
    # A skin adds its joints up around the heaviest one, in a few steps of double precision.
    np.testing.assert_allclose(to_dense(*found, 6), skin_shares(joints, weights, 6), rtol=0, atol=8 * 2.0**-53)
    np.testing.assert_array_equal(heaviest_joints(joints, weights), heaviest_joints(*shuffled))


@pytest.mark.parametrize(
    ("joints", "weights", "message"),
    [
        ([[0, -1]], [[1.0, 0.0]], r"joint_indices\[0, 1\] = -1"),
        ([[0, 5]], [[1.0, 0.0]], r"joint_indices\[0, 1\] = 5 is out of range for 5 joints"),
        ([[0, 1]], [[1.0]], "joint_weights"),
        (np.zeros((0, 2), int), np.zeros((0, 2)), "empty"),
    ],
)
def test_refuses(joints: Any, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tidy(joints, weights, joint_count=5)
