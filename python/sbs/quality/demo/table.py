# SPDX-License-Identifier: MIT
"""The table that goes with the figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .outcomes import Outcome
from .scenes import Scene

_CELLS: dict[str, Callable[[Scene, Outcome], str]] = {
    "pose": lambda scene, _: scene.name,
    "method": lambda _, outcome: outcome.method,
    "vertices": lambda scene, _: str(scene.character.skin.vertex_count),
    "joint sets": lambda scene, _: str(len(scene.character.skin.joint_sets)),
    "non-trivial sets": lambda scene, _: str(scene.character.skin.nontrivial_joint_set_count),
    "solves": lambda _, outcome: str(outcome.solves),
    "ns per vertex": lambda _, outcome: f"{outcome.nanoseconds:.2f}",
    "ratio to LBS": lambda _, outcome: f"{outcome.ratio:.2f}",
    "thickness": lambda _, outcome: f"{outcome.thickness:.0%}",
    "limb volume": lambda _, outcome: f"{outcome.limb_volume:.0%}",
    "strain": lambda _, outcome: f"{outcome.strain:.2f}",
}
COLUMNS = tuple(_CELLS)


def cells(scenes: Sequence[Scene], outcomes: Sequence[Sequence[Outcome]]) -> list[tuple[str, ...]]:
    """The table as text, a row for each scene and method, in the order of `COLUMNS`."""
    return [
        tuple(cell(scene, outcome) for cell in _CELLS.values())
        for scene, results in zip(scenes, outcomes, strict=True)
        for outcome in results
    ]


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """The table as GitHub Markdown, with numbers right-aligned."""
    rule = ["---", "---", *["---:"] * (len(COLUMNS) - 2)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [COLUMNS, rule, *rows])
