# SPDX-License-Identifier: MIT
"""The mesh of a character at rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..skinning.options import AnyFloats
from ..support.callers import warn
from ..support.owned import own
from ..support.vectors import unit
from .shapes import BlendShape

__all__ = ["Mesh", "MeshPart", "diagonal", "triangles_within", "welded"]


@dataclass(frozen=True)
class MeshPart:
    """One of the meshes of a file that a `Mesh` was joined of.

    Attributes
    ----------
    name : str
    vertices : range
        Its vertices.
    shapes : range
        Its blend shapes.
    """

    name: str
    vertices: range
    shapes: range = range(0)

    def moved(self, vertices: int, shapes: int) -> MeshPart:
        """The same behind some vertices and shapes more."""
        return MeshPart(
            self.name,
            range(self.vertices.start + vertices, self.vertices.stop + vertices),
            range(self.shapes.start + shapes, self.shapes.stop + shapes),
        )


def triangles_within(triangles: NDArray[Any], vertices: range) -> NDArray[Any]:
    """The triangles (T, 3) of some of the vertices, numbered from the first of these."""
    inside = (triangles[:, 0] >= vertices.start) & (triangles[:, 0] < vertices.stop)
    return np.asarray(triangles[inside] - vertices.start, triangles.dtype)


def diagonal(positions: ArrayLike) -> float:
    """The diagonal of the box around points (V, 3): the "size" wherever lengths are given as shares of it."""
    return float(np.linalg.norm(np.ptp(np.asarray(positions, np.float64), axis=0)))


def area_weighted_normals(positions: NDArray[np.float64], triangles: NDArray[np.integer]) -> NDArray[np.float64]:
    """Unit normals (V, 3) of vertices: the mean over their triangles, by area; zero where there is no area."""
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    doubled_areas = np.cross(b - a, c - a)
    normals = np.stack(
        [
            np.bincount(triangles.ravel(), np.repeat(doubled_areas[:, axis], 3), minlength=len(positions))
            for axis in range(3)
        ],
        axis=1,
    )
    return unit(normals)


def welded(positions: ArrayLike, triangles: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Merge vertices at one point, as along texture seams.

    Parameters
    ----------
    positions : (V, 3) array_like
    triangles : (T, 3) array_like of int

    Returns
    -------
    kept : (W,) ndarray of int
        The first vertex at each point.
    triangles : (T, 3) ndarray of int
        The same triangles as indices into `kept`.
    """
    kept, numbers = np.unique(_core.weld(positions), return_inverse=True)
    return kept.astype(np.intp), numbers.reshape(-1)[np.asarray(triangles)]


