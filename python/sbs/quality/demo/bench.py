# SPDX-License-Identifier: MIT
"""Times of methods: interleaved rounds, on any skin or on a generated tube."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...rigging.skeleton import Skeleton
from ...skinning.options import Method, method_name
from ...skinning.skin import Skin
from ...support import rotations

METHODS: tuple[Method, ...] = ("rigid", "linear", "spherical", "dual_quaternion")
PAPER_RATIO = (1.26, 1.35)  # SBS to LBS, of the times in Kavan and Zara 2005, Table 2


@dataclass(frozen=True)
class Timing:
    """The time of one method with one number of threads; whole calls of `Skin.deform`, pose preparation included.

    `minimum` and `median` are nanoseconds per vertex over the rounds.
    """

    method: Method
    threads: int
    minimum: float
    median: float


def measure(
    skin: Skin,
    skinning_matrices: NDArray[np.floating],
    *,
    methods: Sequence[Method] = METHODS,
    threads: Sequence[int] = (1,),
    rounds: int = 30,
) -> list[Timing]:
    """Time methods against each other in a pose (J, 4, 4): a list by number of threads, then method.

    Every round runs each method with each number of threads once, so that a slow moment of the machine affects all. One
    more round runs before them, to warm up.
    """
    out = np.empty((skin.vertex_count, 3), skin.dtype)
    cases = [(method_name(method), count) for count in threads for method in methods]
    seconds = in_rounds(
        [partial(skin.deform, skinning_matrices, method=method, threads=count, out=out) for method, count in cases],
        rounds,
    )
    scale = 1e9 / skin.vertex_count
    return [
        Timing(method, count, scale * min(times), scale * statistics.median(times))
        for (method, count), times in zip(cases, seconds, strict=True)
    ]


def in_rounds(cases: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Time calls that take turns: for each the seconds of every round, after one that does not count."""
    seconds: list[list[float]] = [[] for _ in cases]
    for _ in range(rounds + 1):
        for run, times in zip(cases, seconds, strict=True):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
    return [times[1:] for times in seconds]


def ratio_to_linear(timings: Sequence[Timing], timing: Timing) -> float:
    """The minimum of a timing divided by that of LBS with the same number of threads."""
    linear = next(other for other in timings if other.method == "linear" and other.threads == timing.threads)
    return timing.minimum / linear.minimum


def tube(vertex_count: int, seed: int = 2005) -> tuple[Skin, NDArray[np.float64]]:
    """A bent tube in float32 along a chain of 60 joints, every vertex with four influences, and a pose (60, 4, 4).

    Each ring of vertices leaves out one of the five joints that are nearest to it, at random: there are about 280 joint
    sets, all of them non-trivial. Joints are one unit apart, each turned against its parent by up to 30 degrees.
    """
    joint_count, random = 60, np.random.default_rng(seed)
    around = max(vertex_count // (17 * joint_count), 1)
    ring, spoke = np.divmod(np.arange(vertex_count), around)
    ring_count = int(ring[-1]) + 1
    height = np.arange(ring_count) * (joint_count - 1) / ring_count
    angle = 2 * np.pi * spoke / around
    positions = np.stack([0.3 * np.cos(angle), 0.3 * np.sin(angle), height[ring]], axis=1)

    nearest = np.clip(np.rint(height).astype(int) - 2, 0, joint_count - 5)[:, None] + np.arange(5)
    kept = np.argsort(random.random((ring_count, 5)), axis=1)[:, :4]
    joints = np.take_along_axis(nearest, kept, axis=1)
    weights = np.exp(-((joints - height[:, None]) ** 2))
    weights /= weights.sum(axis=1, keepdims=True)

    bind = np.tile(np.eye(4), (joint_count, 1, 1))
    bind[:, 2, 3] = np.arange(joint_count)
    skeleton = Skeleton(np.arange(-1, joint_count - 1), bind)
    axes = random.normal(size=(joint_count, 3))
    local = rotations.matrices_from_axis_angle(axes, random.uniform(-30, 30, joint_count), degrees=True)
    skin = Skin(
        positions.astype(np.float32),
        joints[ring].astype(np.int32),
        weights[ring].astype(np.float32),
        joint_count=joint_count,
        parents=skeleton.parents,
        joint_positions=skeleton.joint_positions,
    )
    return skin, skeleton.skinning_matrices(skeleton.forward(local))
