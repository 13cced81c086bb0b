# SPDX-License-Identifier: MIT
"""``--muscles``: which muscles deformed skin covers, for all commands that deform."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from .. import muscles
from ..characters.character import Character
from ..muscles import Muscle, MuscleCover
from .streams import InputFile

__all__ = ["MUSCLES", "MuscleSource", "cover_of", "placed_muscles"]

MuscleSource = Path | Literal["fit"]


class _MuscleFile(InputFile):
    """A file that is there, or the word ``fit``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Its path, or the word."""
        return value if value == "fit" else super().convert(value, param, ctx)


MUSCLES = click.option(
    "--muscles",
    "muscles_from",
    type=_MuscleFile(),
    metavar="FILE|fit",
    help="Muscles that deformed skin covers: of a JSON file, as `sbs muscles -o` writes it; with fit those of a human"
    " body, by the names of joints.",
)


def placed_muscles(character: Character, source: MuscleSource | None) -> tuple[Muscle, ...] | None:
    """The muscles of a file, or those of a human body in a character; None if none were asked for.

    Raises
    ------
    click.BadParameter
        If the file is damaged, or there is no such body.
    """
    if source is None:
        return None
    try:
        return muscles.fit(character) if isinstance(source, str) else muscles.read(source)
    except (KeyError, ValueError) as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--muscles") from error


def cover_of(character: Character, placed: tuple[Muscle, ...] | None) -> MuscleCover | None:
    """Muscles bound to a character, or to a mesh of it; None without muscles.

    Raises
    ------
    click.BadParameter
        If they can't be bound, or blend shapes move the mesh away from them.
    """
    if placed is None:
        return None
    if character.mesh.shapes:
        raise click.BadParameter("the mesh has blend shapes, which move it away from muscles", param_hint="--muscles")
    try:
        return muscles.bind(character, placed)
    except (KeyError, ValueError) as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--muscles") from error
