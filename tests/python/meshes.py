# SPDX-License-Identifier: MIT
"""Meshes and poses made up for the tests: small, without meaning, and the same every time."""

from __future__ import annotations

from typing import NotRequired, TypedDict

import numpy as np
import numpy.typing as npt

from sbs import rotations

# The types that the library computes in.
Precision = type[np.float32 | np.float64]


class SkinArguments(TypedDict):
    """Keyword arguments of `sbs.Skin`."""

    rest_positions: np.ndarray
    joint_indices: np.ndarray
    joint_weights: np.ndarray
    parents: NotRequired[np.ndarray]
    joint_positions: NotRequired[np.ndarray]
    rest_normals: NotRequired[np.ndarray]


def skin_arguments(
    vertices: int = 40,
    joints: int = 6,
    influences: int = 4,
    dtype: npt.DTypeLike = np.float64,
    *,
    seed: int = 0,
    normals: bool = False,
) -> SkinArguments:
    """Keyword arguments of `sbs.Skin`: vertices about a chain of joints, with distinct joints and weights of sum 1."""
    rng = np.random.default_rng(seed)
    weights = rng.random((vertices, influences)) + 0.1
    arguments: SkinArguments = {
        "rest_positions": rng.normal(size=(vertices, 3)).astype(dtype),
        "joint_indices": np.argsort(rng.random((vertices, joints)))[:, :influences].astype(np.int32),
        "joint_weights": (weights / weights.sum(axis=1, keepdims=True)).astype(dtype),
        "parents": np.arange(-1, joints - 1, dtype=np.int32),
        "joint_positions": rng.normal(size=(joints, 3)),
    }
    if normals:
        arguments["rest_normals"] = rng.normal(size=(vertices, 3)).astype(dtype)
    return arguments


def skinning_matrices(*shape: int, seed: int = 1) -> np.ndarray:
    """Rigid matrices (..., 4, 4)."""
    rng = np.random.default_rng(seed)
    matrices = np.tile(np.eye(4), (*shape, 1, 1))
    matrices[..., :3, :3] = rotations.matrices_from_quaternions(rng.normal(size=(*shape, 4)))
    matrices[..., :3, 3] = rng.normal(size=(*shape, 3))
    return matrices
