# SPDX-License-Identifier: MIT
"""The figure: every scene at rest and by each method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..options import Method
from ..picture import Row, compose, portraits, weight_colors
from .outcomes import METHODS, Outcome
from .scenes import Scene

HEADINGS: dict[Method, str] = {
    "linear": "linear (LBS)",
    "spherical": "spherical (SBS)",
    "dual_quaternion": "dual quaternion (DQS)",
}
FOOTNOTE = (
    "Radius kept: the least share of its distance to the axis of a turned joint that a vertex keeps. Volume: of the"
    " whole mesh. Surfaces are smoothed for the picture by Loop subdivision."
)


def draw(
    scenes: Sequence[Scene],
    outcomes: Sequence[Sequence[Outcome]],
    *,
    width: int,
    samples: int,
    progress: Callable[[], None] = lambda: None,
) -> Any:
    """Draw the figure.

    Parameters
    ----------
    scenes : sequence of Scene
        The rows.
    outcomes : sequence of sequence of Outcome
        The results of each method for each scene.
    width : int
        Of the figure in pixels, approximately.
    samples : int
        Light paths per pixel.
    progress : callable
        Called after each picture.

    Returns
    -------
    PIL.Image.Image

    Raises
    ------
    MissingExtraError
        If the packages that draw are not installed.
    """
    columns = 1 + len(outcomes[0])
    rows = []
    for scene, results in zip(scenes, outcomes, strict=True):
        mesh = scene.character.mesh
        pictures = []
        for picture in portraits(
            mesh.positions,
            mesh.triangles,
            [mesh.positions, *(result.positions for result in results)],
            weight_colors(mesh.joint_indices, mesh.joint_weights, scene.moved),
            scene.camera,
            (width // columns, round(width / columns / scene.aspect)),
            samples=samples,
        ):
            pictures.append(picture)
            progress()
        rows.append(Row(pictures, ["", *(note(result) for result in results)], scene.caption))
    return compose(rows, ["rest pose", *(METHODS[result.method].label for result in outcomes[0])], FOOTNOTE)


def note(outcome: Outcome) -> str:
    return f"radius kept {outcome.radius_kept:.0%}, volume {outcome.volume_change:+.1%}"
