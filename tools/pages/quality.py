# SPDX-License-Identifier: MIT
"""The tables of docs/quality.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sbs.support.files import replacing

from .exchange import clip_names, folders
from .losses import (
    KINDS,
    LOSSES,
    TEARS_OF,
    TWISTS_OF_LIMBS,
    all_energies,
    energy_shares,
    geometric_mean,
    largest_jump,
    mean_losses,
    measured,
    most_torn,
    scene_losses,
    tears_in_motion,
    totals,
)
from .scenes import subjects
from .tables import replace_tables, table

DOCS = Path(__file__).parents[2] / "docs"


def measure(characters: Path) -> None:
    """Write docs/quality.json."""
    numbers = {
        "schema": 2,
        "scenes": [measured(subject)[1] for subject in subjects(characters)],
        "motions": [tears_in_motion(folder) for folder in folders(characters) if clip_names(folder)],
        "energies": all_energies(characters),
    }
    with replacing(DOCS / "quality.json") as temporary:
        temporary.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


def write(characters: Path | None = None, docs: Path = DOCS) -> None:
    """Write the tables of the page from docs/quality.json, which is measured again if there are characters."""
    if characters is not None:
        measure(characters)
    numbers = json.loads((docs / "quality.json").read_text(encoding="utf-8"))
    scenes, energies = numbers["scenes"], numbers["energies"]
    tables = {
        "tears": tears_table(numbers["motions"]),
        "energies": energies_table(energies),
        "clips": by_method(energy_shares(energies, "clips")),
        "crossing": crossing_table(scenes),
        "losses": losses_table(scenes),
        "scenes": by_method(transposed({each["name"]: totals(scene_losses(each)) for each in scenes})),
    }
    replace_tables(docs / "quality.md", tables)


def transposed(found: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """By the inner names, then by the outer ones."""
    inner = next(iter(found.values()))
    return {name: {outer: values[name] for outer, values in found.items()} for name in inner}


def by_method(found: dict[str, dict[str, float]]) -> str:
    """A row for each method, a column for each character or scene."""
    rows = [[method, *(f"{value:.3f}" for value in values.values())] for method, values in found.items()]
    return table(["", *found["LBS"]], rows)


def tears_table(motions: Sequence[dict[str, Any]]) -> str:
    """The tears of characters in motion."""
    rows = []
    for item in motions:
        tears = item["tears"]
        ratio = tears["weighted"] / tears["LBS"]
        cells = [*(f"{tears[method]:.2f}" for method in TEARS_OF), f"{ratio:.3f}"]
        rows.append([item["name"], str(item["clips"]), f"{item['frames']:,}", *cells])
    return table(["", "clips", "frames", *TEARS_OF, "weighted / LBS"], rows)


def energies_table(characters: Sequence[dict[str, Any]]) -> str:
    """The energies relative to LBS, for each kind of poses and for all."""
    means = transposed(
        {
            kind: {method: geometric_mean(list(values.values())) for method, values in shares.items()}
            for kind in (*KINDS, TWISTS_OF_LIMBS)
            for shares in [energy_shares(characters, kind)]
        }
    )
    for values in means.values():
        values["all"] = geometric_mean([values[kind] for kind in KINDS])
        values[TWISTS_OF_LIMBS] = values.pop(TWISTS_OF_LIMBS)
    return by_method(means)


def crossing_table(scenes: Sequence[dict[str, Any]]) -> str:
    """The surface that crosses itself in each scene, by each method."""
    knee = next(scene for scene in scenes if scene["name"] == "bent knee")
    ordered = [knee, *(scene for scene in scenes if scene is not knee)]
    rows = []
    for method in knee["methods"]:
        crossings = [scene["methods"][method]["crossing"] for scene in ordered]
        rows.append([method, f"{crossings[0]['triangles']:.0f}", *(f"{each['area']:.2%}" for each in crossings)])
    return table(["", "triangles, bent knee", *(scene["name"] for scene in ordered)], rows)


def losses_table(scenes: Sequence[dict[str, Any]]) -> str:
    """The mean losses over the scenes."""
    losses, torn = mean_losses(scenes), most_torn(scenes)
    total = totals(losses)
    jumps, half_turn = (largest_jump(scenes, through_half_a_turn=flag) for flag in (False, True))
    rows = [
        [
            method,
            *(f"{value:.3f}" for value in (*values.values(), total[method])),
            f"{torn[method]:.2f}",
            f"{jumps[method]:.3%}",
            f"{half_turn[method]:.3%}",
        ]
        for method, values in losses.items()
    ]
    return table(["", *LOSSES, "together", "torn most", "jump", "jump at 180°"], rows)
