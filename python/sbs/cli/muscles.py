# SPDX-License-Identifier: MIT
"""``sbs muscles``: place muscles in a character, and see how they swell in its animations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from .. import muscles as anatomy
from ..characters.character import Character
from .errors import Refusal
from .options import JSON, SOURCE, Source, output_option, print_json
from .streams import InputFile
from .tables import print_records
from .terminal import say

FRAMES_PER_SECOND = 24.0


@click.command(name="muscles")
@SOURCE
@click.option(
    "--from",
    "muscles_from",
    type=InputFile(),
    help="Muscles of a JSON file.  [default: those of a human body, placed by the names of joints]",
)
@output_option(piped=".json", text="A JSON file to write them to.")
@JSON
def muscles(source: Source, muscles_from: Path | None, output: Path | None, as_json: bool) -> None:
    """Show the muscles of the character in FILE: how long and thick they are, and how they swell in its animations.

    Muscles keep their volume: where origin and insertion come nearer to each other the belly becomes thicker, and
    skin that covers it is moved. A muscle whose growth is limited loses volume.
    """
    character = source.load()
    try:
        placed = anatomy.fit(character) if muscles_from is None else anatomy.read(muscles_from)
        cover = anatomy.bind(character, placed)
    except (KeyError, ValueError) as error:
        raise Refusal(str(error.args[0])) from error
    if output is not None:
        anatomy.write(output, placed)
    rows = measure_muscles(character, cover)
    if as_json:
        print_json(rows)
        return
    columns = {
        "muscle": "{name}",
        "length": "{length:.4g}",
        "radius": "{radius:.4g}",
        "volume": "{volume:.4g}",
        "vertices": "{vertices}",
        "least growth": "{least_growth:.2f}",
        "most": "{most_growth:.2f}",
        "limited": "{limited}",
    }
    print_records(columns, [row | {"limited": "yes" if row["limited"] else ""} for row in rows])
    if output is not None:
        say(output)


def measure_muscles(character: Character, cover: anatomy.MuscleCover) -> list[dict[str, Any]]:
    """Length, radius, volume and growth of each muscle, ready for JSON."""
    rest = cover.measure(np.tile(np.eye(4), (len(character.skeleton), 1, 1)))
    motion = cover.measure(frames(character))
    return [
        {
            "name": muscle.name,
            "side": muscle.side,
            "length": float(rest.lengths[number]),
            "radius": muscle.radius,
            "volume": float(rest.volumes[number]),
            "vertices": len(cover.skin_of(number).vertices),
            "least_growth": float(motion.growths[:, number].min()),
            "most_growth": float(motion.growths[:, number].max()),
            "limited": bool(motion.limited[:, number].any()),
        }
        for number, muscle in enumerate(cover.muscles)
    ]


def frames(character: Character) -> NDArray[np.float64]:
    """Skinning matrices (F, J, 4, 4) of the pose at bind and all animations."""
    poses = [np.tile(np.eye(4), (1, len(character.skeleton), 1, 1))]
    for animation in character.animations:
        poses.append(animation.skinning_matrices(np.array(animation.frames(FRAMES_PER_SECOND)) / FRAMES_PER_SECOND))
    return np.concatenate(poses)
