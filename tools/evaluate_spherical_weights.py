# SPDX-License-Identifier: MIT
"""Measure weights for spherical blending: the tables and the picture of docs/weights.md about them.

    python tools/evaluate_spherical_weights.py CHARACTERS

CHARACTERS is the folder of make_test_data.py. Without it only the picture is drawn, of the package's own characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np

from quality_numbers import (
    all_energies,
    energy_shares,
    facts,
    geometric_mean,
    losses_of,
    mean_losses,
    most_torn,
    totals,
)
from quality_subjects import closed_hand, subjects
from sbs.characters.character import Character
from sbs.cli.tables import print_table
from sbs.picture import Camera, Row, compose
from sbs.poses import turned
from sbs.quality import METHODS, MeasuredMotion, evaluate
from sbs.quality.methods import Deformer, NamedMethod, TwistMethod
from sbs.quality.panel import FOOTNOTE, panel_row, shapes, worst_pose
from sbs.samples import load as load_sample
from sbs.support.files import replacing
from sbs.weights import for_spherical

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "spherical_weights.png"
HALF = METHODS["half twist"]

AROUND = 1.6
"""What is in view: vertices that are nearer to the joint than this, where the woman is 16.7 tall."""

BENDS = (
    ("LeftForeArm", (1, 0, 0), -110.0, "The elbow bent by 110°", (0.2, 0.3, -1.0)),
    ("LeftLeg", (1, 0, 0), -110.0, "The knee bent by 110°", (1.0, 0.1, 0.3)),
    ("LeftUpLeg", (1, 0, 0), 80.0, "The thigh raised by 80°", (1.0, 0.1, 0.6)),
)


@dataclass(frozen=True)
class WithLinear(NamedMethod):
    """Linear blending with weights for spherical blending."""

    reach: float

    def skin(self, character: Character) -> Deformer:
        return super().skin(widened(character, self.reach))


@dataclass(frozen=True)
class WithTwist(TwistMethod):
    """Twists spread, with weights for spherical blending."""

    reach: float = 0.5

    def skin(self, character: Character) -> Deformer:
        return super().skin(widened(character, self.reach))


def widened(character: Character, reach: float) -> Character:
    return character.with_weights(*for_spherical(character, reach=reach))


def spherical(across: float, reach: float = 0.5) -> NamedMethod:
    return WithTwist(f"these weights, {across:g} across", HALF.options, across=across, reach=reach)


DRAWN: dict[str, NamedMethod] = {
    "LBS": METHODS["LBS"],
    "LBS, these weights": WithLinear("LBS, these weights", METHODS["LBS"].options, 0.5),
    "half twist": HALF,
    "these weights, .5": spherical(0.5),
    "these weights, .7": spherical(0.7),
}
MEASURED = DRAWN | {
    "half twist, .7": TwistMethod("half twist, .7", HALF.options, across=0.7),
    "reach .25, .7": spherical(0.7, 0.25),
    "reach .75, .7": spherical(0.7, 0.75),
}


def print_scenes(characters: Path) -> None:
    """The losses of the scenes of docs/quality.md."""
    scenes = []
    for subject in subjects(characters):
        motion = replace(subject.motion, paths=(), path_times=())  # pops have no part in it
        scenes.append(facts(subject, evaluate(subject.character, [motion], MEASURED)))
        click.echo(f"{subject.name}: measured", err=True)
    losses = mean_losses(scenes)
    together, torn = totals(losses), most_torn(scenes)
    by_scene = [totals({name: losses_of(each) for name, each in scene["methods"].items()}) for scene in scenes]
    rows = [
        (name, f"{together[name]:.3f}", f"{torn[name]:.2f}", *(f"{each[name]:.3f}" for each in by_scene))
        for name in MEASURED
    ]
    print_table(("", "together", "torn most", *(scene["name"] for scene in scenes)), rows, left=1)


def print_energies(characters: Path, every: int) -> None:
    """The energies of all characters, and their mean for each."""
    found = list(all_energies(characters, MEASURED, every))
    shares = {kind: energy_shares(found, kind) for kind in ("bends", "twists", "clips")}
    rows = []
    for name in MEASURED:
        means = [geometric_mean(list(kind[name].values())) for kind in shares.values()]
        each = [
            geometric_mean(
                [kind[name][character["name"]] for kind in shares.values() if character["name"] in kind[name]]
            )
            for character in found
        ]
        rows.append((name, *(f"{value:.3f}" for value in (*means, *each))))
    print_table(("", *shares, *(character["name"] for character in found)), rows, left=1)


def drawn_rows(width: int, samples: int) -> Iterator[Row]:
    """Pictures of bent joints, and of a fist."""
    woman = load_sample("woman")
    size = (width, round(width / 1.2))
    local = np.stack([turned(woman.skeleton, name, axis, angle) for name, axis, angle, _, _ in BENDS])
    motion = MeasuredMotion("bent", tuple(bend[3] for bend in BENDS), woman.skinning_matrices(local))
    report = evaluate(woman, [motion], DRAWN)
    for pose, (name, _, _, caption, view) in enumerate(BENDS):
        joint = woman.skeleton.joint_positions[woman.skeleton.index(name)]
        shown = np.linalg.norm(woman.mesh.positions - joint, axis=1) < AROUND
        points = np.concatenate([shape[shown] for shape in shapes(report, motion, pose).values()])
        camera = Camera.framing(points, view, (0, 1, 0), aspect=1.2)
        yield panel_row(report, motion, pose, camera, size, samples=samples, caption=caption)
    fist = closed_hand()
    report = evaluate(fist.character, [replace(fist.motion, paths=(), path_times=())], DRAWN)
    motion = report.motions[0]
    pose = worst_pose(report, motion)
    camera = Camera.framing(np.concatenate(list(shapes(report, motion, pose).values())), fist.view, fist.up, aspect=1.2)
    yield panel_row(report, motion, pose, camera, size, samples=samples, caption=fist.caption)


@click.command(help=__doc__.splitlines()[0])
@click.argument("characters", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--every", default=3, show_default=True, help="Of the poses for energies, one of so many.")
@click.option("--width", default=300, show_default=True, help="Pixels across a picture.")
@click.option("--samples", default=48, show_default=True, help="Light paths per pixel; 0: no picture.")
def main(characters: Path | None, every: int, width: int, samples: int) -> None:
    if samples:
        headings = [method.label for method in DRAWN.values()]
        with replacing(IMAGE) as temporary:
            compose(list(drawn_rows(width, samples)), headings, FOOTNOTE).save(temporary, optimize=True)
    if characters is not None:
        print_scenes(characters)
        print_energies(characters, every)


if __name__ == "__main__":
    main()
