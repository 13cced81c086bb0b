# SPDX-License-Identifier: MIT
"""What the times were measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from datetime import UTC, datetime
from typing import Any

import sbs

from . import ROOT
from .sources import digest

PACKAGES = ("numpy", "libigl", "numba", "usd-core")


def _lscpu() -> dict[str, str]:
    """What lscpu says, by its words."""
    text = subprocess.run(
        ["lscpu"], check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C"}
    ).stdout
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())}


def _commit() -> str:
    """The commit that is checked out, with a mark if files differ from it; empty outside of a repository."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()


def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def describe(compiler: str) -> dict[str, Any]:
    """The machine, the compiler of the library, and what else takes part."""
    cpu = _lscpu()
    return {
        "cpu": cpu.get("Model name", platform.processor()),
        "family": f"{cpu.get('Vendor ID', '?')} family {cpu.get('CPU family', '?')} model {cpu.get('Model', '?')}",
        "cores": os.cpu_count(),
        "caches": {level: cpu[f"{level} cache"] for level in ("L1d", "L2", "L3") if f"{level} cache" in cpu},
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "compiler": compiler,
        "python": platform.python_version(),
        "versions": _versions(),
        "sbs": sbs.__version__,
        "commit": _commit(),
        "sources": digest(),
        "date": datetime.now(UTC).date().isoformat(),
    }
