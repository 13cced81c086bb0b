# SPDX-License-Identifier: MIT
"""``sbs compare``: the methods side by side on one pose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..characters.character import Character
from ..characters.poses import descendants, vertices_around
from ..quality import made_poses
from ..quality.methods import Deformer, NamedMethod, deformed
from ..quality.picture import Camera, Row, column_width, compose, portraits, weight_colors
from ..quality.picture.portraits import CLAY
from ..rigging.animation import Animation
from ..rigging.triangle_mesh import diagonal
from ..skinning.options import AnyFloats, DeformOptions
from .blended_bones import BONES_BLENDING
from .how_to_deform import CORRECTIVES, MUSCLES, HowToDeform, how_to_deform
from .named_methods import LIMBS, METHODS, Limbs, complete_methods
from .options import SOURCE_OF_MESHES, Source, given, known_joints, output_option, refuse_idle
from .pictures import PICTURE, PictureOptions, picture_options, save_figure
from .posing import POSE, PoseOptions
from .tables import print_table
from .terminal import progress_bar, say

ASPECT = 1.0
RED = np.array([0.62, 0.08, 0.05])
# How far around the vertex that differs most the close picture reaches, as a share of the mesh's diagonal.
ZOOM = 0.06

BY_DEFAULT = ("LBS", "DQS", "smooth twist")
MOMENTS = 24

# Positions (V, 3) by skinning matrices (J, 4, 4) and perhaps other rest positions.
Deform = Callable[[ArrayLike, ArrayLike | None], AnyFloats]


@click.command()
@SOURCE_OF_MESHES
@POSE
@LIMBS
@METHODS
@how_to_deform(MUSCLES, CORRECTIVES, *BONES_BLENDING)
@picture_options(width=1280, samples=16)
@output_option(".png", text="The picture to write, a PNG.")
def compare(
    source: Source,
    pose: PoseOptions,
    limbs: Limbs,
    methods: dict[str, NamedMethod],
    how: HowToDeform,
    drawn: PictureOptions,
    output: Path | None,
) -> None:
    """Deform the character in FILE by some methods, by default LBS, DQS and smooth twist, and show how they differ.

    The pose is one of an animation, by default of the first that bends anything, or the bind pose with some joints
    turned; then the picture shows what these joints and their parents move, with the weight of the joints in blue.
    Without --time it is where methods differ most, of 24 moments; without animations it is a bend or a twist of one
    joint. Below is where the methods differ most; vertices away from where the first method puts them are red. With
    --muscles there is SBS once more, with skin that covers them, and with --correctives the last of the methods once
    more, with these shapes.
    """
    refuse_idle((output is None, "{} needs --output", PICTURE))
    character = source.load()
    if not given(["methods"]):
        methods = {name: method for name, method in methods.items() if name in BY_DEFAULT}
    compared = deformers(character, complete_methods(methods, limbs, character, how), how)
    animation = find_animation(character, pose)
    if pose.joints or pose.time is not None:
        time, matrices = pose.time or 0.0, pose.matrices(character, animation)
        caption = pose.in_words(character, animation)
    else:
        time, matrices, caption = find_pose(character, animation, compared)
    if pose.joints:
        turning = known_joints(character, pose.joints)
        moved, shown = descendants(character.skeleton, *turning), find_moved(character, turning)
    else:
        moved, shown = np.empty(0, np.intp), np.ones(character.skin.vertex_count, bool)
    rest = character.shape_motion(animation).rest_positions(time) if character.mesh.shapes else None
    shapes = {label: deform(matrices, rest) for label, deform in compared.items()}
    first = next(iter(shapes))
    say(f"{caption}. Distance to {first}, as a share of the mesh's diagonal:")
    print_table(("method", "mean", "greatest", "at vertex"), describe_distances(shapes))
    if output is None:
        return
    weights = weight_colors(character.mesh.joint_indices, character.mesh.joint_weights, moved)
    figure = draw(character, rest, shapes, shown, weights, f"{source.file.name}: {caption}", drawn)
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


def deformers(character: Character, methods: dict[str, NamedMethod], how: HowToDeform) -> dict[str, Deform]:
    """Functions that deform the mesh by each method, by its label, and by bones blending if it is asked for."""

    def bind(skin: Deformer, options: DeformOptions) -> Deform:
        return lambda matrices, rest: deformed(skin, matrices, rest, options)

    found = {method.label: bind(method.skin(character), method.options) for method in methods.values()}
    if how.bones:
        blending = how.blend_bones(character)
        found["bones blending"] = bind(blending.skin(), DeformOptions(**blending.options))
    return found


def find_animation(character: Character, pose: PoseOptions) -> Animation | None:
    """The animation that is asked for, or the first that is not at bind, and a line about the others.

    None if joints are turned.
    """
    if pose.joints or pose.animation_name is not None or not character.animations:
        if pose.time is not None and pose.animation_name is None:
            raise click.BadParameter("the character has no animation", param_hint="--time")
        return pose.animation(character)
    first = next(filter(bends, character.animations), character.animations[0])
    others = [each.name for each in character.animations if each is not first]
    if others:
        say(f"animation {first.name!r}; others: {', '.join(map(repr, others))}", err=True)
    return first


def bends(animation: Animation) -> bool:
    """Whether an animation is more than the character at bind, as "T-Pose" and "RESET" are: whether joints part."""
    matrices = animation.skinning_matrices(np.linspace(0.0, animation.duration, MOMENTS))
    # Files have single precision.
    return bool(np.ptp(matrices, axis=1).max() > 1e-5 * np.abs(matrices).max())


def find_pose(
    character: Character, animation: Animation | None, compared: dict[str, Deform]
) -> tuple[float, NDArray[np.float64], str]:
    """The time, the skinning matrices (J, 4, 4) and words for the pose of a motion in which methods differ most.

    The motion is an animation, or has each joint bent and twisted.
    """
    if animation is None:
        motion = made_poses(character)
        poses, times = motion.poses, np.zeros(len(motion.poses))
        words = [f"{label}, the made pose in which methods differ most" for label in motion.labels]
    else:
        times = np.linspace(0.0, animation.duration, MOMENTS).round(3)
        poses = np.stack([animation.skinning_matrices(time) for time in times])
        words = [f"{animation.name} at {time:g} s, where methods differ most" for time in times]
    moving = character.shape_motion(animation) if character.mesh.shapes else None
    apart = np.zeros(len(poses))
    for place, matrices in enumerate(poses):
        rest = None if moving is None else moving.rest_positions(float(times[place]))
        first, *others = (deform(matrices, rest) for deform in compared.values())
        apart[place] = max((float(measure_differences(first, each).mean()) for each in others), default=0.0)
    most = int(apart.argmax())
    return float(times[most]), poses[most], words[most]


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
