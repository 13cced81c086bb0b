# SPDX-License-Identifier: MIT
"""``sbs deform``: the mesh in a pose, as a file."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from ..characters.loading import load, load_motion
from ..formats import Format, Job, bake, bake_on, with_role, written
from ..formats.table import endings
from ..rigging.animation import Animation, Animations
from ..rigging.shapes import ShapeMotion
from ..skinning.gpu import Deformer
from ..skinning.tangents import deformed_tangents
from ..support.files import replacing
from .errors import Batch, Refusal
from .how_to_deform import BoundCharacter, HowToDeform, how_to_deform
from .motions import read_joint_map, show_matches
from .options import CHARACTERS, MESHES, SKIN, STRICT, blamed_on, gathered, refuse_idle
from .outputs import FILE, MESH, in_folder, named
from .posing import POSE, PoseOptions
from .streams import InputFile, piped_output
from .terminal import progress_bar, say

Ends = tuple[int | None, int | None]


def parse_frames(context: click.Context, parameter: click.Parameter, text: str | None) -> Ends | None:
    """A callback for options that take A:B, A: or :B, with frame B included."""
    if text is None:
        return None
    found = re.fullmatch(r"(-?\d{1,9})?:(-?\d{1,9})?|(-?\d{1,9})", text)
    if found is None:
        raise click.BadParameter(f"{text!r} is not A:B, the first frame and the last", context, parameter)
    if found[3] is not None:
        return int(found[3]), int(found[3])
    return int(found[1]) if found[1] else None, int(found[2]) if found[2] else None


def parse_output(context: click.Context, parameter: click.Parameter, text: str) -> str:
    """A callback for the name of the output, or - for the standard output."""
    return str(piped_output(context, parameter, ".glb")) if text == "-" else text


@dataclass(frozen=True)
class FrameOptions:
    """Which frames of an animation are written: the rate, the first and the last; and where they are deformed."""

    fps: float | None
    frames: Ends | None
    scheduler: str | None
    gpu: bool

    def __post_init__(self) -> None:
        elsewhere = self.scheduler is not None
        refuse_idle(
            (self.option is None, "{} needs --fps or --frames", ("scheduler", "gpu")),
            (self.option is not None, f"{self.option} takes the place of {{}}", ("time",)),
            (self.gpu, "--gpu takes the place of {}", ("scheduler",)),
            (elsewhere, "--scheduler deforms without {}", ("muscles_from", "correctives_from")),
            (self.gpu, "--gpu deforms without {}", ("correctives_from",)),
        )

    @property
    def option(self) -> str | None:
        """The option that asks for frames; None if a single pose is written."""
        if self.frames is not None:
            return "--frames"
        return None if self.fps is None else "--fps"

    def rate(self, animation: Animation) -> float:
        """Frames a second."""
        return animation.rate if self.fps is None else self.fps

    def numbers(self, animation: Animation) -> range:
        """The frames of an animation, or from the first to the last that are chosen, as its own time counts them."""
        rate = self.rate(animation)
        with blamed_on("--fps"):
            frames, zero = animation.frames(rate), animation.first_frame(rate)
        if self.frames is None:
            return frames
        first = 0 if self.frames[0] is None else self.frames[0] - zero
        end = frames[-1] if self.frames[1] is None else self.frames[1] - zero
        if not 0 <= first <= end <= frames[-1]:
            raise click.BadParameter(
                f"{zero + first}:{zero + end} is not within {zero}:{zero + frames[-1]}, the frames of the animation at"
                f" {rate:g} a second",
                param_hint="--frames",
            )
        return range(first, end + 1)


FRAMES = gathered(
    "frames",
    FrameOptions,
    click.option(
        "--fps",
        type=click.FloatRange(min=0, min_open=True),
        help="Write frames at this rate.  [default: of USD or FBX, else 24]",
    ),
    click.option("--frames", metavar="A:B", callback=parse_frames, help="Write these frames.  [default: all]"),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Deform frames on the workers of this Dask cluster, such as tcp://farm:8786.  [default: on this machine]",
    ),
    click.option("--gpu", is_flag=True, help="Deform frames on the graphics processor."),
)


@click.command()
@CHARACTERS
@MESHES
@SKIN
@POSE
@click.option(
    "--motion", "motion_file", type=InputFile(), help="A motion from another file (BVH), in place of --animation."
)
@click.option(
    "--joint-map",
    type=InputFile(),
    help="JSON: the joints of FILE by those of --motion, `names=` in Python.  [default: by their names]",
)
@FRAMES
@how_to_deform()
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
    skin: int | None,
    pose: PoseOptions,
    motion_file: Path | None,
    joint_map: Path | None,
    frames: FrameOptions,
    how: HowToDeform,
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
    Where one of them fails, the others are written, and the command ends with its error.

    With --scheduler the frames of PC2, MDD or NPY files are deformed on a cluster. If that is interrupted, the same
    command goes on with the frames that are missing.

    With --gpu the frames of one file are deformed by linear or spherical blending on the graphics processor, in float32
    and without blend shapes.
    """
    output, folder = in_folder(output_name, ".glb" if frames.option is None else ".pc2")
    if len(files) > 1 and FILE not in output.name:
        raise click.BadParameter(f"of {len(files)} files: a folder, or {FILE} in the name", param_hint="--output")
    refuse_idle(
        (len(files) > 1, f"{{}} is of one file, not of {len(files)}", ("centers_cache",)),
        (motion_file is None, "{} needs --motion", ("joint_map",)),
        (motion_file is not None, "--motion takes the place of {}", ("animation_name",)),
    )
    if frames.option is not None and pose.animation_name is None and motion_file is None:
        raise click.UsageError(f"{frames.option} needs --animation")
    sequence = "#" in output.name
    if sequence:
        check_sequence(output, frames)
    try:
        writer = written(output, "write_pose" if sequence or frames.option is None else "frames")
    except ValueError as error:
        raise click.BadParameter(explain_ending(output, frames, error), param_hint="--output") from error
    if folder is not None:
        folder.mkdir(exist_ok=True)
    motion = None if motion_file is None else load_motion(motion_file)
    names = None if joint_map is None else read_joint_map(joint_map)

    def deformed(file: Path) -> Iterator[Piece]:
        """The character of a file, or its meshes one by one."""
        character = load(file, strict=strict, mesh=meshes or None, skin=skin)
        animation = pose.animation(character)
        if motion is not None:
            show_matches(motion, character, names)
            animation = motion.onto(character, names)
            character = replace(character, animations=Animations((animation,)))
        matrices = pose.matrices(character, animation) if frames.option is None else character.rest_matrices
        paths = named(output, file, character.parts.names)
        whole = len(paths) == 1 and MESH not in output.name
        for path, bound in zip(paths, [how.bind(character)] if whole else how.bind_meshes(character), strict=True):
            moving = None if animation is None else bound.character.animations[character.animations.index(animation)]
            yield Piece(file, path, bound, moving, matrices)

    batch = Batch(len(files))

    def pieces_of_all() -> Iterator[Piece]:
        for file in files:
            with batch.each(file):
                yield from deformed(file)

    pieces = refuse_paths_twice(pieces_of_all())
    if frames.option is not None and not sequence:
        write_frames(pieces, frames, batch)
    else:
        for piece in pieces:
            with batch.each(piece.file):
                if sequence:
                    write_sequence(piece, writer, frames)
                    continue
                write_pose(piece, piece.path, writer, piece.matrices, pose.time or 0.0)
                say(f"{piece.path}: {piece.bound.skin.vertex_count} vertices")
    batch.end()


