# SPDX-License-Identifier: MIT
"""Timing in rounds: all that is compared takes turns, so that a slow moment of the machine hits all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Frame = TypeVar("Frame")

TURN = 0.002  # seconds that a turn lasts about, if one repetition is shorter
MOST_REPETITIONS = 200
BUDGET = 0.5  # seconds after which a case that is slow sits some rounds out
FEWEST_ROUNDS = 3
# Threads stay awake for a while in case that more work comes: ours for 30 microseconds, those of others that use OpenMP
# for about so many seconds. They'd be in the way of the next in turn.
SETTLE = 0.003


@dataclass(frozen=True)
class Case:
    """One thing to time.

    Attributes
    ----------
    system : str
        Whose it is: ``"sbs"`` for the C library, or a name of `benchmarks.peers` and the like.
    what : str
        The part: ``"frame"`` for all that a caller waits for in a frame, or a word of benchmarks/native/phases.c.
    method : str
        As `sbs.Skin.deform` has it.
    attributes : {"p", "pn"}
        Positions, or positions and normals.
    threads : int
    isa : str
        The instruction set, of ours; empty for others.
    run : callable
        Does it so many times; returns the nanoseconds per frame of each.
    """

    system: str
    what: str
    method: str
    attributes: str
    threads: int
    isa: str
    run: Callable[[int], Sequence[float]]


@dataclass(frozen=True)
class Timing:
    """The time of a case.

    Attributes
    ----------
    case : Case
    minimum, median : float
        Nanoseconds per frame, over all repetitions of all rounds.
    samples : int
        How many those are.
    """

    case: Case
    minimum: float
    median: float
    samples: int


def measure(cases: Sequence[Case], rounds: int) -> list[Timing]:
    """Time cases against each other.

    In a round each case has a turn: one repetition to warm up, which does not count, and then as many as take about
    2 ms. Slow cases sit rounds out, but have three turns at least.

    Parameters
    ----------
    cases : sequence of Case
    rounds : int

    Returns
    -------
    list of Timing
        In the order of the cases.
    """
    repetitions, turns = [], []
    for case in cases:
        case.run(1)
        start = time.perf_counter()
        case.run(1)
        cost = time.perf_counter() - start  # of a repetition with all that is not timed
        repetitions.append(int(min(max(TURN / cost, 1), MOST_REPETITIONS)))
        turns.append(int(min(max(BUDGET / (cost * (repetitions[-1] + 1)), FEWEST_ROUNDS), rounds)))
    samples: list[list[float]] = [[] for _ in cases]
    for number in range(rounds):
        for index, case in enumerate(cases):
            if (number + 1) * turns[index] // rounds > number * turns[index] // rounds:
                samples[index] += case.run(repetitions[index] + 1)[1:]
                if case.threads > 1:
                    time.sleep(SETTLE)
    return [
        Timing(case, min(times), statistics.median(times), len(times))
        for case, times in zip(cases, samples, strict=True)
    ]


def frame_by_frame(deform: Callable[[Frame], object], frames: Sequence[Frame]) -> Callable[[int], list[float]]:
    """What a `Case` runs, from a function that deforms by one frame: a repetition is all frames in turn."""

    def run(repetitions: int) -> list[float]:
        times = []
        for _ in range(repetitions):
            start = time.perf_counter_ns()
            for frame in frames:
                deform(frame)
            times.append((time.perf_counter_ns() - start) / len(frames))
        return times

    return run
