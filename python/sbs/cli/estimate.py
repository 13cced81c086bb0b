# SPDX-License-Identifier: MIT
"""How long measuring will take, and samples that fit into a limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..characters.character import Character
from ..quality import MeasuredMotion, NamedMethod, evaluate

# Poses and moments that are measured to tell how long one takes.
_POSES, _MOMENTS = 2, 8

# A pop is seen in four moments.
_LEAST_POSES, _LEAST_MOMENTS = 1, 4


@dataclass(frozen=True)
class Price:
    """Seconds that a pose and a moment of a path take, by all methods together."""

    pose: float
    moment: float

    def total(self, motions: Sequence[MeasuredMotion]) -> float:
        """Seconds for all poses and paths of some motions."""
        return sum(self.pose * len(motion.poses) + self.moment * _count_moments(motion) for motion in motions)


def _count_moments(motion: MeasuredMotion) -> int:
    return sum(len(path) for path in motion.paths)


def estimate_price(
    character: Character,
    motions: Sequence[MeasuredMotion],
    methods: dict[str, NamedMethod],
    clock: Callable[[], float] = time.perf_counter,
) -> Price:
    """Measure a little, and tell how long one pose and one moment take.

    Optimized centers, which are found once, are left out.
    """
    quick = {name: method for name, method in methods.items() if method.options.get("center") != "optimized"}
    scale = len(methods) / max(1, len(quick))
    longest = max(motions, key=_count_moments)

    def seconds(poses: int, moments: int) -> float:
        part = _cut(longest, range(min(poses, len(longest.poses))), [slice(moments)] if moments else [])
        start = clock()
        evaluate(character, [part], quick or methods)
        return clock() - start

    least = seconds(1, 0)  # with the work that is done once
    more = seconds(1 + _POSES, 0)
    paths = seconds(1, _MOMENTS) if longest.paths else least
    return Price(max(more - least, 1e-6) / _POSES * scale, max(paths - least, 0.0) / _MOMENTS * scale)


def sample_motions(motions: Sequence[MeasuredMotion], share: float) -> list[MeasuredMotion]:
    """Motions with a share of their poses, spread evenly, and of their paths, a piece from the middle of each."""
    samples = []
    for motion in motions:
        poses = len(motion.poses)
        count = min(poses, max(_LEAST_POSES, int(share * poses)))
        spread = np.round(np.linspace(0, poses - 1, count + 2)[1:-1]).astype(int).tolist()
        lengths = [min(len(path), max(_LEAST_MOMENTS, int(share * len(path)))) for path in motion.paths]
        firsts = [(len(path) - length) // 2 for path, length in zip(motion.paths, lengths, strict=True)]
        pieces = [slice(first, first + length) for first, length in zip(firsts, lengths, strict=True)]
        samples.append(_cut(motion, range(count) if count == poses else spread, pieces))
    return samples


def _cut(motion: MeasuredMotion, chosen: Sequence[int], pieces: Sequence[slice]) -> MeasuredMotion:
    """Some poses of a motion, and a piece of each of its first paths."""
    return replace(
        motion,
        labels=tuple(motion.labels[pose] for pose in chosen),
        poses=motion.poses[list(chosen)],
        paths=tuple(path[piece] for path, piece in zip(motion.paths, pieces, strict=False)),
        path_times=tuple(times[piece] for times, piece in zip(motion.path_times, pieces, strict=False)),
        times=None if motion.times is None else motion.times[list(chosen)],
        focus=None if motion.focus is None else tuple(motion.focus[pose] for pose in chosen),
    )


def describe_duration(seconds: float) -> str:
    """A duration that is not known exactly."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
