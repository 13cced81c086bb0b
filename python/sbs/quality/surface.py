# SPDX-License-Identifier: MIT
"""The surface at rest, with which deformed ones are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..rigging.triangle_mesh import diagonal
from .caps import Parts, make_parts, triangle_areas

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Triangles = NDArray[np.int32]

SLIVER = 1e-5
"""Triangles and edges that are shorter than this share of the mesh's size are left out: ratios to them are
mostly rounding of float32 coordinates, 6e-8 of the size."""

SAME_WEIGHT = 1e-4
"""Vertices at one point whose weights differ by no more are one."""


@dataclass(frozen=True, eq=False)
class RestSurface:
    """A mesh at rest, without its seams."""

    kept: Indices  # (W,) one vertex of the mesh for each vertex of the surface
    surface_vertex: Indices  # (V,) the vertex of the surface that each vertex of the mesh is
    twin: Indices  # (V,) the lowest vertex of the mesh at the same point
    representatives: Triangles  # (W,) the lowest vertex of the surface at the same point
    positions: Floats  # (W, 3)
    size: float  # the diagonal of the mesh's box
    triangles: Triangles  # (T, 3) of vertices of the surface, without slivers
    sliver_count: int
    areas: Floats  # (T,)
    vertex_areas: Floats  # (W,) a third of the area around each vertex
    edges: Indices  # (E, 2) without the very short ones
    edge_lengths: Floats  # (E,)
    neighbors: Indices  # (P, 2) triangles that share an edge
    neighbor_edges: Indices  # (P, 2) the ends of that edge
    inverse_frames: Floats  # (T, 3, 3) the inverses of `frames`
    whole: Parts  # all triangles as one part, slivers included


def make_surface(
    rest_positions: ArrayLike,
    triangles: ArrayLike,
    joint_indices: ArrayLike | None = None,
    joint_weights: ArrayLike | None = None,
) -> RestSurface:
    """Weld a mesh and prepare its rest pose for measures.

    Influences (V, K) are those of `sbs.weights.tidy`: finite, not negative, each joint once. With them vertices at one
    point are welded only if their weights are the same, too: two bodies that touch but move differently have no seam
    there. Raises ValueError if a shape is wrong, a number not finite, an index out of range, or no triangle has an
    area.
    """
    twin = np.asarray(_core.weld(rest_positions), np.intp)
    _core.islands(triangles, len(twin))  # checks triangles
    points = np.asarray(rest_positions, np.float64)
    size = diagonal(points)
    groups = twin
    if joint_indices is not None and joint_weights is not None:
        groups = _alike(twin, np.asarray(joint_indices), np.asarray(joint_weights, np.float64))
    kept, surface_vertex = np.unique(groups, return_inverse=True)
    surface_vertex = surface_vertex.reshape(-1)
    positions = points[kept]
    all_triangles = surface_vertex[np.asarray(triangles)].astype(np.int32)
    whole = make_parts(all_triangles, np.zeros(len(all_triangles), np.intp), len(kept))

    lengths = np.linalg.norm(positions[all_triangles] - positions[np.roll(all_triangles, -1, axis=1)], axis=2)
    areas = triangle_areas(positions, all_triangles)
    longest = lengths.max(axis=1, initial=0)
    used = 2 * areas > SLIVER * size * longest
    if not used.any():
        raise ValueError("triangles: there is none that has an area")
    faces, areas = all_triangles[used], areas[used]
    edges = np.unique(np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0).astype(np.intp)
    edge_lengths = np.linalg.norm(np.diff(positions[edges], axis=1)[:, 0], axis=1)
    long_enough = edge_lengths > SLIVER * size
    neighbors, neighbor_edges = _neighbors(faces)
    return RestSurface(
        kept=kept,
        surface_vertex=surface_vertex,
        twin=twin,
        representatives=surface_vertex[twin[kept]].astype(np.int32),
        positions=positions,
        size=size,
        triangles=faces,
        sliver_count=int(np.count_nonzero(~used)),
        areas=areas,
        vertex_areas=np.bincount(faces.reshape(-1), np.repeat(areas / 3, 3), len(kept)).astype(np.float64),
        edges=edges[long_enough],
        edge_lengths=edge_lengths[long_enough],
        neighbors=neighbors,
        neighbor_edges=neighbor_edges,
        inverse_frames=np.linalg.inv(frames(positions, faces)).astype(np.float64),
        whole=whole,
    )


def frames(positions: Floats, triangles: Triangles) -> Floats:
    """Two sides of each triangle and a normal as long as the root of twice its area, as columns: (T, 3, 3).

    Multiplied by the inverse of the frames at rest, they are the gradient of a deformation on each triangle. With a
    normal of that length, the gradient of a uniform scale is that scale (Sumner, R. W. and Popovic, J. 2004.
    Deformation Transfer for Triangle Meshes. ACM Transactions on Graphics 23(3), section 3).
    """
    a, b, c = np.moveaxis(positions[triangles], 1, 0)
    normals = np.cross(b - a, c - a)
    lengths = np.sqrt(np.linalg.norm(normals, axis=1, keepdims=True))
    return np.stack([b - a, c - a, normals / np.where(lengths > 0, lengths, 1)], axis=2)


def _alike(twin: Indices, joint_indices: NDArray[np.integer], joint_weights: Floats) -> Indices:
    """For each vertex (V,) the lowest vertex at the same point with the same weights."""
    joints, weights = _by_joint(joint_indices, joint_weights)
    result = np.arange(len(twin))
    open_ones = np.flatnonzero(twin != result)
    leaders = twin[open_ones]
    while len(open_ones):
        # A joint that one row lacks, because its weight is 0, is compared with another joint in the other row.
        same = np.all(
            (np.abs(weights[open_ones] - weights[leaders]) <= SAME_WEIGHT) & (joints[open_ones] == joints[leaders]),
            axis=1,
        )
        result[open_ones[same]] = leaders[same]
        open_ones, group = open_ones[~same], leaders[~same]
        _, first, place = np.unique(group, return_index=True, return_inverse=True)
        leaders = open_ones[first][place.reshape(-1)]
    return result


def _by_joint(joint_indices: NDArray[np.integer], joint_weights: Floats) -> tuple[Indices, Floats]:
    """Influences (V, K) that weigh more than `SAME_WEIGHT`, by joint; the others come last as joint -1, weight 0."""
    total = joint_weights.sum(axis=1, keepdims=True)
    weights = joint_weights / np.where(total > 0, total, 1)
    used = weights > SAME_WEIGHT
    order = np.argsort(np.where(used, joint_indices.astype(np.int64), np.iinfo(np.int64).max), axis=1, kind="stable")
    joints = np.where(used, joint_indices, -1)
    return (
        np.take_along_axis(joints, order, axis=1).astype(np.intp),
        np.take_along_axis(np.where(used, weights, 0), order, axis=1),
    )


def _neighbors(triangles: Triangles) -> tuple[Indices, Indices]:
    """Pairs of triangles (P, 2) at one edge, and the ends of that edge; n triangles at an edge make n - 1 pairs."""
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1).astype(np.intp)
    owners = np.repeat(np.arange(len(triangles)), 3)
    order = np.lexsort((owners, sides[:, 1], sides[:, 0]))
    sides, owners = sides[order], owners[order]
    same = np.all(sides[1:] == sides[:-1], axis=1)
    return np.stack([owners[:-1][same], owners[1:][same]], axis=1), sides[1:][same]
