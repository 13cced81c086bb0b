# SPDX-License-Identifier: MIT
"""Results as tables on the terminal, as the page on performance, and as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from sbs.cli.tables import print_table
from sbs.support.files import replacing

from . import ROOT, targets
from .results import Results
from .systems import ATTRIBUTES
from .timing import Row
from .workloads import CHARACTERS, FACES, GENERATED

# Kavan and Zara 2005, Table 2: the character nearest to ours, SBS over LBS, and solves.
PAPER = {
    "hand_webxr": ("Hand 1.35", "38"),
    "arnaud_ozz": ("Woman 1.26", "37"),
    "rat_quaternius": ("Creature 1.26", "56"),
}
Cells = tuple[str, ...]


def show(results: Results) -> None:
    """Print all tables."""
    click.echo(f"{describe(results)}, Python {results.machine['python']}, {results.machine['versions']}")
    cases = dict.fromkeys(case[2:6] for case in results.timings)
    for workload in (*GENERATED, *CHARACTERS, *FACES):
        columns = [(size, attributes) for size in results.sizes(workload) for attributes in ATTRIBUTES]
        rows = []
        for system, isa, part, method in cases:
            found = [
                (size, results.timing(workload, size, part, method, system=system, isa=isa, attributes=attributes))
                for size, attributes in columns
            ]
            cells = [f"{time.minimum / size:.2f} {time.median / size:.2f}" if time else "-" for size, time in found]
            if set(cells) != {"-"}:
                rows.append((system, isa, part, method, *cells))
        if rows:
            click.echo(f"{workload}: minimum and median in nanoseconds per vertex; p positions, pn and normals")
            heads = ("system", "ISA", "part", "method", *(f"{size:,} {attributes}" for size, attributes in columns))
            print_table(heads, rows, left=4)
    click.echo("SBS / LBS, whole frames of real clips, beside Kavan and Zara 2005, Table 2")
    print_table(PAPER_COLUMNS, list(paper_rows(results)), left=1)
    show_targets(targets.rows(results))


def describe(results: Results) -> str:
    """The machine in a line."""
    machine = results.machine
    caches = ", ".join(f"{level} {size.split('(')[0].strip()}" for level, size in machine["caches"].items())
    cpu = f"{machine['cpu']} ({machine['family']}, {machine['cores']} cores, {caches})"
    return f"{cpu}, gcc {machine['compiler']}, commit {machine['commit']}, {machine['date']}"


PAPER_COLUMNS = ("character", "vertices", "positions", "and normals", "solves per pose", "paper", "its solves")


def paper_rows(results: Results) -> Iterator[Cells]:
    """Of each character the ratios by the best instruction set, beside the paper's."""
    isa = results.isas[0]
    for name in CHARACTERS:
        for size in results.sizes(name):
            ratios = []
            for attributes in ATTRIBUTES:
                time = partial(results.time, name, size, "frame", isa=isa, attributes=attributes)
                ratios.append(number(time("spherical") / time("linear")))
            solves = f"{results.workload(name, size)['solves']:.0f}"
            yield (name, f"{size:,}", *ratios, solves, *PAPER.get(name, ("", "")))


def show_targets(rows: Sequence[Row]) -> None:
    """Print figures beside their targets."""
    click.echo("Targets")
    cells = [(row.name, row.where, row.isa, f"{row.value:.2f}", row.bound, row.verdict) for row in rows]
    print_table(("figure", "where", "ISA", "value", "target", ""), cells, left=3)
    click.echo(f"{sum(row.excess <= 1 for row in rows)} of {len(rows)} met")


def number(value: float, digits: int = 2) -> str:
    """A number, or nothing if it is not one."""
    return "" if value != value else f"{value:.{digits}f}"


# ------------------------------------------------------------------------------------------------------------- the page

PAGE = ROOT / "docs" / "performance.md"
BEGIN = "<!-- Written by benchmarks/report.py: do not edit. -->\n"
END = "<!-- End of the part that benchmarks/report.py writes. -->\n"

MESHES = {
    "S": "tube",
    "R": "humanoid",
    "R shuffled": "humanoid, shuffled",
    **{name: name for name in CHARACTERS},
    "face": "face, 8 influences",
    "face, 12": "face, 12 influences",
}
PAGE_METHODS = {
    "linear": "LBS",
    "spherical": "SBS",
    "dual_quaternion": "DQS",
    "optimized": "optimized",
    "half": "half",
    "weighted": "weighted",
}
BESIDE = {"ozz": "ozz / our LBS", "numba": "numba / our LBS"}
PEER_MESHES = (("S", 10_000), ("S", 100_000), ("R", 10_000), ("R", 100_000), ("face", 24_000))
# system, method, attributes, label, and the color of a line if there is one
PEERS = (
    ("ozz", "linear", "pn", "ozz-animation, LBS", "#1e8449"),
    ("numba", "linear", "pn", "numba, LBS", "#d68910"),
    ("usd-core", "linear", "pn", "usd-core, LBS", "#117a65"),
    ("usd-core", "dual_quaternion", "pn", "usd-core, DQS", ""),
    ("numpy", "linear", "pn", "NumPy einsum, LBS", "#34495e"),
    ("libigl", "linear", "p", "libigl, LBS, positions only", "#a93226"),
    ("blender", "linear", "p", "Blender's Armature modifier, positions only", "#e67e22"),
    ("blender", "dual_quaternion", "p", "the same with Preserve Volume", ""),
)
OURS = (
    ("sbs", "spherical", "pn", "SBS", "#c0392b"),
    ("sbs", "linear", "pn", "LBS", "#2471a3"),
    ("sbs", "dual_quaternion", "pn", "DQS", "#7d3c98"),
)


