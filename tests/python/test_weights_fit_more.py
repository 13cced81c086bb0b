# SPDX-License-Identifier: MIT
"""Weights fitted to examples: with centers, alike along the surface, and by the workers of a cluster."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from test_weights_fit import poses

import sbs
from sbs import weights


def tube(rings: int = 25, sides: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Positions and triangles of a tube along x from -2 to 2, with a seam: the first column again."""
    x, angle = np.meshgrid(np.linspace(-2, 2, rings), np.linspace(0, 2 * np.pi, sides + 1), indexing="ij")
    points = np.stack([x, np.cos(angle), np.sin(angle)], axis=-1)
    points[:, -1] = points[:, 0]
    a = (np.arange(rings - 1)[:, None] * (sides + 1) + np.arange(sides)).reshape(-1)
    b, c, d = a + 1, a + sides + 1, a + sides + 2
    return points.reshape(-1, 3), np.concatenate([np.stack([a, c, b], 1), np.stack([b, c, d], 1)]).astype(np.int32)


def bending(frames: int, joints: int = 2) -> np.ndarray:
    """Matrices (F, J, 3, 4) of a chain along x from 0, each bent by up to 80 degrees against the one before."""
    rng = np.random.default_rng(8)
    made = np.tile(np.eye(4), (frames, joints, 1, 1))
    for joint in range(1, joints):
        turn = np.eye(4)
        turn = np.tile(turn, (frames, 1, 1))
        turn[:, :3, :3] = sbs.rotations.matrices_from_axis_angle(
            rng.normal(size=(frames, 3)), rng.uniform(-80, 80, frames), degrees=True
        )
        made[:, joint] = made[:, joint - 1] @ turn
    return made[..., :3, :]


def test_centers_are_found_with_the_weights() -> None:
    """Examples about centers of rotation that are off the vertices: both come back as far as the examples tell."""
    rng = np.random.default_rng(1)
    rest, matrices = rng.normal(size=(60, 3)), poses(rng, 20, 4)
    indices = np.argsort(rng.random((60, 4)))[:, :2]
    shares = rng.uniform(0.25, 0.75, (60, 1))
    centers = rest + rng.normal(size=rest.shape)
    skin = sbs.Skin(rest, indices, np.hstack([shares, 1 - shares]), joint_count=4, centers=centers)
    posed = skin.deform_many(matrices, center="optimized")
    found = weights.fit(rest, posed, matrices, center="optimized", fit_centers=True, influences=2)
    assert found.centers is not None
    again = sbs.Skin(rest, *found, joint_count=4, centers=found.centers).deform_many(matrices, center="optimized")
    left = np.sqrt(np.square(again - posed).sum(axis=2).mean(axis=0))
    np.testing.assert_allclose(found.errors, left, atol=1e-9)
    about_vertices = weights.fit(rest, posed, matrices, center="weighted", influences=2)
    assert (found.errors <= about_vertices.errors + 1e-12).mean() > 0.95
    assert np.median(found.errors) < 1e-3  # of a size of about 8
    assert np.median(found.errors) < 0.02 * np.median(about_vertices.errors)
    other = pickle.loads(pickle.dumps(found))
    assert np.array_equal(other.centers, found.centers)


def test_centers_of_known_weights_are_the_solution() -> None:
    """Against NumPy's least squares of what the skin makes of centers, which is linear in them."""
    rng = np.random.default_rng(2)
    rest, matrices = rng.normal(size=(10, 3)), poses(rng, 9, 3)
    indices, shares = np.tile([0, 1, 2], (10, 1)), rng.dirichlet([1, 1, 1], 10)
    posed = rng.normal(size=(9, 10, 3))
    start = rest + 1.0

    def moved(centers: np.ndarray) -> np.ndarray:
        skin = sbs.Skin(rest, indices, shares, centers=centers)
        return np.asarray(skin.deform_many(matrices, center="optimized"))

    found, errors = sbs._core.fit_centers(rest, posed, matrices, indices, shares, centers=start)
    here = moved(start)
    by = np.stack([moved(start + step) - here for step in np.eye(3)], axis=-1)  # (F, V, 3, 3)
    for vertex in range(10):
        rows = np.concatenate([by[:, vertex].reshape(-1, 3), np.sqrt(1e-4 * 9) * np.eye(3)])
        right = np.concatenate([(posed - here)[:, vertex].reshape(-1), np.zeros(3)])
        expected = start[vertex] + np.linalg.lstsq(rows, right, rcond=None)[0]
        np.testing.assert_allclose(found[vertex], expected, atol=1e-8)
    left = np.sqrt(np.square(moved(found) - posed).sum(axis=2).mean(axis=0))
    np.testing.assert_allclose(errors, left, atol=1e-9)


