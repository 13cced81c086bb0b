# SPDX-License-Identifier: MIT
"""``sbs compare``: the methods side by side on one pose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..characters.character import Character
from ..characters.poses import descendants, vertices_around
from ..quality.demo.figure import HEADINGS
from ..quality.picture import Camera, Row, column_width, compose, portraits, weight_colors
from ..quality.picture.portraits import CLAY
from ..rigging.triangle_mesh import diagonal
from ..skinning.options import CorrectedOptions
from .blended_bones import BONES_BLENDING
from .how_to_deform import (
    CENTER,
    CENTERS_CACHE,
    CORRECTIVES,
    FLESH,
    MUSCLES,
    ROTATION,
    TWIST,
    HowToDeform,
    how_to_deform,
)
from .options import SOURCE_OF_MESHES, Source, known_joints, output_option, refuse_idle
from .pictures import PICTURE, PictureOptions, picture_options, save_figure
from .posing import POSE, PoseOptions
from .tables import print_table
from .terminal import progress_bar, say

ASPECT = 1.0
RED = np.array([0.62, 0.08, 0.05])
# How far around the vertex that differs most the close picture reaches, as a share of the mesh's diagonal.
ZOOM = 0.06


@click.command()
@SOURCE_OF_MESHES
@POSE
@how_to_deform(ROTATION, CENTER, CENTERS_CACHE, TWIST, FLESH, MUSCLES, CORRECTIVES, *BONES_BLENDING)
@picture_options(width=1280, samples=16)
@output_option(".png", text="The picture to write, a PNG.")
def compare(
    source: Source,
    pose: PoseOptions,
    how: HowToDeform,
    drawn: PictureOptions,
    output: Path | None,
) -> None:
    """Deform the character in FILE by LBS, SBS and DQS, and show how much they differ.

    The pose is one of an animation, or the bind pose with some joints turned; then the picture shows what these joints
    and their parents move, with the weight of the joints in blue. Below is where the methods differ most; vertices
    away from where the first method puts them are red. With --muscles there is SBS once more, with skin that covers
    them, and with --correctives with these shapes.
    """
    if not pose.joints and pose.animation_name is None:
        raise click.UsageError("one of --animation and --joint is needed")
    refuse_idle((output is None, "{} needs --output", PICTURE))
    character = source.load()
    animation = pose.animation(character)
    matrices = pose.matrices(character, animation)
    if pose.joints:
        turning = known_joints(character, pose.joints)
        moved, shown = descendants(character.skeleton, *turning), find_moved(character, turning)
    else:
        moved, shown = np.empty(0, np.intp), np.ones(character.skin.vertex_count, bool)
    rest = character.shape_motion(animation).rest_positions(pose.time or 0.0) if character.mesh.shapes else None
    shapes = deform_by_methods(character, how, matrices, rest)
    first = next(iter(shapes))
    say(f"Distance to {first}, as a share of the mesh's diagonal:")
    print_table(("method", "mean", "greatest", "at vertex"), describe_distances(shapes))
    if output is None:
        return
    weights = weight_colors(character.mesh.joint_indices, character.mesh.joint_weights, moved)
    caption = f"{source.file.name}: {pose.in_words(character)}"
    figure = draw(character, rest, shapes, shown, weights, caption, drawn)
    save_figure(figure, output)


def draw(
    character: Character,
    rest: NDArray[np.floating[Any]] | None,
    shapes: dict[str, NDArray[np.floating[Any]]],
    shown: NDArray[np.bool_],
    weights: NDArray[np.float64],
    caption: str,
    drawn: PictureOptions,
) -> Any:
    """A figure of each shape, colored by weights, and below of the place where shapes differ most."""
    mesh, first = character.mesh, next(iter(shapes))
    seen = {"rest pose": transform_points(character.scene_matrix, mesh.positions if rest is None else rest), **shapes}
    column = column_width(drawn.width, len(seen))
    size = (column, round(column / ASPECT))
    whole = drawn.camera(np.concatenate([shape[shown] for shape in seen.values()]), ASPECT)
    apart = {name: measure_differences(shapes[first], shape) for name, shape in shapes.items()}
    blank = np.full((size[1], size[0], 3), 255, np.uint8)
    with progress_bar() as progress:
        task = progress.add_task("drawing", total=len(seen) + len(shapes))

        def pictures(
            shapes: Iterable[ArrayLike], colors: NDArray[np.float64], camera: Camera
        ) -> Iterator[NDArray[np.uint8]]:
            for made in portraits(mesh.positions, mesh.triangles, shapes, colors, camera, size, samples=drawn.samples):
                progress.advance(task)
                yield made

        rows = [Row([*pictures(seen.values(), weights, whole)], [""] * len(seen), caption)]
        largest = max(lengths.max() for lengths in apart.values())
        if largest > 0:
            near = place_camera(shapes, apart, drawn)
            shares = np.stack([*apart.values()])[..., None] / largest
            close = pictures(shapes.values(), CLAY + (RED - CLAY) * shares, near)
            longest = diagonal(shapes[first]) or 1.0
            notes = [f"up to {lengths.max() / longest:.2%}" if lengths.any() else "" for lengths in apart.values()]
            caption = f"Red: how far vertices are from {first}, where that is most, as shares of the mesh's diagonal"
            rows.append(Row([blank, *close], ["", *notes], caption))
    return compose(rows, list(seen), width=drawn.width)


def deform_by_methods(
    character: Character, how: HowToDeform, matrices: NDArray[np.float64], rest: NDArray[np.floating[Any]] | None
) -> dict[str, NDArray[np.floating[Any]]]:
    """The mesh by each method, and by SBS with muscles or correctives and by bones blending if they are asked for."""
    skin, muscles = how.skin(character), how.muscles(character)
    shapes = {
        HEADINGS["linear"]: skin.deform(matrices, rest_positions=rest, method="linear"),
        HEADINGS["spherical"]: skin.deform(matrices, rest_positions=rest, **how.options),
        HEADINGS["dual_quaternion"]: skin.deform(matrices, rest_positions=rest, method="dual_quaternion"),
    }
    if muscles is not None:
        covered = np.array(shapes[HEADINGS["spherical"]])
        muscles.apply(covered, matrices)
        shapes["SBS with muscles"] = covered
    correctives = how.correctives(character, skin, how.options)
    if correctives is not None:
        corrected: CorrectedOptions = {**how.options, "correctives": correctives}
        shapes["SBS with correctives"] = skin.deform(matrices, rest_positions=rest, **corrected)
    flesh = how.find_flesh(character)
    if flesh is not None:
        relaxed = np.array(shapes[HEADINGS["spherical"]])
        bare = None if rest is None else skin.deform(matrices, **how.options)
        flesh.apply(relaxed, matrices, bare=bare)
        shapes["SBS with flesh"] = relaxed
    if how.bones:
        blending = how.blend_bones(character)
        shapes["bones blending"] = blending.skin().deform(matrices, rest_positions=rest, **blending.options)
    return shapes


def place_camera(
    shapes: dict[str, NDArray[np.floating[Any]]], apart: dict[str, NDArray[np.float64]], drawn: PictureOptions
) -> Camera:
    """A camera that is near to where a method differs most from the first."""
    most = max(apart, key=lambda name: float(apart[name].max()))
    first = np.asarray(next(iter(shapes.values())), np.float64)
    vertex = int(apart[most].argmax())
    reach = max(ZOOM * diagonal(first), 1.5 * float(apart[most].max()))
    around = np.linalg.norm(first - first[vertex], axis=1) <= reach
    points = np.concatenate([first[around], np.asarray(shapes[most], np.float64)[vertex][None]])
    return drawn.camera(points, ASPECT)


def find_moved(character: Character, joints: Sequence[int]) -> NDArray[np.bool_]:
    """The vertices (V,) that joints or their parents move, at least one."""
    shown = np.any([vertices_around(character, joint) for joint in joints], axis=0)
    if not shown.any():
        name = character.skeleton.names[joints[0]]
        raise click.BadParameter(f"joint {name!r} and its parent move no vertex", param_hint="--joint")
    return np.asarray(shown)


def transform_points(matrix: NDArray[np.float64], points: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(points, np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def measure_differences(first: NDArray[np.floating[Any]], positions: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """How far vertices (V,) are from where the first method puts them."""
    return np.asarray(np.linalg.norm(np.asarray(positions, np.float64) - np.asarray(first, np.float64), axis=1))


def describe_distances(shapes: dict[str, NDArray[np.floating[Any]]]) -> list[tuple[str, ...]]:
    """Rows of the table: how far each method is from the first, as a share of the mesh's diagonal."""
    first = next(iter(shapes.values()))
    rows: list[tuple[str, ...]] = []
    for heading, positions in shapes.items():
        apart = measure_differences(first, positions) / (diagonal(first) or 1.0)
        farthest = str(int(apart.argmax())) if apart.any() else ""
        rows.append((heading, f"{apart.mean():.3%}", f"{apart.max():.3%}", farthest))
    return rows