def check_sequence(output: Path, frames: FrameOptions) -> None:
    """Check that a file for each frame can be written: there are frames, and one place for their numbers."""
    rows = re.findall("#+", output.name)
    for is_wrong, option, reason in (
        (frames.option is None, "--output", f"a name with {'#'!r} needs --fps or --frames"),
        (len(rows) > 1, "--output", f"{output.name!r} has more than one '#' or row of them"),
        (frames.scheduler is not None, "--scheduler", "a file for each frame is not written on a cluster"),
        (frames.gpu, "--gpu", "a file for each frame is not written on a graphics processor"),
    ):
        if is_wrong:
            raise click.BadParameter(reason, param_hint=option)


@dataclass(frozen=True)
class Piece:
    """A character or a mesh of a file that is written to one file: in an animation, or in a pose (J, 4, 4)."""

    file: Path
    path: Path
    bound: BoundCharacter
    animation: Animation | None
    matrices: NDArray[np.float64]

    @functools.cached_property
    def shapes(self) -> ShapeMotion:
        """The blend shapes in the animation."""
        return self.bound.character.shape_motion(self.animation)


def refuse_paths_twice(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces; refuse to write a file twice, also where upper and lower case are the same."""
    seen: set[str] = set()
    for piece in pieces:
        key = os.path.abspath(piece.path).lower()  # noqa: PTH100  # without following links
        if key in seen:
            raise click.BadParameter(f"{str(piece.path)!r} would be written twice", param_hint="--output")
        seen.add(key)
        yield piece


def explain_ending(output: Path, frames: FrameOptions, error: ValueError) -> str:
    """Why a format cannot hold frames or a pose, or why its ending is not known."""
    other = with_role("frames" if frames.option is None else "write_pose")
    if output.suffix.lower() not in {suffix for row in other for suffix in row.suffixes}:
        return str(error)
    if frames.option is None:
        return f"{output.name!r} holds frames: --fps or --frames is needed"
    one_each, all_in_one = f"{output.stem}_####{output.suffix}", endings("frames")
    return f"{output.name!r} holds one pose: {one_each!r} is a file for each frame; all in one end in {all_in_one}"


def write_frames(pieces: Iterable[Piece], frames: FrameOptions, batch: Batch) -> None:
    """Write all frames of each piece to one file, deformed here, a piece at a time, or all on a cluster."""
    jobs: list[Job] = []
    with progress_bar() as progress:
        for piece in pieces:
            assert piece.animation is not None  # frames need one
            with batch.each(piece.file):
                bound, numbers = piece.bound, frames.numbers(piece.animation)
                job = Job(
                    piece.path,
                    bound.skin,
                    piece.animation,
                    numbers,
                    frames.rate(piece.animation),
                    bound.shaped,
                    piece.shapes,
                    bound.flesh,
                )
                if frames.scheduler is not None:
                    jobs.append(job)
                    continue
                bake_here(job, bound, frames.gpu, progress)
                say(describe_job(job))
        if frames.scheduler is not None and jobs:
            bake_all(jobs, frames.scheduler, progress)
            say(*map(describe_job, jobs))


def bake_here(job: Job, bound: BoundCharacter, on_gpu: bool, progress: Progress) -> None:
    """Deform the frames of a job in this process."""
    with blamed_on("--gpu"):
        if on_gpu and job.shapes is not None and job.shapes.shapes:
            raise ValueError("the mesh has blend shapes, which are not for it")
        deformer = Deformer(bound.skin, **bound.options) if on_gpu else None
    task = progress.add_task(f"deforming {Path(job.path).name}", total=len(job.numbers))
    bake(
        job.path,
        job.skin,
        job.animation,
        job.numbers,
        fps=job.fps,
        triangles=bound.character.mesh.triangles,
        parts=bound.character.mesh.parts,
        shapes=job.shapes,
        muscles=bound.muscles,
        flesh=bound.flesh,
        deformer=deformer,
        progress=lambda count: progress.update(task, completed=count),
        **({} if on_gpu else job.options),
    )


def bake_all(jobs: list[Job], scheduler: str, progress: Progress) -> None:
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


def describe_job(job: Job) -> str:
    """The line about a file that was written."""
    return f"{job.path}: {len(job.numbers)} frames of {job.skin.vertex_count} vertices"


def write_pose(piece: Piece, output: Path, writer: Format, matrices: NDArray[np.float64], time: float) -> None:
    """Deform a mesh and write it, with its normals and texture coordinates where the format has any."""
    skin, mesh, options, normals = piece.bound.skin, piece.bound.character.mesh, piece.bound.shaped, None
    rest = piece.shapes.rest_positions(time) if piece.shapes.shapes else None
    if skin.has_normals:
        positions, normals = skin.deform(matrices, rest_positions=rest, normals=True, **options)
    else:
        positions = skin.deform(matrices, rest_positions=rest, **options)
    if piece.bound.flesh is not None:
        has_shapes = rest is not None or piece.bound.correctives is not None
        bare = skin.deform(matrices, **piece.bound.options) if has_shapes else None
        piece.bound.flesh.apply(positions, matrices, normals=normals, bare=bare)
    if piece.bound.muscles is not None:
        piece.bound.muscles.apply(positions, matrices, normals=normals)
    tangents = None
    if mesh.tangents is not None and normals is not None:
        tangents = deformed_tangents(skin, mesh.tangents, matrices, normals, **piece.bound.options)
    check_finite(positions, "position")
    if normals is not None:
        check_finite(normals, "normal")
    if writer.write_pose is None:
        raise ValueError(f"{writer.name} holds no single pose")
    with replacing(output) as temporary:
        writer.write_pose(temporary, positions, normals, mesh.triangles, mesh.uvs, tangents, mesh.parts)


def write_sequence(piece: Piece, writer: Format, frames: FrameOptions) -> None:
    """Write each frame to a file of its own, its number in place of the # of the name, as wide as these."""
    assert piece.animation is not None  # frames need one
    name, numbers, rate = piece.path.name, frames.numbers(piece.animation), frames.rate(piece.animation)
    zero = piece.animation.first_frame(rate)
    marks = "#" * name.count("#")
    with progress_bar() as progress:
        for number in progress.track(numbers, description="deforming"):
            path = piece.path.with_name(name.replace(marks, f"{zero + number:0{len(marks)}d}"))
            time = number / rate
            write_pose(piece, path, writer, piece.animation.skinning_matrices(time), time)
    say(f"{piece.path}: {len(numbers)} files of {piece.bound.skin.vertex_count} vertices")


def check_finite(rows: NDArray[np.floating[Any]], noun: str) -> None:
    """Check that numbers (..., V, 3) can be written: finite matrices may move vertices beyond the range of float32."""
    for *_, vertex in np.argwhere(~np.isfinite(rows).all(axis=-1))[:1]:
        raise Refusal(f"the {noun} of vertex {vertex} is not finite: nothing is written")
