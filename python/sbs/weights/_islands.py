# SPDX-License-Identifier: MIT
"""Islands of a surface, and how those that no heat reaches hang on the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core

__all__ = ["Attachments", "Surface", "attach", "make_surface"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Flags = NDArray[np.bool_]

NEAR = 1e-6
"""Vertices nearer to each other than this share of the mesh's size are taken for one, if triangles don't join them."""

_LINE = np.array([0.3141, 0.5926, 0.7418])  # of a length of 1 at most


@dataclass(frozen=True)
class Surface:
    """A mesh whose vertices at one point are one, scaled to a size of 1 and moved to the origin.

    Attributes
    ----------
    positions : (W, 3) ndarray
    triangles : (T, 3) ndarray
    vertex_of : (V,) ndarray
        Which of these each vertex of the mesh is.
    island_of : (W,) ndarray
        Numbered from 0.
    center : (3,) ndarray
    size : float
        Of the mesh, the diagonal of its box.
    """

    positions: Floats
    triangles: Indices
    vertex_of: Indices
    island_of: Indices
    center: Floats
    size: float

    @property
    def island_count(self) -> int:
        return int(self.island_of.max()) + 1

    @property
    def island_of_triangle(self) -> Indices:
        return self.island_of[self.triangles[:, 0]]

    def scaled(self, points: Floats) -> Floats:
        """Points (N, 3) of the mesh's space in that of the surface."""
        return (points - self.center) / self.size


def make_surface(positions: ArrayLike, triangles: ArrayLike) -> Surface:
    """Weld, scale and find islands of a mesh, (V, 3) and (T, 3). Raises what the core finds wrong with them."""
    distinct, vertex_of = np.unique(_core.weld(positions), return_inverse=True)
    _core.islands(triangles, len(vertex_of))  # refuses what are no triangles
    points = np.asarray(positions, np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    center = low / 2 + high / 2
    size = 2 * float(np.linalg.norm(high / 2 - low / 2)) or 1.0
    scaled = (points[distinct] - center) / size
    kept, merged = np.unique(_weld_near(scaled), return_inverse=True)
    where = merged.ravel()[vertex_of.ravel()].astype(np.int32)
    faces = where[np.asarray(triangles)]
    return Surface(scaled[kept], faces, where, _core.islands(faces, len(kept)), center, size)


def _weld_near(positions: Floats) -> Indices:
    """The lowest of the vertices that are as good as one, for each (V,): steps shorter than `NEAR` lead to it."""
    count = len(positions)
    # Along a line that no mesh is likely to be aligned with, few are as near as that: those alone are measured.
    heights = positions @ _LINE
    order = np.argsort(heights, kind="stable")
    heights = heights[order]
    pairs = [np.empty((0, 2), np.intp)]
    candidates = np.arange(count)
    for step in range(1, count):
        candidates = candidates[candidates < count - step]
        candidates = candidates[heights[candidates + step] - heights[candidates] < NEAR]
        if not len(candidates):
            break
        ends = np.stack([order[candidates], order[candidates + step]], axis=1)
        lengths = np.linalg.norm(positions[ends[:, 0]] - positions[ends[:, 1]], axis=1)
        pairs.append(ends[lengths < NEAR])
    near = np.concatenate(pairs)
    if not len(near):
        return np.arange(count, dtype=np.int32)
    groups = _core.islands(_as_triangles(near), count)
    return np.unique(groups, return_index=True)[1][groups].astype(np.int32)


@dataclass(frozen=True)
class Attachments:
    """Where the vertices of islands hang on the surfaces of others.

    Attributes
    ----------
    vertices : (N,) ndarray
        All vertices of the islands that were joined.
    corners : (N, 3) ndarray
        The vertices of the triangle that has the nearest point.
    shares : (N, 3) ndarray
        Of the corners in that point, with a sum of 1.
    distances : (N,) ndarray
        To it.
    """

    vertices: Indices
    corners: Indices
    shares: Floats
    distances: Floats


def attach(surface: Surface, fed: Flags) -> Attachments:
    """Join the islands that are not `fed` (I,) to those that are, over others where those are in between.

    Islands are joined as a minimum spanning tree joins them, by their least distances (Boruvka's algorithm); then each
    vertex of an island hangs on the nearest point of those that are at least one step nearer to the fed ones.
    """
    if fed.all():
        nobody = np.empty((0, 3), np.int32)
        return Attachments(nobody[:, 0], nobody, np.empty((0, 3)), np.empty(0))
    depths = _depths(surface, fed)
    depth_of_vertex, depth_of_triangle = depths[surface.island_of], depths[surface.island_of_triangle]
    parts = []
    for depth in range(1, int(depths.max()) + 1):
        vertices = np.flatnonzero(depth_of_vertex == depth).astype(np.int32)
        faces = surface.triangles[depth_of_triangle < depth]
        nearest, shares, distances = _core.nearest_on_surface(surface.positions, faces, surface.positions[vertices])
        parts.append((vertices, faces[nearest], shares, distances))
    return Attachments(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _depths(surface: Surface, fed: Flags) -> Indices:
    """How many joints there are from each island (I,) to a fed one: 0 for those."""
    hub = int(np.flatnonzero(fed)[0])
    links = np.stack([np.flatnonzero(fed), np.full(np.count_nonzero(fed), hub)], axis=1)  # fed islands are one group
    groups = _core.islands(_as_triangles(links), len(fed))
    while groups.any():  # the group of island 0 is 0, and in the end it is all
        links = np.concatenate([links, _nearest_links(surface, groups, groups[hub])])
        groups = _core.islands(_as_triangles(links), len(fed))

    depths = np.where(fed, 0, -1).astype(np.int32)
    ways = np.concatenate([links, links[:, ::-1]])
    for depth in range(1, len(fed)):
        if depths.min() >= 0:
            break
        reached = ways[depths[ways[:, 0]] == depth - 1, 1]
        depths[reached[depths[reached] < 0]] = depth
    return depths


def _nearest_links(surface: Surface, groups: Indices, fed: int) -> NDArray[np.intp]:
    """For each group of islands but the `fed` one: its island, and that of another group, that are nearest, (N, 2)."""
    group_of_vertex = groups[surface.island_of]
    loose = np.flatnonzero(group_of_vertex != fed)
    labels = group_of_vertex[loose]
    nearest, _, distances = _core.nearest_on_surface(
        surface.positions,
        surface.triangles,
        surface.positions[loose],
        point_labels=labels,
        triangle_labels=groups[surface.island_of_triangle],
    )
    order = np.lexsort((loose, distances, labels))
    first = order[np.unique(labels[order], return_index=True)[1]]
    return np.stack([surface.island_of[loose[first]], surface.island_of_triangle[nearest[first]]], axis=1)


def _as_triangles(links: NDArray[np.intp]) -> NDArray[np.intp]:
    """Links (N, 2) as degenerate triangles (N, 3), for `_core.islands`."""
    return links[:, [0, 1, 1]]
