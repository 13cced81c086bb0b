# SPDX-License-Identifier: MIT
"""Surfaces made up for the tests of weights."""

from __future__ import annotations

import numpy as np


def tube(rings: int = 13, sides: int = 8, length: float = 6.0, radius: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """A closed tube along x from 0, (V, 3) and (T, 3): rings of vertices, and one in the middle of each end."""
    x, angle = np.meshgrid(
        np.linspace(0, length, rings), np.linspace(0, 2 * np.pi, sides, endpoint=False), indexing="ij"
    )
    ends = [[0, 0, 0], [length, 0, 0]]
    positions = np.concatenate(
        [np.stack([x, radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(-1, 3), ends]
    )
    first, second = rings * sides, rings * sides + 1
    triangles = []
    for side in range(sides):
        after = (side + 1) % sides
        triangles += [[first, after, side], [second, (rings - 1) * sides + side, (rings - 1) * sides + after]]
        for ring in range(rings - 1):
            a, b = ring * sides + side, ring * sides + after
            triangles += [[a, b, b + sides], [a, b + sides, a + sides]]
    return positions, np.array(triangles, np.int32)


def moved(positions: np.ndarray, *offset: float) -> np.ndarray:
    return positions + np.array(offset)


def together(*meshes: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Several meshes as one."""
    firsts = np.cumsum([0, *(len(positions) for positions, _ in meshes[:-1])])
    return (
        np.concatenate([positions for positions, _ in meshes]),
        np.concatenate([triangles + first for first, (_, triangles) in zip(firsts, meshes, strict=True)]),
    )


def torn(positions: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same surface with vertices of its own for each triangle, as flat shading makes it."""
    return positions[triangles.ravel()], np.arange(triangles.size, dtype=np.int32).reshape(-1, 3)


def chain(count: int, length: float = 6.0) -> tuple[np.ndarray, np.ndarray]:
    """Heads and tails (J, 3) of bones of equal length, one after the other along x from 0."""
    ends = np.zeros((count + 1, 3))
    ends[:, 0] = np.linspace(0, length, count + 1)
    return ends[:-1], ends[1:]
