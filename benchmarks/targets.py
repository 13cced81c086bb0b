# SPDX-License-Identifier: MIT
"""What the library must reach, as ratios of times from one run: they carry from machine to machine, times do not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from .results import Results
from .systems import ORDERED
from .workloads import CHARACTERS

SMALL, LARGE, HUGE = 10_000, 100_000, 1_000_000
PAPER_AVERAGE = (22.74, 4.54)
"""Milliseconds a frame of the Woman, by Buss and Fillmore's average and by QLERP: Kavan and Zara 2005, section 5."""
VARIANTS = {"average": 4.0, "weighted": 2.5, "optimized": 1.0}
"""What spherical skinning may cost with other rotations or centers, over what it costs by default."""
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

    for workload in ("S", "R"):
        for size, target in ((SMALL, 1.25), (LARGE, 1.05), (HUGE, 1.05)):
            where = f"{workload} {_short(size)} pn"
            value = _quotient(time(workload, size, "alone"), time(workload, size, "alone", "linear"))
            yield from row("SBS / LBS, kernel", where, value, target)
    for workload in ("S", "R"):
        for attributes in ("pn", "p"):
            frame = partial(time, workload, SMALL, "frame", attributes=attributes)
            value = _quotient(frame("spherical"), frame("linear"))
            yield from row("SBS / LBS, whole frame", f"{workload} 10k {attributes}", value, 1.4)

    # ozz-animation sorts its vertices, so ours are in order as well.
    least = {SMALL: 3.0, LARGE: 2.0, HUGE: 1.7} if isa == "avx512" else dict.fromkeys((SMALL, LARGE, HUGE), 1.9)
    small = {"spherical": 1.5, "linear": 1.8} if isa == "avx512" else {"spherical": 1.2, "linear": 1.5}
    for workload in ("S", "R"):
        ordered = partial(time, workload, system=ORDERED)
        for size, target in least.items():
            ozz = results.time(workload, size, "frame", "linear", system="ozz")
            where = f"{workload} {_short(size)} pn"
            yield from row("ozz LBS / SBS, kernel", where, _quotient(ozz, ordered(size, "alone")), target, False)
            frames = small if size == SMALL else {"spherical": target}
            for method, least_of_frames in frames.items():
                name = f"ozz LBS / {'SBS' if method == 'spherical' else 'LBS'}, whole frame"
                value = _quotient(ozz, ordered(size, "frame", method))
                yield from row(name, where, value, least_of_frames, False)
        for size in (SMALL, LARGE, HUGE):
            for method in ("linear", "spherical"):
                value = _quotient(ordered(size, "frame", method), time(workload, size, "frame", method))
                yield from row(f"in order / as given, {method}", f"{workload} {_short(size)} pn", value, 1.0)

    for workload in ("S", "R"):
        for size, target in ((SMALL, 2.4), (LARGE, 1.2), (HUGE, 1.4)):
            value = _quotient(time(workload, size, "alone"), time(workload, size, "stream"))
            # Machines differ in how fast they stream, against how fast they compute.
            yield from row("SBS / streaming", f"{workload} {_short(size)} pn", value, target, regression=6.0)

    for workload in ("S", "R"):
        for size in (SMALL, LARGE):
            value = _preparation(results, workload, size, isa)
            yield from row(
                "pose preparation per joint set, ns", f"{workload} {_short(size)}", value, 60.0, regression=math.inf
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

    for name in CHARACTERS:
        for size in results.sizes(name):
            for attributes in ("pn", "p"):
                frame = partial(time, name, size, "frame", attributes=attributes)
                value = _quotient(frame("spherical"), frame("linear"))
                yield from row("SBS / LBS, whole frame", f"{name} {attributes}", value, 1.25)

    for name in ("S", "R", *CHARACTERS):
        for size in results.sizes(name):
            where = f"{name} pn" if name in CHARACTERS else f"{name} {_short(size)} pn"
            for variant, target in VARIANTS.items():
                value = _quotient(time(name, size, "frame", variant), time(name, size, "frame"))
                yield from row(f"{variant} / spherical, whole frame", where, value, target, regression=3.0)


def _preparation(results: Results, workload: str, vertices: int, isa: str) -> float | None:
    """Nanoseconds per joint set of all that precedes the kernel."""
    parts = [results.time(workload, vertices, part, isa=isa) for part in ("joints", "centers", "constants")]
    if None in parts:
        return None
    return sum(filter(None, parts)) / int(results.workload(workload, vertices)["joint_sets"])
