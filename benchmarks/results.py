# SPDX-License-Identifier: MIT
"""The file of results: everything that was measured, and how to find it again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbs.support.files import replacing

from .rounds import Timing
from .workloads import Workload

CASE = ("system", "isa", "what", "method", "attributes", "threads")
TIMING = ("workload", "vertices", *CASE, "minimum", "median", "samples")


@dataclass(frozen=True)
class Results:
    """What a run has measured, as it stands in the file.

    Attributes
    ----------
    machine : dict
        As `benchmarks.machine.describe` makes it.
    workloads : list of dict
        Their names, sizes and counts.
    timings : list of dict
        By the names of `TIMING`: the fields of `Case`, with ``minimum`` and ``median`` in nanoseconds per frame.
    memory : list of dict
        As `benchmarks.memory.measure` makes them.
    """

    machine: dict[str, Any]
    workloads: list[dict[str, Any]]
    timings: list[dict[str, Any]]
    memory: list[dict[str, Any]]

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read a file of results."""
        fields = json.loads(path.read_text())
        fields["timings"] = [dict(zip(TIMING, row, strict=True)) for row in fields["timings"]]
        return cls(**fields)

    def write(self, path: Path) -> None:
        """Write the file: a record a line, those of timings in the order of `TIMING` without their names."""
        records: dict[str, list[Any]] = {
            "workloads": self.workloads,
            "memory": self.memory,
            "timings": [[timing[name] for name in TIMING] for timing in self.timings],
        }
        lists = [
            f'"{name}": [\n' + ",\n".join(json.dumps(record) for record in value) + "\n]"
            for name, value in records.items()
        ]
        with replacing(path) as temporary:
            temporary.write_text("{\n" + ",\n".join([f'"machine": {json.dumps(self.machine)}', *lists]) + "\n}\n")

    def add(self, workload: Workload, timings: list[Timing]) -> None:
        """Record the timings of a workload."""
        for timing in timings:
            times = (round(timing.minimum, 1), round(timing.median, 1), timing.samples)
            what = (getattr(timing.case, name) for name in CASE)
            row = (workload.name, workload.vertex_count, *what, *times)
            self.timings.append(dict(zip(TIMING, row, strict=True)))

    @property
    def isas(self) -> list[str]:
        """The instruction sets of ours, the best first."""
        return list(dict.fromkeys(timing["isa"] for timing in self.timings if timing["system"] == "sbs"))

    def sizes(self, workload: str) -> list[int]:
        """The numbers of vertices that a workload was timed with, ascending."""
        return sorted({record["vertices"] for record in self.workloads if record["name"] == workload})

    def time(
        self,
        workload: str,
        vertices: int,
        what: str,
        method: str = "spherical",
        *,
        system: str = "sbs",
        isa: str = "",
        attributes: str = "pn",
        threads: int = 1,
        statistic: str = "minimum",
    ) -> float | None:
        """Nanoseconds per frame, or None if that was not measured."""
        wanted = {
            "workload": workload,
            "vertices": vertices,
            "what": what,
            "method": method,
            "system": system,
            "isa": isa,
            "attributes": attributes,
            "threads": threads,
        }
        for timing in self.timings:
            if all(timing[key] == value for key, value in wanted.items()):
                return float(timing[statistic])
        return None

    def workload(self, name: str, vertices: int) -> dict[str, Any]:
        """The counts of a workload."""
        return next(record for record in self.workloads if (record["name"], record["vertices"]) == (name, vertices))
