# SPDX-License-Identifier: MIT
"""What muscles cost: ``python -m benchmarks.muscles``.

Whole frames of the woman by SBS alone, and with the 18 muscles of a body: calls from Python, float32, one thread; all
take turns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

import sbs
from sbs.cli.tables import print_table
from sbs.samples import load as load_sample

from .rounds import Case, frame_by_frame, measure
from .targets import Row
from .twist import poses

Step = Callable[[NDArray[np.float64]], object]

ROUNDS = 60
TARGET = 1.3


def cases(character: sbs.Character) -> list[Case]:
    """SBS without muscles and with, for positions and for normals, too."""
    cover = sbs.muscles.bind(character, sbs.muscles.fit(character))
    matrices = poses(character.skeleton)
    found = []
    for attributes in ("p", "pn"):
        positions = np.empty_like(character.skin.rest_positions)
        normals = np.empty_like(positions) if attributes == "pn" else None
        outputs = {"out": positions} | ({} if normals is None else {"out_normals": normals})
        deform = partial(character.skin.deform, normals=normals is not None, threads=1, **outputs)

        then = partial(cover.apply, positions, normals=normals, threads=1)
        for run in (deform, partial(_both, deform, then)):
            found.append(Case("sbs", "frame", "spherical", attributes, 1, "", frame_by_frame(run, matrices)))
    return found


def _both(deform: Step, cover: Step, matrices: NDArray[np.float64]) -> None:
    deform(matrices)
    cover(matrices)


def main() -> None:
    timings = measure(cases(load_sample("woman")), ROUNDS)
    rows = []
    for without, within in zip(timings[::2], timings[1::2], strict=True):
        row = Row("", "", "", within.minimum / without.minimum, TARGET)
        what = {"p": "positions", "pn": "positions, normals"}[without.case.attributes]
        times = [f"{timing.minimum / 1000:.1f}" for timing in (without, within)]
        rows.append((what, *times, f"{row.value:.2f}", f"{row.bound}, {row.verdict}"))
    print_table(("of", "SBS, us", "with muscles, us", "ratio", "target"), rows, left=1)


if __name__ == "__main__":
    main()
