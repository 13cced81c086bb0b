# SPDX-License-Identifier: MIT
"""The table of docs/correctives.md: drafted correctives.

Together, energies, tears and jumps of linear blending, smooth twist, and smooth twist with drafted hinges, in scenes of
docs/quality.md; and energies in bends and clips of all characters.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import click
import numpy as np
from numpy.typing import ArrayLike

import sbs
from sbs.characters.limbs import ACROSS
from sbs.options import AnyFloats, DeformOptions
from sbs.quality import METHODS, Gauge
from sbs.quality.methods import Deformer, NamedMethod, TwistMethod, deformed

from .losses import (
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
from .scenes import subjects
from .tables import table


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
    """Smooth twist with drafted hinges."""

    def skin(self, character: sbs.Character) -> Deformer:
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


SMOOTH = METHODS["smooth twist"]
PANEL: dict[str, NamedMethod] = {
    "LBS": METHODS["LBS"],
    "smooth twist": SMOOTH,
    "drafted": DraftMethod("smooth twist, drafted", SMOOTH.options, across=ACROSS),
}


def scenes_table(characters: Path) -> str:
    """The losses of each method in scenes; then energies, tears and jumps with drafts."""
    scenes, rows = [], []
    for subject in subjects(characters):
        report, scene = measured(subject, PANEL)
        scenes.append(scene)
        together, torn = totals(scene_losses(scene)), most_torn([scene])
        gauge, poses = Gauge(subject.character), subject.motion.poses
        linear, drafted = (
            np.mean([energies_of(gauge, report.skins[name].deform(pose, **PANEL[name].options)) for pose in poses], 0)
            for name in ("LBS", "drafted")
        )
        over = [*over_linear(list(drafted), list(linear)), torn["drafted"]]
        jump = scene["methods"]["drafted"]["pop"]["jump"] or 0.0
        losses = [f"{value:.3f}" for value in together.values()]
        rows.append([subject.name, *losses, *(f"{value:.2f}" for value in over), f"{jump:.3%}"])
    rows.append(["all", *(f"{value:.3f}" for value in totals(mean_losses(scenes)).values()), *"-----"])
    return table(["", *PANEL, "surface", "bending", "volume", "tear", "jump"], rows)


def energies_table(characters: Path, every: int) -> str:
    """The energies of characters, relative to linear blending."""
    found = all_energies(characters, PANEL, every)
    shares = [
        energy_shares(found, kind)[method] for kind in ("bends", "clips") for method in ("smooth twist", "drafted")
    ]
    rows = [
        [name, *(f"{share[name]:.3f}" if name in share else "" for share in shares)]
        for name in (character["name"] for character in found)
    ]
    rows.append(["all", *(f"{geometric_mean(list(share.values())):.3f}" for share in shares)])
    return table(["", "bends, smooth twist", "drafted", "clips, smooth twist", "drafted"], rows)


def write(characters: Path, every: int = 1) -> None:
    """Print the tables."""
    click.echo(f"{scenes_table(characters)}\n\n{energies_table(characters, every)}")
