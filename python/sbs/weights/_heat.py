# SPDX-License-Identifier: MIT
"""The heat equation on a surface: where heat comes from, which islands have any, and the solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core
from . import _sparse
from ._islands import Attachments, Surface
from ._laplacian import cotangent_edges, vertex_areas

__all__ = ["Islands", "Reason", "Sources", "find_sources", "nearest_distances", "solve", "sort_islands"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
Reason = Literal["sees no bone", "tiny", "no triangles"]

TINY = 0.03
"""An island is tiny whose box has a diagonal of this share of the mesh's, at most: a button, an eye."""

SEEN = 0.2
"""An island has heat of its own if so much of its area, at least, sees a bone."""

TIE = 1e-4
"""Bones are equally near whose distances differ by this share, at most."""

LEAST_DISTANCE = 1e-4
"""What is nearer than this share of the mesh's size is taken to be so far away: heat stays finite."""

PAIRS = 1 << 22  # vertices times joints that are measured at once, which bounds the memory


@dataclass(frozen=True)
class Sources:
    """The bones that heat the vertices of a surface directly.

    Attributes
    ----------
    vertices, bones : (N,) ndarray
        Pairs of a vertex and a bone that is its nearest, or as near, and that it sees.
    distances : (N,) ndarray
    seen : (W,) ndarray of bool
        Whether a vertex sees such a bone.
    """

    vertices: Indices
    bones: Indices
    distances: Floats
    seen: Flags


def find_sources(surface: Surface, heads: Floats, tails: Floats) -> Sources:
    """Find the nearest bones (B, 3) of all vertices, and whether the surface is in between."""
    vertices, bones, places, distances = _all_nearest_bones(surface.positions, heads, tails)
    visible = np.ones(len(vertices), bool)
    if len(surface.triangles):
        starts = surface.positions[vertices]
        visible = ~_core.segments_blocked(surface.positions, surface.triangles, starts, places, start_vertices=vertices)
    seen = np.zeros(len(surface.positions), bool)
    seen[vertices[visible]] = True
    return Sources(vertices[visible], bones[visible], distances[visible], seen)


def nearest_distances(points: Floats, heads: Floats, tails: Floats) -> Floats:
    """The distance of each point (N, 3) to the nearest of the bones (B, 3)."""
    vertices, _, _, distances = _all_nearest_bones(points, heads, tails)
    return distances[np.unique(vertices, return_index=True)[1]]


def _all_nearest_bones(points: Floats, heads: Floats, tails: Floats) -> tuple[Indices, Indices, Floats, Floats]:
    step = max(1, PAIRS // len(heads))
    parts = [_nearest_bones(points[first : first + step], heads, tails, first) for first in range(0, len(points), step)]
    vertices, bones, places, distances = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return vertices, bones, places, distances


def _nearest_bones(points: Floats, heads: Floats, tails: Floats, first: int) -> tuple[Indices, Indices, Floats, Floats]:
    """Pairs of points, counted from `first`, and nearest bones, with the nearest places of those and the distances."""
    axes = tails - heads
    squares = np.sum(axes * axes, axis=1)
    along = np.clip((points @ axes.T - np.sum(heads * axes, axis=1)) / np.where(squares > 0, squares, 1), 0, 1)
    squared = np.zeros(along.shape)
    for axis in range(3):
        squared += (points[:, axis, None] - heads[:, axis] - along * axes[:, axis]) ** 2
    distances = np.sqrt(squared)
    vertices, bones = np.nonzero(distances <= (1 + TIE) * distances.min(axis=1, keepdims=True))
    places = heads[bones] + along[vertices, bones, None] * axes[bones]
    return vertices + first, bones, places, distances[vertices, bones]


@dataclass(frozen=True)
class Islands:
    """Which islands have heat of their own.

    Attributes
    ----------
    fed : (I,) ndarray of bool
    reasons : dict
        For each of the others, why not.
    trouble : str
        Why heat can't work at all, or empty.
    """

    fed: Flags
    reasons: dict[int, Reason]
    trouble: str


def sort_islands(surface: Surface, areas: Floats, sources: Sources) -> Islands:
    """Tell the islands that bones heat from those that are to be joined to others."""
    count = surface.island_count
    island_areas = np.bincount(surface.island_of_triangle, areas, count)
    lows, highs = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(lows, surface.island_of, surface.positions)
    np.maximum.at(highs, surface.island_of, surface.positions)
    tiny = np.linalg.norm(highs - lows, axis=1) <= TINY
    bare = np.bincount(surface.island_of_triangle, minlength=count) == 0

    masses = vertex_areas(areas, surface.triangles, len(surface.positions))
    seen_areas = np.bincount(surface.island_of, masses * sources.seen, count)
    sees = seen_areas >= SEEN * np.bincount(surface.island_of, masses, count)
    fed = sees & ~tiny & ~bare
    reasons: dict[int, Reason] = {
        int(island): "no triangles" if bare[island] else "tiny" if tiny[island] else "sees no bone"
        for island in np.flatnonzero(~fed)
    }
    trouble = ""
    if not island_areas.sum() > 0:
        trouble = "the mesh has no surface"
    elif island_areas[tiny].sum() > 0.5 * island_areas.sum():
        trouble = "the surface is in tiny pieces"
    elif not fed.any():
        trouble = "the surface sees no bone"
    return Islands(fed, reasons, trouble)


def solve(
    surface: Surface, areas: Floats, sources: Sources, attachments: Attachments, strength: float
) -> Floats | None:
    """Temperatures (W, B) for each of the bones, with a sum of 1; None if there is no finite solution.

    The equation is multiplied by the area of each vertex. All entries off the diagonal are negative or zero and no row
    has a negative sum, so that no temperature is negative (the maximum principle).
    """
    count, bone_count = len(surface.positions), int(sources.bones.max()) + 1
    masses = vertex_areas(areas, surface.triangles, count)
    own = np.ones(count, bool)
    own[attachments.vertices] = False
    kept = own[sources.vertices]
    vertices, bones = sources.vertices[kept], sources.bones[kept]
    with np.errstate(over="ignore"):
        heat = strength * masses[vertices] / np.maximum(sources.distances[kept], LEAST_DISTANCE) ** 2
        inflow = strength * masses[attachments.vertices] / np.maximum(attachments.distances, LEAST_DISTANCE) ** 2
    edges, conductances = cotangent_edges(surface.positions, surface.triangles)

    ends = np.concatenate([edges, edges[:, ::-1]])
    both = np.concatenate([conductances, conductances])
    diagonal = np.bincount(ends[:, 0], both, count) + np.bincount(vertices, heat, count)
    diagonal += np.bincount(attachments.vertices, inflow, count)
    rows = [np.arange(count), ends[:, 0], np.repeat(attachments.vertices, 3)]
    columns = [np.arange(count), ends[:, 1], attachments.corners.ravel()]
    values = [diagonal, -both, -(inflow[:, None] * attachments.shares).ravel()]
    matrix = _sparse.Matrix(count, np.concatenate(rows), np.concatenate(columns), np.concatenate(values))
    sides = np.zeros((count, bone_count))
    sides[vertices, bones] = heat
    try:
        with np.errstate(all="ignore"), _sparse.one_thread():
            temperatures = _sparse.solve(matrix, sides, surface.positions)
    except np.linalg.LinAlgError:
        return None
    if not (np.isfinite(temperatures).all() and (temperatures.sum(axis=1) > 0).all()):
        return None
    temperatures = np.maximum(temperatures, 0.0)
    return np.asarray(temperatures / temperatures.sum(axis=1, keepdims=True))
