# SPDX-License-Identifier: MIT
"""Draw twisted limbs of the demo's woman by four methods: docs/images/twist.png.

    python tools/draw_twist.py

Takes the package's own woman, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from sbs.characters.character import Character
from sbs.characters.limbs import twist_bones
from sbs.picture import Camera, Row, compose
from sbs.poses import axes, turned, vertices_around
from sbs.quality import MeasuredMotion, chosen, evaluate
from sbs.quality.panel import FOOTNOTE, panel_row, shapes
from sbs.samples import load as load_sample
from sbs.support.files import replacing

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "twist.png"
METHODS = ("LBS", "SBS", "half twist", "twist")
LIMBS = (
    ("LeftForeArm", 170.0, "The forearm twisted by 170°", (0.2, 0.3, -1.0)),
    ("LeftArm", 120.0, "The upper arm twisted by 120°", (0.2, 0.3, -1.0)),
    ("LeftUpLeg", 90.0, "The thigh twisted by 90°", (0.6, 0.1, 1.0)),
    ("Neck1", 80.0, "The neck twisted by 80°", (0.6, 0.1, 1.0)),
)


def twisted(character: Character) -> MeasuredMotion:
    """A pose for each of the limbs."""
    skeleton = character.skeleton
    local = []
    for name, degrees, _, _ in LIMBS:
        _, bone = axes(skeleton, skeleton.index(name))
        local.append(turned(skeleton, name, tuple(bone), degrees))
    labels = tuple(caption for _, _, caption, _ in LIMBS)
    return MeasuredMotion("twisted", labels, character.skinning_matrices(np.stack(local)))


def rows(character: Character, width: int, samples: int) -> Iterator[Row]:
    """A row of pictures for each of the limbs."""
    motion = twisted(character)
    # The neck is too short to be found as a limb, so it is named.
    limbs = [bone.name for bone in twist_bones(character) if bone.spread]
    report = evaluate(character, [motion], chosen(METHODS, limbs=(*limbs, "Neck1")))
    for pose, (name, _, caption, view) in enumerate(LIMBS):
        shown = vertices_around(character, character.skeleton.index(name))
        points = np.concatenate([shape[shown] for shape in shapes(report, motion, pose).values()])
        camera = Camera.framing(points, view, (0, 1, 0), aspect=1.3)
        yield panel_row(report, motion, pose, camera, (width, round(width / 1.3)), samples=samples, caption=caption)
        click.echo(f"{name}: drawn", err=True)


@click.command(help=__doc__.splitlines()[0])
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), default=IMAGE)
@click.option("--width", default=360, show_default=True, help="Pixels across a picture.")
@click.option("--samples", default=48, show_default=True, help="Light paths per pixel.")
def main(output: Path, width: int, samples: int) -> None:
    pictures = list(rows(load_sample("woman"), width, samples))
    headings = [method.label for method in chosen(METHODS).values()]
    with replacing(output) as temporary:
        compose(pictures, headings, FOOTNOTE).save(temporary, optimize=True)


if __name__ == "__main__":
    main()
