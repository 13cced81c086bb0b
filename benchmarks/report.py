# SPDX-License-Identifier: MIT
"""Results as tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click

from sbs.cli.tables import print_table

from . import targets
from .results import Results
from .systems import ATTRIBUTES, BLENDING, METHODS, VARIANTS
from .workloads import CHARACTERS, FACES, GENERATED


def show(results: Results) -> None:
    """Print all tables."""
    click.echo(machine_line(results))
    for workload in (*GENERATED, *CHARACTERS, *FACES):
        if results.sizes(workload):
            _show_frames(results, workload)
            _show_parts(results, workload)
    show_paper(results)
    show_average(results)
    show_targets(targets.rows(results))


def machine_line(results: Results) -> str:
    """The machine in a line."""
    machine = results.machine
    caches = ", ".join(f"{level} {size}" for level, size in machine["caches"].items())
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return (
        f"{machine['cpu']} ({machine['family']}), {machine['cores']} cores, {caches}; gcc {machine['compiler']}, "
        f"Python {machine['python']}, {versions}; commit {machine['commit']}, {machine['date']}"
    )


def _systems(results: Results) -> Iterable[tuple[str, str]]:
    """(system, isa) of all that time whole frames, in the order of their first appearance."""
    return dict.fromkeys((timing["system"], timing["isa"]) for timing in results.timings)


def _per_vertex(results: Results, workload: str, size: int, what: str, method: str, **where: Any) -> str:
    """Minimum and median in nanoseconds per vertex, or a dash."""
    times = [
        results.time(workload, size, what, method, statistic=statistic, **where) for statistic in ("minimum", "median")
    ]
    if times[0] is None or times[1] is None:
        return "-"
    return f"{times[0] / size:.2f} {times[1] / size:.2f}"


def _columns(results: Results, workload: str) -> list[tuple[int, str]]:
    return [(size, attributes) for size in results.sizes(workload) for attributes in ATTRIBUTES]


def _show_frames(results: Results, workload: str) -> None:
    columns = _columns(results, workload)
    rows = []
    for system, isa in _systems(results):
        for method in (*METHODS, *VARIANTS):
            cells = [
                _per_vertex(results, workload, size, "frame", method, system=system, isa=isa, attributes=attributes)
                for size, attributes in columns
            ]
            if any(cell != "-" for cell in cells):
                rows.append((system, isa, method, *cells))
    click.echo(f"{workload}: whole frames, minimum and median in nanoseconds per vertex; p positions, pn and normals")
    print_table(("system", "ISA", "method", *(f"{size:,} {attributes}" for size, attributes in columns)), rows, left=3)


def _show_parts(results: Results, workload: str) -> None:
    columns = _columns(results, workload)
    rows = []
    for isa in results.isas:
        for method in (*BLENDING, *VARIANTS):
            cells = [
                _per_vertex(results, workload, size, "alone", method, isa=isa, attributes=attributes)
                for size, attributes in columns
            ]
            rows.append((isa, method, *cells))
    click.echo(f"{workload}: the kernel alone, nanoseconds per vertex")
    print_table(("ISA", "method", *(f"{size:,} {attributes}" for size, attributes in columns)), rows, left=2)

    rows = []
    for isa in results.isas:
        cells = []
        for size in results.sizes(workload):
            time = results.time(workload, size, "pose", isa=isa)
            sets = results.workload(workload, size)["joint_sets"]
            cells += ["-", "-"] if time is None else [f"{time:.0f}", f"{time / sets:.1f}"]
        rows.append((isa, *cells))
    click.echo(f"{workload}: pose preparation of SBS, nanoseconds and nanoseconds per joint set")
    headers = [text for size in results.sizes(workload) for text in (f"{size:,} ns", "per set")]
    print_table(("ISA", *headers), rows, left=1)


def show_paper(results: Results) -> None:
    """Print Table 2 of the paper beside ours."""
    rows = paper_rows(results)
    if rows:
        click.echo("SBS / LBS, whole frames of real clips, beside Kavan and Zara 2005, Table 2")
        columns = (
            "character",
            "vertices",
            "ISA",
            "p",
            "pn",
            "p, Python",
            "pn, Python",
            "solves",
            "paper",
            "paper solves",
        )
        print_table(columns, rows)


def paper_rows(results: Results, isas: Sequence[str] | None = None) -> list[tuple[str, ...]]:
    """Name, vertices, instruction set, ratios for p and pn from C, then from Python, solves per pose; the paper's."""
    rows = []
    for name in CHARACTERS:
        like, ratio, solves = targets.PAPER.get(name, ("", None, None))
        for size in results.sizes(name):
            for isa in results.isas if isas is None else isas:
                cells = []
                for system in ("sbs", "sbs.Skin"):
                    for attributes in ATTRIBUTES:
                        spherical, linear = (
                            results.time(name, size, "frame", method, system=system, isa=isa, attributes=attributes)
                            for method in ("spherical", "linear")
                        )
                        cells.append("-" if spherical is None or linear is None else f"{spherical / linear:.2f}")
                theirs = (f"{like} {ratio}", str(solves)) if ratio is not None else ("", "")
                rows.append((name, f"{size:,}", isa, *cells, f"{results.workload(name, size)['solves']:.0f}", *theirs))
    return rows


def show_average(results: Results) -> None:
    """Print what the average costs, beside what the paper saw."""
    rows = []
    for name in CHARACTERS:
        for size in results.sizes(name):
            for isa in results.isas:
                average, spherical = (
                    results.time(name, size, "frame", method, isa=isa, attributes="p")
                    for method in ("average", "spherical")
                )
                if average is None or spherical is None:
                    continue
                times = (f"{time / 1e6:.4f}" for time in (average, spherical))
                rows.append((name, f"{size:,}", isa, *times, f"{average / spherical:.2f}"))
    if rows:
        average_ms, qlerp_ms = targets.PAPER_AVERAGE
        rows.append(("Woman, the paper's", "3,356", "", f"{average_ms}", f"{qlerp_ms}", f"{average_ms / qlerp_ms:.2f}"))
        click.echo("The average of rotations and QLERP, milliseconds a frame, positions only")
        print_table(("character", "vertices", "ISA", "average", "QLERP", "ratio"), rows, left=3)


def show_targets(rows: Sequence[targets.Row]) -> None:
    """Print figures beside what they must be."""
    click.echo("Targets")
    cells = [(row.name, row.where, row.isa, f"{row.value:.2f}", row.bound, row.verdict) for row in rows]
    print_table(("what", "where", "ISA", "value", "target", ""), cells, left=3)
    click.echo(f"{sum(row.met for row in rows)} of {len(rows)} met")