def update_page(results: Results, file: Path) -> None:
    """Replace the section between the markers of docs/performance.md."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    with replacing(PAGE) as temporary:
        temporary.write_text(before + BEGIN + section(results, file) + END + after, encoding="utf-8")


def section(results: Results, file: Path) -> str:
    """The section, between its markers."""
    best = results.isas[0]
    place = file.resolve().relative_to(ROOT)
    own, peers = list(_own_rows(results, best)), list(_peer_rows(results, best))
    own_columns = ("mesh", "vertices", "joint sets", *PAGE_METHODS.values(), *BESIDE.values())
    parts = [
        _wrap(
            f"Whole frames with pose preparation, float32, one thread, on {describe(results)}; the fastest of many "
            "rounds in which all systems took turns. `make bench` measures again, `make bench-peers` other libraries "
            "too; [Benchmarks](benchmarks.md) tells how."
        ),
        f"![Nanoseconds per vertex over the size of the mesh](../{place.with_suffix('.png').as_posix()})",
        _wrap(
            f"Nanoseconds per vertex by {best}, positions and normals. SBS is about centers of joint sets, and about "
            "optimized and weighted ones; half is about optimized ones by an amount of one half, the rest linear:"
        ),
        _table(own_columns, own),
        "Characters in frames of their clips, SBS over LBS, beside Table 2 of Kavan and Žára 2005:",
        _table(PAPER_COLUMNS, list(paper_rows(results))),
        "Others, by one thread, over our SBS of the same attributes:",
        _table(("", *(f"{MESHES[name]}, {size:,}" for name, size in PEER_MESHES)), peers),
        f"`python -m benchmarks report {place.as_posix()}` shows all figures.",
    ]
    return "\n" + "\n\n".join(parts) + "\n\n"


def _own_rows(results: Results, isa: str) -> Iterator[Cells]:
    for workload, name in MESHES.items():
        for size in results.sizes(workload):
            times = [results.time(workload, size, "frame", method, isa=isa) for method in PAGE_METHODS]
            peers = [results.time(workload, size, "frame", "linear", system=system) for system in BESIDE]
            cells = [number(time / size) for time in times] + [number(time / times[0]) for time in peers]
            yield (name, f"{size:,}", f"{results.workload(workload, size)['joint_sets']:,}", *cells)


def _peer_rows(results: Results, isa: str) -> Iterator[Cells]:
    for system, method, attributes, label, _ in PEERS:
        cells = []
        for workload, size in PEER_MESHES:
            theirs = results.time(workload, size, "frame", method, system=system, attributes=attributes)
            cells.append(number(theirs / results.time(workload, size, "frame", isa=isa, attributes=attributes), 1))
        if any(cells):
            yield (label, *cells)


def _table(columns: Sequence[str], rows: Sequence[Cells]) -> str:
    rule = "|---|" + "---:|" * (len(columns) - 1)
    lines = ["| " + " | ".join(row) + " |" for row in (columns, *rows)]
    return "\n".join([lines[0], rule, *lines[1:]])


def _wrap(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


# ---------------------------------------------------------------------------------------------------------- the picture

PANELS = {"S": "tube, 4 influences", "R": "humanoid, 1 to 4 influences", "R shuffled": "the same, vertices shuffled"}


def plot(results: Results, path: Path) -> None:
    """Draw whole frames with positions and normals, log-log, a line a system."""
    from matplotlib.figure import Figure

    best = results.isas[0]
    figure = Figure(figsize=(13, 5.2), layout="constrained")
    axes = figure.subplots(1, len(PANELS), sharey=True)
    for axis, (workload, title) in zip(axes, PANELS.items(), strict=True):
        for system, method, attributes, label, color in (*OURS, *PEERS):
            isa, style = (best, "-") if system == "sbs" else ("", "--")
            sizes = results.sizes(workload)
            time = partial(results.time, workload, part="frame", method=method, system=system, attributes=attributes)
            times = [time(size, isa=isa) / size for size in sizes]
            if color and any(each == each for each in times):
                axis.plot(sizes, times, style, marker="o", markersize=3, color=color, label=label)
        axis.set(xscale="log", yscale="log", title=title, xlabel="vertices")
        axis.grid(alpha=0.3, which="both", linewidth=0.5)
    axes[0].set_ylabel("nanoseconds per vertex, one thread")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    machine = results.machine
    figure.suptitle(f"Whole frames, positions and normals, float32: {machine['cpu']}, {best}", fontsize=10)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)
