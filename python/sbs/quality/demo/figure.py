# SPDX-License-Identifier: MIT
"""The figures: the README's picture, and every scene at rest and by each method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import MeasuredMotion, chosen, evaluate
from ..panel import FOOTNOTE as MEASURES
from ..panel import panel_row
from ..picture import Row, compose, portraits, weight_colors
from .outcomes import METHODS, Outcome
from .scenes import Scene

HEADINGS = {METHODS[name].options["method"]: METHODS[name].label for name in ("LBS", "SBS", "DQS")}
FOOTNOTE = (
    "Thickness: the share that the thinnest hundredth of the limbs keeps. Strain: of the surface, over that by LBS."
    " Surfaces are smoothed for the picture by Loop subdivision."
)
OPENING = {"LBS": "linear (LBS)", "DQS": "dual quaternions (DQS)", "smooth twist": "smooth twist"}

Pictures = list[NDArray[np.uint8]]


def photographs(
    scenes: Sequence[Scene],
    outcomes: Sequence[Sequence[Outcome]],
    *,
    width: int,
    samples: int,
    progress: Callable[[], None] = lambda: None,
) -> list[Pictures]:
    """Take pictures of each scene, at rest and by each method.

    All pictures of a scene are together about `width` pixels wide, of `samples` light paths per pixel. `progress` is
    called after each.
    """
    column = width // (1 + len(outcomes[0]))
    found = []
    for scene, results in zip(scenes, outcomes, strict=True):
        mesh = scene.character.mesh
        pictures = []
        for picture in portraits(
            mesh.positions,
            mesh.triangles,
            [mesh.positions, *(result.positions for result in results)],
            weight_colors(mesh.joint_indices, mesh.joint_weights, scene.moved),
            scene.camera,
            (column, round(column / scene.aspect)),
            samples=samples,
        ):
            pictures.append(picture)
            progress()
        found.append(pictures)
    return found


def all_methods(scenes: Sequence[Scene], outcomes: Sequence[Sequence[Outcome]], pictures: Sequence[Pictures]) -> Any:
    """The figure of all scenes, from pictures of `photographs`: a `PIL.Image.Image`."""
    rows = [
        Row(shown, ["", *(note(result) for result in results)], scene.caption)
        for scene, results, shown in zip(scenes, outcomes, pictures, strict=True)
    ]
    return compose(rows, ["rest pose", *(METHODS[result.method].label for result in outcomes[0])], FOOTNOTE)


def opening(scene: Scene, *, width: int, samples: int, progress: Callable[[], None] = lambda: None) -> Any:
    """The first picture of the README, a `PIL.Image.Image`: a pose by three methods, with the strain of its surface.

    Its pictures are a quarter of `width` wide. `progress` is called after each.
    """
    motion = MeasuredMotion(scene.name, (scene.name,), scene.skinning_matrices[None])
    report = evaluate(scene.character, [motion], chosen([*OPENING]))
    size = (width // 4, round(width // 4 / scene.aspect))
    row = panel_row(report, motion, 0, scene.camera, size, samples=samples, caption=scene.caption, progress=progress)
    return compose([row], [*OPENING.values()], MEASURES)


def note(outcome: Outcome) -> str:
    return f"thickness {outcome.thickness:.0%}, strain {outcome.strain:.2f}"
