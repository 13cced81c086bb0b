# SPDX-License-Identifier: MIT
"""What the library must reach, as ratios of times from one run: they carry from machine to machine, times do not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from .results import Results
from .workloads import CHARACTERS, FACES, GENERATED

SMALL, LARGE, HUGE = 10_000, 100_000, 1_000_000
PAPER_AVERAGE = (22.74, 4.54)
"""Milliseconds a frame of the Woman, by Buss and Fillmore's average and by QLERP: Kavan and Zara 2005, section 5."""
VARIANTS = {"spherical": 1.35, "dual_quaternion": 1.4, "optimized": 1.4, "half": 1.9, "weighted": 4.5, "average": 40.0}
"""What a whole frame may cost by each method over linear blending, where vertices are many beside joint sets.

The first is what Kavan and Zara 2005 saw, Table 2; the average is no kernel, but a plain loop in double.
"""
MANY_VERTICES = 40
"""Vertices of a joint set from which they are many."""
OVER_NUMBA = {"linear": 3.0, "half": 2.5, "spherical": 1.2}
"""How much longer linear blending in a loop of numba may take than ours on a face rig, at the least."""
# Kavan and Zara 2005, Table 2: what is nearest to our characters, SBS over LBS, and solves.
PAPER = {"hand_webxr": ("Hand", 1.35, 38), "arnaud_ozz": ("Woman", 1.26, 37), "rat_quaternius": ("Creature", 1.26, 56)}


OUT_OF_PROPORTION = 2.0
"""By what factor a ratio misses its target that no busy machine explains, if it does so in every run."""


@dataclass(frozen=True)
class Row:
    """A figure beside what it must be.

    Attributes
    ----------
    name : str
        What it is.
    where : str
        Workload and size.
    isa : str
        Instruction set, or empty.
    value : float
    target : float
    at_most : bool
        Whether the target is an upper bound; else it is a lower one.
    regression : float
        By what factor a value may miss the target before it counts as a regression, on any machine and however busy: at
        least 2; infinity for what is no ratio.
    """

    name: str
    where: str
    isa: str
    value: float
    target: float
    at_most: bool = True
    regression: float = OUT_OF_PROPORTION

    @property
    def key(self) -> tuple[str, ...]:
        """Which row it is, in any run."""
        return self.name, self.where, self.isa

    @property
    def bound(self) -> str:
        """What it must be, in words."""
        return f"{'≤' if self.at_most else '≥'} {self.target:g}"

    @property
    def met(self) -> bool:
        """Whether it is what it must be."""
        return self.value <= self.target if self.at_most else self.value >= self.target

    @property
    def verdict(self) -> str:
        """Whether it is met, or by how much it is missed."""
        return "met" if self.met else f"missed by {abs(self.value / self.target - 1):.0%}"

    @property
    def regressed(self) -> bool:
        """Whether it is out of all proportion."""
        if self.at_most:
            return self.value > self.target * self.regression
        return self.value < self.target / self.regression


def rows(results: Results) -> list[Row]:
    """All targets that the results have figures for."""
    found = [row for isa in results.isas if isa != "baseline" for row in _rows_of_isa(results, isa)]
    for record in results.memory:
        where = f"{record['workload']} {_short(record['vertices'])} {record['attributes']}"
        found.append(Row("peak memory / the caller's arrays", where, "", record["ratio"], 3.0))
    return found


def _short(vertices: int) -> str:
    return {2_000: "2k", SMALL: "10k", LARGE: "100k", HUGE: "1M"}.get(vertices, f"{vertices:,}")


def _quotient(a: float | None, b: float | None) -> float | None:
    return a / b if a is not None and b is not None else None


def _rows_of_isa(results: Results, isa: str) -> Iterator[Row]:
    time = partial(results.time, isa=isa)

    def row(
        name: str,
        where: str,
        value: float | None,
        target: float,
        at_most: bool = True,
        regression: float = OUT_OF_PROPORTION,
    ) -> Iterator[Row]:
        if value is not None:
            yield Row(name, where, isa, value, target, at_most, regression)

    for name in (*GENERATED, *CHARACTERS, *FACES):
        for size in results.sizes(name):
            where = f"{name} {_short(size)} pn" if name in GENERATED else f"{name} pn"
            linear = time(name, size, "frame", "linear")
            ozz = results.time(name, size, "frame", "linear", system="ozz")
            yield from row("ozz LBS / LBS, whole frame", where, _quotient(ozz, linear), 1.0, False)
            if name in FACES:
                numba = results.time(name, size, "frame", "linear", system="numba")
                for method, least in OVER_NUMBA.items():
                    value = _quotient(numba, time(name, size, "frame", method))
                    yield from row(f"numba LBS / {method}, whole frame", where, value, least, False)
            if size < MANY_VERTICES * int(results.workload(name, size)["joint_sets"]):
                continue
            for method, most in VARIANTS.items():
                value = _quotient(time(name, size, "frame", method), linear)
                yield from row(f"{method} / linear, whole frame", where, value, most, regression=3.0)

    for workload in ("S", "R"):
        for size in (SMALL, LARGE):
            value = _preparation(results, workload, size, isa)
            yield from row(
                "pose preparation per joint set, ns", f"{workload} {_short(size)}", value, 90.0, regression=math.inf
            )

    for workload in ("S", "R"):
        for size in (LARGE, HUGE):
            value = _quotient(time(workload, size, "alone"), time(workload, size, "alone", threads=2))
            yield from row("2 threads, kernel", f"{workload} {_short(size)} pn", value, 1.8, False)
        value = _quotient(time(workload, SMALL, "frame"), time(workload, SMALL, "frame", threads=2))
        yield from row("2 threads, whole frame", f"{workload} 10k pn", value, 1.3, False)

    for workload in ("S", "R"):
        for size in (SMALL, LARGE):
            value = _quotient(time(workload, size, "many"), time(workload, size, "apart"))
            yield from row("deform_many / single frames", f"{workload} {_short(size)} pn", value, 1.05)


def _preparation(results: Results, workload: str, vertices: int, isa: str) -> float | None:
    """Nanoseconds per joint set of all that precedes the kernel."""
    pose = results.time(workload, vertices, "pose", isa=isa)
    return None if pose is None else pose / int(results.workload(workload, vertices)["joint_sets"])
