# SPDX-License-Identifier: MIT
"""Measure the tables of the pages.

    python tools/measure.py zones               # tables of the package's own characters
    python tools/measure.py zones CHARACTERS    # all

CHARACTERS is the folder of make_test_data.py. Most tables are printed. The tables of docs/quality.md are written
into the page; without CHARACTERS they come from docs/quality.json, which is else measured again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import click

import sbs
from pages import fitting, linear, muscles, quality, variants, weights, zones

OWN: dict[str, Callable[[], None]] = {
    "fitting": fitting.write,
    "twist": variants.write_twist,
    "weights": weights.write,
}
"""Tables of the package's own characters alone."""
SOME: dict[str, Callable[[Path | None], None]] = {"quality": quality.write, "zones": zones.write}
"""Tables of which some need no folder of characters."""
ALL: dict[str, Callable[[Path], None]] = {
    "drafts": variants.write_drafts,
    "linear": linear.write,
    "muscles": muscles.write,
    "spherical_weights": variants.write_spherical,
}


@click.command(help=__doc__)
@click.argument("name", type=click.Choice(sorted([*OWN, *SOME, *ALL])))
@click.argument("characters", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(name: str, characters: Path | None) -> None:
    warnings.simplefilter("ignore", sbs.WeightWarning)  # of characters whose weights have to be normalized
    if name in OWN:
        OWN[name]()
    elif name in SOME:
        SOME[name](characters)
    elif characters is not None:
        ALL[name](characters)
    else:
        raise click.UsageError(f"{name} needs the folder CHARACTERS")


if __name__ == "__main__":
    main()
