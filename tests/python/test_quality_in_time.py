# SPDX-License-Identifier: MIT
"""Pops and jumps of paths against answers by hand."""

from __future__ import annotations

import numpy as np
import pytest
from solids import arm, block, turned

import sbs
from sbs.quality import Gauge, measures


def test_a_pop_of_known_size() -> None:
    path = np.zeros((8, 1, 3))
    path[:, 0, 0] = np.arange(8) * 0.01
    path[4:, 0, 1] += 0.5
    turns, jumps = measures.second_differences(path, 10.0)[:, 0], measures.jumps(path, 10.0)[:, 0]
    np.testing.assert_allclose(turns, [0, 0, 0.05, 0.05, 0, 0], atol=1e-15)
    np.testing.assert_allclose(jumps, [0, 0, (np.hypot(0.01, 0.5) - 0.02) / 10, 0, 0], rtol=1e-12, atol=1e-15)


def test_a_corner_is_no_jump() -> None:
    path = np.zeros((9, 1, 3))
    path[:, 0, 0] = np.abs(np.arange(9) - 4.0)
    assert measures.second_differences(path, 1.0).max() == 2
    assert measures.jumps(path, 1.0).max() == 0


def test_vertices_that_follow_a_joint_never_pop() -> None:
    """However fast the joint moves."""
    character = block()
    rng = np.random.default_rng(1)
    matrices = np.tile(np.eye(4), (6, 2, 1, 1))
    matrices[:, :, :3, :3] = sbs.rotations.matrices_from_quaternions(rng.normal(size=(6, 1, 4)))
    matrices[:, :, :3, 3] = rng.normal(size=(6, 1, 3))
    found = Gauge(character).pops(matrices, character.skin.deform_many(matrices))
    assert found["largest"].shape == found["high"].shape == (4,)
    assert found["jump"].shape == (3,)
    assert max(values.max() for values in found.values()) < 1e-14


def test_twisting_through_half_a_turn_pops_unless_it_is_linear() -> None:
    """From 179.5 to 180.5 degrees the short way round changes sides.

    A vertex of weights (1 - w, w) that was turned by w 179.5 degrees then is by -w 179.5: where weights are equal it
    jumps to the other side, by two radii. The size is sqrt(6^2 + 2^2 + 2^2).
    """
    character = arm()
    gauge = Gauge(character)
    path = np.stack([turned(character, "fore", [1, 0, 0], degrees) for degrees in np.arange(175.5, 185)])
    found = {
        method: gauge.pops(path, character.skin.deform_many(path, method=method))["jump"]
        for method in ("linear", "spherical", "dual_quaternion")
    }
    assert found["linear"].max() < 1e-12
    for method in ("spherical", "dual_quaternion"):
        assert found[method].argmax() == 3  # the steps from 1 to 7; the pop is step 4
        assert found[method].max() == pytest.approx(2 / np.sqrt(44), rel=0.03)  # steps of a degree move it by 0.017


def test_joints_that_vanish_leave_paths_as_they_are() -> None:
    character = arm()
    path = np.stack([turned(character, "fore", [1, 0, 0], degrees) for degrees in (0, 1, 2, 3)])
    path[2, 1, :3, :3] = 0
    found = Gauge(character).pops(path, character.skin.deform_many(path, method="linear"))
    assert np.isfinite(found["largest"]).all()
