# SPDX-License-Identifier: MIT
"""The tables of docs/engines.md: linear blending with helpers, fitted to spherical blending.

The first table is of whole characters and all of their clips, as `sbs.linear.to_linear` reports it; the second of limbs
alone, with some numbers of helpers for each limb bone, which are fitted to at most four clips and to nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

import sbs
from sbs.linear import LinearError, near_joints, to_linear
from sbs.weights import to_dense
from sbs.weights.decompose import with_more_joints

from .exchange import moving_characters
from .tables import table

Floats = NDArray[np.float64]

MADE_POSES = "made poses"
"""`LinearError.name` of poses that are not of a clip."""

HELPERS = 2, 4, 8
"""For each bone of a limb."""

CLIPS, FRAMES = 4, 24
"""The most clips of a character that its limbs are fitted to, and the frames of each."""

RATE = 30.0
"""At least so many moments a second, from one to the next of which twists are followed."""

MOST = 0.99
"""The share of positions, each of a vertex in a frame, whose errors the column bounds."""

NEAR = 0.003
"""Of the size: an error that few would see."""


def percent(values: Iterable[float]) -> list[str]:
    return [f"{100 * value:.2f}" for value in values]


# ------------------------------------------------------------------------------------------------ whole characters --


def all_of(errors: Sequence[LinearError]) -> tuple[float, float, float]:
    """Before, after, and the largest, of all their frames."""
    frames = np.array([error.frames for error in errors], np.float64)
    squares = np.square([[error.before, error.mean] for error in errors])
    before, after = np.sqrt((frames[:, None] * squares).sum(axis=0) / frames.sum())
    return float(before), float(after), max(error.most for error in errors)


def whole_row(character: sbs.Character) -> list[str]:
    made = to_linear(character)
    helpers = len(made.character.skeleton) - len(character.skeleton)
    clips = [error for error in made.errors if error.name != MADE_POSES]
    kinds = (
        [error for error in clips if error.fitted],
        [error for error in clips if not error.fitted],
        [error for error in made.errors if error.name == MADE_POSES],
    )
    return [character.name, str(helpers), *(cell for kind in kinds for cell in percent(all_of(kind)))]


# ----------------------------------------------------------------------------------------------------- limbs alone --


def frames_of(character: sbs.Character, skin: sbs.Skin, twist: sbs.Twist) -> tuple[Floats, Floats]:
    """Skinning matrices (F, J, 4, 4), and the deformed mesh (F, V, 3); twists are followed over each clip."""
    matrices, shown = [], []
    for animation in character.animations:
        steps = max(int(np.ceil(animation.duration * RATE / (FRAMES - 1))), 1)
        frames = animation.skinning_matrices(np.linspace(0, animation.duration, steps * (FRAMES - 1) + 1))
        twists = np.asarray(twist.angles(frames, follow=True))[::steps]
        matrices.append(frames[::steps])
        shown.append(skin.deform_many(frames[::steps], center="weighted", twists=twists))
    return np.concatenate(matrices), np.concatenate(shown).astype(np.float64)


def limbs_row(character: sbs.Character) -> list[str] | None:
    """None for a character without limbs."""
    twist = sbs.limb_twist(character)
    if not twist.bone_count:
        return None
    mesh = character.mesh
    rest = np.asarray(mesh.positions, np.float64)
    size = float(np.linalg.norm(np.ptp(rest, axis=0)))
    weights = to_dense(mesh.joint_indices, mesh.joint_weights, len(character.skeleton))
    on_limbs = weights[:, twist.joints].sum(axis=1) > 0.5 * weights.sum(axis=1)
    matrices, posed = frames_of(character, character.twisted_skin(twist), twist)
    rest, allowed = rest[on_limbs], near_joints(character)[on_limbs]
    shown = character.skin.deform_many(matrices, method="linear")[:, on_limbs]
    posed = posed[:, on_limbs]

    def errors(shown: Floats) -> Floats:
        """(F, V)."""
        return np.asarray(np.linalg.norm(shown - posed, axis=2) / size)

    cells = percent([float(np.sqrt(np.square(errors(shown)).mean()))])
    for helpers in HELPERS:
        found = with_more_joints(rest, posed, matrices, helpers * twist.bone_count, allowed=allowed)
        skin = sbs.Skin(rest, found.joint_indices, found.joint_weights, joint_count=found.skinning_matrices.shape[1])
        left = errors(skin.deform_many(found.skinning_matrices, method="linear"))
        cells += percent([float(np.sqrt(np.square(left).mean())), float(np.quantile(left, MOST)), float(left.max())])
        within, always = (left <= NEAR).mean(), (left <= NEAR).all(axis=0).mean()
        click.echo(
            f"{character.name}, {helpers} for each limb bone: within {NEAR:.1%} are {within:.1%} of positions, and "
            f"{always:.1%} of vertices in all frames",
            err=True,
        )
    return [character.name, *cells]


def write(characters: Path) -> None:
    """Print the tables."""
    kinds = ("clips", "held out", "made poses")
    head = ["", "helpers", *(name for kind in kinds for name in (f"{kind} before", "fitted", "largest"))]
    click.echo(table(head, (whole_row(each) for each in moving_characters(characters))))
    head = ["", "before", *(name for count in HELPERS for name in (f"{count}: mean", f"{MOST:.0%}", "largest"))]
    rows = (limbs_row(each) for each in moving_characters(characters, CLIPS))
    click.echo("\n" + table(head, (row for row in rows if row is not None)))
