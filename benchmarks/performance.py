# SPDX-License-Identifier: MIT
"""The page on performance, docs/performance.md, from the results in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sbs.support.files import replacing

from . import ROOT
from .report import paper_rows
from .results import Results
from .workloads import CHARACTERS

PAGE = ROOT / "docs" / "performance.md"
BEGIN = "<!-- Written by benchmarks/performance.py: do not edit. -->\n"
END = "<!-- End of what benchmarks/performance.py writes. -->\n"

# system, method, attributes, label
PEERS = (
    ("ozz", "linear", "pn", "ozz-animation, LBS"),
    ("numba", "linear", "pn", "numba, LBS"),
    ("usd-core", "linear", "pn", "usd-core, LBS"),
    ("usd-core", "dual_quaternion", "pn", "usd-core, DQS"),
    ("numpy", "linear", "pn", "NumPy einsum, LBS"),
    ("libigl", "linear", "p", "libigl, LBS, positions only"),
    ("blender", "linear", "p", "Blender's Armature modifier, positions only"),
    ("blender", "dual_quaternion", "p", "the same with Preserve Volume"),
)


def update(results: Results, file: Path) -> None:
    """Replace the section between the markers.

    Raises
    ------
    ValueError
        If the page has not both markers.
    """
    text = PAGE.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise ValueError(f"{PAGE} has no section to replace: {BEGIN.strip()}")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    with replacing(PAGE) as temporary:
        temporary.write_text(before + BEGIN + section(results, file) + END + after)


def section(results: Results, file: Path) -> str:
    """The section, between its markers."""
    best = results.isas[0]
    place = file.resolve().relative_to(ROOT)
    parts = [
        _wrap(
            f"Whole frames with pose preparation, float32, one thread, on {_machine(results)}; the fastest of many "
            "rounds in which all systems took turns. `make bench` measures again, `make bench-peers` other libraries "
            "too; [Benchmarks](benchmarks.md) tells how."
        ),
        f"![Nanoseconds per vertex over the size of the mesh](../{place.with_suffix('.png').as_posix()})",
        _wrap(
            f"Nanoseconds per vertex by {best}, positions and normals. SBS is about centers of joint sets, and about "
            "optimized and weighted ones; half is about optimized ones by an amount of one half, the rest linear:"
        ),
        _table(
            ("mesh", "vertices", "joint sets", *_METHODS.values(), *_BESIDE.values()), _own_rows(results, best), left=1
        ),
        "Characters in frames of their clips, SBS over LBS, beside Table 2 of Kavan and Žára 2005:",
        _table(
            ("character", "vertices", "positions", "and normals", "solves per pose", "paper", "its solves"),
            [
                (name, size, p, pn, solves, like, theirs)
                for name, size, _, p, pn, _, _, solves, like, theirs in paper_rows(results, [best])
            ],
            left=1,
        ),
    ]
    peers = _peer_rows(results, best)
    if peers:
        parts += [
            "Others, by one thread, over our SBS of the same attributes:",
            _table(("", *(f"{_MESHES[name]}, {size:,}" for name, size in _PEER_MESHES)), peers, left=1),
        ]
    parts.append(f"`python -m benchmarks report {place.as_posix()}` shows all figures.")
    return "\n" + "\n\n".join(parts) + "\n\n"


def _machine(results: Results) -> str:
    machine = results.machine
    caches = ", ".join(f"{level} {size.split('(')[0].strip()}" for level, size in machine["caches"].items())
    cpu = f"{machine['cpu']} ({machine['family']}, {machine['cores']} cores, {caches})"
    return f"{cpu}, gcc {machine['compiler']}, commit {machine['commit']}, {machine['date']}"


_PEER_MESHES = (("S", 10_000), ("S", 100_000), ("R", 10_000), ("R", 100_000), ("face", 24_000))
_MESHES = {
    "S": "tube",
    "R": "humanoid",
    "R shuffled": "humanoid, shuffled",
    **{name: name for name in CHARACTERS},
    "face": "face, 8 influences",
    "face, 12": "face, 12 influences",
}
_METHODS = {
    "linear": "LBS",
    "spherical": "SBS",
    "dual_quaternion": "DQS",
    "optimized": "optimized",
    "half": "half",
    "weighted": "weighted",
}
_BESIDE = {"ozz": "ozz / our LBS", "numba": "numba / our LBS"}


def _own_rows(results: Results, isa: str) -> list[tuple[str, ...]]:
    rows = []
    for workload, name in _MESHES.items():
        for size in results.sizes(workload):
            times = [results.time(workload, size, "frame", method, isa=isa) for method in _METHODS]
            peers = [results.time(workload, size, "frame", "linear", system=system) for system in _BESIDE]
            cells = ["" if time is None else f"{time / size:.2f}" for time in times]
            linear = times[0]
            cells += ["" if time is None or linear is None else f"{time / linear:.2f}" for time in peers]
            rows.append((name, f"{size:,}", f"{results.workload(workload, size)['joint_sets']:,}", *cells))
    return rows


def _peer_rows(results: Results, isa: str) -> list[tuple[str, ...]]:
    rows = []
    for system, method, attributes, label in PEERS:
        cells = []
        for workload, size in _PEER_MESHES:
            theirs = results.time(workload, size, "frame", method, system=system, attributes=attributes)
            ours = results.time(workload, size, "frame", isa=isa, attributes=attributes)
            cells.append("" if theirs is None or ours is None else f"{theirs / ours:.1f}")
        if any(cells):
            rows.append((label, *cells))
    return rows


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int) -> str:
    rule = "|" + "|".join("---" if index < left else "---:" for index in range(len(columns))) + "|"
    lines = ["| " + " | ".join(row) + " |" for row in (columns, *rows)]
    return "\n".join([lines[0], rule, *lines[1:]])


def _wrap(text: str) -> str:
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) + 1 > 120:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])
