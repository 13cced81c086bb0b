# SPDX-License-Identifier: MIT
"""``sbs samples``: the characters that come with the package, as files."""

from __future__ import annotations

from pathlib import Path

import click

from ..characters import samples as characters
from .terminal import say


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
def samples(folder: Path) -> None:
    """Write woman.glb and hand.glb, the characters that come with the package, to FOLDER."""
    for path in characters.copy(folder):
        say(str(path))
