# SPDX-License-Identifier: MIT
"""Solids whose measures are known by hand, and characters made of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

import sbs

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
CUBE_FACES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5]),  # x
        *([0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6]),  # y
        *([0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),  # z
    ],
    np.int32,
)


def grid(across: int, along: int = 4) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """A flat sheet (N, 3) of squares of side 1 in the plane z = 0, x = 0 to `across`, with its triangles."""
    x, y = np.meshgrid(np.arange(across + 1.0), np.arange(along + 1.0), indexing="ij")
    points = np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3)
    corner = (np.arange(across)[:, None] * (along + 1) + np.arange(along)).reshape(-1)
    next_row = corner + along + 1
    return points, np.concatenate(
        [np.stack([corner, next_row, next_row + 1], 1), np.stack([corner, next_row + 1, corner + 1], 1)]
    ).astype(np.int32)


def tube(
    rings: int, sides: int = 48, length: float = 6.0, radius: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """An open tube (N, 3) along x, centered at the origin, ring after ring, with its triangles."""
    x, angle = np.meshgrid(
        np.linspace(-length / 2, length / 2, rings), 2 * np.pi * np.arange(sides) / sides, indexing="ij"
    )
    points = np.stack([x, radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(-1, 3)
    ring, side = (index.reshape(-1) for index in np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij"))
    a, b = ring * sides + side, ring * sides + (side + 1) % sides
    c, d = a + sides, b + sides
    return points, np.concatenate([np.stack([a, d, c], 1), np.stack([a, b, d], 1)]).astype(np.int32)


def arm(rings: int = 61, sides: int = 48) -> sbs.Character:
    """A tube of length 6 and radius 1 along x with its elbow at 0, where weights change from -1 to 1.

    The joints are those of an upper arm, a forearm, and a hand without weight at the end.
    """
    points, triangles = tube(rings, sides)
    forearm = np.clip((points[:, 0] + 1) / 2, 0, 1)
    bind = np.tile(np.eye(4), (3, 1, 1))
    bind[:, 0, 3] = -3, 0, 3
    skeleton = sbs.Skeleton([-1, 0, 1], bind, names=["upper", "fore", "hand"])
    joints = np.tile(np.array([0, 1], np.int32), (len(points), 1))
    mesh = sbs.Mesh(points, triangles, joints, np.stack([1 - forearm, forearm], axis=1))
    return sbs.Character.from_mesh(mesh, skeleton, name="arm")


def block() -> sbs.Character:
    """The cube as a character of one joint, whose bone goes along its middle."""
    bind = np.tile(np.eye(4), (2, 1, 1))
    bind[:, :2, 3] = 0.5
    bind[1, 2, 3] = 1
    mesh = sbs.Mesh(CUBE, CUBE_FACES, np.zeros((8, 1), np.int32), np.ones((8, 1)))
    return sbs.Character.from_mesh(mesh, sbs.Skeleton([-1, 0], bind, names=["block", "end"]), name="block")


def taken_apart(character: sbs.Character) -> sbs.Character:
    """Every triangle with corners of its own."""
    mesh = character.mesh
    corners = mesh.triangles.reshape(-1)
    apart = sbs.Mesh(
        mesh.positions[corners],
        np.arange(len(corners), dtype=np.int32).reshape(-1, 3),
        mesh.joint_indices[corners],
        mesh.joint_weights[corners],
    )
    return sbs.Character.from_mesh(apart, character.skeleton)


def turned(character: sbs.Character, joint: str, axis: ArrayLike, degrees: float) -> NDArray[np.float64]:
    """Skinning matrices (J, 4, 4) of a pose that turns one joint."""
    local = np.tile(np.eye(3), (len(character.skeleton), 1, 1))
    local[character.skeleton.index(joint)] = sbs.rotations.matrices_from_axis_angle(axis, degrees, degrees=True)
    return character.skinning_matrices(local)
