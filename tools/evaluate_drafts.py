# SPDX-License-Identifier: MIT
"""Measure drafted correctives: the table of docs/correctives.md.

    python tools/evaluate_drafts.py CHARACTERS

CHARACTERS is the folder of make_test_data.py. Prints what linear blending, half twist, and half twist with drafted
hinges lose together in scenes of docs/quality.md, and their surface energy, bending and volume over those of linear
blending; and of characters of the folder, these three in bends and clips.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import click
import numpy as np
from numpy.typing import ArrayLike, NDArray

import sbs
from quality_numbers import (
    ENERGIES,
    energies_in_motion,
    energies_of,
    energy_shares,
    facts,
    geometric_mean,
    losses_of,
    mean_losses,
    most_torn,
    totals,
)
from quality_subjects import Subject, arnaud, benchmark, bent_knee, closed_hand, rat, tube, twisted_arm
from sbs.characters.character import Character
from sbs.characters.limbs import ACROSS
from sbs.options import AnyFloats, DeformOptions
from sbs.quality import METHODS, Gauge, evaluate
from sbs.quality.methods import Deformer, NamedMethod, TwistMethod, deformed


@dataclass(frozen=True, eq=False)
class Drafted:
    """A skin with options of its own, correctives among them."""

    whole: Deformer
    own: DeformOptions

    def deform(
        self,
        skinning_matrices: ArrayLike,
        /,
        *,
        rest_positions: ArrayLike | None = None,
        **options: Unpack[DeformOptions],
    ) -> AnyFloats:
        """Positions (V, 3) of a pose (J, 4, 4)."""
        return deformed(self.whole, skinning_matrices, rest_positions, options | self.own)

    def deform_many(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> AnyFloats:
        """Positions (F, V, 3) of several poses."""
        return self.whole.deform_many(skinning_matrices, **(options | self.own))


class DraftMethod(TwistMethod):
    """Half twist with drafted hinges."""

    def skin(self, character: Character) -> Deformer:
        """The skin to deform. Says how many shapes there are, and how long they took."""
        twist = sbs.limb_twist(character)
        skin = character.twisted_skin(twist, optimized=True)
        began = time.process_time()
        found = sbs.correctives.draft(character)
        deltas = sum(len(each.shape.vertices) for each in found if each.shape is not None)
        click.echo(
            f"{len({each.driver.joints for each in found})} joints, {len(found)} poses, {deltas} deltas of"
            f" {skin.vertex_count} vertices, {time.process_time() - began:.1f} s",
            err=True,
        )
        return Drafted(skin, {"amount": sbs.twist_amounts(character, twist, self.across), "correctives": found})


HALF = METHODS["half twist"]
PANEL: dict[str, NamedMethod] = {
    "LBS": METHODS["LBS"],
    "half twist": HALF,
    "drafted": DraftMethod("half twist, drafted", HALF.options, across=ACROSS),
}


KINDS_SHOWN = ("bends", "clips")


def energies(subject: Subject, skins: dict[str, Deformer]) -> dict[str, NDArray[np.float64]]:
    """The mean energies of a scene by each method."""
    gauge = Gauge(subject.character)
    return {
        name: np.mean(
            [energies_of(gauge, skins[name].deform(pose, **PANEL[name].options)) for pose in subject.motion.poses],
            axis=0,
        )
        for name in PANEL
    }


def report_scene(subject: Subject) -> dict[str, Any]:
    """Print the rows of a scene, and return what docs/quality.json would have of it."""
    report = evaluate(subject.character, [subject.motion], PANEL)
    scene = facts(subject, report)
    losses = {name: losses_of(each) for name, each in scene["methods"].items()}
    together, torn = totals(losses), most_torn([scene])
    found = energies(subject, report.skins)
    for name in PANEL:
        over = [
            max(value, floor) / max(of_lbs, floor)
            for value, of_lbs, floor in zip(found[name], found["LBS"], ENERGIES.values(), strict=True)
        ]
        jump = scene["methods"][name]["pop"]["jump"] or 0.0
        row = [subject.name, name, f"{together[name]:.3f}", *(f"{each:.2f}" for each in over), f"{torn[name]:.2f}"]
        click.echo(f"| {' | '.join(row)} | {jump:.3%} |")
    return scene


@click.command(help=__doc__.splitlines()[0])
@click.argument("characters", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--only", multiple=True, help="Names of scenes, or of folders of characters.")
@click.option("--every", default=1, show_default=True, help="One of so many poses of characters.")
def main(characters: Path, only: tuple[str, ...], every: int) -> None:
    scenes: dict[str, Callable[[], Subject]] = {
        "arm": twisted_arm,
        "fist": closed_hand,
        "knee": bent_knee,
        "rat": rat,
        "arnaud": lambda: arnaud(characters),
        "tube": tube,
        "benchmark": lambda: benchmark(characters),
    }
    reported = [report_scene(make()) for name, make in scenes.items() if not only or name in only]
    if len(reported) == len(scenes):
        together = totals(mean_losses(reported))
        click.echo(f"| all | {' | '.join(f'{name} {value:.3f}' for name, value in together.items())} |")
    found = []
    for folder in sorted(characters.iterdir()):
        if (folder / "rig.txt").exists() and (not only or folder.name in only):
            found.append(energies_in_motion(folder, PANEL, every))
            for kind in (kind for kind in KINDS_SHOWN if kind in found[-1]["kinds"]):
                each = {method: share[folder.name] for method, share in energy_shares(found[-1:], kind).items()}
                click.echo(f"| {folder.name} | {kind} | {' | '.join(f'{value:.3f}' for value in each.values())} |")
    for kind in KINDS_SHOWN:
        shares = energy_shares(found, kind)
        means = [f"{geometric_mean(list(each.values())):.3f}" for each in shares.values()]
        if means:
            click.echo(f"| all | {kind} | {' | '.join(means)} |")


if __name__ == "__main__":
    main()
