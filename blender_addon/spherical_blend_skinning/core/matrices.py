# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks of affine matrices, from Blender's transforms to skinning matrices. Column vectors, row-major, float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# How unequal the axes of a similarity may be, as a share of their squared length. Blender's transforms are float32.
_SIMILARITY_TOLERANCE = 1e-5
# Axes are flat if their volume is below this share of that of a box with the same edges.
_FLAT = 1e-6
# How far float32 points may be off a stretch of them all, as a share of their largest coordinate; how far its axes may
# be from unit ones if there is none; and the share of the longest extent of points below which they have none.
_OFF, _STRAIGHT, _THIN = 1e-5, 1e-4, 1e-3


def transposed(columns: NDArray[np.float32]) -> Floats:
    """Matrices (N, 4, 4) from the numbers of ``foreach_get``, which are column after column."""
    return columns.transpose(0, 2, 1).astype(np.float64)


def inverse(matrices: Floats) -> Floats:
    """Inverses of affine matrices (..., 4, 4), pseudo-inverses of flat ones; last rows stay (0, 0, 0, 1)."""
    if matrices.ndim > 2:
        return np.array([inverse(matrix) for matrix in matrices]).reshape(matrices.shape)
    # By cofactors and in plain numbers, which takes a tenth of the time; every frame needs some.
    (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = matrices.tolist()
    first = (e * i - f * h, c * h - b * i, b * f - c * e)
    second = (f * g - d * i, a * i - c * g, c * d - a * f)
    third = (d * h - e * g, b * g - a * h, a * e - b * d)
    determinant = a * first[0] + b * second[0] + c * third[0]
    # By Hadamard's inequality the ratio is 1 for axes at right angles, and smaller the flatter they are.
    volume = math.hypot(a, d, g) * math.hypot(b, e, h) * math.hypot(c, f, i)
    if abs(determinant) <= _FLAT * volume:
        result = np.eye(4)
        result[:3, :3] = np.linalg.pinv(matrices[:3, :3], rcond=1e-12)
        result[:3, 3] = result[:3, :3] @ (-x, -y, -z)
        return result
    rows = [
        (p / determinant, q / determinant, r / determinant, -(p * x + q * y + r * z) / determinant)
        for p, q, r in (first, second, third)
    ]
    return np.array([*rows, (0.0, 0.0, 0.0, 1.0)])


def is_similarity(matrix: Floats) -> bool:
    """Whether a matrix (4, 4) only turns, moves, mirrors and scales uniformly, so that skinning commutes with it."""
    gram = matrix[:3, :3].T @ matrix[:3, :3]
    scale = np.trace(gram) / 3.0
    return bool(scale > 0.0 and np.abs(gram - scale * np.eye(3)).max() <= _SIMILARITY_TOLERANCE * scale)


def stretch(before: Floats, now: Floats, turn: Floats) -> Floats | None:
    """The affine matrix (4, 4) that takes points to others, both (N, 3).

    None if there is none, or if it only turns and moves them. Along axes without an extent, as across bones in one
    line, it turns as `turn` (3, 3) does, and scales as elsewhere in the geometric mean.
    """
    center, goal = before.mean(axis=0), now.mean(axis=0)
    left, extents, axes = np.linalg.svd(before - center, full_matrices=False)
    known = extents > _THIN * extents[0]
    if not known.any():
        return None
    axes = axes[known]
    images = left[:, known].T @ (now - goal) / extents[known, None]
    factor = float(np.prod(np.linalg.norm(images, axis=1)) ** (1.0 / len(images)))
    linear = images.T @ axes + factor * turn @ (np.eye(3) - axes.T @ axes)
    if np.abs((before - center) @ linear.T - (now - goal)).max() > _OFF * np.abs(now).max():
        return None
    determinant = np.linalg.det(linear)
    if determinant == 0.0 or (determinant > 0.0 and np.abs(linear.T @ linear - np.eye(3)).max() <= _STRAIGHT):
        return None
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = linear, goal - linear @ center
    return result


def linear_part(matrix: Floats) -> Floats:
    """A matrix (4, 4) without its translation."""
    result = matrix.copy()
    result[:3, 3] = 0.0
    return result


def transform_points(matrix: Floats, points: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Points (V, 3) moved by a matrix (4, 4)."""
    return (points @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)
