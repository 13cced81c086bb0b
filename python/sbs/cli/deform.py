# SPDX-License-Identifier: MIT
"""``sbs deform``: the mesh in a pose, as a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ..animation import Animation, Animations
from ..character import Character, load, load_motion
from ..files import replacing
from ..formats import Format, Job, bake, bake_on, with_role, written
from ..formats.table import endings
from ..options import BlendOptions, Center, Method, Rotation
from ..shapes import ShapeMotion
from ..skin import Skin
from ..tangents import deformed_tangents
from ..triangle_mesh import Mesh
from .blended_bones import Ends, blending_options, chosen_bones
from .errors import Refusal
from .options import (
    AMOUNT,
    ANIMATION,
    BASE,
    CENTER,
    CENTERS_CACHE,
    CHARACTER,
    METHOD,
    ROTATION,
    STRICT,
    TIME,
    TWIST,
    find_animation,
    given,
    pose_at,
    refuse_beside,
    refuse_without,
    skin_for,
)
from .posing import JOINT, ROTATE, Turn, check_turns, turned_joints
from .progress import progress_bar
from .terminal import say

MOST_FRAMES = 1_000_000


def parse_frames(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, int | None] | None:
    """A callback for options that take A:B, A: or :B, with frame B included."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{0,9}):(\d{0,9})|(\d{1,9})", text)
    if found is None:
        raise click.BadParameter(f"{text!r} is not A:B, the first frame and the last", context, parameter)
    if found[3] is not None:
        return int(found[3]), int(found[3])
    return int(found[1] or 0), int(found[2]) if found[2] else None


