# SPDX-License-Identifier: MIT
"""``python -m benchmarks.centers``: what optimized centers of rotation cost, on two threads, beside what they may.

Seconds, as a caller in Python waits for them: the least and the median of some repetitions. Exits with 1 if a median
misses its target.
"""

from __future__ import annotations

import statistics
import sys
import time

from rich.console import Console
from rich.table import Table

import sbs
from sbs.samples import load as load_sample

REPETITIONS = 9
TARGET = 2.0  # seconds, for the woman's 13,380 vertices


def seconds(tolerance: float) -> list[float]:
    """The times of some repetitions, after one that does not count."""
    mesh = load_sample("woman").mesh
    times = []
    for _ in range(1 + REPETITIONS):
        start = time.perf_counter()
        sbs.optimized_centers(
            mesh.positions, mesh.triangles, mesh.joint_indices, mesh.joint_weights, tolerance=tolerance, threads=2
        )
        times.append(time.perf_counter() - start)
    return times[1:]


def main() -> int:
    table = Table("", "least s", "median s", "target", "")
    missed = 0
    for name, tolerance in (("the woman", 1e-2), ("the same, nothing merged", 0.0)):
        times = seconds(tolerance)
        median = statistics.median(times)
        missed += median > TARGET
        table.add_row(name, f"{min(times):.3f}", f"{median:.3f}", f"{TARGET:g}", "missed" if median > TARGET else "met")
    Console().print(table)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
