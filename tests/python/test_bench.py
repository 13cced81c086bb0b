# SPDX-License-Identifier: MIT
"""The benchmark: its tube and its bookkeeping, not its times."""

from __future__ import annotations

import numpy as np
import pytest

from sbs.demo.bench import METHODS, Timing, measure, ratio_to_linear, tube


def test_the_tube_is_what_it_says() -> None:
    skin, matrices = tube(20_000, 60)
    assert skin.vertex_count == 20_000
    assert skin.dtype == np.float32
    assert matrices.shape == (60, 4, 4)
    assert {len(joints) for joints in skin.joint_sets} == {4}
    assert skin.nontrivial_joint_set_count == len(skin.joint_sets) > 200
    assert not any(vars(skin.weight_report).values())
    rotations = matrices[:, :3, :3]
    np.testing.assert_allclose(rotations @ rotations.transpose(0, 2, 1), np.tile(np.eye(3), (60, 1, 1)), atol=1e-12)


def test_the_tube_is_the_same_every_time() -> None:
    (first, pose), (second, same_pose) = tube(1000, 10), tube(1000, 10)
    np.testing.assert_array_equal(first.joint_indices, second.joint_indices)
    np.testing.assert_array_equal(pose, same_pose)
    assert not np.array_equal(pose, tube(1000, 10, seed=1)[1])


@pytest.mark.parametrize(("vertices", "joints"), [(4, 5), (100, 4)])
def test_a_tube_too_small_is_refused(vertices: int, joints: int) -> None:
    with pytest.raises(ValueError, match="needs at least"):
        tube(vertices, joints)


def test_every_method_is_timed_with_every_number_of_threads() -> None:
    skin, matrices = tube(500, 5)
    timings = measure(skin, matrices, threads=(1, 2), rounds=3)
    assert [(timing.threads, timing.method) for timing in timings] == [
        (n, method) for n in (1, 2) for method in METHODS
    ]
    assert all(0 < timing.minimum <= timing.median for timing in timings)
    assert ratio_to_linear(timings, timings[1]) == 1


def test_the_ratio_is_to_lbs_of_as_many_threads() -> None:
    timings = [Timing("linear", 1, 4.0, 9.0), Timing("linear", 2, 2.0, 9.0), Timing("spherical", 2, 3.0, 9.0)]
    assert ratio_to_linear(timings, timings[2]) == 1.5


def test_no_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="rounds is 0"):
        measure(*tube(100, 5), rounds=0)
