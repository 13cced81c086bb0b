# SPDX-License-Identifier: MIT
"""How far QLERP is from the spherical average of rotations, on the clips of the tests' characters."""

from __future__ import annotations

import characters
import click
import numpy as np
from numpy.typing import NDArray

import sbs
from sbs.cli.tables import print_table
from sbs.options import Rotation

Floats = NDArray[np.float64]


def turning_skin(character: characters.Character) -> sbs.Skin:
    """A skin with three vertices for each of the character's, of the same weights, whose normals are the three axes.

    By their normals one sees how every vertex is rotated.
    """
    three = np.repeat(np.arange(len(character.rest_positions)), 3)
    return sbs.Skin(
        character.rest_positions[three].astype(np.float64),
        character.joint_indices[three],
        (character.joint_weights / character.joint_weights.sum(axis=1, keepdims=True))[three].astype(np.float64),
        joint_count=len(character.parents),
        rest_normals=np.tile(np.eye(3), (len(character.rest_positions), 1)),
    )


def angles_apart(skin: sbs.Skin, matrices: Floats) -> Floats:
    """The angle in degrees (V,) between the two rotations of every vertex of a `turning_skin`'s character."""

    def rotate(rotation: Rotation) -> Floats:
        return np.asarray(skin.deform(matrices, normals=True, rotation=rotation)[1], np.float64).reshape(-1, 9)

    # Of rotations that are an angle apart, the matrices are sqrt(8) sin(angle / 2) apart.
    chords = np.linalg.norm(rotate("average") - rotate("qlerp"), axis=1)
    return np.asarray(np.degrees(2 * np.arcsin(np.minimum(chords / np.sqrt(8), 1))))


def widest(skin: sbs.Skin, matrices: Floats) -> float:
    """The largest angle in degrees between the rotations of two joints of one vertex."""
    rotations = np.asarray(matrices)[:, :3, :3]
    most = 0.0
    for joints in skin.joint_sets:
        if len(joints) < 2:
            continue
        turned = rotations[list(joints)].reshape(len(joints), 9)
        chords = np.linalg.norm(turned[:, None] - turned[None], axis=2)
        most = max(most, float(np.degrees(2 * np.arcsin(min(chords.max() / np.sqrt(8), 1.0)))))
    return most


def show() -> None:
    """Print a row for every clip: the frame in which they are farthest apart, by how much, and how far joints are."""
    rows = []
    for name in characters.NAMES:
        character = characters.load(name)
        skin = turning_skin(character)
        for clip, frames in character.clips.items():
            found = []
            for frame in frames.frames:
                matrices = frames.skinning_matrices(frame)
                apart = angles_apart(skin, matrices)
                found.append((float(apart.max()), float(np.percentile(apart, 99)), widest(skin, matrices), frame))
            most = max(found)
            rows.append((name, clip, str(most[3]), f"{most[0]:.3f}", f"{most[1]:.3f}", f"{most[2]:.1f}"))
    click.echo("Degrees between QLERP and the spherical average")
    print_table(("character", "clip", "frame", "largest", "99 in 100 below", "joints of a vertex"), rows, left=2)
