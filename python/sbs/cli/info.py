# SPDX-License-Identifier: MIT
"""``sbs info``: what a file contains."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..character import Character, load
from ..text import plain
from .options import CHARACTER, JSON, STRICT


@click.command()
@CHARACTER
@STRICT
@JSON
def info(file: Path, strict: bool, as_json: bool) -> None:
    """Show what a character FILE (GLB or glTF) contains.

    Joint sets are the distinct sets of joints that move a vertex. A set that is more than a joint and its parent is
    non-trivial: every pose needs a solve for its rotation center.
    """
    facts = describe(load(file, strict=strict))
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), Text(plain(in_words(value))))
    Console().print(table)


def describe(character: Character) -> dict[str, Any]:
    """The facts about a character, ready for JSON."""
    skin, mesh = character.skin, character.mesh
    sizes = np.array([len(joints) for joints in skin.joint_sets])
    vertices_by_size = np.bincount(sizes[skin.joint_set_of_vertex])
    low, high = mesh.positions.min(axis=0), mesh.positions.max(axis=0)
    return {
        "name": character.name,
        "vertices": skin.vertex_count,
        "triangles": len(mesh.triangles),
        "size": [round(float(extent), 6) for extent in high - low],
        "joints": skin.joint_count,
        "roots": int(np.sum(np.asarray(character.skeleton.parents) < 0)),
        "joint_sets": len(skin.joint_sets),
        "nontrivial_joint_sets": skin.nontrivial_joint_set_count,
        "vertices_by_influences": {str(size): int(count) for size, count in enumerate(vertices_by_size) if count},
        "vertices_with_bad_weights": {
            kind: count for kind, count in dataclasses.asdict(skin.weight_report).items() if count
        },
        "animations": {animation.name: round(animation.duration, 6) for animation in character.animations},
    }


def in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {item}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        return " x ".join(f"{item:g}" for item in value)
    return str(value)
