# SPDX-License-Identifier: MIT
"""What the paper's singular value decomposition costs, over the default: ``python -m benchmarks.rcond``.

Frames of the two characters of the package and of a character of tests/data, joints turned about any axis: with
``rcond=1e-3`` and by damping, in turns. Whole calls from Python, positions, float32, one thread.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import sbs
from sbs.cli.tables import print_table
from sbs.samples import load as load_sample

from .bones import arnaud, poses
from .rounds import Case, frame_by_frame, measure

ROUNDS = 60
WAYS = {"damping": {}, "rcond": {"rcond": 1e-3}}


def cases(character: sbs.Character) -> list[Case]:
    """The same frames both ways."""
    skin, matrices = character.skin, poses(character.skeleton)
    out = np.empty_like(skin.rest_positions)
    return [
        Case(
            name,
            "frame",
            "spherical",
            "p",
            1,
            "",
            frame_by_frame(partial(skin.deform, out=out, threads=1, **options), matrices),
        )
        for name, options in WAYS.items()
    ]


def main() -> None:
    rows = []
    for character in (load_sample("hand"), arnaud(), load_sample("woman")):
        damped, cut = measure(cases(character), ROUNDS)
        skin = character.skin
        solves = skin.pose_report(poses(character.skeleton)[0]).solves
        rows.append((character.name, f"{skin.vertex_count:,}", str(solves), f"{cut.minimum / damped.minimum:.1f}"))
    print_table(("character", "vertices", "solves", "rcond over damping"), rows)


if __name__ == "__main__":
    main()
