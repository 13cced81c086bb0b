# SPDX-License-Identifier: MIT
"""The tables of docs/correctives.md, docs/twist.md and docs/weights.md: smooth twist and linear blending, varied.

Losses in scenes and energies in motion are those of docs/quality.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

import sbs
from sbs.characters.limbs import ACROSS
from sbs.correctives import Correctives
from sbs.options import AnyFloats
from sbs.quality import METHODS, Gauge, MeasuredMotion, evaluate
from sbs.quality.methods import Blended, Deformer, NamedMethod, TwistMethod
from sbs.samples import load as load_sample
from sbs.weights import for_spherical

from .quality import (
    KINDS,
    all_energies,
    energies_of,
    energy_shares,
    geometric_mean,
    mean_losses,
    measured,
    most_torn,
    over_linear,
    scene_losses,
    totals,
)
from .scenes import subjects, twisted, without_path
from .tables import table

SMOOTH = METHODS["smooth twist"]


def cells(values: Any) -> list[str]:
    return [f"{value:.3f}" for value in values]


# ------------------------------------------------------------------------------------------------ drafted correctives


@dataclass(frozen=True, eq=False)
class Drafted(Blended):
    """A skin with an amount and correctives of its own."""

    correctives: Correctives

    def deform(self, skinning_matrices: Any, /, **options: Any) -> AnyFloats:
        return super().deform(skinning_matrices, **options | {"correctives": self.correctives})


class DraftMethod(TwistMethod):
    """Smooth twist with drafted hinges."""

    def skin(self, character: sbs.Character) -> Deformer:
        half = super().skin(character)
        assert isinstance(half, Blended)
        return Drafted(half.whole, half.amount, sbs.correctives.draft(character))


DRAFTS: dict[str, NamedMethod] = {
    "LBS": METHODS["LBS"],
    "smooth twist": SMOOTH,
    "drafted": DraftMethod("smooth twist, drafted", SMOOTH.options, across=ACROSS),
}


def write_drafts(characters: Path, every: int = 2) -> None:
    """Print losses in scenes, with energies, tears and jumps of drafts; then energies of all characters."""
    scenes, rows = [], []
    for subject in subjects(characters):
        report, scene = measured(subject, DRAFTS)
        scenes.append(scene)
        gauge = Gauge(subject.character)
        drafted, linear = (
            np.mean([energies_of(gauge, skin.deform(pose, **options)) for pose in subject.motion.poses], axis=0)
            for skin, options in ((report.skins[name], DRAFTS[name].options) for name in ("drafted", "LBS"))
        )
        over = [*over_linear(list(drafted), list(linear)), most_torn([scene])["drafted"]]
        jump = scene["methods"]["drafted"]["pop"]["jump"] or 0.0
        together = cells(totals(scene_losses(scene)).values())
        rows.append([subject.name, *together, *(f"{value:.2f}" for value in over), f"{jump:.3%}"])
    rows.append(["all", *cells(totals(mean_losses(scenes)).values()), *"-----"])
    click.echo(table(["", *DRAFTS, "surface", "bending", "volume", "tear", "jump"], rows) + "\n")

    found = all_energies(characters, DRAFTS, every)
    shares = [
        energy_shares(found, kind)[method] for kind in ("bends", "clips") for method in ("smooth twist", "drafted")
    ]
    names = [character["name"] for character in found]
    rows = [[name, *("".join(cells([share[name]] if name in share else [])) for share in shares)] for name in names]
    rows.append(["all", *cells(geometric_mean(list(share.values())) for share in shares)])
    click.echo(table(["", "bends, smooth twist", "drafted", "clips, smooth twist", "drafted"], rows))


# -------------------------------------------------------------------------------------- weights for spherical blending


@dataclass(frozen=True)
class Widened(NamedMethod):
    """A method with weights for spherical blending, by their reach."""

    base: NamedMethod
    reach: float = 0.5

    def skin(self, character: sbs.Character) -> Deformer:
        return self.base.skin(character.with_weights(*for_spherical(character, reach=self.reach)))


def spherical(across: float, reach: float = 0.5) -> NamedMethod:
    base = TwistMethod("", SMOOTH.options, across=across)
    return Widened(f"these weights, {across:g} across", SMOOTH.options, base, reach)


DRAWN: dict[str, NamedMethod] = {
    "LBS": METHODS["LBS"],
    "LBS, these weights": Widened("LBS, these weights", METHODS["LBS"].options, METHODS["LBS"]),
    "smooth twist": SMOOTH,
    "these weights, .5": spherical(0.5),
    "these weights, .7": spherical(0.7),
}
WEIGHTED = DRAWN | {
    "smooth twist, .7": TwistMethod("smooth twist, .7", SMOOTH.options, across=0.7),
    "reach .25, .7": spherical(0.7, 0.25),
    "reach .75, .7": spherical(0.7, 0.75),
}


def write_spherical(characters: Path, every: int = 3) -> None:
    """Print losses in scenes, and energies of all characters, with their mean for each."""
    scenes = [measured(replace(subject, motion=without_path(subject)), WEIGHTED)[1] for subject in subjects(characters)]
    together, torn = totals(mean_losses(scenes)), most_torn(scenes)
    each = [totals(scene_losses(scene)) for scene in scenes]
    rows = [
        [name, f"{together[name]:.3f}", f"{torn[name]:.2f}", *cells(scene[name] for scene in each)] for name in WEIGHTED
    ]
    click.echo(table(["", "together", "torn most", *(scene["name"] for scene in scenes)], rows) + "\n")

    found = all_energies(characters, WEIGHTED, every)
    names, shares = [character["name"] for character in found], [energy_shares(found, kind) for kind in KINDS]
    rows = []
    for method in WEIGHTED:
        means = [list(kind[method].values()) for kind in shares]
        means += [[kind[method][name] for kind in shares if name in kind[method]] for name in names]
        rows.append([method, *cells(map(geometric_mean, means))])
    click.echo(table(["", *KINDS, *names], rows))


# ----------------------------------------------------------------------------------------------------- frames of twists


@dataclass(frozen=True)
class Spread(NamedMethod):
    """A method with twists spread by so many frames along each bone; by none they are not spread."""

    frames: int

    def skin(self, character: sbs.Character) -> Deformer:
        return character.twisted_skin(sbs.limb_twist(character, frames=self.frames) if self.frames else None)


FRAMES = {"LBS": (0, 2, 3, 5, 9), "SBS": (0, 3, 4, 5)}


def write_twist() -> None:
    """Print thickness, areas and tears of a twisted forearm, by numbers of frames."""
    methods: dict[str, NamedMethod] = {
        (name + (f", {frames} frames" if frames else "")): Spread("", METHODS[name].options, frames)
        for name, counts in FRAMES.items()
        for frames in counts
    }
    woman = load_sample("woman")
    motion = MeasuredMotion("twisted", ("twisted",), twisted(woman, "LeftForeArm", 170.0)[None])
    report = evaluate(woman, [motion], methods)
    rows = []
    for name in methods:
        value = report.results[motion.name, name].value
        tear = value("tear", "largest") / report.results[motion.name, "LBS"].value("tear", "largest")
        shares = [f"{value(*measure):.1%}" for measure in (("thickness", "low"), ("area", "low"), ("area", "high"))]
        rows.append((name, *shares, f"{tear:.2f}"))
    click.echo(table(("170° at the forearm", "thickness 1%", "area 1%", "area 99%", "largest tear, over LBS"), rows))
