# SPDX-License-Identifier: MIT
"""``sbs deform``: the mesh in a pose, as a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..characters.loading import load, load_motion
from ..formats import Format, Job, bake, bake_on, with_role, written
from ..formats.table import endings
from ..muscles import MuscleCover
from ..options import BlendOptions, Center, Method, Rotation
from ..rigging.animation import Animation, Animations
from ..rigging.shapes import ShapeMotion
from ..skinning.skin import Skin
from ..support.files import replacing
from ..tangents import deformed_tangents
from .blended_bones import Ends, blending_options, chosen_bones
from .errors import Refusal
from .motions import read_joint_map, show_matches
from .muscle_options import MUSCLES, MuscleSource, cover_of, placed_muscles
from .options import (
    AMOUNT,
    ANIMATION,
    BASE,
    CENTER,
    CENTERS_CACHE,
    CHARACTERS,
    MESHES,
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
    twist_for,
)
from .outputs import FILE, MESH, in_folder, named, refuse_twice
from .posing import JOINT, ROTATE, Turn, check_turns, turned_joints
from .progress import progress_bar
from .streams import InputFile, piped_output
from .terminal import say


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


def parse_output(context: click.Context, parameter: click.Parameter, text: str) -> str:
    """A callback for the name of what is written, or - for the standard output."""
    return str(piped_output(context, parameter, ".glb")) if text == "-" else text


@click.command()
@CHARACTERS
@MESHES
@ANIMATION
@TIME
@JOINT
@ROTATE
@click.option(
    "--motion",
    "motion_file",
    type=InputFile(),
    help="A motion from another file (BVH), in place of --animation.",
)
@click.option(
    "--joint-map",
    type=InputFile(),
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
@MUSCLES
@blending_options
@STRICT
@click.option(
    "-o",
    "--output",
    "output_name",
    metavar="FILE|FOLDER",
    required=True,
    callback=parse_output,
    help="Its ending chooses the format (`sbs formats`); - is the standard output, as GLB.",
)
def deform(
    files: tuple[Path, ...],
    meshes: tuple[str, ...],
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
    muscles_from: MuscleSource | None,
    bones: tuple[str, ...],
    t_min: Ends,
    t_max: Ends,
    strict: bool,
    output_name: str,
) -> None:
    """Deform the characters in FILES and write their meshes.

    Without --animation or --joint a character is in the pose stored in its file. Without a method option, vertices
    for which the file asks for another deformation than linear (SDEF) get that. OBJ and PLY contain positions, normals
    and triangles; NPY contains positions (V, 3), or (F, V, 3) for frames.

    With --fps or --frames all those frames of the animation are written to one file: PC2, MDD, NPY, NPZ, USD or GLB. It
    appears when it is complete. With # in its name, as in run_####.obj, each frame gets a file of its own.

    Several meshes of a character are written as several objects to GLB, OBJ and USD, and one behind the other to the
    others. With {mesh} in the name, as in 'run_{mesh}.pc2', each gets a file of its own.

    Several FILES need {file} in the name of the output, or a folder: it gets {file}.pc2 of frames, else {file}.glb.

    With --scheduler the frames of PC2, MDD or NPY files are deformed on a cluster. If that is interrupted, the same
    command goes on with the frames that are missing.
    """
    many = fps is not None or frames is not None
    output, folder = in_folder(output_name, ".pc2" if many else ".glb")
    if len(files) > 1 and FILE not in output.name:
        raise click.BadParameter(f"of {len(files)} files: a folder, or {FILE} in the name", param_hint="--output")
    if len(files) > 1:
        for option in given(("centers_cache",)):
            raise click.UsageError(f"{option} is of one file, not of {len(files)}")
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
    if scheduler is not None and muscles_from is not None:
        raise click.UsageError("--scheduler deforms without --muscles")
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
    if chosen is not None:
        refuse_beside("--bones-blending", "method", "rotation", "center", "centers_cache", "amount", "base", "twist")
    if folder is not None:
        folder.mkdir(exist_ok=True)
    told: BlendOptions = {"method": method, "rotation": rotation, "center": center, "amount": amount, "base": base}
    own = not given(("method", "rotation", "center", "amount", "base", "twist"))
    motion = None if motion_file is None else load_motion(motion_file)
    names = None if joint_map is None else read_joint_map(joint_map)

    def deformed(file: Path) -> Iterator[Piece]:
        """The character of a file, or its meshes one by one."""
        character = load(file, strict=strict, mesh=meshes or None)
        animation = None
        if motion is not None:
            show_matches(motion, character, names)
            animation = motion.onto(character, names)
            character = replace(character, animations=Animations((animation,)))
        elif animation_name is not None:
            animation = find_animation(character, animation_name)
        spread = None if twist is None else twist_for(character, twist)
        matrices = turned_joints(character, joints, turns)[0] if joints else character.rest_matrices
        if animation is not None and not many:
            matrices = pose_at(character, animation.name, time)
        elif time is not None:
            pose_at(character, None, time)
        placed = placed_muscles(character, muscles_from)
        paths = named(output, file, character.parts.names)
        whole = len(paths) == 1 and MESH not in output.name
        for number, path in enumerate(paths):
            part = character if whole else character.parts[number]
            skin, options = skin_for(part, center, centers_cache, spread), told
            if not whole and isinstance(amount, np.ndarray) and amount.shape == (len(character.mesh.positions),):
                rows = character.mesh.parts[number].vertices
                options = told | {"amount": amount[rows.start : rows.stop]}
            if part.options and own:
                skin, options = part.skin, part.options
            if chosen is not None:
                blending = chosen.blend(part)
                skin, options = blending.skin(rest_normals=part.mesh.normals), blending.options
            moving = None if animation is None else part.animations[character.animations.index(animation)]
            yield Piece(path, part, skin, options, moving, matrices, cover_of(part, placed))

    pieces = (piece for file in files for piece in deformed(file))
    if many and not sequence:
        write_frames(pieces, 24.0 if fps is None else fps, frames, scheduler)
        return
    written_to: list[Path] = []
    for piece in pieces:
        refuse_twice([*written_to, piece.path])
        written_to.append(piece.path)
        shapes = piece.character.shape_motion(piece.animation)
        if sequence and piece.animation is not None:
            rate = 24.0 if fps is None else fps
            numbers = frame_numbers(piece.animation, rate, frames)
            write_sequence(piece, writer, numbers, rate, shapes)
            continue
        rest = shapes.rest_positions(time or 0.0) if shapes.shapes else None
        write_pose(piece, piece.path, writer, piece.matrices, rest)
        say(f"{piece.path}: {piece.skin.vertex_count} vertices")


@dataclass(frozen=True)
class Piece:
    """What is written to one file.

    Attributes
    ----------
    path : Path
    character : Character
    skin : Skin
    options : BlendOptions
    animation : Animation or None
    matrices : (J, 4, 4) ndarray
        Of the pose, if it is one.
    muscles : MuscleCover or None
        What the deformed skin covers.
    """

    path: Path
    character: Character
    skin: Skin
    options: BlendOptions
    animation: Animation | None
    matrices: NDArray[np.float64]
    muscles: MuscleCover | None


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
    pieces: Iterable[Piece], rate: float, chosen: tuple[int, int | None] | None, scheduler: str | None
) -> None:
    """Write all frames of each piece to one file, deformed here, a piece at a time, or all on a cluster."""
    jobs: list[Job] = []
    paths: list[Path] = []
    with progress_bar() as progress:
        for piece in pieces:
            mesh, animation = piece.character.mesh, piece.animation
            assert animation is not None
            numbers = frame_numbers(animation, rate, chosen)
            shapes = piece.character.shape_motion(piece.animation)
            paths.append(piece.path)
            refuse_twice(paths)
            job = Job(piece.path, piece.skin, animation, numbers, rate, piece.options, shapes)
            if scheduler is not None:
                jobs.append(job)
                continue
            task = progress.add_task(f"deforming {piece.path.name}", total=len(numbers))
            what: dict[str, Any] = {
                "triangles": mesh.triangles,
                "parts": mesh.parts,
                "shapes": shapes,
                "muscles": piece.muscles,
            }

            def show(count: int, task: Any = task) -> None:
                progress.update(task, completed=count)

            bake(piece.path, piece.skin, animation, numbers, fps=rate, progress=show, **what, **piece.options)
            say(in_words(job))
        if scheduler is not None:
            bake_all(jobs, scheduler, progress)
            for job in jobs:
                say(in_words(job))


def bake_all(jobs: list[Job], scheduler: str, progress: Any) -> None:
    """Deform the frames of all jobs on a cluster."""
    total = sum(len(job.numbers) for job in jobs)
    task = progress.add_task("deforming", total=total)
    done = 0

    def show(count: int) -> None:
        nonlocal done
        done = count
        progress.update(task, completed=count)

    try:
        bake_on(scheduler, jobs, progress=show)
    except (OSError, KeyboardInterrupt):
        if done:
            say(f"{done} of {total} frames are kept: the same command goes on from there", err=True)
        raise


def in_words(job: Job) -> str:
    """What was written."""
    return f"{job.path}: {len(job.numbers)} frames of {job.skin.vertex_count} vertices"


def write_pose(
    piece: Piece, output: Path, writer: Format, matrices: NDArray[np.float64], rest: NDArray[Any] | None
) -> None:
    """Deform a mesh and write it, with its normals and texture coordinates where the format has any."""
    skin, mesh, options, normals = piece.skin, piece.character.mesh, piece.options, None
    if skin.has_normals:
        positions, normals = skin.deform(matrices, rest_positions=rest, normals=True, **options)
    else:
        positions = skin.deform(matrices, rest_positions=rest, **options)
    if piece.muscles is not None:
        piece.muscles.apply(positions, matrices, normals=normals)
    tangents = None
    if mesh.tangents is not None and normals is not None:
        tangents = deformed_tangents(skin, mesh.tangents, matrices, normals, **options)
    check_finite(positions, "position")
    if normals is not None:
        check_finite(normals, "normal")
    if writer.write_pose is None:
        raise ValueError(f"{writer.name} holds no single pose")
    with replacing(output) as temporary:
        writer.write_pose(temporary, positions, normals, mesh.triangles, mesh.uvs, tangents, mesh.parts)


def write_sequence(piece: Piece, writer: Format, numbers: range, rate: float, shapes: ShapeMotion) -> None:
    """Write each frame to a file of its own, its number in place of the # of the name, as wide as these."""
    assert piece.animation is not None
    name = piece.path.name
    marks = "#" * name.count("#")
    with progress_bar() as progress:
        for number in progress.track(numbers, description="deforming"):
            path = piece.path.with_name(name.replace(marks, f"{number:0{len(marks)}d}"))
            rest = shapes.rest_positions(number / rate) if shapes.shapes else None
            matrices = piece.animation.skinning_matrices(number / rate)
            write_pose(piece, path, writer, matrices, rest)
    say(f"{piece.path}: {len(numbers)} files of {piece.skin.vertex_count} vertices")


def frame_numbers(animation: Animation, fps: float, chosen: tuple[int, int | None] | None) -> range:
    """The frames of an animation, or from the first to the last of those that are chosen."""
    try:
        frames = animation.frames(fps)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--fps") from error
    if chosen is None:
        return frames
    first, end = chosen[0], frames[-1] if chosen[1] is None else chosen[1]
    if not first <= end <= frames[-1]:
        raise click.BadParameter(
            f"{first}:{end} is not within 0:{frames[-1]}, the frames of the animation at {fps:g} a second",
            param_hint="--frames",
        )
    return range(first, end + 1)


def check_finite(rows: NDArray[np.floating[Any]], what: str) -> None:
    """Check that numbers (..., V, 3) can be written: finite matrices may move vertices beyond the range of float32."""
    for *_, vertex in np.argwhere(~np.isfinite(rows).all(axis=-1))[:1]:
        raise Refusal(f"the {what} of vertex {vertex} is not finite: nothing is written")
