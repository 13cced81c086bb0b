# SPDX-License-Identifier: MIT
"""The page on performance, docs/performance.md, from the results in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sbs.support.files import replacing

from . import ROOT
from .report import paper_rows
from .results import Results
from .systems import ORDERED
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

_OZZ_COLUMNS = ("LBS, ozz", "ozz / our LBS", "ozz / our SBS")


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
        f"Nanoseconds per vertex by {best}, positions and normals; last, what it takes to read and write as much:",
        _table(
            ("mesh", "vertices", "joint sets", "LBS", "SBS", "DQS", "SBS / LBS", "streaming"),
            _own_rows(results, best),
            left=1,
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
    ordered = _ordered_rows(results, best)
    if ordered:
        with_ozz = any(any(row[4:]) for row in ordered)
        columns = ("mesh", "vertices", "LBS", "SBS", *(_OZZ_COLUMNS if with_ozz else ()))
        parts += [
            _wrap(
                "The same with vertices in the order of the skin (`Skin.vertex_order`), in nanoseconds per vertex, "
                "positions and normals" + ("; ozz-animation has them in this order as well:" if with_ozz else ":")
            ),
            _table(columns, [row[: len(columns)] for row in ordered], left=1),
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


_PEER_MESHES = (("S", 10_000), ("S", 100_000), ("R", 10_000), ("R", 100_000))
_MESHES = {"S": "tube", "R": "humanoid", "R shuffled": "humanoid, shuffled"}


def _own_rows(results: Results, isa: str) -> list[tuple[str, ...]]:
    rows = []
    for workload, name in _MESHES.items():
        for size in results.sizes(workload):
            times = {
                method: results.time(workload, size, "frame", method, isa=isa)
                for method in ("linear", "spherical", "dual_quaternion")
            }
            stream = results.time(workload, size, "stream", isa=isa)
            linear, spherical, dual = times.values()
            if linear is None or spherical is None or dual is None or stream is None:
                continue
            sets = results.workload(workload, size)["joint_sets"]
            per_vertex = [f"{time / size:.2f}" for time in (linear, spherical, dual)]
            rows.append(
                (name, f"{size:,}", str(sets), *per_vertex, f"{spherical / linear:.2f}", f"{stream / size:.2f}")
            )
    return rows


def _ordered_rows(results: Results, isa: str) -> list[tuple[str, ...]]:
    meshes = [(workload, name) for workload, name in _MESHES.items() if workload != "R shuffled"]
    rows = []
    for workload, name in [*meshes, *((character, character) for character in CHARACTERS)]:
        for size in results.sizes(workload):
            linear, spherical = (
                results.time(workload, size, "frame", method, system=ORDERED, isa=isa)
                for method in ("linear", "spherical")
            )
            if linear is None or spherical is None:
                continue
            ozz = results.time(workload, size, "frame", "linear", system="ozz")
            beside = [] if ozz is None else [ozz / size, ozz / linear, ozz / spherical]
            cells = [f"{value:.2f}" for value in (linear / size, spherical / size, *beside)]
            rows.append((name, f"{size:,}", *cells, *[""] * (5 - len(cells))))
    return rows


def _peer_rows(results: Results, isa: str) -> list[tuple[str, ...]]:
    rows = []
    for system, method, attributes, label in PEERS:
        cells = []
        for workload, size in _PEER_MESHES:
            theirs = results.time(workload, size, "frame", method, system=system, attributes=attributes)
            ours = results.time(workload, size, "frame", isa=isa, attributes=attributes)
            if system == "ozz":  # which has its vertices in order
                ours = results.time(workload, size, "frame", system=ORDERED, isa=isa, attributes=attributes) or ours
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
