# SPDX-License-Identifier: MIT
"""The figures: every scene at rest and by each method, and of two of them linear blending beside the default."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..picture import Row, compose, portraits, weight_colors
from .outcomes import METHODS, Outcome
from .scenes import Scene

HEADINGS = {METHODS[name].options["method"]: METHODS[name].label for name in ("LBS", "SBS", "DQS")}
SMOOTHED = "Surfaces are smoothed for the picture by Loop subdivision."
FOOTNOTE = (
    "Radius kept: the least share of its distance to the axis of a turned joint that a vertex keeps. Volume: of the"
    f" whole mesh. {SMOOTHED}"
)
OPENING = {"LBS": "linear (LBS)", "half twist": "the default: half twist"}
OPENING_CAPTION = (
    "Half twist, the default of the add-on for Blender: SBS about optimized centers, twists spread along limbs, mostly"
    " linear across joints. Blue: the weight of the joints that move."
)

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


def opening(scenes: Sequence[Scene], outcomes: Sequence[Sequence[Outcome]], pictures: Sequence[Pictures]) -> Any:
    """The first picture of the README: a bent joint beside a twisted one, each by LBS and by the add-on's default."""
    shown: Pictures = []
    notes: list[str] = []
    for name in ("bent knee", "twisted arm"):
        number = [scene.name for scene in scenes].index(name)
        methods = [outcome.method for outcome in outcomes[number]]
        shown += [pictures[number][1 + methods.index(method)] for method in OPENING]
        notes += [scenes[number].title] * len(OPENING)
    return compose([Row(shown, notes, OPENING_CAPTION)], [*OPENING.values()] * 2, SMOOTHED)


def note(outcome: Outcome) -> str:
    return f"radius kept {outcome.radius_kept:.0%}, volume {outcome.volume_change:+.1%}"
