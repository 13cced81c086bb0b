# SPDX-License-Identifier: MIT
"""``python -m benchmarks``: measure, show the results, and see that nothing has become slow."""

from __future__ import annotations

import os
import sys
import tempfile
from functools import partial
from pathlib import Path

import click

from . import features, report, targets
from .results import FOLDERS, Results, digest
from .systems import measure_workload
from .timing import Row
from .workloads import CHARACTERS, FACES, GENERATED, load

SIZES = (2_000, 10_000, 100_000, 1_000_000)
ATTEMPTS = 3
"""How often a check measures before it fails: a busy machine is slow in some runs, and in each by something else."""

PROGRAM = click.option(
    "--program", required=True, type=click.Path(exists=True, path_type=Path), help="native/phases.c, as built by meson."
)
FILE = click.argument("file", type=click.Path(exists=True, path_type=Path))


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
    results = Results()
    sized = [(name, size) for size in SIZES for name in GENERATED]
    with tempfile.TemporaryDirectory() as folder:
        peers = None
        if with_peers:
            from .peers import Peers, compile_ozz

            ozz = os.environ.get("OZZ_DIR")
            peers = Peers(compile_ozz(Path(ozz), Path(folder, "ozz")) if ozz else None, blender)
        for name, size in [*((name, None) for name in (*CHARACTERS, *FACES)), *sized]:
            click.echo(f"{name} {size or ''}", err=True)
            measure_workload(results, load(name, size), program, rounds, peers=peers)
    results.write(output)
    report.plot(results, output.with_suffix(".png"))
    report.show(results)


@main.command("report")
@FILE
def report_command(file: Path) -> None:
    """Show the results in FILE, and draw their plot again."""
    results = Results.read(file)
    report.plot(results, file.with_suffix(".png"))
    report.show(results)


@main.command()
@FILE
def performance(file: Path) -> None:
    """Write the page on performance from FILE."""
    report.update_page(Results.read(file), file)


@main.command()
@FILE
def current(file: Path) -> None:
    """Fail if the code that computes frames has changed since FILE was measured."""
    machine = Results.read(file).machine
    if machine.get("sources") != digest():
        folders = ", ".join(f"csrc/{folder}" for folder in FOLDERS)
        sys.exit(f"{file} is of commit {machine['commit']}; the code of {folders} has changed since: measure again")


@main.command()
@PROGRAM
def check(program: Path) -> None:
    """Report all misses of targets; fail where a ratio is out of all proportion in each of three runs."""
    slow: dict[tuple[str, ...], Row] = {}
    for attempt in range(ATTEMPTS):
        rows = _quick_rows(program)
        report.show_targets(rows)
        slow = {row.key: row for row in rows if row.regressed and (attempt == 0 or row.key in slow)}
        for row in slow.values():
            text = f"run {attempt + 1}: {', '.join(row.key)}: {row.value:.2f}, target {row.target:.2f}"
            click.echo(text, err=True)
        if not slow:
            return
    sys.exit("regression: slow in each run")


def _quick_rows(program: Path) -> list[Row]:
    """The targets that can be seen in a minute, by one thread."""
    results = Results()
    for name in ("S", "R"):
        for size in (targets.SMALL, targets.LARGE):
            measure_workload(results, load(name, size), program, 8, two_threads=False)
    return targets.rows(results) + features.target_rows("twist", 8) + features.target_rows("correctives", 8)


for name, feature in features.FEATURES.items():
    main.command(name, help=getattr(feature.compare, "func", feature.compare).__doc__)(partial(features.show, name))


@main.command()
def centers() -> None:
    """Time optimized centers of rotation; fail if a median misses its target."""
    sys.exit(int(not features.time_centers()))


@main.command("fits")
@click.option("--time", "timed", is_flag=True, help="Time fits to 100 frames instead.")
def fits_command(timed: bool) -> None:
    """Count the weights that come back from their own deformations."""
    from . import fits

    (fits.time_fits if timed else fits.count_fits)()


@main.command("shaders")
def shaders_command() -> None:
    """Count the operations of shaders; fail if one needs more than it may."""
    from . import shaders

    sys.exit(int(not shaders.count_all()))


@main.command("gpu")
@click.option("--poses", multiple=True, default=(1, 64, 10_000), show_default=True, type=click.IntRange(1))
def gpu_command(poses: tuple[int, ...]) -> None:
    """Time `sbs.gpu` on the graphics processor of this machine."""
    from . import gpu

    gpu.time_methods(poses)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
