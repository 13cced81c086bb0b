# SPDX-License-Identifier: MIT
"""Weights fitted to examples: options of ``sbs weights``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..rigging.triangle_mesh import diagonal
from ..skinning.options import MethodName, method_name
from ..support.npz import read_arrays
from ..weights import FittedWeights, fit, limit, tidy
from .errors import Refusal
from .how_to_deform import find_twist, twist_option
from .options import MethodChoice, gathered, refuse_idle
from .streams import InputFile
from .terminal import progress_bar, say

__all__ = ["HowToFit", "how_to_fit"]


@dataclass(frozen=True)
class HowToFit:
    """Whether weights are fitted to examples, and how."""

    examples: Path | None
    fit_method: MethodName
    fit_smoothness: float
    initial: bool
    twist: tuple[str, ...] | None
    scheduler: str | None

    def __post_init__(self) -> None:
        names = ("fit_method", "fit_smoothness", "initial", "twist", "scheduler")
        refuse_idle((self.examples is None, "{} needs --fit", names))

    def fit(self, character: Character, most: int) -> FittedWeights | None:
        """Weights of at most so many joints for each vertex; None without examples."""
        if self.examples is None:
            return None
        posed, matrices = read_examples(self.examples, len(character.skeleton))
        mesh = character.mesh
        with progress_bar() as bar:
            task = bar.add_task("fitting", total=1.0)
            result = fit(
                mesh.positions,
                posed,
                matrices,
                method=self.fit_method,
                twist=None if self.twist is None else find_twist(character, self.twist),
                influences=most,
                initial=limit(*tidy(mesh.joint_indices, mesh.joint_weights), most) if self.initial else None,
                smoothness=self.fit_smoothness,
                triangles=mesh.triangles if self.fit_smoothness else None,
                scheduler=self.scheduler,
                progress=lambda share: bar.update(task, completed=share),
            )
        size = diagonal(mesh.positions)
        typical, largest = np.sqrt(np.square(result.errors).mean()), result.errors.max()
        say(f"fit: {len(posed)} frames, error {typical / size:.3%} of the size, at most {largest / size:.3%}")
        return result


def read_examples(source: Path, joints: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The examples (F, V, 3) and matrices (F, J, 4, 4) of a file."""
    try:
        found = read_arrays(source, {"posed", "skinning_matrices"})
        posed, matrices = found["posed"], found["skinning_matrices"]
    except (OSError, ValueError, KeyError) as error:
        raise Refusal(f"{source}: no NPZ with arrays `posed` and `skinning_matrices`: {error}") from None
    expected = (*posed.shape[:1], joints)
    if matrices.shape[:2] != expected:
        raise Refusal(f"{source}: skinning_matrices has shape {matrices.shape}, expected {(*expected, 4, 4)}")
    return posed, matrices


how_to_fit = gathered(
    "how",
    HowToFit,
    click.option(
        "--fit",
        "examples",
        type=InputFile(),
        help="Weights fitted to examples: an NPZ with `posed` (F, V, 3) and `skinning_matrices` (F, J, 4, 4).",
    ),
    click.option(
        "--fit-method",
        type=MethodChoice(["SBS", "LBS", "DQS"], method_name),
        default="SBS",
        help="The method that --fit is for; SBS about weighted centers.",
    ),
    click.option(
        "--fit-smoothness",
        type=click.FloatRange(0),
        default=0.0,
        help="How alike --fit makes the weights of neighbors: 0.05 to 0.3 where examples have noise.",
    ),
    click.option("--initial", is_flag=True, help="Begin --fit with the weights of FILE, too, and end no farther off."),
    twist_option(
        None,
        "Fit to a skin that spreads the twists of limbs along their bones: of all that are found, or of these joints."
        "  [default: none]",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Fit on the workers of this Dask cluster, such as tcp://farm:8786.  [default: on this machine]",
    ),
)