@dataclass(frozen=True, eq=False, repr=False)
class Mesh:
    """A triangle mesh with the influences of joints on it, all in bind space. It owns its arrays, which are read-only.

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
        The points that ``center="optimized"`` turns vertices about; of files that have them: SDEF, and files of
        `Character.for_engine`.
    tangents : (V, 4) ndarray or None
        Unit tangents at rest, along u of the texture coordinates, and the handedness, 1 or -1, of the frame of tangent,
        bitangent and normal: see `sbs.tangents`.
    shapes : tuple of BlendShape
        Blend shapes, also called morph targets.
    parts : tuple of MeshPart
        The meshes of the file that it was joined of, one behind the other; a single one is the whole. Empty if nothing
        is known of any.

    Raises
    ------
    ValueError
        If triangles, texture coordinates, tangents, shapes or parts do not fit the positions. `Skin` checks the rest.
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
    parts: tuple[MeshPart, ...] = ()

    def __post_init__(self) -> None:
        own(self, "positions", "triangles", "joint_indices", "joint_weights", "normals", "uvs", "centers", "tangents")
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
            if shape.normals is not None and np.shape(shape.normals) != offsets:
                raise ValueError(f"shape {shape.name!r} has normals {np.shape(shape.normals)} for offsets {offsets}")
            if vertices.size and not (vertices.min() >= 0 and vertices.max() < count):
                raise ValueError(f"shape {shape.name!r} moves vertices that are out of range for {count}")
        self._check_parts()

    def _check_parts(self) -> None:
        count = len(self.positions)
        if len(self.parts) == 1:
            whole = MeshPart(self.parts[0].name, range(count), range(len(self.shapes)))
            object.__setattr__(self, "parts", (whole,))
            return
        end = 0
        for number, part in enumerate(self.parts):
            if part.vertices.start != end or part.vertices.step != 1:
                raise ValueError(f"parts[{number}] has vertices {part.vertices}, but it begins with vertex {end}")
            end = part.vertices.stop
        if self.parts and end != count:
            raise ValueError(f"parts have {end} vertices, the mesh {count}: parts=() forgets them")
        if self.parts:
            owners = np.repeat(np.arange(len(self.parts)), [len(part.vertices) for part in self.parts])[self.triangles]
            for row in np.flatnonzero(owners.min(axis=1) != owners.max(axis=1))[:1]:
                raise ValueError(f"triangles[{row}] has corners in two parts: parts=() forgets them")

    def of_parts(self, numbers: Sequence[int]) -> Mesh:
        """The mesh of some of the parts, in their order, with their blend shapes.

        Parameters
        ----------
        numbers : sequence of int
            Each once.

        Raises
        ------
        ValueError
            If there is none, one occurs twice or is out of range.
        """
        chosen = sorted(set(numbers))
        if not chosen or len(chosen) < len(numbers) or not 0 <= chosen[0] <= chosen[-1] < len(self.parts):
            raise ValueError(f"numbers is {list(numbers)}; some of the {len(self.parts)} parts are needed, each once")
        parts: list[MeshPart] = []
        shapes: list[BlendShape] = []
        triangles = []
        end = 0
        for number in chosen:
            part = self.parts[number]
            triangles.append(triangles_within(self.triangles, part.vertices) + np.int32(end))
            own = [self.shapes[shape] for shape in part.shapes if shape < len(self.shapes)]
            parts.append(
                MeshPart(part.name, range(end, end + len(part.vertices)), range(len(shapes), len(shapes) + len(own)))
            )
            step = np.int32(end - part.vertices.start)
            shapes += [replace(shape, vertices=shape.vertices + step) for shape in own]
            end += len(part.vertices)
        rows = np.concatenate([np.asarray(self.parts[number].vertices) for number in chosen])
        return replace(self._rows(rows), triangles=np.concatenate(triangles), shapes=tuple(shapes), parts=tuple(parts))

    def _rows(self, rows: NDArray[np.intp]) -> Mesh:
        """Some vertices, or all in another order, without triangles, shapes and parts."""
        return Mesh(
            positions=self.positions[rows],
            triangles=np.empty((0, 3), np.int32),
            joint_indices=self.joint_indices[rows],
            joint_weights=self.joint_weights[rows],
            normals=None if self.normals is None else self.normals[rows],
            uvs=None if self.uvs is None else self.uvs[rows],
            centers=None if self.centers is None else self.centers[rows],
            tangents=None if self.tangents is None else self.tangents[rows],
        )

    def reordered(self, order: ArrayLike) -> Mesh:
        """Deprecated: the mesh with its vertices in another order, and triangles and blend shapes renumbered.

        No order of vertices is deformed in less time than another.

        Parameters
        ----------
        order : (V,) array_like of int
            Each vertex once: vertex i becomes what vertex ``order[i]`` is. If it mixes the vertices of several parts,
            the mesh has no parts any more.

        Raises
        ------
        ValueError
            If a vertex is missing or the shape is another.
        TypeError
            If the order does not consist of integers.
        """
        warn("Mesh.reordered is deprecated: no order of vertices is faster than another", DeprecationWarning)
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
        owners = np.repeat(np.arange(len(self.parts)), [len(part.vertices) for part in self.parts])
        apart = len(self.parts) > 1 and not np.array_equal(owners[indices], owners)
        return replace(
            self._rows(indices),
            triangles=numbers[self.triangles],
            parts=() if apart else self.parts,
            shapes=tuple(replace(shape, vertices=numbers[shape.vertices]) for shape in self.shapes),
        )

    def __repr__(self) -> str:
        return f"<sbs.Mesh, vertices: {len(self.positions)}, triangles: {len(self.triangles)}>"
