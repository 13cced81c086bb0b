# SPDX-License-Identifier: MIT
"""Stacks of affine 4 by 4 matrices: check them, invert them, make them from rotations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["are_singular", "as_affine", "from_linear", "inverse", "unflattened"]

Floats = NDArray[np.float64]

FLAT = 1e-6
"""The share that is left of space where a matrix that has to be inverted flattens it."""

# A matrix is singular if its smallest singular value is at most this share of its largest.
_SINGULAR = 8.0 * float(np.finfo(np.float64).eps)


def as_affine(matrices: ArrayLike, name: str, count: int) -> Floats:
    """Matrices (..., count, 4, 4) as float64; a ValueError if one is not finite or its last row not (0, 0, 0, 1)."""
    result = np.asarray(matrices, dtype=np.float64)
    if result.shape[-3:] != (count, 4, 4):
        raise ValueError(f"{name} has shape {result.shape}, expected (..., {count}, 4, 4)")
    bad = np.argwhere(~np.isfinite(result))
    if len(bad):
        raise ValueError(f"{name}[{_join(bad[0])}] is {result[tuple(bad[0])]}, where a finite number is needed")
    bad = np.argwhere(np.any(result[..., 3, :] != (0.0, 0.0, 0.0, 1.0), axis=-1))
    if len(bad):
        raise ValueError(f"the last row of {name}[{_join(bad[0])}] must be (0, 0, 0, 1); is the matrix transposed?")
    return result


def from_linear(linear: NDArray[np.floating[Any]]) -> Floats:
    """Matrices (..., 4, 4) without translation, from their linear parts (..., 3, 3)."""
    matrices = np.zeros((*linear.shape[:-2], 4, 4))
    matrices[..., :3, :3] = linear
    matrices[..., 3, 3] = 1.0
    return matrices


def are_singular(matrices: Floats, share: float = _SINGULAR) -> NDArray[np.bool_]:
    """Whether matrices (..., 4, 4) flatten space to a share or less; by default as far as double precision can tell."""
    values = np.linalg.svd(matrices[..., :3, :3], compute_uv=False)
    return np.asarray(values[..., 2] <= share * values[..., 0])


def unflattened(matrices: Floats) -> Floats:
    """The matrices (n, 4, 4) that flatten space to a share of `FLAT` at most, and do else the same."""
    u, values, vt = np.linalg.svd(matrices[:, :3, :3])
    u[np.linalg.det(u) * np.linalg.det(vt) < 0.0, :, 2] *= -1.0
    largest = np.where(values[:, :1] > 0.0, values[:, :1], 1.0)
    result = matrices.copy()
    result[:, :3, :3] = u * np.maximum(values, FLAT * largest)[:, None, :] @ vt
    return result


def inverse(matrices: Floats) -> Floats:
    """Inverses of affine matrices (..., 4, 4) that are not singular; the last rows stay exactly (0, 0, 0, 1)."""
    result = from_linear(np.linalg.inv(matrices[..., :3, :3]))
    result[..., :3, 3:] = -(result[..., :3, :3] @ matrices[..., :3, 3:])
    return result


def _join(index: NDArray[np.intp]) -> str:
    return ", ".join(map(str, index))
