# SPDX-License-Identifier: MIT
"""Weights of poses of one joint, of any number and however near each other, by an independent reference."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import sbs
from sbs import rotations
from sbs.correctives.drivers import Driver, Part, core_drivers

Floats = NDArray[np.float64]

SKELETON = sbs.Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)), ["root", "child"])
Y = (0.0, 1.0, 0.0)

PLANES: dict[str, tuple[Part, Floats]] = {
    "hinge": ("swing", np.array([[1.0, 0.0, 0.0]])),
    "swing": ("swing", np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])),
    "both": ("both", np.eye(3)),
}
"""The part that drives, and the axes (n, 3) of the rotations."""

MOST = 1.1
"""Of the sum of weights, as sbs/drivers.h has it."""


def found_weights(part: Part, poses: Floats, at: Floats) -> Floats:
    """Of poses (n, 3) at coordinates (F, 3)."""
    driver = Driver(("child",), ("root",), (Y,), part)
    matrices = np.tile(np.eye(4), (len(at), 2, 1, 1))
    twist = at[:, 1:2] * Y if part == "both" else np.zeros_like(at)
    swing, turn = (rotations.matrices_from_rotation_vectors(each) for each in (at - twist, twist))
    matrices[:, 1, :3, :3] = swing @ turn
    return core_drivers(SKELETON, [(driver, pose[None]) for pose in poses]).weights(matrices)


def ramp(t: float) -> float:
    if t <= 0 or t >= 1:
        return float(t >= 1)
    if t > 0.5:
        return 1 - ramp(1 - t)
    return t * t / 0.1171875 if t < 0.0625 else (t - 0.03125) / 0.9375


def nearness(x: Floats, pose: Floats) -> float:
    cosine = float(x @ pose / max(float(np.linalg.norm(x) * np.linalg.norm(pose)), 1e-100))
    return max(cosine, 0.0) ** 2


def expected_weights(poses: Floats, x: Floats) -> Floats:
    """The formula of sbs/drivers.h, term by term."""

    def reached(at: Floats) -> float:
        return sum(ramp(float(at @ pose / (pose @ pose))) * nearness(at, pose) for pose in poses)

    shares = np.zeros(len(poses))
    for k, pose in enumerate(poses):
        square = 0.0
        for j, other in enumerate(poses):
            if j != k:
                alike = nearness(pose, other)
                faded = nearness(x, other) + alike * (1 - nearness(x, other))
                faded *= ramp(float((x - pose) @ (other - pose) / ((other - pose) @ (other - pose))))
                square += (faded / (1 - faded)) ** 2 if faded < 1 else np.inf
        shares[k] = nearness(x, pose) / (1 + np.sqrt(square))
    if not shares.any():
        return shares
    shares /= shares.sum()
    together = reached(x) / sum(share * reached(pose) for share, pose in zip(shares, poses, strict=True))
    if together > 1:
        together = together - (together - 1) ** 2 / 0.4 if together < 1.2 else 1.1
    return np.asarray(together * shares)


def random_poses(random: np.random.Generator, axes: Floats) -> Floats:
    """2 to 8 poses, 5 to 180 degrees from rest and at least 5 from each other; often many near one another."""
    poses: list[Floats] = []
    count, nearby = int(random.integers(2, 9)), random.random()
    while len(poses) < count:
        pose = random.standard_normal(len(axes))
        pose *= random.uniform(np.radians(5), 0.99 * np.pi) / np.linalg.norm(pose)
        if poses and random.random() < nearby:
            pose = poses[int(random.integers(len(poses)))] + 0.2 * random.standard_normal(len(axes))
        lengths = [np.linalg.norm(pose), *(np.linalg.norm(pose - other) for other in poses)]
        if min(lengths) >= np.radians(5) and lengths[0] < 0.99 * np.pi:
            poses.append(pose)
    return np.asarray(np.array(poses) @ axes)


def samples(random: np.random.Generator, poses: Floats, axes: Floats, count: int) -> Floats:
    """Coordinates (F, 3) anywhere, between poses, around them and beyond them, up to half a turn."""
    anywhere = random.uniform(-np.pi, np.pi, (count, len(axes))) @ axes
    one, two, three = (poses[random.integers(len(poses), size=count)] for _ in range(3))
    shares = random.dirichlet(np.ones(3), count)
    between = shares[:, :1] * one + shares[:, 1:2] * two + shares[:, 2:] * three
    beyond = one * random.uniform(0.0, 2.0, (count, 1))
    around = one + 0.1 * random.standard_normal((count, len(axes))) @ axes
    found = np.concatenate([anywhere, between, beyond, around, one + random.uniform(0, 1, (count, 1)) * (two - one)])
    return np.asarray(found[np.linalg.norm(found, axis=1) < 0.99 * np.pi])


def check(part: Part, axes: Floats, seed: int, sets: int) -> None:
    random = np.random.default_rng(seed)
    for _ in range(sets):
        poses = random_poses(random, axes)
        at_poses = found_weights(part, poses, np.concatenate([poses, np.zeros((1, 3))]))
        np.testing.assert_allclose(at_poses, np.eye(len(poses) + 1, len(poses)), atol=1e-9)
        weights = found_weights(part, poses, samples(random, poses, axes, 50))
        assert weights.min() >= 0
        assert weights.sum(axis=1).max() < MOST + 1e-12


@pytest.mark.parametrize("name", PLANES)
def test_any_poses(name: str) -> None:
    """Exact in all poses and at rest, nowhere negative, and bounded together: solved combinations swing to 79."""
    check(*PLANES[name], seed=7, sets=60)


@pytest.mark.thorough
@pytest.mark.parametrize("name", PLANES)
def test_ten_thousand(name: str) -> None:
    check(*PLANES[name], seed=8, sets=3_334)


@pytest.mark.parametrize("name", PLANES)
def test_formula(name: str) -> None:
    part, axes = PLANES[name]
    random = np.random.default_rng(9)
    for _ in range(5):
        poses = random_poses(random, axes)
        at = samples(random, poses, axes, 10)
        expected = [expected_weights(poses, x) for x in at]
        np.testing.assert_allclose(found_weights(part, poses, at), expected, atol=1e-9)


def test_smooth() -> None:
    """On lines anywhere, differences of steps shrink with the square of their length, as at no kink."""
    part, axes = PLANES["swing"]
    random = np.random.default_rng(10)
    for _ in range(20):
        poses = random_poses(random, axes)
        one, two = (samples(random, poses, axes, 1)[0] for _ in range(2))
        coarse, fine = (
            np.abs(np.diff(found_weights(part, poses, one + shares[:, None] * (two - one)), 2, axis=0)).max()
            for shares in (np.linspace(0, 1, 2_001), np.linspace(0, 1, 8_001))
        )
        assert fine < 0.1 * coarse + 1e-9


def test_poses_in_one_direction_fade_evenly() -> None:
    """As between keys of an animation: the next comes in as the one before goes, and the last stays."""
    degrees = np.array([45.0, 90.0, 130.0])
    angles = np.array([22.5, 67.5, 110.0, 160.0])
    weights = found_weights(
        "swing", np.radians(degrees)[:, None] * [1.0, 0.0, 0.0], np.radians(angles)[:, None] * [1.0, 0.0, 0.0]
    )
    expected = [[0.5, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]]
    np.testing.assert_allclose(weights, expected, atol=0.02)
