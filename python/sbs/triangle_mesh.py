# SPDX-License-Identifier: MIT
"""The mesh of a character, as it is at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Mesh"]


@dataclass(frozen=True, eq=False, repr=False)
class Mesh:
    """A triangle mesh with the influences of joints on it, all in bind space.

    Attributes
    ----------
    positions : (V, 3) float32 or float64 ndarray
        Rest positions.
    triangles : (T, 3) int32 ndarray
        Vertex numbers, counter-clockwise seen from outside.
    joint_indices : (V, K) int32 ndarray
    joint_weights : (V, K) float32 or float64 ndarray
        As found in the file: `Skin` says what it does to bad ones.
    normals : (V, 3) ndarray or None
        Rest normals.
    uvs : (V, 2) ndarray or None
        Texture coordinates.
    """

    positions: NDArray[np.floating]
    triangles: NDArray[np.int32]
    joint_indices: NDArray[np.int32]
    joint_weights: NDArray[np.floating]
    normals: NDArray[np.floating] | None = None
    uvs: NDArray[np.floating] | None = None

    def __repr__(self) -> str:
        return f"<sbs.Mesh, vertices: {len(self.positions)}, triangles: {len(self.triangles)}>"