@click.command()
@CHARACTER
@ANIMATION
@TIME
@JOINT
@ROTATE
@click.option(
    "--motion",
    "motion_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A motion from another file (BVH), in place of --animation.",
)
@click.option(
    "--joint-map",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="JSON: the joints of FILE by those of --motion.  [default: by their names]",
)
@click.option("--fps", type=click.FloatRange(min=0, min_open=True), help="Write frames at this rate.  [default: 24]")
@click.option("--frames", metavar="A:B", callback=parse_frames, help="Write these frames, from 0.  [default: all]")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Deform frames on the workers of this Dask cluster, such as tcp://farm:8786.  [default: on this machine]",
)
@METHOD
@ROTATION
@CENTER
@CENTERS_CACHE
@AMOUNT
@BASE
@TWIST
@blending_options
@STRICT
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Its ending chooses the format: `sbs formats` lists them.",
)
def deform(
    file: Path,
    animation_name: str | None,
    time: float | None,
    joints: tuple[str, ...],
    turns: tuple[Turn, ...],
    motion_file: Path | None,
    joint_map: Path | None,
    fps: float | None,
    frames: tuple[int, int | None] | None,
    scheduler: str | None,
    method: Method,
    rotation: Rotation,
    center: Center,
    centers_cache: Path | None,
    amount: float | NDArray[np.number[Any]] | None,
    base: Method | None,
    twist: tuple[str, ...] | None,
    bones: tuple[str, ...],
    t_min: Ends,
    t_max: Ends,
    strict: bool,
    output: Path,
) -> None:
    """Deform the character in FILE and write its mesh.

    Without --animation or --joint the character is in the pose stored in the file. Without a method option, vertices
    for which the file asks for another deformation than linear (SDEF) get that. OBJ and PLY contain positions, normals
    and triangles; NPY contains positions (V, 3), or (F, V, 3) for frames.

    With --fps or --frames all those frames of the animation are written to one file: PC2, MDD, NPY, NPZ or USD. The
    file appears when it is complete. With # in its name, as in run_####.obj, each frame gets a file of its own.

    With --scheduler the frames of a PC2, MDD or NPY file are deformed on a cluster. If that is interrupted, the same
    command goes on with the frames that are missing.
    """
    many = fps is not None or frames is not None
    check_turns(joints, turns)
    if joints:
        refuse_beside("--joint", "animation_name", "time", "motion_file", "fps", "frames")
    if motion_file is None:
        refuse_without("--motion", "joint_map")
    else:
        refuse_beside("--motion", "animation_name")
    if many:
        refuse_beside("--fps" if frames is None else "--frames", "time")
        if animation_name is None and motion_file is None:
            raise click.UsageError(f"{'--fps' if frames is None else '--frames'} needs --animation")
    else:
        refuse_without("--fps or --frames", "scheduler")
    sequence = "#" in output.name
    if sequence and not many:
        raise click.BadParameter(f"a name with {'#'!r} needs --fps or --frames", param_hint="--output")
    if sequence and re.fullmatch("[^#]*#+[^#]*", output.name) is None:
        raise click.BadParameter(f"{output.name!r} has more than one '#' or row of them", param_hint="--output")
    if sequence and scheduler is not None:
        raise click.BadParameter("a file for each frame is not written on a cluster", param_hint="--scheduler")
    try:
        writer = written(output, "frames" if many and not sequence else "write_pose")
    except ValueError as error:
        raise click.BadParameter(why_not_written(output, many, error), param_hint="--output") from error
    if amount is None:
        refuse_without("--amount", "base")
    if method != "spherical":
        refuse_without("--method spherical", "rotation", "center")
    chosen = chosen_bones(bones, t_min, t_max)
    character = load(file, strict=strict)
    if motion_file is not None:
        motion = load_motion(motion_file).onto(character, None if joint_map is None else read_joint_map(joint_map))
        character, animation_name = replace(character, animations=Animations((motion,))), motion.name
    skin = skin_for(character, center, centers_cache, twist)
    options: BlendOptions = {
        "method": method,
        "rotation": rotation,
        "center": center,
        "amount": amount,
        "base": base,
    }
    if character.options and not given(("method", "rotation", "center", "amount", "base", "twist")):
        skin, options = character.skin, character.options
    if chosen is not None:
        refuse_beside("--bones-blending", "method", "rotation", "center", "centers_cache", "amount", "base", "twist")
        blending = chosen.blend(character)
        skin, options = blending.skin(rest_normals=character.mesh.normals), blending.options
    if many and animation_name is not None:
        animation = find_animation(character, animation_name)
        rate = 24.0 if fps is None else fps
        numbers = frame_numbers(animation.duration, rate, frames)
        if sequence:
            shapes = character.shape_motion(animation)
            write_sequence(
                output, writer, skin, animation.skinning_matrices, numbers, rate, character.mesh, options, shapes
            )
            return
        write_frames(output, skin, animation, numbers, rate, character, options, scheduler)
        say(f"{output}: {len(numbers)} frames of {skin.vertex_count} vertices")
        return
    matrices = turned_joints(character, joints, turns)[0] if joints else pose_at(character, animation_name, time)
    shapes = character.shape_motion(None if animation_name is None else find_animation(character, animation_name))
    rest = shapes.rest_positions(time or 0.0) if shapes.shapes else None
    write_pose(output, writer, skin, matrices, character.mesh, options, rest)
    say(f"{output}: {skin.vertex_count} vertices")


def why_not_written(output: Path, many: bool, error: ValueError) -> str:
    """What to say of a file of frames that would get a pose, or the other way round, or else of an unknown ending."""
    other = with_role("write_pose" if many else "frames")
    if output.suffix.lower() not in {suffix for row in other for suffix in row.suffixes}:
        return str(error)
    if not many:
        return f"{output.name!r} holds frames: --fps or --frames is needed"
    one_each, all_in_one = f"{output.stem}_####{output.suffix}", endings("frames")
    return f"{output.name!r} holds one pose: {one_each!r} is a file for each frame; all in one end in {all_in_one}"


