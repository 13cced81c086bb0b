# SPDX-License-Identifier: MIT
"""Methods that a command compares, by the names of the table in `sbs.quality`."""

from __future__ import annotations

from typing import Literal

import click

from ..characters.character import Character
from ..quality import chosen
from ..quality.methods import MuscleMethod, NamedMethod, TwistMethod, corrected, without_amount
from .how_to_deform import HowToDeform, find_twist

Limbs = tuple[str, ...] | Literal["auto", "none"]


def parse_limbs(context: click.Context, parameter: click.Parameter, text: str) -> Limbs:
    """Names of joints, auto or none."""
    words: dict[str, Limbs] = {"auto": "auto", "none": "none"}
    return words.get(text, tuple(text.split(",")))


def parse_methods(context: click.Context, parameter: click.Parameter, text: str | None) -> dict[str, NamedMethod]:
    """Methods, from LBS,SBS."""
    names = text.split(",") if text else []
    try:
        return chosen(names, limbs=context.params["limbs"])
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from error


LIMBS = click.option(
    "--twist",
    "limbs",
    metavar="auto|none|NAME,NAME,...",
    default="auto",
    is_eager=True,
    callback=parse_limbs,
    help="Of methods that spread twists: all limbs that are found, the limbs of these joints, or no such method.",
)
METHODS = click.option(
    "--methods", metavar="NAME,NAME,...", callback=parse_methods, help="Which to compare, for example LBS,SBS."
)


def complete_methods(
    methods: dict[str, NamedMethod], limbs: Limbs, character: Character, how: HowToDeform
) -> dict[str, NamedMethod]:
    """The methods, with `corrected`, the last of them with correctives, and `muscles`, if they are asked for."""
    if isinstance(limbs, tuple):
        if not any(isinstance(method, TwistMethod) for method in methods.values()):
            raise click.UsageError("--twist needs a method that spreads twists")
        find_twist(character, limbs)
    if how.correctives_from is not None:
        last = next(reversed(methods.values()))
        correctives = how.correctives(character, *without_amount(last, character))
        methods = {**methods, "corrected": corrected(last, correctives)}
    cover = how.muscles(character)
    return methods if cover is None else {**methods, "muscles": MuscleMethod.spherical(cover)}