@pytest.mark.parametrize("method", ["linear", "spherical"])
def test_smooth_weights_of_noisy_examples(method: Any) -> None:
    """Noise of the examples becomes noise of the weights; with neighbors alike they are nearer to the true ones."""
    rest, triangles = tube()
    rest_size = float(np.linalg.norm(np.ptp(rest, axis=0)))
    share = 1 / (1 + np.exp(-3 * rest[:, 0]))
    truth = np.stack([1 - share, share], axis=1)
    matrices = bending(6)
    skin = sbs.Skin(rest, np.tile([0, 1], (len(rest), 1)), truth)
    options: dict[str, Any] = {"center": "weighted"} if method == "spherical" else {}
    exact = skin.deform_many(matrices, method=method, **options)
    posed = exact + np.random.default_rng(3).normal(0, 0.01 * rest_size, exact.shape)
    posed[:, 12::13] = posed[:, 0::13]  # the seam stays closed

    def off(**more: Any) -> float:
        found = weights.fit(rest, posed, matrices, method=method, influences=2, **more)
        dense = weights.to_dense(*found, 2)
        np.testing.assert_array_equal(dense[12::13], dense[0::13])
        return float(np.sqrt(np.square(dense - truth).mean()))

    assert off(smoothness=0.3, triangles=triangles) < 0.7 * off()


def test_a_little_smoothness_leaves_good_examples_alone() -> None:
    rest, triangles = tube()
    share = 1 / (1 + np.exp(-3 * rest[:, 0]))
    matrices = bending(8)
    skin = sbs.Skin(rest, np.tile([0, 1], (len(rest), 1)), np.stack([1 - share, share], axis=1))
    posed = skin.deform_many(matrices, center="weighted")
    told: list[float] = []
    found = weights.fit(rest, posed, matrices, influences=2, smoothness=1e-3, triangles=triangles, progress=told.append)
    assert found.errors.max() < 1e-4 * 5
    assert told == sorted(told)
    assert told[-1] == 1


def test_bad_arguments() -> None:
    rest, triangles = tube(4, 3)
    matrices = bending(2)
    posed = np.tile(rest, (2, 1, 1))
    for message, options in (
        ("smoothness is -1", {"smoothness": -1.0, "triangles": triangles}),
        ("smoothness is 1e\\+200", {"smoothness": 1e200, "triangles": triangles}),
        ("smoothness needs triangles", {"smoothness": 0.1}),
        ("triangles has no effect without smoothness", {"triangles": triangles}),
        ("fit_centers has no effect", {"fit_centers": True}),
        ("threads has no effect beside scheduler", {"threads": 1, "scheduler": "tcp://nowhere:1"}),
        ("out of range", {"smoothness": 0.1, "triangles": [[0, 1, 99]]}),
    ):
        with pytest.raises(ValueError, match=message):
            weights.fit(rest, posed, matrices, **options)


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


def test_a_cluster_finds_the_same_to_the_last_bit(workers: Any) -> None:
    """With all that is given for each vertex, by an address and by a client."""
    distributed = pytest.importorskip("distributed")
    rng = np.random.default_rng(4)
    rest, triangles = tube()
    matrices = bending(5, 3)
    posed = np.tile(rest, (5, 1, 1)) + rng.normal(size=(5, len(rest), 3))
    allowed = rng.random((len(rest), 3)) < 0.7
    allowed[:, 0] = True
    options: dict[str, Any] = {
        "center": "optimized",
        "centers": rest + 0.5,
        "allowed": allowed,
        "twist": sbs.Twist([1], [[-1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]], parents=[0], joint_count=3),
        "twists": rng.normal(size=(5, 1, 2)),
        "smoothness": 0.1,
        "triangles": triangles,
    }
    here = weights.fit(rest, posed, matrices, **options)
    told: list[float] = []
    there = weights.fit(rest, posed, matrices, scheduler=workers.scheduler_address, progress=told.append, **options)
    with distributed.Client(workers, set_as_default=False) as client:
        again = weights.fit(rest, posed, matrices, scheduler=client, **options)
    for found in (there, again):
        for name in ("joint_indices", "joint_weights", "errors"):
            assert np.array_equal(getattr(found, name), getattr(here, name))
    assert told == sorted(told)
    assert told[-1] == 1
