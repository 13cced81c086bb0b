# SPDX-License-Identifier: MIT
"""The file of results: everything that was measured, the machine, and a digest of the code of frames."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sbs
from sbs.support.files import replacing

from . import ROOT
from .timing import Timing

FOLDERS = ("kernels", "pose", "deform")
"""Of csrc: the code of frames."""
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
PACKAGES = ("numpy", "libigl", "numba", "usd-core")
Key = tuple[str, int, str, str, str, str, str, int]
"""Workload, vertices, system, instruction set, part, method, attributes, threads."""


@dataclass(frozen=True)
class Results:
    """The measurements of a run, as they stand in the file."""

    machine: dict[str, Any] = field(default_factory=dict)  # by `describe_machine`
    workloads: list[dict[str, Any]] = field(default_factory=list)  # names, sizes and counts
    timings: dict[Key, Timing] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read a file of results."""
        fields = json.loads(path.read_text())
        fields["timings"] = {tuple(row[:-3]): Timing(*row[-3:]) for row in fields["timings"]}
        return cls(**fields)

    def write(self, path: Path) -> None:
        """Write the file, a record a line."""
        timings = [
            (*key, round(time.minimum, 1), round(time.median, 1), time.samples) for key, time in self.timings.items()
        ]
        records: dict[str, list[Any]] = {"workloads": self.workloads, "timings": timings}
        lists = [f'"{name}": [\n' + ",\n".join(map(json.dumps, value)) + "\n]" for name, value in records.items()]
        with replacing(path) as temporary:
            temporary.write_text("{\n" + ",\n".join([f'"machine": {json.dumps(self.machine)}', *lists]) + "\n}\n")

    @property
    def isas(self) -> list[str]:
        """The instruction sets of ours, the best first."""
        return list(dict.fromkeys(isa for _, _, system, isa, *_ in self.timings if system == "sbs"))

    def sizes(self, workload: str) -> list[int]:
        """The numbers of vertices that a workload was timed with, ascending."""
        return sorted({record["vertices"] for record in self.workloads if record["name"] == workload})

    def timing(
        self,
        workload: str,
        vertices: int,
        part: str,
        method: str = "spherical",
        *,
        system: str = "sbs",
        isa: str = "",
        attributes: str = "pn",
        threads: int = 1,
    ) -> Timing | None:
        """The timing, or None if that was not measured."""
        return self.timings.get((workload, vertices, system, isa, part, method, attributes, threads))

    def time(self, *arguments: Any, **where: Any) -> float:
        """The least time in nanoseconds per frame; not a number if that was not measured."""
        found = self.timing(*arguments, **where)
        return float("nan") if found is None else found.minimum

    def workload(self, name: str, vertices: int) -> dict[str, Any]:
        """The counts of a workload."""
        return next(record for record in self.workloads if (record["name"], record["vertices"]) == (name, vertices))


def digest(root: Path = ROOT) -> str:
    """The digest of the sources of frames, which comments and line breaks do not change; it needs no repository."""
    found = hashlib.sha256()
    for folder in FOLDERS:
        for path in sorted((root / "csrc" / folder).iterdir()):
            if path.suffix in (".c", ".h", ".inc"):
                code = " ".join(COMMENT.sub(" ", path.read_text(encoding="utf-8")).split())
                found.update(f"{folder}/{path.name}\0{code}\0".encode())
    return found.hexdigest()[:16]


def describe_machine(compiler: str) -> dict[str, Any]:
    """The machine, the compiler of the library, and the versions of all that takes part."""
    environment = {**os.environ, "LC_ALL": "C"}
    text = subprocess.run(["lscpu"], check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    cpu = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())}
    installed = {package.name: package.version for package in importlib.metadata.distributions()}
    # Empty outside of a repository.
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()
    return {
        "cpu": cpu.get("Model name", platform.processor()),
        "family": f"{cpu.get('Vendor ID', '?')} family {cpu.get('CPU family', '?')} model {cpu.get('Model', '?')}",
        "cores": os.cpu_count(),
        "caches": {level: cpu[f"{level} cache"] for level in ("L1d", "L2", "L3") if f"{level} cache" in cpu},
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "compiler": compiler,
        "python": platform.python_version(),
        "versions": {package: installed[package] for package in PACKAGES if package in installed},
        "sbs": sbs.__version__,
        "commit": commit,
        "sources": digest(),
        "date": datetime.now(UTC).date().isoformat(),
    }
