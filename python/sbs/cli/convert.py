# SPDX-License-Identifier: MIT
"""``sbs convert``: a character from one format to another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import click

from ..characters.character import Character, WeightType
from ..characters.loading import load
from ..correctives import as_blend_shapes, to_linear
from ..formats import written
from .how_to_deform import CORRECTIVES, METHOD_CHOICE, HowToDeform, how_to_deform
from .options import CHARACTER, MESHES, STRICT, output_option, refuse_without
from .terminal import say

METHOD_NAMES = ("method", "rotation", "center", "centers_cache", "amount", "across", "base", "twist")


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
@how_to_deform(CORRECTIVES, *METHOD_CHOICE)
@STRICT
@output_option(
    required=True,
    piped=".glb",
    text="The character to write; its ending chooses the format (`sbs formats`); - is the standard output, as GLB.",
)
def convert(
    file: Path, meshes: tuple[str, ...], weight_type: WeightType, how: HowToDeform, strict: bool, output: Path
) -> None:
    """Write the character in FILE to another format: its meshes, skeleton, weights and animations.

    From glTF to GLB everything else in the file is kept as it is; but with --mesh these meshes are written alone,
    without materials. `sbs formats` tells what each format keeps.

    With --correctives the file has them as blend shapes, with weights in all animations: by linear blending a program
    then shows, in their poses, what `sbs deform` makes by the same options.
    """
    if how.correctives_from is None:
        refuse_without("--correctives", *METHOD_NAMES)
    try:
        written(output, "write")
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--output") from error
    character = load(file, strict=strict, mesh=meshes or None)
    if meshes:
        character = replace(character, source=None)
    if how.correctives_from is not None:
        character = with_shapes(character, how)
    character.save(output, weights=weight_type)
    counts = len(character.parts), character.skin.vertex_count, len(character.skeleton), len(character.animations)
    what = ("mesh" if counts[0] == 1 else "meshes", "vertices", "joints", "animations")
    say(f"{output}: " + ", ".join(f"{count} {name}" for count, name in zip(counts, what, strict=True)))


def with_shapes(character: Character, how: HowToDeform) -> Character:
    """The character with correctives as blend shapes for linear blending."""
    bound = how.bind(character)
    shapes = bound.correctives
    assert shapes is not None
    if bound.skin is not character.skin or bound.options.get("method") != "linear":
        shapes, _ = to_linear(shapes, bound.skin, character.skin, triangles=character.mesh.triangles, **bound.options)
    return as_blend_shapes(character, shapes)
