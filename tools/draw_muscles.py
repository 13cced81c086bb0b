# SPDX-License-Identifier: MIT
"""Draw bent limbs of the demo's woman by LBS, by SBS, and by SBS with muscles: docs/images/muscles.png.

    python tools/draw_muscles.py

Takes the package's own woman, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from sbs.characters.character import Character
from sbs.muscles import MuscleCover, bind, fit
from sbs.picture import Camera, Row, ShadedMesh, compose, portraits, render, smooth_surfaces
from sbs.poses import axes, turned
from sbs.samples import load as load_sample
from sbs.support.files import replacing

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "muscles.png"
HEADINGS = ["LBS", "SBS", "SBS with muscles", "The muscles"]
SKIN = np.array([0.60, 0.43, 0.34])
FLESH = np.array([0.45, 0.10, 0.08])
Floats = NDArray[np.float64]

# The joint that bends, by how much, activation, caption, the muscles that the picture is of, and from where it is seen.
ARM = ("biceps left", "triceps left", "forearm flexors left")
LEG = ("hamstrings left", "calf left")
LIMBS = (
    ("LeftForeArm", 120.0, 0.0, "The elbow bent by 120°, from above", ARM, (0.1, 1.0, 0.35)),
    ("LeftForeArm", 120.0, 1.0, "The same, tense", ARM, (0.1, 1.0, 0.35)),
    ("LeftLeg", 80.0, 1.0, "The knee bent by 80°, tense", LEG, (1.0, 0.1, 0.1)),
)


def bent(character: Character, name: str, degrees: float) -> Floats:
    """Skinning matrices of a joint that is bent."""
    across, _ = axes(character.skeleton, character.skeleton.index(name))
    return character.skinning_matrices(turned(character.skeleton, name, tuple(across), degrees))


def bellies(cover: MuscleCover, names: Sequence[str], matrices: Floats, activations: Floats) -> ShadedMesh:
    """The surfaces of some muscles, as one mesh."""
    positions: list[Floats] = []
    triangles: list[NDArray[np.int32]] = []
    for name in names:
        points, corners = cover.surface(name, matrices, activations)
        triangles.append(corners + sum(len(each) for each in positions))
        positions.append(points)
    together = np.concatenate(positions)
    return smooth_surfaces([together], np.tile(FLESH, (len(together), 1)), np.concatenate(triangles))[0]


def rows(character: Character, width: int, samples: int) -> Iterator[Row]:
    """A row of pictures for each of the limbs."""
    cover = bind(character, fit(character))
    skin = character.skin
    size = (width, round(width / 1.3))
    colors = np.tile(SKIN, (len(character.mesh.positions), 1))
    for joint, degrees, activation, caption, names, view in LIMBS:
        matrices = bent(character, joint, degrees)
        activations = np.full(len(cover), activation)
        shown = np.concatenate([cover.skin_of(name).vertices for name in names])
        covered = skin.deform(matrices)
        cover.apply(covered, matrices, activations=activations)
        shapes = [skin.deform(matrices, method="linear"), skin.deform(matrices), covered]
        camera = Camera.framing(np.concatenate([shape[shown] for shape in shapes]), view, (0, 1, 0), aspect=1.3)
        pictures = list(
            portraits(character.mesh.positions, character.mesh.triangles, shapes, colors, camera, size, samples=samples)
        )
        pictures.append(render(bellies(cover, names, matrices, activations), camera, size, samples=samples))
        growths = cover.measure(matrices, activations).growths
        number = [muscle.name for muscle in cover.muscles].index(names[0])
        yield Row(pictures, ("", "", "", f"{names[0]}: {growths[number]:.2f} times as thick"), caption)
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
