# SPDX-License-Identifier: MIT
"""``sbs info``: the content of a file."""

from __future__ import annotations

import dataclasses
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..characters.character import Character
from ..rigging.bones import bone_segments
from ..support.text import plain
from .options import JSON, SOURCE_OF_MESHES, Source, print_json
from .tables import print_records

DEEPEST = 30  # steps that joints are indented by at most; chains of thousands occur


@click.command()
@SOURCE_OF_MESHES
@JSON
def info(source: Source, as_json: bool) -> None:
    """Show the content of a character FILE, and its joints: a tree with the share of the weights that each has.

    Joint sets are the distinct sets of joints that move a vertex. A set that is more than a joint and its parent is
    non-trivial: every pose needs a solve for its rotation center.
    """
    character = source.load()
    facts, joints = describe(character), describe_joints(character)
    if as_json:
        print_json(facts | {"skeleton": joints})
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), Text(plain(describe_value(value))))
    Console().print(table)
    columns = {
        "joint": "{indent}{name}",
        "number": "{number}",
        "vertices": "{vertices}",
        "share of weights": "{share:.2%}",
        "length of bone": "{bone:.4g}",
    }
    print_records(columns, [joint | {"indent": "  " * min(joint["depth"], DEEPEST)} for joint in joints])


def describe_joints(character: Character) -> list[dict[str, Any]]:
    """The joints, each after its parent and before its children, ready for JSON."""
    skeleton = character.skeleton
    indices, weights = character.skin.influences()
    count = len(skeleton)
    vertices = np.bincount(indices[weights > 0], minlength=count)
    shares = np.bincount(indices.ravel(), weights.ravel(), count) / len(indices)
    heads, tails = bone_segments(skeleton)
    lengths = np.linalg.norm(tails - heads, axis=1)
    children: list[list[int]] = [[] for _ in range(count)]
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            children[parent].append(joint)
    rows = []
    left = [(root, 0) for root in reversed(skeleton.roots)]
    while left:
        joint, depth = left.pop()
        parent = int(skeleton.parents[joint])
        rows.append(
            {
                "name": skeleton.names[joint],
                "number": joint,
                "parent": skeleton.names[parent] if parent >= 0 else None,
                "depth": depth,
                "vertices": int(vertices[joint]),
                "share": round(float(shares[joint]), 9),
                "bone": round(float(lengths[joint]), 9),
            }
        )
        left += [(child, depth + 1) for child in reversed(children[joint])]
    return rows


def describe(character: Character) -> dict[str, Any]:
    """The facts about a character, ready for JSON."""
    skin, mesh = character.skin, character.mesh
    sizes = np.array([len(joints) for joints in skin.joint_sets])
    vertices_by_size = np.bincount(sizes[skin.joint_set_of_vertex])
    low, high = mesh.positions.min(axis=0), mesh.positions.max(axis=0)
    shots = {clip.name: clip.first_frame(clip.rate) for clip in character.animations if clip.start}
    return {
        "name": character.name,
        "vertices": skin.vertex_count,
        "triangles": len(mesh.triangles),
        "blend_shapes": len(mesh.shapes),
        "meshes": {part.name: len(part.vertices) for part in mesh.parts},
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
    } | ({"first_frames": shots} if shots else {})


def describe_value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {item}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        return " x ".join(f"{item:g}" for item in value)
    return str(value)
