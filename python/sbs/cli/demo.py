# SPDX-License-Identifier: MIT
"""``sbs demo``: the README's picture, the figure of all methods, and the table."""

from __future__ import annotations

import csv
from pathlib import Path

import click

from ..quality.demo.figure import OPENING, all_methods, opening, photographs
from ..quality.demo.outcomes import outcomes
from ..quality.demo.scenes import arm, scenes
from ..quality.demo.table import COLUMNS, cells, markdown
from ..support.files import replacing
from .pictures import samples_option, width_option
from .tables import print_table
from .terminal import progress_bar, say


@click.command()
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("sbs-demo"),
    help="The folder to write to; made if need be.",
)
@width_option(1440)
@samples_option(64)
@click.option("--rounds", type=click.IntRange(1), default=100, help="Rounds of timing.")
def demo(output: Path, width: int, samples: int, rounds: int) -> None:
    """Draw a twisted arm, a bent knee and a fist by LBS, SBS, DQS and smooth twist, and show the time of each.

    Writes demo.png, the picture of the README, methods.png with all methods, table.md and table.csv. Takes about a
    minute on two cores.
    """
    output.mkdir(parents=True, exist_ok=True)
    poses = scenes()
    results = [outcomes(scene, rounds=rounds) for scene in poses]
    rows = cells(poses, results)
    say("By one thread, whole calls from Python:")
    print_table(COLUMNS, rows, left=2)
    with replacing(output / "table.md") as temporary:
        temporary.write_text(markdown(rows), encoding="utf-8")
    with replacing(output / "table.csv") as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    first = arm(poses[0].character)
    with progress_bar() as progress:
        task = progress.add_task("drawing", total=len(OPENING) + sum(1 + len(result) for result in results))

        def advance() -> None:
            progress.advance(task)

        figures = {"demo.png": opening(first, width=width, samples=samples, progress=advance)}
        pictures = photographs(poses, results, width=width, samples=samples, progress=advance)
    figures["methods.png"] = all_methods(poses, results, pictures)
    for name, figure in figures.items():
        with replacing(output / name) as temporary:
            figure.save(temporary)
    say(", ".join(str(output / name) for name in ("demo.png", "methods.png", "table.md", "table.csv")))
