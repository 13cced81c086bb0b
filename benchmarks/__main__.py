# SPDX-License-Identifier: MIT
"""``python -m benchmarks``: measure, show what was measured, and see that nothing has become slow."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from . import correctives, memory, performance, report, sources, targets, twist
from .plot import plot
from .results import Results
from .session import Session
from .workloads import CHARACTERS, FACES, GENERATED, load

SIZES = (2_000, 10_000, 100_000, 1_000_000)
ATTEMPTS = 3
"""How often a check measures before it calls slow what was slow each time."""

PROGRAM = click.option(
    "--program", required=True, type=click.Path(exists=True, path_type=Path), help="native/phases.c, as built by meson."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Benchmarks of spherical blend skinning. README.md in this folder tells more."""


@main.command()
@PROGRAM
@click.option("--output", required=True, type=click.Path(path_type=Path), help="JSON to write; a plot goes beside it.")
@click.option("--peers", "with_peers", is_flag=True, help="Other libraries too; ozz-animation if OZZ_DIR has it.")
@click.option("--blender", type=click.Path(exists=True, path_type=Path), help="A Python that has bpy.")
@click.option("--rounds", default=15, show_default=True, type=click.IntRange(1))
def run(program: Path, output: Path, with_peers: bool, blender: Path | None, rounds: int) -> None:
    """Measure everything; takes some minutes, for which nothing else should run."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        peers = None
        if with_peers:
            from .peers import Peers, compile_ozz

            ozz = os.environ.get("OZZ_DIR")
            peers = Peers(compile_ozz(Path(ozz), Path(folder, "ozz")) if ozz else None, blender)
        session = Session(program, Path(folder), rounds, peers=peers)
        of_one_size = [(name, None) for name in (*CHARACTERS, *FACES)]
        for name, size in of_one_size + [(name, size) for size in SIZES for name in GENERATED]:
            click.echo(f"{name} {size or ''}", err=True)
            session.measure(load(name, size))
        for name in ("S", "R"):
            session.results.memory.extend(memory.measure(load(name, max(SIZES))))
    session.results.write(output)
    plot(session.results, output.with_suffix(".png"))
    report.show(session.results)


@main.command("report")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
def report_command(file: Path) -> None:
    """Show the results in FILE, and draw their plot again."""
    results = Results.read(file)
    plot(results, file.with_suffix(".png"))
    report.show(results)


@main.command("performance")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
def performance_command(file: Path) -> None:
    """Write the page on performance from FILE."""
    performance.update(Results.read(file), file)


@main.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
def current(file: Path) -> None:
    """Fail if what computes frames has changed since FILE was measured."""
    machine = Results.read(file).machine
    if machine.get("sources") != sources.digest():
        folders = ", ".join(f"csrc/{folder}" for folder in sources.FOLDERS)
        sys.exit(f"{file} is of commit {machine['commit']}; the code of {folders} has changed since: measure again")


@main.command()
@PROGRAM
def check(program: Path) -> None:
    """Report what misses its target; fail where a ratio is out of all proportion to it in each of three runs."""
    slow = slow_each_time(lambda: _quick_rows(program))
    for row in slow:
        click.echo(f"regression: {', '.join(row.key)}: {row.value:.2f}, target {row.target:.2f}", err=True)
    sys.exit(1 if slow else 0)


def slow_each_time(measure: Callable[[], list[targets.Row]]) -> list[targets.Row]:
    """The rows that are out of all proportion in every run; there are no further runs once there are none.

    A busy machine is slow in some runs, and in each by something else.
    """
    slow: list[targets.Row] = []
    for attempt in range(ATTEMPTS):
        rows = measure()
        report.show_targets(rows)
        before = {row.key for row in slow}
        slow = [row for row in rows if row.regressed and (attempt == 0 or row.key in before)]
        if not slow:
            break
        for row in slow:
            click.echo(f"run {attempt + 1}: {', '.join(row.key)}: {row.value:.2f}, target {row.target:.2f}", err=True)
    return slow


def _quick_rows(program: Path) -> list[targets.Row]:
    """The targets that can be seen in a minute, by one thread."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(program, Path(folder), rounds=8, two_threads=False)
        for name in ("S", "R"):
            for size in (targets.SMALL, targets.LARGE):
                session.measure(load(name, size))
    return targets.rows(session.results) + twist.rows(rounds=8) + correctives.rows(rounds=8)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
