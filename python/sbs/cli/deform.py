# SPDX-License-Identifier: MIT
"""``sbs deform``: the mesh in a pose, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ..character import load
from ..files import replacing
from ..options import Center, DeformOptions, Method, Rotation
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
    find_animation,
    pose_at,
    refuse_beside,
    refuse_without,
    skin_for,
)
from .terminal import say
from .writers import WRITERS

MOST_FRAMES = 1_000_000


@click.command()
@CHARACTER
@ANIMATION
@TIME
@click.option("--fps", type=click.FloatRange(min=0, min_open=True), help="Write the whole animation at this rate.")
@METHOD
@ROTATION
@CENTER
@CENTERS_CACHE
@AMOUNT
@BASE
@blending_options
@STRICT
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="A name that ends in .obj, .ply or .npy.",
)
def deform(
    file: Path,
    animation_name: str | None,
    time: float | None,
    fps: float | None,
    method: Method,
    rotation: Rotation,
    center: Center,
    centers_cache: Path | None,
    amount: float | NDArray[np.number[Any]] | None,
    base: Method | None,
    bones: tuple[str, ...],
    t_min: Ends,
    t_max: Ends,
    strict: bool,
    output: Path,
) -> None:
    """Deform the character in FILE and write its mesh.

    Without --animation the character is in the pose that the file stores. OBJ and PLY hold positions, normals and
    triangles; NPY holds positions (V, 3), or (F, V, 3) with --fps.
    """
    suffix = output.suffix.lower()
    if suffix not in WRITERS:
        raise click.BadParameter(f"{output.name!r} does not end in {', '.join(WRITERS)}", param_hint="--output")
    if fps is not None:
        refuse_beside("--fps", "time")
        if animation_name is None or suffix != ".npy":
            raise click.UsageError("--fps needs --animation and an output that ends in .npy")
    if amount is None:
        refuse_without("--amount", "base")
    if method != "spherical":
        refuse_without("--method spherical", "rotation", "center")
    chosen = chosen_bones(bones, t_min, t_max)
    character = load(file, strict=strict)
    skin = skin_for(character, center, centers_cache)
    options: DeformOptions = {
        "method": method,
        "rotation": rotation,
        "center": center,
        "amount": amount,
        "base": base,
    }
    if chosen is not None:
        refuse_beside("--bones-blending", "method", "rotation", "center", "centers_cache", "amount", "base")
        blending = chosen.blend(character)
        skin, options = blending.skin(rest_normals=character.mesh.normals), blending.options
    if fps is not None and animation_name is not None:
        animation = find_animation(character, animation_name)
        frames = skin.deform_many(animation.skinning_matrices(frame_times(animation.duration, fps)), **options)
        check_finite(frames, "position")
        with replacing(output) as temporary:
            np.save(temporary, frames)
        say(f"{output}: {len(frames)} frames of {skin.vertex_count} vertices")
        return
    matrices = pose_at(character, animation_name, time)
    normals = None
    if skin.has_normals:
        positions, normals = skin.deform(matrices, normals=True, **options)
    else:
        positions = skin.deform(matrices, **options)
    check_finite(positions, "position")
    if normals is not None:
        check_finite(normals, "normal")
    with replacing(output) as temporary:
        WRITERS[suffix](temporary, positions, normals, character.mesh.triangles)
    say(f"{output}: {skin.vertex_count} vertices")


def frame_times(duration: float, fps: float) -> NDArray[np.float64]:
    """The moments (F,) of the frames of an animation, in seconds."""
    # A last frame that rounding puts behind the end is one.
    last = duration * fps + 1e-9
    if not last < MOST_FRAMES:
        raise click.BadParameter(f"{fps:g} makes more than {MOST_FRAMES:,} frames", param_hint="--fps")
    return np.arange(int(last) + 1) / fps


def check_finite(rows: NDArray[np.floating[Any]], what: str) -> None:
    """See that numbers (..., V, 3) can be written: finite matrices can take vertices beyond what float32 holds."""
    for *_, vertex in np.argwhere(~np.isfinite(rows).all(axis=-1))[:1]:
        raise Refusal(f"the {what} of vertex {vertex} is not finite: nothing is written")
