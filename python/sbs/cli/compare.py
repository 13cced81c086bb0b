# SPDX-License-Identifier: MIT
"""``sbs compare``: the methods side by side on one pose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..characters.character import Character
from ..characters.loading import load
from ..demo.figure import HEADINGS
from ..options import Center, DeformOptions, Rotation
from ..picture import Camera, Row, column_width, compose, portraits, weight_colors
from ..picture.portraits import CLAY
from ..poses import descendants, vertices_around
from ..rigging.triangle_mesh import diagonal
from ..support.files import replacing
from .blended_bones import Ends, blending_options, chosen_bones
from .muscle_options import MUSCLES, MuscleSource, cover_of, placed_muscles
from .options import (
    ANIMATION,
    CENTER,
    CENTERS_CACHE,
    CHARACTER,
    MESHES,
    ROTATION,
    STRICT,
    TIME,
    TWIST,
    UP,
    VIEW,
    find_animation,
    pose_at,
    refuse_without,
    samples_option,
    skin_for,
    twist_for,
    width_option,
)
from .posing import JOINT, ROTATE, Turn, check_turns, in_words, turned_joints
from .progress import progress_bar
from .streams import OutputFile
from .tables import print_table
from .terminal import say

ASPECT = 1.0
RED = np.array([0.62, 0.08, 0.05])
# What is seen around the vertex that differs most, as a share of the mesh's diagonal.
ZOOM = 0.06


@click.command()
@CHARACTER
@MESHES
@ANIMATION
@TIME
@JOINT
@ROTATE
@ROTATION
@CENTER
@CENTERS_CACHE
@TWIST
@MUSCLES
@blending_options
@VIEW
@UP
@width_option(1280)
@samples_option(16)
@STRICT
@click.option("-o", "--output", type=OutputFile(".png"), help="The picture to write, a PNG.")
def compare(
    file: Path,
    meshes: tuple[str, ...],
    animation_name: str | None,
    time: float | None,
    joints: tuple[str, ...],
    turns: tuple[Turn, ...],
    rotation: Rotation,
    center: Center,
    centers_cache: Path | None,
    twist: tuple[str, ...] | None,
    muscles_from: MuscleSource | None,
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

    The pose is one of an animation, or the bind pose with some joints turned; then the picture shows what these joints
    and their parents move, with the weight of the joints in blue. Below is where the methods differ most; what is not
    where the first method puts it is red. With --muscles there is SBS once more, with skin that covers them.
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
    chosen = chosen_bones(bones, t_min, t_max)
    character = load(file, strict=strict, mesh=meshes or None)
    if joints:
        matrices, turning = turned_joints(character, joints, turns)
        pose = in_words(character, turning, turns)
        moved, shown = descendants(character.skeleton, *turning), moved_by(character, turning)
    else:
        matrices, pose = pose_at(character, animation_name, time), f"{animation_name} at {time or 0:g} s"
        moved, shown = np.empty(0, np.intp), np.ones(character.skin.vertex_count, bool)
    spread = None if twist is None else twist_for(character, twist)
    skin = skin_for(character, center, centers_cache, spread)
    cover = cover_of(character, placed_muscles(character, muscles_from))
    moving = None if animation_name is None else find_animation(character, animation_name)
    rest = character.shape_motion(moving).rest_positions(time or 0.0) if character.mesh.shapes else None
    shapes = {}
    for method, heading in HEADINGS.items():
        options: DeformOptions = {"method": method}
        if method == "spherical":
            options = {"method": method, "rotation": rotation, "center": center}
        shapes[heading] = skin.deform(matrices, rest_positions=rest, **options)
    if cover is not None:
        covered = np.array(shapes[HEADINGS["spherical"]])
        cover.apply(covered, matrices)
        shapes["SBS with muscles"] = covered
    if chosen is not None:
        blending = chosen.blend(character)
        shapes["bones blending"] = blending.skin().deform(matrices, rest_positions=rest, **blending.options)
    first = next(iter(shapes))
    say(f"Distance to {first}, as a share of the mesh's diagonal:")
    print_table(("method", "mean", "greatest", "at vertex"), distances(shapes))
    if output is None:
        return
    mesh = character.mesh
    seen = {"rest pose": transformed(character.scene_matrix, mesh.positions if rest is None else rest), **shapes}
    column = column_width(width, len(seen))
    size = (column, round(column / ASPECT))
    weights = weight_colors(mesh.joint_indices, mesh.joint_weights, moved)
    whole = Camera.framing(np.concatenate([shape[shown] for shape in seen.values()]), view, up, aspect=ASPECT)
    apart = {name: differences(shapes[first], shape) for name, shape in shapes.items()}
    blank = np.full((size[1], size[0], 3), 255, np.uint8)
    with progress_bar() as progress:
        task = progress.add_task("drawing", total=len(seen) + len(shapes))

        def picture(shape: ArrayLike, colors: NDArray[np.float64], camera: Camera) -> NDArray[np.uint8]:
            (drawn,) = portraits(mesh.positions, mesh.triangles, [shape], colors, camera, size, samples=samples)
            progress.advance(task)
            return drawn

        rows = [
            Row([picture(shape, weights, whole) for shape in seen.values()], [""] * len(seen), f"{file.name}: {pose}")
        ]
        largest = max(lengths.max() for lengths in apart.values())
        if largest > 0:
            near = zoom(shapes, apart, view, up)
            colors = {name: CLAY + (RED - CLAY) * lengths[:, None] / largest for name, lengths in apart.items()}
            close = [picture(shape, colors[name], near) for name, shape in shapes.items()]
            longest = diagonal(shapes[first]) or 1.0
            notes = [f"up to {lengths.max() / longest:.2%}" if lengths.any() else "" for lengths in apart.values()]
            caption = f"Red: how far vertices are from {first}, where that is most, as shares of the mesh's diagonal"
            rows.append(Row([blank, *close], ["", *notes], caption))
    figure = compose(rows, list(seen), width=width)
    with replacing(output) as temporary:
        figure.save(temporary)
    say(output)


def zoom(
    shapes: dict[str, NDArray[np.floating[Any]]],
    apart: dict[str, NDArray[np.float64]],
    view: tuple[float, ...],
    up: tuple[float, ...],
) -> Camera:
    """A camera that is near to where a method differs most from the first."""
    most = max(apart, key=lambda name: float(apart[name].max()))
    first = np.asarray(next(iter(shapes.values())), np.float64)
    vertex = int(apart[most].argmax())
    reach = max(ZOOM * diagonal(first), 1.5 * float(apart[most].max()))
    around = np.linalg.norm(first - first[vertex], axis=1) <= reach
    points = np.concatenate([first[around], np.asarray(shapes[most], np.float64)[vertex][None]])
    return Camera.framing(points, view, up, aspect=ASPECT)


def moved_by(character: Character, joints: Sequence[int]) -> NDArray[np.bool_]:
    """The vertices (V,) that joints or their parents move, at least one."""
    shown = np.any([vertices_around(character, joint) for joint in joints], axis=0)
    if not shown.any():
        name = character.skeleton.names[joints[0]]
        raise click.BadParameter(f"joint {name!r} and its parent move no vertex", param_hint="--joint")
    return np.asarray(shown)


def transformed(matrix: NDArray[np.float64], points: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(points, np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def differences(first: NDArray[np.floating[Any]], positions: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """How far vertices (V,) are from where the first method puts them."""
    return np.asarray(np.linalg.norm(np.asarray(positions, np.float64) - np.asarray(first, np.float64), axis=1))


def distances(shapes: dict[str, NDArray[np.floating[Any]]]) -> list[tuple[str, ...]]:
    """Rows of the table: how far each method is from the first, as a share of the mesh's diagonal."""
    first = next(iter(shapes.values()))
    rows: list[tuple[str, ...]] = []
    for heading, positions in shapes.items():
        apart = differences(first, positions) / (diagonal(first) or 1.0)
        farthest = str(int(apart.argmax())) if apart.any() else ""
        rows.append((heading, f"{apart.mean():.3%}", f"{apart.max():.3%}", farthest))
    return rows
