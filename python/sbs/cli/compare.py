# SPDX-License-Identifier: MIT
"""``sbs compare``: the methods side by side on one pose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..character import Character, load
from ..demo.figure import HEADINGS
from ..files import replacing
from ..options import Center, DeformOptions, Rotation
from ..picture import Camera, Row, compose, portraits, weight_colors
from ..poses import descendants, vertices_around
from .blended_bones import Ends, blending_options, chosen_bones
from .options import (
    ANIMATION,
    CENTER,
    CENTERS_CACHE,
    CHARACTER,
    ROTATION,
    SAMPLES,
    STRICT,
    TIME,
    TWIST,
    UP,
    VIEW,
    WIDTH,
    pose_at,
    refuse_without,
    skin_for,
)
from .posing import JOINT, ROTATE, Turn, check_turns, in_words, turned_joints
from .tables import print_table
from .terminal import say

ASPECT = 1.0


@click.command()
@CHARACTER
@ANIMATION
@TIME
@JOINT
@ROTATE
@ROTATION
@CENTER
@CENTERS_CACHE
@TWIST
@blending_options
@VIEW
@UP
@WIDTH
@SAMPLES
@STRICT
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="The picture to write, a PNG.")
def compare(
    file: Path,
    animation_name: str | None,
    time: float | None,
    joints: tuple[str, ...],
    turns: tuple[Turn, ...],
    rotation: Rotation,
    center: Center,
    centers_cache: Path | None,
    twist: tuple[str, ...] | None,
    bones: tuple[str, ...],
    t_min: Ends,
    t_max: Ends,
    view: tuple[float, ...],
    up: tuple[float, ...],
    width: int,
    samples: int,
    strict: bool,
    output: Path | None,
) -> None:
    """Deform the character in FILE by LBS, SBS and DQS, and show how much they differ.

    The pose is one of an animation, or the bind pose with one joint turned; then the picture shows what that joint and
    its parent move, with the weight of the joint in blue.
    """
    check_turns(joints, turns)
    if joints and animation_name is not None:
        raise click.UsageError("--joint takes the place of --animation")
    if not joints and animation_name is None:
        raise click.UsageError("one of --animation and --joint is needed")
    if animation_name is None:
        refuse_without("--animation", "time")
    if output is None:
        refuse_without("--output", "view", "up", "width", "samples")
    if output is not None and output.suffix.lower() != ".png":
        raise click.BadParameter(f"{output.name!r} does not end in .png", param_hint="--output")
    chosen = chosen_bones(bones, t_min, t_max)
    character = load(file, strict=strict)
    if joints:
        matrices, turning = turned_joints(character, joints, turns)
        pose = in_words(character, turning, turns)
        moved, shown = descendants(character.skeleton, *turning), moved_by(character, turning)
    else:
        matrices, pose = pose_at(character, animation_name, time), f"{animation_name} at {time or 0:g} s"
        moved, shown = np.empty(0, np.intp), np.ones(character.skin.vertex_count, bool)
    skin = skin_for(character, center, centers_cache, twist)
    shapes = {}
    for method, heading in HEADINGS.items():
        options: DeformOptions = {"method": method}
        if method == "spherical":
            options = {"method": method, "rotation": rotation, "center": center}
        shapes[heading] = skin.deform(matrices, **options)
    if chosen is not None:
        blending = chosen.blend(character)
        shapes["bones blending"] = blending.skin().deform(matrices, **blending.options)
    say("Distance to SBS, as a share of the mesh's diagonal:")
    print_table(("method", "mean", "greatest", "at vertex"), distances(shapes))
    if output is None:
        return
    size = (width // (1 + len(shapes)), round(width / (1 + len(shapes)) / ASPECT))
    pictures = take_pictures(character, shapes, moved, shown, view, up, size, samples)
    notes = [""] * len(pictures)
    figure = compose([Row(pictures, notes, f"{file.name}: {pose}")], ["rest pose", *shapes])
    with replacing(output) as temporary:
        figure.save(temporary)
    say(output)


def take_pictures(
    character: Character,
    shapes: dict[str, NDArray[np.floating[Any]]],
    moved: NDArray[np.intp],
    shown: NDArray[np.bool_],
    view: tuple[float, ...],
    up: tuple[float, ...],
    size: tuple[int, int],
    samples: int,
) -> list[NDArray[np.uint8]]:
    """Pictures of the rest pose and of all shapes, by a camera that shows all `shown` vertices (V,) in each."""
    mesh = character.mesh
    seen = [transformed(character.scene_matrix, mesh.positions), *shapes.values()]
    camera = Camera.framing(np.concatenate([shape[shown] for shape in seen]), view, up, aspect=size[0] / size[1])
    colors = weight_colors(mesh.joint_indices, mesh.joint_weights, moved)
    return list(portraits(mesh.positions, mesh.triangles, seen, colors, camera, size, samples=samples))


def moved_by(character: Character, joints: Sequence[int]) -> NDArray[np.bool_]:
    """The vertices (V,) that joints or their parents move, at least one."""
    shown = np.any([vertices_around(character, joint) for joint in joints], axis=0)
    if not shown.any():
        name = character.skeleton.names[joints[0]]
        raise click.BadParameter(f"joint {name!r} and its parent move no vertex", param_hint="--joint")
    return np.asarray(shown)


def transformed(matrix: NDArray[np.float64], points: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(points, np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def distances(shapes: dict[str, NDArray[np.floating[Any]]]) -> list[tuple[str, ...]]:
    """Rows of the table: how much each method differs from SBS, as a share of the mesh's diagonal."""
    spherical = np.asarray(shapes[HEADINGS["spherical"]], np.float64)
    size = np.linalg.norm(spherical.max(axis=0) - spherical.min(axis=0)) or 1.0
    rows: list[tuple[str, ...]] = []
    for heading, positions in shapes.items():
        apart = np.linalg.norm(positions - spherical, axis=1) / size
        farthest = str(int(apart.argmax())) if apart.any() else ""
        rows.append((heading, f"{apart.mean():.3%}", f"{apart.max():.3%}", farthest))
    return rows
