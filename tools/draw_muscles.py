# SPDX-License-Identifier: MIT
"""Draw bent limbs of the demo's woman by LBS, by SBS, and by SBS with muscles: docs/images/muscles.png.

    python tools/draw_muscles.py

Takes the package's own woman, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from sbs.character import Character
from sbs.files import replacing
from sbs.muscles import MuscleCover, bind, fit
from sbs.picture import Camera, Row, ShadedMesh, compose, portraits, render, smooth_surfaces
from sbs.poses import axes, turned, vertices_around
from sbs.samples import load as load_sample

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "muscles.png"
HEADINGS = ["LBS", "SBS", "SBS with muscles", "The muscles"]
SKIN = np.array([0.60, 0.43, 0.34])
FLESH = np.array([0.45, 0.10, 0.08])
Floats = NDArray[np.float64]

LIMBS = (
    ("LeftForeArm", 120.0, 0.0, "The elbow bent by 120°", (0.3, 0.9, 0.8)),
    ("LeftForeArm", 120.0, 1.0, "The same, tense", (0.3, 0.9, 0.8)),
    ("LeftLeg", 110.0, 0.0, "The knee bent by 110°", (1.0, 0.1, 0.2)),
)


def bent(character: Character, name: str, degrees: float) -> Floats:
    """Skinning matrices of a joint that is bent."""
    across, _ = axes(character.skeleton, character.skeleton.index(name))
    return character.skinning_matrices(turned(character.skeleton, name, tuple(across), degrees))


def bellies(cover: MuscleCover, matrices: Floats, activations: Floats, near: NDArray[np.intp]) -> ShadedMesh:
    """The surfaces of the muscles that move some of these vertices, as one mesh."""
    positions: list[Floats] = []
    triangles: list[NDArray[np.int32]] = []
    for number in range(len(cover)):
        if np.isin(cover.skin_of(number).vertices, near).any():
            points, corners = cover.surface(number, matrices, activations)
            triangles.append(corners + sum(len(each) for each in positions))
            positions.append(points)
    points = np.concatenate(positions)
    return smooth_surfaces([points], np.tile(FLESH, (len(points), 1)), np.concatenate(triangles))[0]


def rows(character: Character, width: int, samples: int) -> Iterator[Row]:
    """A row of pictures for each of the limbs."""
    cover = bind(character, fit(character))
    skin = character.skin
    size = (width, round(width / 1.3))
    colors = np.tile(SKIN, (len(character.mesh.positions), 1))
    for name, degrees, activation, caption, view in LIMBS:
        matrices = bent(character, name, degrees)
        activations = np.full(len(cover), activation)
        shown = np.flatnonzero(vertices_around(character, character.skeleton.index(name)))
        covered = skin.deform(matrices)
        cover.apply(covered, matrices, activations=activations)
        shapes = [skin.deform(matrices, method="linear"), skin.deform(matrices), covered]
        camera = Camera.framing(np.concatenate([shape[shown] for shape in shapes]), view, (0, 1, 0), aspect=1.3)
        pictures = list(
            portraits(character.mesh.positions, character.mesh.triangles, shapes, colors, camera, size, samples=samples)
        )
        pictures.append(render(bellies(cover, matrices, activations, shown), camera, size, samples=samples))
        growths = cover.measure(matrices, activations).growths
        thickest = cover.muscles[int(np.argmax(growths))].name
        yield Row(pictures, ("", "", "", f"{thickest}: {growths.max():.2f} times as thick"), caption)
        click.echo(f"{caption}: drawn", err=True)


@click.command(help=__doc__.splitlines()[0])
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), default=IMAGE)
@click.option("--width", default=360, show_default=True, help="Pixels across a picture.")
@click.option("--samples", default=48, show_default=True, help="Light paths per pixel.")
def main(output: Path, width: int, samples: int) -> None:
    pictures = list(rows(load_sample("woman"), width, samples))
    with replacing(output) as temporary:
        compose(pictures, HEADINGS, "").save(temporary, optimize=True)


if __name__ == "__main__":
    main()
