# SPDX-License-Identifier: MIT
"""``python -m benchmarks.weights``: what weights by capsules cost, in one thread, beside what they may.

Each line is the least and the median time of some repetitions in milliseconds, as a caller in Python waits for them.
Exits with 1 if a median misses its target.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import sbs
from sbs import weights

from .workloads import Workload, load

REPETITIONS = 21


class Case(NamedTuple):
    """Something to time, and the milliseconds that it may take."""

    name: str
    target: float
    run: Callable[[], Any]


def fitted_capsules(workload: Workload) -> weights.Capsules:
    """The capsules of a first click."""
    bind = np.tile(np.eye(4), (workload.joint_count, 1, 1))
    bind[:, :3, 3] = workload.joint_positions
    return weights.fit_capsules(sbs.Skeleton(workload.parents, bind), workload.rest_positions)


def capsule_cases() -> Iterator[Case]:
    """100,000 vertices and 60 bones, whatever the order of the vertices and however far the capsules reach."""
    for name in ("S", "R", "R shuffled"):
        workload = load(name, 100_000)
        points, capsules = workload.rest_positions, fitted_capsules(workload)
        width = weights.capsule_weights(points, capsules).joint_weights.shape[1]
        where = f"capsules of {name}, {workload.joint_count} bones"
        yield Case(
            f"{where}: all of up to {width} influences",
            30.0,
            partial(weights.capsule_weights, points, capsules, threads=1),
        )
        yield Case(
            f"{where}: 4 influences",
            30.0,
            partial(weights.capsule_weights, points, capsules, limit=4, threads=1),
        )
        none = weights.Capsules(
            capsules.heads, capsules.tails, np.zeros((len(capsules), 2)), np.zeros((len(capsules), 2))
        )
        yield Case(
            f"{where}: all vertices outside",
            30.0,
            partial(weights.capsule_weights, points, none, limit=4, threads=1),
        )


def milliseconds(run: Callable[[], Any]) -> list[float]:
    """The times of some repetitions, after one that does not count."""
    run()
    times = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def main() -> int:
    table = Table("", "least ms", "median ms", "target", "")
    missed = 0
    for case in capsule_cases():
        times = milliseconds(case.run)
        median = statistics.median(times)
        missed += median > case.target
        verdict = "missed" if median > case.target else "met"
        table.add_row(case.name, f"{min(times):.2f}", f"{median:.2f}", f"{case.target:g}", verdict)
    Console().print(table)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
