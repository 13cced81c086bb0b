# SPDX-License-Identifier: MIT
"""Joints fitted to examples: their matrices, and joints and weights from meshes alone."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from sbs import rotations, weights
from sbs.options import Method
from sbs.weights.decompose import with_more_joints

JOINTS, FRAMES, VERTICES = 5, 12, 200


def rigid(rng: np.random.Generator, frames: int, joints: int, most: float = 1.0) -> np.ndarray:
    """Matrices (F, J, 4, 4), turned by up to so much."""
    made = np.tile(np.eye(4), (frames, joints, 1, 1))
    made[..., :3, :3] = rotations.matrices_from_axis_angle(
        rng.normal(size=(frames, joints, 3)), rng.uniform(0, most, (frames, joints))
    )
    made[..., :3, 3] = 0.3 * rng.normal(size=(frames, joints, 3))
    return made


def influences(rng: np.random.Generator, most: int = 2) -> tuple[np.ndarray, np.ndarray]:
    indices = np.argsort(rng.random((VERTICES, JOINTS)))[:, :most]
    shares = rng.random((VERTICES, most)) + 0.1
    return indices.astype(np.int32), shares / shares.sum(axis=1, keepdims=True)


def linear(rest: np.ndarray, indices: np.ndarray, shares: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """(F, V, 3), by the formula."""
    moved = np.einsum("fjxy,vy->fvjx", matrices[..., :3, :3], rest) + matrices[:, None, :, :3, 3]
    chosen = np.take_along_axis(moved, indices[None, ..., None].astype(int), axis=2)
    return np.asarray(np.einsum("fvkx,vk->fvx", chosen, shares))


def test_one_joint_is_the_procrustes_solution() -> None:
    """Against the closed form: Kabsch, by NumPy's decomposition, of examples that no rotation makes."""
    rng = np.random.default_rng(0)
    rest, posed = rng.normal(size=(30, 3)), rng.normal(size=(4, 30, 3))
    alone = np.zeros((30, 1), int), np.ones((30, 1))
    found, errors = weights.fit_matrices(rest, posed, np.tile(np.eye(4), (4, 1, 1, 1)), *alone)
    for frame in range(4):
        p, q = rest - rest.mean(axis=0), posed[frame] - posed[frame].mean(axis=0)
        u, _, vt = np.linalg.svd(p.T @ q)
        turn = vt.T @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ u.T
        # drawn to the rotation before by 1e-9
        np.testing.assert_allclose(found[frame, 0, :3, :3], turn, atol=1e-7)
        left = posed[frame] - rest @ found[frame, 0, :3, :3].T - found[frame, 0, :3, 3]
        np.testing.assert_allclose(left.mean(axis=0), 0, atol=1e-14)
        assert errors[frame] == pytest.approx(np.sqrt(np.square(left).sum(axis=1).mean()), rel=1e-12)


def test_known_matrices_are_found() -> None:
    rng = np.random.default_rng(1)
    rest, (indices, shares) = rng.normal(size=(VERTICES, 3)), influences(rng)
    matrices = rigid(rng, FRAMES, JOINTS)
    posed = linear(rest, indices, shares, matrices)
    start = matrices @ rigid(rng, FRAMES, JOINTS, 0.5)
    found, errors = weights.fit_matrices(rest, posed, start, indices, shares, sweeps=500)
    np.testing.assert_allclose(found, matrices, atol=1e-5)  # joint by joint converges linearly
    assert errors.max() < 1e-5


def test_more_sweeps_are_never_worse_and_threads_change_no_bit() -> None:
    rng = np.random.default_rng(2)
    rest, (indices, shares) = rng.normal(size=(VERTICES, 3)), influences(rng, 3)
    posed = rng.normal(size=(FRAMES, VERTICES, 3))
    start = rigid(rng, FRAMES, JOINTS)
    before = np.full(FRAMES, np.inf)
    for sweeps in (1, 2, 4, 8):
        found, errors = weights.fit_matrices(rest, posed, start, indices, shares, sweeps=sweeps, threads=1)
        again, _ = weights.fit_matrices(rest, posed, start, indices, shares, sweeps=sweeps, threads=3)
        assert np.array_equal(found, again)
        assert (errors <= before + 1e-9).all()
        before = errors
        left = linear(rest, indices, shares, found) - posed
        np.testing.assert_allclose(errors, np.sqrt(np.square(left).sum(axis=2).mean(axis=1)), rtol=1e-10)


def test_fixed_joints_and_joints_without_weight_stay_and_scales_are_kept() -> None:
    rng = np.random.default_rng(3)
    rest, (indices, shares) = rng.normal(size=(VERTICES, 3)), influences(rng)
    indices[indices == 4] = 3  # nobody follows joint 4
    start = rigid(rng, FRAMES, JOINTS)
    start[:, 1, :3, :3] *= 2.0
    start[:, 2, :3, :3] *= -0.5  # mirrored
    posed = rng.normal(size=(FRAMES, VERTICES, 3))
    found, _ = weights.fit_matrices(rest, posed, start, indices, shares, fixed=np.arange(JOINTS) == 0)
    one, point = start[:, :1], np.array([[1.0, 2.0, 3.0]])  # a vertex alone keeps the rotation
    alone, errors = weights.fit_matrices(point, np.ones((FRAMES, 1, 3)), one, [[0]], [[1.0]])
    np.testing.assert_allclose(alone[..., :3, :3], one[..., :3, :3], atol=1e-12)
    assert errors.max() < 1e-12
    for joint in (0, 4):
        np.testing.assert_array_equal(found[:, joint], start[:, joint])
    for joint, scale in ((1, 2.0), (2, -0.5), (3, 1.0)):
        axes = found[:, joint, :3, :3] / scale
        np.testing.assert_allclose(axes @ axes.swapaxes(1, 2), np.tile(np.eye(3), (FRAMES, 1, 1)), atol=1e-12)
        np.testing.assert_allclose(np.linalg.det(axes), 1, atol=1e-12)


