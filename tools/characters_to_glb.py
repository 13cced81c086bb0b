#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts a character from the neutral exchange format (rig.txt, *.clip.bin) into a skinned GLB.

It made the files in python/sbs/characters/data:

    python tools/characters_to_glb.py woman_makehuman_cmu python/sbs/characters/data/woman.glb
    python tools/characters_to_glb.py hand_webxr python/sbs/characters/data/hand.glb --clip fist

The format is described in make_test_data.py.
"""

from __future__ import annotations

from pathlib import Path

import click

from pages.exchange import read_character


@click.command(help=__doc__.splitlines()[0])
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("output", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--clip", "clips", multiple=True, help="Clip to keep as an animation; may be given several times.")
def main(folder: Path, output: Path, clips: tuple[str, ...]) -> None:
    read_character(folder, clips).save(output)
    click.echo(f"{output}: {output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
