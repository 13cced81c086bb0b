# SPDX-License-Identifier: MIT
"""The tables of docs/weights.md about weights for spherical blending."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import click

import sbs
from sbs.quality import METHODS
from sbs.quality.methods import Deformer, NamedMethod, TwistMethod
from sbs.weights import for_spherical

from .losses import (
    KINDS,
    all_energies,
    energy_shares,
    geometric_mean,
    mean_losses,
    measured,
    most_torn,
    scene_losses,
    totals,
)
from .scenes import subjects, without_path
from .tables import table

SMOOTH = METHODS["smooth twist"]


@dataclass(frozen=True)
class WithLinear(NamedMethod):
    """Linear blending with weights for spherical blending."""

    reach: float

    def skin(self, character: sbs.Character) -> Deformer:
        return super().skin(widened(character, self.reach))


@dataclass(frozen=True)
class WithTwist(TwistMethod):
    """Twists spread, with weights for spherical blending."""

    reach: float = 0.5

    def skin(self, character: sbs.Character) -> Deformer:
        return super().skin(widened(character, self.reach))


def widened(character: sbs.Character, reach: float) -> sbs.Character:
    return character.with_weights(*for_spherical(character, reach=reach))


def spherical(across: float, reach: float = 0.5) -> NamedMethod:
    return WithTwist(f"these weights, {across:g} across", SMOOTH.options, across=across, reach=reach)


DRAWN: dict[str, NamedMethod] = {
    "LBS": METHODS["LBS"],
    "LBS, these weights": WithLinear("LBS, these weights", METHODS["LBS"].options, 0.5),
    "smooth twist": SMOOTH,
    "these weights, .5": spherical(0.5),
    "these weights, .7": spherical(0.7),
}
MEASURED = DRAWN | {
    "smooth twist, .7": TwistMethod("smooth twist, .7", SMOOTH.options, across=0.7),
    "reach .25, .7": spherical(0.7, 0.25),
    "reach .75, .7": spherical(0.7, 0.75),
}


def scenes_table(characters: Path) -> str:
    """The losses of the scenes of docs/quality.md."""
    scenes = [measured(replace(subject, motion=without_path(subject)), MEASURED)[1] for subject in subjects(characters)]
    together, torn = totals(mean_losses(scenes)), most_torn(scenes)
    each = [totals(scene_losses(scene)) for scene in scenes]
    rows = [
        (name, f"{together[name]:.3f}", f"{torn[name]:.2f}", *(f"{scene[name]:.3f}" for scene in each))
        for name in MEASURED
    ]
    return table(("", "together", "torn most", *(scene["name"] for scene in scenes)), rows)


def energies_table(characters: Path, every: int) -> str:
    """The energies of all characters, and their mean for each."""
    found = all_energies(characters, MEASURED, every)
    names = [character["name"] for character in found]
    shares = [energy_shares(found, kind) for kind in KINDS]
    rows = []
    for method in MEASURED:
        means = [geometric_mean(list(kind[method].values())) for kind in shares]
        each = [geometric_mean([kind[method][name] for kind in shares if name in kind[method]]) for name in names]
        rows.append((method, *(f"{value:.3f}" for value in (*means, *each))))
    return table(("", *KINDS, *names), rows)


def write(characters: Path, every: int = 3) -> None:
    """Print the tables."""
    click.echo(f"{scenes_table(characters)}\n\n{energies_table(characters, every)}")
