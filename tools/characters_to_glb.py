#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts a character from the neutral exchange format (rig.txt, *.clip.bin) into a skinned GLB.

It made the files in python/sbs/demo/data:

    python tools/characters_to_glb.py woman_makehuman_cmu python/sbs/demo/data/woman.glb
    python tools/characters_to_glb.py hand_webxr python/sbs/demo/data/hand.glb --clip fist

The format is described in make_test_data.py.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import click
import numpy as np
from numpy.typing import NDArray

from make_test_data import section
from sbs.characters.character import Character, Mesh, WeightType
from sbs.rigging.animation import Animation, Animations
from sbs.rigging.rig import compose
from sbs.rigging.skeleton import Skeleton

CLIP_HEADER = struct.Struct("<8sIIf")


def read_rig(path: Path) -> tuple[str, Skeleton, Mesh]:
    """Name, skeleton and mesh of a rig.txt."""
    with path.open(encoding="utf-8") as file:
        lines = (line for line in file if not line.startswith("#"))
        word, version, name = next(lines).split()
        if (word, version) != ("rig", "1"):
            raise ValueError(f"{path}: not a rig of version 1")
        joints, vertices, triangles = (section(lines, title) for title in ("joints", "vertices", "triangles"))
    bind_matrices = np.tile(np.eye(4), (len(joints), 1, 1))
    bind_matrices[:, :3] = np.array([joint[3:] for joint in joints], dtype=np.float64).reshape(-1, 3, 4)
    skeleton = Skeleton([int(joint[1]) for joint in joints], bind_matrices, names=[joint[2] for joint in joints])

    surface = np.array([vertex[:6] for vertex in vertices], dtype=np.float32)
    influence_count = max(int(vertex[6]) for vertex in vertices)
    influences = np.array(
        [vertex[7:] + ["0"] * (2 * influence_count - len(vertex[7:])) for vertex in vertices], dtype=np.float64
    ).reshape(len(vertices), influence_count, 2)
    mesh = Mesh(
        positions=surface[:, :3],
        normals=surface[:, 3:],
        triangles=np.array(triangles, dtype=np.int32),
        joint_indices=influences[..., 0].astype(np.int32),
        joint_weights=influences[..., 1],
    )
    return name, skeleton, mesh


def read_clip(path: Path, frames: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times (F,) in seconds from the first chosen frame, and skinning matrices (F, J, 4, 4)."""
    data = path.read_bytes()
    magic, frame_count, joint_count, frames_per_second = CLIP_HEADER.unpack_from(data)
    if magic != b"SBSCLIP1":
        raise ValueError(f"{path}: not a clip")
    values = np.frombuffer(data, dtype="<f4", offset=CLIP_HEADER.size).astype(np.float64)
    chosen = values.reshape(frame_count, joint_count, 7)[frames]
    quaternions = np.roll(chosen[..., :4], 1, axis=-1)
    quaternions /= np.linalg.norm(quaternions, axis=-1, keepdims=True)
    times = np.arange(frame_count)[frames] / frames_per_second
    return times - times[0], compose(chosen[..., 4:], quaternions, np.ones_like(chosen[..., 4:]))


def parse_frames(_context: click.Context, _parameter: click.Parameter, text: str) -> slice:
    """Parse start:stop:step; each may be empty."""
    try:
        return slice(*(int(part) if part else None for part in text.split(":")))
    except (TypeError, ValueError):
        raise click.BadParameter("start:stop:step is needed, for instance 0:120:2") from None


def read_character(folder: Path, clips: Sequence[str], frames: slice = slice(None)) -> Character:
    """The character in a folder, with these clips as animations."""
    name, skeleton, mesh = read_rig(folder / "rig.txt")
    character = Character.from_mesh(mesh, skeleton, name=name)
    animations = [
        Animation.from_skinning_matrices(clip, *read_clip(folder / f"{clip}.clip.bin", frames), character.rig)
        for clip in clips
    ]
    return replace(character, animations=Animations(animations))


@click.command(help=__doc__.splitlines()[0])
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("output", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--clip", "clips", multiple=True, help="Clip to keep as an animation; may be given several times.")
@click.option("--frames", default=":", callback=parse_frames, metavar="START:STOP:STEP", help="Frames of each clip.")
@click.option("--weights", type=click.Choice(["float32", "uint16", "uint8"]), default="float32", show_default=True)
def main(folder: Path, output: Path, clips: tuple[str, ...], frames: slice, weights: str) -> None:
    read_character(folder, clips, frames).save(output, weights=cast(WeightType, weights))
    click.echo(f"{output}: {output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
