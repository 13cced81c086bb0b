# SPDX-License-Identifier: MIT
"""Characters in the neutral exchange format: folders with rig.txt and *.clip.bin, as make_test_data.py describes."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import sbs
from sbs.rigging.rig import compose

CLIP = ".clip.bin"
CLIP_HEADER = struct.Struct("<8sIIf")
Tokens = list[list[str]]


def read_tokens(path: Path) -> tuple[str, Tokens, Tokens, Tokens]:
    """The name of a rig.txt, and its joints, vertices and triangles as text. Influences are as many at all vertices."""
    lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    _, _, name = next(lines)
    joints, vertices, triangles = ([next(lines) for _ in range(int(next(lines)[1]))] for _ in range(3))
    width = max(int(vertex[6]) for vertex in vertices)
    return name, joints, [vertex + ["0", "0"] * (width - int(vertex[6])) for vertex in vertices], triangles


def read_clip(path: Path) -> tuple[float, NDArray[np.float32], NDArray[np.float32]]:
    """Frames a second, quaternions (F, J, 4), (w, x, y, z), and translations (F, J, 3) of a clip."""
    data = path.read_bytes()
    _, frame_count, joint_count, rate = CLIP_HEADER.unpack_from(data)
    values = np.frombuffer(data, "<f4", offset=CLIP_HEADER.size).reshape(frame_count, joint_count, 7)
    return rate, values[..., [3, 0, 1, 2]], values[..., 4:]


def clip_matrices(path: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times (F,) in seconds, and skinning matrices (F, J, 4, 4)."""
    rate, quaternions, translations = read_clip(path)
    unit = quaternions.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=-1, keepdims=True)
    moved = translations.astype(np.float64)
    return np.arange(len(unit)) / rate, compose(moved, unit, np.ones_like(moved))


def read_character(folder: Path, clips: Sequence[str] | None = None) -> sbs.Character:
    """The character in a folder, with these clips as animations; with all of them if none are named."""
    name, joints, vertices, triangles = read_tokens(folder / "rig.txt")
    bind_matrices = np.tile(np.eye(4), (len(joints), 1, 1))
    bind_matrices[:, :3] = np.array([joint[3:] for joint in joints], np.float64).reshape(-1, 3, 4)
    skeleton = sbs.Skeleton([int(joint[1]) for joint in joints], bind_matrices, names=[joint[2] for joint in joints])
    influences = np.array([vertex[7:] for vertex in vertices], np.float64).reshape(len(vertices), -1, 2)
    surface = np.array([vertex[:6] for vertex in vertices], np.float32)
    mesh = sbs.Mesh(
        positions=surface[:, :3],
        normals=surface[:, 3:],
        triangles=np.array(triangles, np.int32),
        joint_indices=influences[..., 0].astype(np.int32),
        joint_weights=influences[..., 1],
    )
    character = sbs.Character.from_mesh(mesh, skeleton, name=name)
    animations = [
        sbs.Animation.from_skinning_matrices(clip, *clip_matrices(folder / (clip + CLIP)), character.rig)
        for clip in (clip_names(folder) if clips is None else clips)
    ]
    return replace(character, animations=sbs.Animations(animations))


def clip_names(folder: Path) -> list[str]:
    """The names of the clips of a character."""
    return sorted(path.name.removesuffix(CLIP) for path in folder.glob("*" + CLIP))


def all_clips(folder: Path) -> list[NDArray[np.float64]]:
    """Skinning matrices (F, J, 4, 4) of each clip."""
    return [clip_matrices(folder / (clip + CLIP))[1] for clip in clip_names(folder)]


def folders(characters: Path) -> list[Path]:
    """The folders of all characters."""
    return [path.parent for path in sorted(characters.glob("*/rig.txt"))]


def moving_characters(characters: Path, clips: int | None = None) -> Iterator[sbs.Character]:
    """The characters that have clips, by the names of their folders, with so many of their clips."""
    for folder in folders(characters):
        if names := clip_names(folder):
            yield replace(read_character(folder, names[:clips]), name=folder.name)
