# SPDX-License-Identifier: MIT
"""Pictures of a pose by each method, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..characters.motions import MeasuredMotion
from .gauge import Gauge
from .methods import deformed
from .picture import Camera, Row, portraits
from .picture.portraits import BLUE, CLAY
from .report import Report, in_words

FULL_STRAIN = 1.0
COLORS = "Blue: where the surface is stretched or squashed, full blue where its area is doubled or halved."
FOOTNOTE = (
    f"{COLORS} Thickness: 1% of the deforming surface is thinner. Tear: 1% is torn more. Surfaces are smoothed for the"
    " picture by Loop subdivision."
)


def worst_pose(report: Report, motion: MeasuredMotion) -> int:
    """The pose of a motion with the largest tears of all methods together."""
    torn = [
        sum(report.results[motion.name, name].poses[pose]["tear"]["high"] for name in report.methods)
        for pose in range(len(motion.poses))
    ]
    return int(np.argmax(np.nan_to_num(torn)))


def shapes(report: Report, motion: MeasuredMotion, pose: int) -> dict[str, NDArray[np.float64]]:
    """Positions (V, 3) in a pose by each method."""
    rest = motion.rest_positions(report.gauge.character, pose)
    return {
        name: np.asarray(deformed(report.skins[name], motion.poses[pose], rest, method.options), np.float64)
        for name, method in report.methods.items()
    }


def panel_row(
    report: Report,
    motion: MeasuredMotion,
    pose: int,
    camera: Camera,
    size: tuple[int, int],
    *,
    samples: int,
    caption: str,
    progress: Callable[[], None] = lambda: None,
) -> Row:
    """A row for a figure: a pose of a motion of the report by each method, colored by strain.

    Pictures have a size in pixels, and so many samples: light paths per pixel. `progress` is called after each.
    """
    gauge = report.gauge
    mesh = gauge.character.mesh
    rest = motion.rest_positions(gauge.character, pose)
    if rest is not None:
        gauge = Gauge(gauge.character, rest)
    pictures: list[NDArray[Any]] = []
    notes = []
    for name, positions in shapes(report, motion, pose).items():
        share = np.clip(gauge.strain(positions) / FULL_STRAIN, 0, 1)
        colors = CLAY + (BLUE - CLAY) * share[:, None]
        pictures += portraits(mesh.positions, mesh.triangles, [positions], colors, camera, size, samples=samples)
        notes.append(note(report, motion, name, pose))
        progress()
    return Row(pictures, notes, caption)


def note(report: Report, motion: MeasuredMotion, method: str, pose: int) -> str:
    measured = report.results[motion.name, method].poses[pose]
    thickness, tear = measured["thickness"]["low"], measured["tear"]["high"]
    return f"thickness {in_words('thickness', thickness)}, tear {in_words('tear', tear)}"
