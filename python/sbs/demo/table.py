# SPDX-License-Identifier: MIT
"""The table that goes with the figure."""

from __future__ import annotations

from collections.abc import Sequence

from .outcomes import Outcome
from .scenes import Scene

COLUMNS = (
    "pose",
    "method",
    "vertices",
    "joint sets",
    "non-trivial sets",
    "solves",
    "ns per vertex",
    "ratio to LBS",
    "radius kept",
    "volume",
)


def cells(scenes: Sequence[Scene], outcomes: Sequence[Sequence[Outcome]]) -> list[tuple[str, ...]]:
    """The table as text, a row for each scene and method, in the order of `COLUMNS`."""
    return [
        (
            scene.name,
            outcome.method,
            str(scene.character.skin.vertex_count),
            str(len(scene.character.skin.joint_sets)),
            str(scene.character.skin.nontrivial_joint_set_count),
            str(outcome.solves),
            f"{outcome.nanoseconds:.2f}",
            f"{outcome.ratio:.2f}",
            f"{outcome.radius_kept:.1%}",
            f"{outcome.volume_change:+.2%}",
        )
        for scene, results in zip(scenes, outcomes, strict=True)
        for outcome in results
    ]


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """The table as GitHub Markdown, with numbers right-aligned."""
    rule = ["---", "---", *["---:"] * (len(COLUMNS) - 2)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [COLUMNS, rule, *rows])
