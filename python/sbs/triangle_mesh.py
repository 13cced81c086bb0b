# SPDX-License-Identifier: MIT
"""The mesh of a character at rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .options import AnyFloats
from .shapes import BlendShape

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
        As found in the file; `Skin` repairs bad ones.
    normals : (V, 3) ndarray or None
        Rest normals.
    uvs : (V, 2) ndarray or None
        Texture coordinates.
    centers : (V, 3) float64 ndarray or None
        What ``center="optimized"`` turns every vertex about; of files that give such points (SDEF).
    tangents : (V, 4) ndarray or None
        Unit tangents at rest, along u of the texture coordinates, and the handedness, 1 or -1, of the frame of tangent,
        bitangent and normal: see `sbs.tangents`.
    shapes : tuple of BlendShape
        Blend shapes, also called morph targets.

    Raises
    ------
    ValueError
        If triangles, texture coordinates, tangents or shapes do not fit the positions. `Skin` checks the rest.
    """

    positions: AnyFloats
    triangles: NDArray[np.int32]
    joint_indices: NDArray[np.int32]
    joint_weights: AnyFloats
    normals: AnyFloats | None = None
    uvs: AnyFloats | None = None
    centers: NDArray[np.float64] | None = None
    tangents: AnyFloats | None = None
    shapes: tuple[BlendShape, ...] = ()

    def __post_init__(self) -> None:
        triangles, count = np.asarray(self.triangles), len(self.positions)
        if triangles.ndim != 2 or triangles.shape[1] != 3:
            raise ValueError(f"triangles has shape {triangles.shape}, expected (T, 3)")
        if triangles.size and not (triangles.min() >= 0 and triangles.max() < count):
            row, corner = np.argwhere((triangles < 0) | (triangles >= count))[0]
            raise ValueError(
                f"triangles[{row}, {corner}] = {triangles[row, corner]} is out of range for {count} vertices"
            )
        if self.uvs is not None and np.shape(self.uvs) != (count, 2):
            raise ValueError(f"uvs has shape {np.shape(self.uvs)}, expected ({count}, 2)")
        if self.tangents is not None and np.shape(self.tangents) != (count, 4):
            raise ValueError(f"tangents has shape {np.shape(self.tangents)}, expected ({count}, 4)")
        for shape in self.shapes:
            vertices, offsets = np.asarray(shape.vertices), np.shape(shape.offsets)
            if vertices.ndim != 1 or offsets != (len(vertices), 3):
                raise ValueError(f"shape {shape.name!r} has offsets {offsets} for vertices {vertices.shape}")
            if vertices.size and not (vertices.min() >= 0 and vertices.max() < count):
                raise ValueError(f"shape {shape.name!r} moves vertices that are out of range for {count}")

    def reordered(self, order: ArrayLike) -> Mesh:
        """The mesh with its vertices in another order, and triangles and blend shapes renumbered.

        ``character.with_mesh(character.mesh.reordered(character.skin.vertex_order))`` deforms in less time, see
        `Skin.vertex_order`. To save a character with all else of its file, save the one in the order of the file.

        Parameters
        ----------
        order : (V,) array_like of int
            Each vertex once: vertex i becomes what vertex ``order[i]`` is.

        Raises
        ------
        ValueError
            If a vertex is missing or the shape is another.
        TypeError
            If the order does not consist of integers.
        """
        indices, count = np.asarray(order), len(self.positions)
        if indices.shape != (count,):
            raise ValueError(f"order has shape {indices.shape}, expected ({count},)")
        if indices.dtype.kind not in "iu":
            raise TypeError(f"order must hold integers, not {indices.dtype}")
        for place in np.flatnonzero((indices < 0) | (indices >= count))[:1]:
            raise ValueError(f"order[{place}] = {indices[place]} is out of range for {count} vertices")
        numbers = np.full(count, -1, np.int32)
        numbers[indices] = np.arange(count, dtype=np.int32)
        for vertex in np.flatnonzero(numbers < 0)[:1]:
            raise ValueError(f"order does not have vertex {vertex}")
        return replace(
            self,
            positions=self.positions[indices],
            triangles=numbers[self.triangles],
            joint_indices=self.joint_indices[indices],
            joint_weights=self.joint_weights[indices],
            normals=None if self.normals is None else self.normals[indices],
            uvs=None if self.uvs is None else self.uvs[indices],
            centers=None if self.centers is None else self.centers[indices],
            tangents=None if self.tangents is None else self.tangents[indices],
            shapes=tuple(replace(shape, vertices=numbers[shape.vertices]) for shape in self.shapes),
        )

    def __repr__(self) -> str:
        return f"<sbs.Mesh, vertices: {len(self.positions)}, triangles: {len(self.triangles)}>"
