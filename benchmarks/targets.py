# SPDX-License-Identifier: MIT
"""The targets of the library, as ratios of times from one run: they carry from machine to machine, times do not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from .results import Results
from .timing import Row
from .workloads import CHARACTERS, FACES, GENERATED

SMALL, LARGE, HUGE = 10_000, 100_000, 1_000_000
SHORT = {2_000: "2k", SMALL: "10k", LARGE: "100k", HUGE: "1M"}
VARIANTS = {"spherical": 1.35, "dual_quaternion": 1.4, "optimized": 1.4, "half": 1.9, "weighted": 4.9, "average": 50.0}
"""The largest cost of a whole frame by each method over linear blending, where vertices are many beside joint sets.

The first is the ratio of Kavan and Zara 2005, Table 2; the average is no kernel, but a plain loop in double.
"""
MANY_VERTICES = 40
"""Vertices of a joint set from which they are many."""
OVER_NUMBA = {"linear": 3.0, "half": 2.5, "spherical": 1.2}
"""How much longer linear blending in a loop of numba may take than ours on a face rig, at the least."""


def rows(results: Results) -> list[Row]:
    """All targets that the results have figures for."""
    found = [row for isa in results.isas if isa != "baseline" for row in _rows_of_isa(results, isa)]
    return [row for row in found if not math.isnan(row.value)]


def _rows_of_isa(results: Results, isa: str) -> Iterator[Row]:
    for name in (*GENERATED, *CHARACTERS, *FACES):
        for size in results.sizes(name):
            where = f"{name} {SHORT[size]} pn" if name in GENERATED else f"{name} pn"
            time = partial(results.time, name, size, "frame", isa=isa)
            ozz, numba = (results.time(name, size, "frame", "linear", system=system) for system in ("ozz", "numba"))
            yield Row("ozz LBS / LBS, whole frame", where, isa, ozz / time("linear"), 1.0, at_most=False)
            for method, least in OVER_NUMBA.items() if name in FACES else ():
                ratio = numba / time(method)
                yield Row(f"numba LBS / {method}, whole frame", where, isa, ratio, least, at_most=False)
            if size >= MANY_VERTICES * int(results.workload(name, size)["joint_sets"]):
                for method, most in VARIANTS.items():
                    ratio = time(method) / time("linear")
                    yield Row(f"{method} / linear, whole frame", where, isa, ratio, most, regression=3.0)

    for name in ("S", "R"):
        for size in set(results.sizes(name)) & {SMALL, LARGE, HUGE}:
            where = f"{name} {SHORT[size]}"
            part = partial(results.time, name, size, isa=isa)
            if size != HUGE:
                pose = part("pose") / int(results.workload(name, size)["joint_sets"])
                yield Row("pose preparation per joint set, ns", where, isa, pose, 90.0, regression=math.inf)
                ratio = part("many") / part("apart")
                yield Row("deform_many / single frames", f"{where} pn", isa, ratio, 1.05)
            timed, least = ("frame", 1.3) if size == SMALL else ("alone", 1.8)
            two = {"frame": "2 threads, whole frame", "alone": "2 threads, kernel"}[timed]
            yield Row(two, f"{where} pn", isa, part(timed) / part(timed, threads=2), least, at_most=False)
