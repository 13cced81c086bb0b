# SPDX-License-Identifier: MIT
"""``sbs convert``: a character from one format to another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import click

from ..characters.character import WeightType
from ..characters.loading import load
from ..formats import written
from .options import CHARACTER, MESHES, STRICT, output_option
from .terminal import say


@click.command()
@CHARACTER
@MESHES
@click.option(
    "--weights",
    "weight_type",
    type=click.Choice(get_args(WeightType)),
    default="float32",
    show_default=True,
    help="How GLB stores weights.",
)
@STRICT
@output_option(
    required=True,
    piped=".glb",
    text="The character to write; its ending chooses the format (`sbs formats`); - is the standard output, as GLB.",
)
def convert(file: Path, meshes: tuple[str, ...], weight_type: WeightType, strict: bool, output: Path) -> None:
    """Write the character in FILE to another format: its meshes, skeleton, weights and animations.

    From glTF to GLB everything else in the file is kept as it is; but with --mesh these meshes are written alone,
    without materials. `sbs formats` tells what each format keeps.
    """
    try:
        written(output, "write")
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--output") from error
    character = load(file, strict=strict, mesh=meshes or None)
    if meshes:
        character = replace(character, source=None)
    character.save(output, weights=weight_type)
    counts = len(character.parts), character.skin.vertex_count, len(character.skeleton), len(character.animations)
    what = ("mesh" if counts[0] == 1 else "meshes", "vertices", "joints", "animations")
    say(f"{output}: " + ", ".join(f"{count} {name}" for count, name in zip(counts, what, strict=True)))
