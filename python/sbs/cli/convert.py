# SPDX-License-Identifier: MIT
"""``sbs convert``: a character from one format to another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import click

from ..characters.character import Character, Engine, WeightType
from ..characters.limbs import ACROSS, limb_twist, twist_amounts
from ..correctives import Correctives, as_blend_shapes, to_linear
from ..formats import written
from ..skinning.options import BlendOptions
from ..skinning.skin import Skin
from ..skinning.twist import Twist
from .how_to_deform import CORRECTIVES, METHOD_CHOICE, HowToDeform, find_twist, how_to_deform
from .options import SOURCE_OF_MESHES, Source, blamed_on, given, output_option, refuse_idle
from .terminal import say

ENGINE_NAMES = ("amount", "across", "twist")
METHOD_NAMES = ("method", "rotation", "center", "centers_cache", "base")


@click.command()
@SOURCE_OF_MESHES
@click.option(
    "--weights",
    "weight_type",
    type=click.Choice(get_args(WeightType)),
    default="float32",
    help="How GLB stores weights.",
)
@click.option(
    "--engine",
    type=click.Choice(get_args(Engine)),
    help="Write a GLB that shaders of this engine blend spherically, about optimized centers. By default smooth twist:"
    " --twist auto, the twists of limbs spread by joints of their own, and --across 0.35, mostly linear across joints.",
)
@how_to_deform(CORRECTIVES, *METHOD_CHOICE)
@output_option(
    required=True,
    piped=".glb",
    text="The character to write; its ending chooses the format (`sbs formats`); - is the standard output, as GLB.",
)
def convert(
    source: Source,
    weight_type: WeightType,
    engine: Engine | None,
    how: HowToDeform,
    output: Path,
) -> None:
    """Write the character in FILE to another format: its meshes, skeleton, weights and animations.

    From glTF to GLB everything else in the file is kept as it is; but with --mesh these meshes are written alone,
    without materials. `sbs formats` lists the data that each format keeps.

    With --correctives the file has them as blend shapes, with weights in all animations: by linear blending a program
    then shows their poses as `sbs deform` does by the same options. Sculpted vertices are where they were sculpted,
    whatever options the correctives were solved for.

    With --engine vertices have an attribute _SBS_CENTER, their centers of rotation and the amount of spherical
    blending, and influences are sorted. --twist, --amount, --across and --correctives have their effect, too.
    """
    is_plain = engine is None and how.correctives_from is None
    refuse_idle(
        (engine is not None, f"--engine {engine} takes the place of {{}}", METHOD_NAMES),
        (is_plain, "{} needs --correctives or --engine", ENGINE_NAMES),
        (is_plain, "{} needs --correctives", METHOD_NAMES),
    )
    with blamed_on("--output"):
        written(output, "write")
        if engine is not None and output.suffix.lower() != ".glb":
            raise ValueError(f"--engine {engine} needs a name that ends in .glb, not {output.name!r}")
    character = source.load()
    if source.meshes:
        character = replace(character, source=None)
    if engine is not None:
        character = prepare_for_engine(character, engine, how)
    elif how.correctives_from is not None:
        character = add_shapes(character, how)
    character.save(output, weights=weight_type)
    counts = len(character.parts), character.skin.vertex_count, len(character.skeleton), len(character.animations)
    nouns = ("mesh" if counts[0] == 1 else "meshes", "vertices", "joints", "animations")
    say(f"{output}: " + ", ".join(f"{count} {name}" for count, name in zip(counts, nouns, strict=True)))


def add_shapes(character: Character, how: HowToDeform) -> Character:
    """The character with correctives as blend shapes for linear blending."""
    bound, triangles = how.bind(character), character.mesh.triangles
    assert bound.correctives is not None
    shapes = as_sculpted(how, bound.correctives, character, bound.skin, bound.options)
    if bound.skin is not character.skin or bound.options.get("method") != "linear":
        targets = {each.name: each.target for each in shapes if each.target is not None}
        shapes, _ = to_linear(shapes, bound.skin, character.skin, triangles=triangles, **bound.options)
        shapes.meet(character.skin, targets, triangles=triangles, method="linear")
    return as_blend_shapes(character, shapes)


def as_sculpted(
    how: HowToDeform, shapes: Correctives, character: Character, skin: Skin, options: BlendOptions
) -> Correctives:
    """Correctives that meet their targets by some options, whatever they were solved for; those without are named."""
    if how.correctives_from == "draft":
        return shapes
    found = shapes.copy()
    found.meet(skin, triangles=character.mesh.triangles, **options)
    untold = [each.name for each in found if each.target is None]
    if untold:
        say(f"{', '.join(untold)}: taken as solved for these options, as no target is kept")
    return found


def prepare_for_engine(character: Character, engine: Engine, how: HowToDeform) -> Character:
    """The character for an engine, with correctives that its shaders blend, too."""
    twist: Twist | None = limb_twist(character)
    if given(["twist"]):
        twist = None if how.twist is None else find_twist(character, how.twist)
    amount = how.amount
    if amount is None:
        amount = twist_amounts(character, twist, ACROSS if how.across is None else how.across)
    if how.correctives_from is not None:
        skin = character.twisted_skin(twist, optimized=True)
        options = BlendOptions(center="optimized", amount=amount)
        shapes = how.correctives(character, skin, options)
        assert shapes is not None
        character = as_blend_shapes(character, as_sculpted(how, shapes, character, skin, options))
    return character.for_engine(engine, twist=twist, amount=amount)