def test_rigid_parts_are_found_from_meshes_alone() -> None:
    """Four blocks that move apart, 17 long together: four joints, one for each. Taking turns converges slowly."""
    rng = np.random.default_rng(5)
    part = np.repeat(np.arange(4), 60)
    rest = rng.uniform(-1, 1, (240, 3)) + 5.0 * part[:, None] * [1, 0, 0]
    matrices = rigid(rng, 10, 4)
    posed = linear(rest, part[:, None], np.ones((240, 1)), matrices)
    found = weights.decompose(rest, posed, 4, influences=2)
    assert found.errors.max() < 1e-3 * 17
    left = linear(rest, *found, found.skinning_matrices) - posed
    np.testing.assert_allclose(found.errors, np.sqrt(np.square(left).sum(axis=2).mean(axis=0)), atol=1e-12)
    for number in range(4):  # one joint each, and another for each
        assert len(np.unique(found.joint_indices[part == number, 0])) == 1
    assert len(np.unique(found.joint_indices[:, 0])) == 4


def test_progress_copies_and_threads() -> None:
    rng = np.random.default_rng(6)
    rest, posed = rng.normal(size=(80, 3)), rng.normal(size=(4, 80, 3))
    told: list[float] = []
    one = weights.decompose(rest, posed, 3, rounds=2, progress=told.append, threads=1)
    other = pickle.loads(pickle.dumps(weights.decompose(rest, posed, 3, rounds=2, threads=2)))
    assert told == sorted(told)
    assert told[-1] == 1
    for name in ("joint_indices", "joint_weights", "skinning_matrices", "errors", "owners"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert (one.owners == [-1, 0, 0]).all()


def test_only_allowed_joints_are_used() -> None:
    rng = np.random.default_rng(7)
    rest, matrices = rng.normal(size=(VERTICES, 3)), rigid(rng, FRAMES, JOINTS)
    posed = rng.normal(size=(FRAMES, VERTICES, 3))
    allowed = rng.random((VERTICES, JOINTS)) < 0.5
    allowed[np.arange(VERTICES), rng.integers(JOINTS, size=VERTICES)] = True
    methods: tuple[Method, ...] = ("linear", "spherical", "dual_quaternion")
    for method in methods:
        found = weights.fit(rest, posed, matrices, method=method, influences=2, allowed=allowed)
        assert not weights.to_dense(*found, JOINTS)[~allowed].any()
        for vertex in range(20):  # as if there were no other joints
            which = np.flatnonzero(allowed[vertex])
            one = slice(vertex, vertex + 1)
            alone = weights.fit(rest[one], posed[:, one], matrices[:, which], method=method, influences=2)
            assert alone.errors[0] == pytest.approx(found.errors[vertex], rel=1e-12)


ONES = np.ones((4, 1))
NONE = np.zeros((4, 1), int)
STILL = np.tile(np.eye(4), (2, 3, 1, 1))
LARGE = np.zeros((2, 4, 3))
LARGE[1, 3] = 1e308
NOWHERE = np.arange(4)[:, None] != [2, 2, 2]


@pytest.mark.parametrize(
    ("call", "arguments", "options", "message"),
    [
        (weights.fit_matrices, (STILL, NONE, ONES), {"posed": LARGE[:, :3]}, r"posed \(2, 3, 3\)"),
        (weights.fit_matrices, (STILL, NONE[:3], ONES), {}, r"joint_indices \(3, 1\)"),
        (weights.fit_matrices, (STILL, NONE + 3, ONES), {}, "out of range for 3 joints"),
        (weights.fit_matrices, (STILL, NONE, ONES), {"fixed": [True]}, r"fixed \(1,\)"),
        (weights.fit_matrices, (np.full_like(STILL, np.nan), NONE, ONES), {}, "is nan"),
        (weights.fit_matrices, (STILL, NONE, ONES), {"posed": LARGE}, r"posed\[1, 3, 0\] = 1e\+308"),
        (with_more_joints, (STILL, 0), {"frame_scales": np.ones(5)}, r"frame_scales has shape \(5,\)"),
        (weights.decompose, (0,), {}, "joints is 0"),
        (weights.decompose, (1,), {"rounds": 0}, "rounds is 0"),
        (weights.fit, (STILL,), {"allowed": np.ones((4, 2), bool)}, r"allowed \(4, 2\)"),
        (weights.fit, (STILL,), {"allowed": NOWHERE}, r"allowed\[2\]"),
    ],
)
def test_bad_input(call: Any, arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    options = {"posed": np.zeros((2, 4, 3)), **options}
    with pytest.raises(ValueError, match=message):
        call(np.zeros((4, 3)), options.pop("posed"), *arguments, **options)
