# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks of affine matrices: Blender's transforms made into skinning matrices. Column vectors, row-major, float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["inverse", "is_similarity", "linear_part", "transform_points", "transposed"]

Floats = NDArray[np.float64]

# How unequal the axes of a similarity may be, as a share of their squared length. Blender's own transforms are float32.
_SIMILARITY_TOLERANCE = 1e-5


def transposed(flat: NDArray[np.float32], count: int) -> Floats:
    """Matrices (count, 4, 4) of what ``foreach_get`` gives of them, which is column after column."""
    return flat.reshape(count, 4, 4).transpose(0, 2, 1).astype(np.float64)


def inverse(matrices: Floats) -> Floats:
    """Inverses of affine matrices (..., 4, 4), pseudo-inverses of what is flat; last rows stay (0, 0, 0, 1)."""
    result = np.zeros_like(matrices)
    result[..., :3, :3] = np.linalg.pinv(matrices[..., :3, :3], rcond=1e-12)
    result[..., :3, 3:] = -(result[..., :3, :3] @ matrices[..., :3, 3:])
    result[..., 3, 3] = 1.0
    return result


def is_similarity(matrix: Floats) -> bool:
    """Whether a matrix (4, 4) only turns, moves, mirrors and scales alike along all axes: skinning commutes with it."""
    gram = matrix[:3, :3].T @ matrix[:3, :3]
    scale = np.trace(gram) / 3.0
    return bool(scale > 0.0 and np.abs(gram - scale * np.eye(3)).max() <= _SIMILARITY_TOLERANCE * scale)


def linear_part(matrix: Floats) -> Floats:
    """A matrix (4, 4) without its translation."""
    result = matrix.copy()
    result[:3, 3] = 0.0
    return result


def transform_points(matrix: Floats, points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Points (V, 3) moved by a matrix (4, 4)."""
    return (points @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)
