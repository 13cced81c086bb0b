# SPDX-License-Identifier: MIT
"""``sbs compare``: the methods side by side on one pose."""

from __future__ import annotations

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
from ..poses import bone_axis, descendants, turned, vertices_around
from .blended_bones import Ends, blending_options, chosen_bones
from .options import (
    ANIMATION,
    AXES,
    CENTER,
    CENTERS_CACHE,
    CHARACTER,
    ROTATION,
    SAMPLES,
    STRICT,
    TIME,
    UP,
    VIEW,
    WIDTH,
    known_joints,
    parse_direction,
    pose_at,
    refuse_without,
    skin_for,
)
from .tables import print_table
from .terminal import say

ASPECT = 1.0


def parse_rotation(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> tuple[str | tuple[float, ...], float] | None:
    """An axis and an angle in degrees, from x:125, bone:170 or 1,0,1:-30."""
    if text is None:
        return None
    axis, _, angle = text.rpartition(":")
    try:
        degrees = float(angle)
    except ValueError:
        degrees = np.nan
    if not np.isfinite(degrees):
        raise click.BadParameter(f"{text!r} is not AXIS:DEGREES, as in x:125 or bone:170", context, parameter)
    if axis == "bone":
        return axis, degrees
    return AXES.get(axis) or parse_direction(context, parameter, axis), degrees


@click.command()
@CHARACTER
@ANIMATION
@TIME
@click.option("--joint", metavar="NAME", help="Turn this joint in the bind pose.")
@click.option(
    "--rotate",
    metavar="AXIS:DEGREES",
    callback=parse_rotation,
    help="How; AXIS is x, y, z, bone or X,Y,Z, in the joint's own frame.",
)
@ROTATION
@CENTER
@CENTERS_CACHE
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
    joint: str | None,
    rotate: tuple[str | tuple[float, ...], float] | None,
    rotation: Rotation,
    center: Center,
    centers_cache: Path | None,
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
    if (joint is None) != (rotate is None):
        raise click.UsageError("--joint and --rotate go together")
    if joint is not None and animation_name is not None:
        raise click.UsageError("--joint takes the place of --animation")
    if joint is None and animation_name is None:
        raise click.UsageError("one of --animation and --joint is needed")
    if animation_name is None:
        refuse_without("--animation", "time")
    if output is None:
        refuse_without("--output", "view", "up", "width", "samples")
    if output is not None and output.suffix.lower() != ".png":
        raise click.BadParameter(f"{output.name!r} does not end in .png", param_hint="--output")
    chosen = chosen_bones(bones, t_min, t_max)
    character = load(file, strict=strict)
    if joint is None or rotate is None:
        matrices, pose = pose_at(character, animation_name, time), f"{animation_name} at {time or 0:g} s"
        moved, shown = np.empty(0, np.intp), np.ones(character.skin.vertex_count, bool)
    else:
        (turning,) = known_joints(character, [joint])
        pose = f"{character.skeleton.names[turning]} turned by {rotate[1]:g}°"
        matrices = pose_with(character, turning, *rotate)
        moved, shown = descendants(character.skeleton, turning), moved_by(character, turning)
    skin = skin_for(character, center, centers_cache)
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


def pose_with(character: Character, joint: int, axis: str | tuple[float, ...], degrees: float) -> NDArray[np.float64]:
    """Skinning matrices (J, 4, 4) of the bind pose with one joint turned."""
    skeleton = character.skeleton
    direction = bone_axis(skeleton, joint) if isinstance(axis, str) else axis
    return character.skinning_matrices(turned(skeleton, joint, direction, degrees))


def moved_by(character: Character, joint: int) -> NDArray[np.bool_]:
    """Which vertices (V,) a joint or its parent moves; raises if there are none."""
    shown = vertices_around(character, joint)
    if not shown.any():
        name = character.skeleton.names[joint]
        raise click.BadParameter(f"joint {name!r} and its parent move no vertex", param_hint="--joint")
    return shown


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
