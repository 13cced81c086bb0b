# SPDX-License-Identifier: MIT
"""Volumes of a surface and of its parts; caps close their holes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Triangles = NDArray[np.int32]


def triangle_areas(positions: Floats, triangles: Triangles) -> Floats:
    """Areas (T,) of triangles (T, 3)."""
    return _areas(*positions[triangles.T])


@dataclass(frozen=True, eq=False)
class Parts:
    """The triangles of a surface in L parts, and the rims where the parts end."""

    triangles: Triangles  # (T, 3)
    labels: Indices  # (T,) the part of each triangle, numbered from 0
    count: int  # L
    rims: Indices  # (R, 2) edges, in the direction of the triangles of caps
    turns: Floats  # (R,) how often the caps use each edge; 1 if the surface is a manifold
    rim_tips: Indices  # (R,) the cap of each edge: there is one for every connected rim of a part
    tip_vertices: Indices  # (N,) the vertices of the rims
    vertex_tips: Indices  # (N,) the cap of each
    tip_labels: Indices  # (C,) the part of each cap

    @property
    def closed(self) -> bool:
        """Whether no part has a rim."""
        return not len(self.rims)

    def volumes(self, positions: Floats) -> Floats:
        """Signed volumes (L,) within the parts and their caps, by the divergence theorem, for positions (W, 3).

        They are positive if triangles are counter-clockwise from outside. A cap is the fan from the mean of a rim's
        vertices to its edges. The borders of any triangles add up to closed loops, and fans close each of them. So the
        volume does not depend on the origin, even for surfaces that are not manifolds.
        """
        points, cap_corners = self._around_the_mean(positions)
        within = _six_volumes(*np.moveaxis(points[self.triangles], 1, 0))
        caps = _six_volumes(*cap_corners) * self.turns
        sums = np.bincount(self.labels, within, self.count)
        return np.asarray((sums + np.bincount(self.tip_labels[self.rim_tips], caps, self.count)) / 6)

    def areas(self, positions: Floats) -> Floats:
        """Areas (L,) of the parts with their caps."""
        points, cap_corners = self._around_the_mean(positions)
        within, caps = triangle_areas(points, self.triangles), _areas(*cap_corners)
        sums = np.bincount(self.labels, within, self.count)
        return np.asarray(sums + np.bincount(self.tip_labels[self.rim_tips], caps, self.count))

    def _around_the_mean(self, positions: Floats) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
        """Positions relative to their mean, where rounding is least, and the corners of the caps' triangles."""
        points = positions - positions.mean(axis=0)
        sizes = np.bincount(self.vertex_tips, minlength=len(self.tip_labels))
        sums = [np.bincount(self.vertex_tips, axis, len(sizes)) for axis in points[self.tip_vertices].T]
        tips = np.stack(sums, axis=1) / sizes[:, None]
        return points, (points[self.rims[:, 0]], points[self.rims[:, 1]], tips[self.rim_tips])


def make_parts(triangles: Triangles, labels: Indices, vertex_count: int) -> Parts:
    """Find the rims of parts of a welded surface: the triangles (T, 3) with the label (T,) of their part."""
    count = int(labels.max(initial=-1)) + 1
    sides = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    owners = np.repeat(labels, 3)
    forward = sides[:, 0] < sides[:, 1]
    low, high = sides.min(axis=1), sides.max(axis=1)
    keys, first, side_key = np.unique(
        np.stack([owners, low, high], axis=1), axis=0, return_index=True, return_inverse=True
    )
    uses = np.bincount(side_key.reshape(-1), np.where(forward, 1.0, -1.0), len(keys))
    open_keys = np.flatnonzero(uses)
    # Caps go around a rim in the opposite direction: from high to low where the triangles go from low to high.
    rims = keys[open_keys, 1:]
    rims = np.where(uses[open_keys, None] > 0, rims[:, ::-1], rims)
    rim_labels = owners[first[open_keys]]
    corners, nodes = np.unique(rim_labels[:, None] * vertex_count + rims, return_inverse=True)
    ends = nodes.reshape(-1, 2)
    vertex_tips = (
        np.asarray(_core.islands(ends[:, [0, 1, 1]], len(corners)), np.intp) if len(corners) else np.empty(0, np.intp)
    )
    corner_labels, tip_vertices = np.divmod(corners, vertex_count)
    tip_labels = np.zeros(int(vertex_tips.max(initial=-1)) + 1, np.intp)
    tip_labels[vertex_tips] = corner_labels
    return Parts(
        triangles,
        labels,
        count,
        rims,
        np.abs(uses[open_keys]),
        vertex_tips[ends[:, 0]],
        tip_vertices,
        vertex_tips,
        tip_labels,
    )


def _areas(a: Floats, b: Floats, c: Floats) -> Floats:
    """The areas (N,) of triangles with these corners."""
    return np.asarray(np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2)


def _six_volumes(a: Floats, b: Floats, c: Floats) -> Floats:
    """Six times the signed volumes (N,) of the tetrahedra from the origin to triangles."""
    return np.asarray(np.einsum("tx,tx->t", a, np.cross(b, c)))