def write_frames(
    output: Path,
    skin: Skin,
    animation: Animation,
    numbers: range,
    rate: float,
    character: Character,
    options: BlendOptions,
    scheduler: str | None,
) -> None:
    """Write all frames to one file, deformed here or on a cluster."""
    done = 0
    triangles, shapes = character.mesh.triangles, character.shape_motion(animation)
    with progress_bar() as progress:
        task = progress.add_task("deforming", total=len(numbers))

        def show(count: int) -> None:
            nonlocal done
            done = count
            progress.update(task, completed=count)

        if scheduler is None:
            what: dict[str, Any] = {"triangles": triangles, "shapes": shapes}
            bake(output, skin, animation, numbers, fps=rate, progress=show, **what, **options)
            return
        try:
            bake_on(scheduler, [Job(output, skin, animation, numbers, rate, options, shapes)], progress=show)
        except (OSError, KeyboardInterrupt):
            if done:
                say(f"{done} of {len(numbers)} frames are kept: the same command goes on from there", err=True)
            raise


def write_pose(
    output: Path,
    writer: Format,
    skin: Skin,
    matrices: NDArray[np.float64],
    mesh: Mesh,
    options: BlendOptions,
    rest: NDArray[Any] | None,
) -> None:
    """Deform a mesh and write it, with its normals and texture coordinates where the format has any."""
    normals = None
    if skin.has_normals:
        positions, normals = skin.deform(matrices, rest_positions=rest, normals=True, **options)
    else:
        positions = skin.deform(matrices, rest_positions=rest, **options)
    tangents = None
    if mesh.tangents is not None and normals is not None:
        tangents = deformed_tangents(skin, mesh.tangents, matrices, normals, **options)
    check_finite(positions, "position")
    if normals is not None:
        check_finite(normals, "normal")
    if writer.write_pose is None:
        raise ValueError(f"{writer.name} holds no single pose")
    with replacing(output) as temporary:
        writer.write_pose(temporary, positions, normals, mesh.triangles, mesh.uvs, tangents)


def write_sequence(
    output: Path,
    writer: Format,
    skin: Skin,
    matrices_at: Callable[[float], NDArray[np.float64]],
    numbers: range,
    rate: float,
    mesh: Mesh,
    options: BlendOptions,
    shapes: ShapeMotion,
) -> None:
    """Write each frame to a file of its own, its number in place of the # of the name, as wide as these."""
    marks = "#" * output.name.count("#")
    with progress_bar() as progress:
        for number in progress.track(numbers, description="deforming"):
            path = output.with_name(output.name.replace(marks, f"{number:0{len(marks)}d}"))
            rest = shapes.rest_positions(number / rate) if shapes.shapes else None
            write_pose(path, writer, skin, matrices_at(number / rate), mesh, options, rest)
    say(f"{output}: {len(numbers)} files of {skin.vertex_count} vertices")


def read_joint_map(path: Path) -> dict[str, str]:
    """Names of joints by others, from a JSON file.

    Raises
    ------
    click.BadParameter
        If it holds anything else.
    """
    try:
        names = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"{path}: {error}", param_hint="--joint-map") from error
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise click.BadParameter(f"{path}: an object of names by names is needed", param_hint="--joint-map")
    return names


def frame_numbers(duration: float, fps: float, chosen: tuple[int, int | None] | None) -> range:
    """The frames of an animation, from 0; the first and the last of those that are chosen."""
    # Count a last frame that rounding puts after the end.
    last = duration * fps + 1e-9
    if not last < MOST_FRAMES:
        raise click.BadParameter(f"{fps:g} makes more than {MOST_FRAMES:,} frames", param_hint="--fps")
    if chosen is None:
        return range(int(last) + 1)
    first, end = chosen[0], int(last) if chosen[1] is None else chosen[1]
    if not first <= end <= int(last):
        raise click.BadParameter(
            f"{first}:{end} is not within 0:{int(last)}, the frames of the animation at {fps:g} a second",
            param_hint="--frames",
        )
    return range(first, end + 1)


def check_finite(rows: NDArray[np.floating[Any]], what: str) -> None:
    """Check that numbers (..., V, 3) can be written: finite matrices may move vertices beyond the range of float32."""
    for *_, vertex in np.argwhere(~np.isfinite(rows).all(axis=-1))[:1]:
        raise Refusal(f"the {what} of vertex {vertex} is not finite: nothing is written")
