# SPDX-License-Identifier: MIT
"""Measure the tables of the pages.

    python tools/measure.py zones               # tables of the package's own characters
    python tools/measure.py zones CHARACTERS    # all

CHARACTERS is the folder of make_test_data.py. Most tables are printed. The tables of docs/quality.md are written
into the page; without CHARACTERS they come from docs/quality.json, which is else measured again.
"""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path

import click

import sbs

PAGES = {
    "drafts": "docs/correctives.md",
    "fitting": "docs/fitting.md",
    "linear": "docs/engines.md",
    "muscles": "docs/muscles.md",
    "quality": "docs/quality.md",
    "spherical_weights": "docs/weights.md, weights for spherical blending",
    "twist": "docs/twist.md",
    "weights": "docs/weights.md, automatic weights",
    "zones": "docs/bones_blending.md",
}
OWN = ("fitting", "weights")
"""Tables of the package's own characters alone."""
OPTIONAL = ("quality", "twist", "zones")
"""Tables of which some need no folder of characters."""


@click.command(help=__doc__)
@click.argument("name", type=click.Choice(list(PAGES)))
@click.argument("characters", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--every", type=click.IntRange(1), help="Of the poses for energies, one of so many.")
def main(name: str, characters: Path | None, every: int | None) -> None:
    if characters is None and name not in OWN + OPTIONAL:
        raise click.UsageError(f"{name} needs the folder CHARACTERS")
    warnings.simplefilter("ignore", sbs.WeightWarning)  # of characters whose weights have to be normalized
    options = {} if every is None else {"every": every}
    importlib.import_module(f"pages.{name}").write(*(() if name in OWN else (characters,)), **options)


if __name__ == "__main__":
    main()
