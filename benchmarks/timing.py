# SPDX-License-Identifier: MIT
"""Timing in turns, so that a slow moment of the machine hits all alike, and figures beside their targets."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sbs.skinning.skin import Skin

Frame = TypeVar("Frame")
Run = Callable[[int], Sequence[float]]
"""Does one thing so many times; returns the nanoseconds per frame of each."""

TURN = 0.002  # seconds of a turn, about, if one repetition is shorter
MOST_REPETITIONS = 200
BUDGET = 0.5  # seconds after which a slow run sits some rounds out
FEWEST_ROUNDS = 3


class Timing(NamedTuple):
    """Nanoseconds per frame, and the number of repetitions that they were found from."""

    minimum: float
    median: float
    samples: int


def measure(runs: Sequence[Run], rounds: int) -> list[Timing]:
    """Time runs against each other, a turn for each in a round.

    A turn is one repetition to warm up, which does not count, and about 2 ms of further ones. Slow runs sit rounds out,
    but have three turns at least.
    """
    repetitions, turns = [], []
    for run in runs:
        run(1)
        start = time.perf_counter()
        run(1)
        cost = time.perf_counter() - start
        repetitions.append(int(min(max(TURN / cost, 1), MOST_REPETITIONS)))
        turns.append(int(min(max(BUDGET / (cost * (repetitions[-1] + 1)), FEWEST_ROUNDS), rounds)))
    samples: list[list[float]] = [[] for _ in runs]
    for number in range(rounds):
        for index, run in enumerate(runs):
            if (number + 1) * turns[index] // rounds > number * turns[index] // rounds:
                samples[index] += run(repetitions[index] + 1)[1:]
    return [Timing(min(times), statistics.median(times), len(times)) for times in samples]


def frame_by_frame(deform: Callable[[Frame], object], frames: Sequence[Frame]) -> Run:
    """A run of which one repetition calls a function with each frame."""

    def run(repetitions: int) -> list[float]:
        times = []
        for _ in range(repetitions):
            start = time.perf_counter_ns()
            for frame in frames:
                deform(frame)
            times.append((time.perf_counter_ns() - start) / len(frames))
        return times

    return run


def deformation(skin: Skin, attributes: str, **options: Any) -> Callable[[Any], object]:
    """`Skin.deform` by one thread into arrays that stay, of positions (``"p"``) or of normals, too (``"pn"``)."""
    outputs = ("out", "out_normals")[: len(attributes)]
    arrays = {name: np.empty_like(skin.rest_positions) for name in outputs}
    deform: Callable[..., object] = skin.deform
    return partial(deform, normals=attributes == "pn", threads=1, **(arrays | options))


@dataclass(frozen=True)
class Row:
    """A figure beside its target."""

    name: str
    where: str  # workload and size
    isa: str  # instruction set, or empty
    value: float
    target: float
    at_most: bool = True  # whether the target is an upper bound; else it is a lower one
    regression: float = 2.0  # a target that is missed by this factor is a regression, however busy the machine

    @property
    def key(self) -> tuple[str, ...]:
        """Which row it is, in any run."""
        return self.name, self.where, self.isa

    @property
    def bound(self) -> str:
        """The target in words."""
        return f"{'≤' if self.at_most else '≥'} {self.target:g}"

    @property
    def excess(self) -> float:
        """By what factor the target is missed; 1 or less if it is met."""
        return self.value / self.target if self.at_most else self.target / self.value

    @property
    def verdict(self) -> str:
        """Whether the target is met, or by how much it is missed."""
        return "met" if self.excess <= 1 else f"missed by {abs(self.value / self.target - 1):.0%}"

    @property
    def regressed(self) -> bool:
        """Whether the target is missed by more than any busy machine explains."""
        return self.excess > self.regression
