# SPDX-License-Identifier: MIT
"""``sbs linear``: a character for engines that know linear blending alone."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from ..weights.linear import LinearError, to_linear
from .how_to_deform import HowToDeform, how_to_deform, twist_option
from .options import CHARACTER_OUTPUT, JSON, SOURCE, Source, print_json
from .tables import print_table
from .terminal import progress_bar, say


@click.command()
@SOURCE
@click.option(
    "--joints", type=click.IntRange(0), help="How many helper joints.  [default: two for each limb, and at least 16]"
)
@click.option("--influences", type=click.IntRange(1), default=4, help="The most for each vertex.")
@click.option(
    "--rate", type=click.FloatRange(0, min_open=True), default=30.0, help="Keys of helpers a second, at least."
)
@how_to_deform(
    twist_option("auto", "Fit to a skin that spreads the twists of limbs: of all that are found, or of these joints.")
)
@JSON
@CHARACTER_OUTPUT
def linear(
    source: Source,
    joints: int | None,
    influences: int,
    rate: float,
    how: HowToDeform,
    as_json: bool,
    output: Path,
) -> None:
    """Fit linear blending to spherical blending of the character in FILE, and write it.

    Weights and helper joints are fitted to spherical blending about weighted centers, with twists spread, in frames of
    all animations and in made poses. The file has them, with keys for helpers in each animation, for engines that know
    linear blending alone.

    The table has errors in percent of the mesh's size: the mean of linear blending as it was, the mean of the
    fitted weights, and the largest of any vertex. Frames that are held out lie half way between keys.
    """
    character = source.load()
    skin = None  # with the limbs that are found, if there are any
    if how.twist is None or how.twist:
        skin = how.skin(character)
    with progress_bar() as bar:
        task = bar.add_task("fitting", total=1.0)
        made = to_linear(
            character,
            joints,
            skin=skin,
            influences=influences,
            rate=rate,
            progress=lambda share: bar.update(task, completed=share),
        )
    made.character.save(output)
    helpers, influences = len(made.character.skeleton) - len(character.skeleton), made.character.skin.max_influences
    if as_json:
        errors = list(map(asdict, made.errors))
        print_json({"helper_joints": helpers, "max_influences": influences, "errors": errors})
        return
    print_table(["", "frames", "linear before", "fitted", "largest"], [_row(error) for error in made.errors])
    say(f"{output}: {helpers} helper joints, up to {influences} influences")


def _row(error: LinearError) -> list[str]:
    name = error.name if error.fitted else f"{error.name}, held out"
    return [name, str(error.frames), *(f"{share:.3%}" for share in (error.before, error.mean, error.most))]
