# SPDX-License-Identifier: MIT
"""Automatic weights by heat that spreads over the surface from the bones.

Baran, I. and Popovic, J. 2007. Automatic Rigging and Animation of 3D Characters. ACM Transactions on Graphics 26(3),
section 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._heat import Reason, find_sources, nearest_distances, solve, sort_islands
from ._islands import Attachments, Surface, attach, make_surface
from ._joints import joint_flags
from ._laplacian import triangle_areas
from .capsules import Capsules, capsule_weights
from .influences import Influences, from_dense

__all__ = ["HeatReport", "HeatWeights", "JoinedIsland", "heat_weights"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]


@dataclass(frozen=True)
class JoinedIsland:
    """An island that hangs on its neighbour and not on bones.

    Attributes
    ----------
    island : int
        Its number.
    vertices : int
        How many it has.
    neighbour : int
        The island that most of it hangs on.
    distance : float
        The least to it, in the units of the mesh.
    reason : {"sees no bone", "tiny", "no triangles"}
    """

    island: int
    vertices: int
    neighbour: int
    distance: float
    reason: Reason


@dataclass(frozen=True, eq=False)
class HeatReport:
    """What became of the parts of a mesh.

    Attributes
    ----------
    method : {"heat", "capsules"}
        Capsules where heat can't work.
    reason : str
        Why capsules; else empty.
    island_of_vertex : (V,) int32 ndarray
        Islands are what triangles connect after welding, numbered from 0 by their lowest vertices.
    islands : int
    joined : tuple of JoinedIsland
    welded : int
        Vertices that stand where another one does.
    degenerate_triangles : int
        Without area.
    blind_vertices : int
        Those from which the surface hides the nearest bone; heat reaches them over the surface alone.
    """

    method: Literal["heat", "capsules"]
    reason: str
    island_of_vertex: Indices
    islands: int
    joined: tuple[JoinedIsland, ...]
    welded: int
    degenerate_triangles: int
    blind_vertices: int

    def __str__(self) -> str:
        if self.method == "capsules":
            return f"capsules, as {self.reason}"
        lines = [f"heat on {self.islands} island{'s' if self.islands > 1 else ''}, {len(self.joined)} joined to others"]
        for island in self.joined:
            lines.append(
                f"island {island.island} of {island.vertices} vertices: {island.reason}, joined to island"
                f" {island.neighbour} at a distance of {island.distance:.3g}"
            )
        return "\n".join(lines)


class HeatWeights(NamedTuple):
    """Influences, and how they came to be.

    Attributes
    ----------
    joint_indices : (V, K) int32 ndarray
    joint_weights : (V, K) float64 ndarray
        As in `Influences`.
    report : HeatReport
    """

    joint_indices: Indices
    joint_weights: NDArray[np.float32 | np.float64]
    report: HeatReport


def heat_weights(
    positions: ArrayLike,
    triangles: ArrayLike,
    heads: ArrayLike,
    tails: ArrayLike,
    *,
    joints: ArrayLike | None = None,
    strength: float = 4.0,
    limit: int | None = None,
    prune: float = 1e-3,
    capsules: Capsules | None = None,
) -> HeatWeights:
    """Weights as the temperature of a surface that bones heat: each joint's is 1 at its bone and 0 at all others.

    For each joint, (-L + H) w = H p, with the cotangent Laplacian L, H = c / d^2 where the nearest bone, at the
    distance d, is seen from the vertex, else 0, and p = 1 where that bone is the joint's; of k equally near bones each
    counts 1/k, and H is k times as large. The equations are solved for all joints at once.

    Meshes are taken as they are. Vertices at one point, or next to it, are one. Islands of the surface from which bones
    can't be seen (a shirt over a body), or that are tiny (a button), are joined to their neighbours: there H p is
    c / d^2 times the weights of the nearest point of the neighbour, at the distance d.

    Parameters
    ----------
    positions : (V, 3) array_like
        Rest positions, in bind space.
    triangles : (T, 3) array_like of int
        Degenerate ones are allowed, and holes.
    heads, tails : (J, 3) array_like
        The bones, from `bone_segments`; equal for a point.
    joints : (N,) array_like of int or (J,) array_like of bool, optional
        Those that may get weight; by default all.
    strength : float
        c, above 0: the larger, the shorter the transitions between bones. The paper has 1, and 0.22 to come close to
        heat that spreads through the volume; the weights of artists are met best from 4 to 8, see docs/weights.md.
    limit : int, optional
        At most so many influences a vertex; by default all.
    prune : float
        Weights below this share of the vertex's largest are dropped, for heat is nowhere quite 0. In [0, 1].
    capsules : Capsules, optional
        Of the J joints, for a mesh on which heat can't work: points without triangles, loose triangles, a surface that
        sees no bone. By default all as wide as most of the mesh is.

    Returns
    -------
    HeatWeights
        The weights of each vertex sum to 1; vertices at one point have equal ones.

    Raises
    ------
    ValueError
        If a shape is wrong, there are no vertices or joints, a number is NaN or infinite, or an index or option is out
        of its range.
    TypeError
        If an array holds neither real numbers nor, for indices, integers.
    """
    bones = _finite_rows(heads, "heads"), _finite_rows(tails, "tails")
    if bones[0].shape != bones[1].shape:
        raise ValueError(f"heads has shape {bones[0].shape}, tails {bones[1].shape}")
    chosen = joint_flags(joints, len(bones[0]))
    allowed = np.flatnonzero(chosen)
    if not len(allowed):
        raise ValueError("joints is empty: at least one joint must be allowed to get weight")
    if not (np.isfinite(strength) and strength > 0):
        raise ValueError(f"strength must be a finite number above 0, not {strength}")
    if not 0 <= prune <= 1:
        raise ValueError(f"prune must be between 0 and 1, not {prune}")
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be None or at least 1, not {limit}")
    if capsules is not None and len(capsules) != len(chosen):
        raise ValueError(f"there are {len(capsules)} capsules for {len(chosen)} joints")

    surface = make_surface(positions, triangles)
    areas = triangle_areas(surface.positions, surface.triangles)
    sources = find_sources(surface, *(surface.scaled(ends[allowed]) for ends in bones))
    islands = sort_islands(surface, areas, sources)
    attachments, temperatures, trouble = None, None, islands.trouble
    if not trouble:
        attachments = attach(surface, islands.fed)
        temperatures = solve(surface, areas, sources, attachments, strength)
        if temperatures is None:
            trouble = "the heat equation has no finite solution"
    if temperatures is None:
        usual = _wide_as_mesh(np.asarray(positions), *bones, chosen) if capsules is None else capsules
        usable = replace(usual, enabled=usual.enabled & chosen)
        influences = capsule_weights(np.asarray(positions, np.float64), usable, limit=limit)
    else:
        influences = _as_influences(temperatures, allowed, limit, prune, surface.vertex_of)
    report = HeatReport(
        method="capsules" if trouble else "heat",
        reason=trouble,
        island_of_vertex=surface.island_of[surface.vertex_of],
        islands=surface.island_count,
        joined=() if trouble or attachments is None else _joined_islands(surface, attachments, islands.reasons),
        welded=len(surface.vertex_of) - len(surface.positions),
        degenerate_triangles=int(np.count_nonzero(areas <= 0)),
        blind_vertices=int(np.count_nonzero(~sources.seen)),
    )
    return HeatWeights(*influences, report)


def _finite_rows(rows: ArrayLike, name: str) -> Floats:
    """Rows (J, 3), at least one, as float64."""
    given = np.asarray(rows)
    if given.dtype.kind not in "fiu":
        raise TypeError(f"{name} must hold real numbers, not {given.dtype}")
    if given.ndim != 2 or given.shape[1] != 3 or not len(given):
        raise ValueError(f"{name} has shape {given.shape}, expected (J, 3) with J at least 1")
    bad = np.argwhere(~np.isfinite(given))
    if len(bad):
        row, column = bad[0]
        raise ValueError(f"{name}[{row}, {column}] is {given[row, column]}, where a finite number is needed")
    return given.astype(np.float64)


def _wide_as_mesh(positions: NDArray[Any], heads: Floats, tails: Floats, chosen: NDArray[np.bool_]) -> Capsules:
    """Capsules of one width that hold most of the vertices."""
    width = float(np.percentile(nearest_distances(positions.astype(np.float64), heads[chosen], tails[chosen]), 75))
    radii = np.full((len(heads), 2), width)
    return Capsules(heads, tails, 0.9 * radii, 1.3 * radii)


def _as_influences(
    temperatures: Floats, joints: NDArray[np.intp], limit: int | None, prune: float, vertex_of: Indices
) -> Influences:
    """The temperatures (W, N) of the surface as influences of the mesh."""
    kept = np.where(temperatures >= prune * temperatures.max(axis=1, keepdims=True), temperatures, 0.0)
    indices, weights = from_dense(kept, limit)
    weights = weights / weights.sum(axis=1, keepdims=True)
    indices = np.where(weights > 0, joints[indices], 0).astype(np.int32)
    return Influences(indices[vertex_of], weights[vertex_of])


def _joined_islands(surface: Surface, attachments: Attachments, reasons: dict[int, Reason]) -> tuple[JoinedIsland, ...]:
    islands = surface.island_of[attachments.vertices]
    neighbours = surface.island_of[attachments.corners[:, 0]]
    order = np.argsort(islands, kind="stable")
    numbers, starts = np.unique(islands[order], return_index=True)
    joined = []
    for island, members in zip(numbers.tolist(), np.split(order, starts)[1:], strict=True):
        joined.append(
            JoinedIsland(
                island=island,
                vertices=int(np.count_nonzero(surface.island_of[surface.vertex_of] == island)),
                neighbour=int(np.bincount(neighbours[members]).argmax()),
                distance=float(attachments.distances[members].min()) * surface.size,
                reason=reasons[island],
            )
        )
    return tuple(joined)
