# SPDX-License-Identifier: MIT
"""Automatic weights by heat that spreads from the bones over the surface.

Baran, I. and Popovic, J. 2007. Automatic Rigging and Animation of 3D Characters. ACM Transactions on Graphics 26(3),
section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..skinning.influences import InfluencesAndMore, narrowed
from ._joints import Joints, flag_joints
from .capsules import Capsules, capsule_weights

__all__ = ["HeatReport", "HeatWeights", "JoinedIsland", "heat_weights"]

Indices = NDArray[np.int32]


@dataclass(frozen=True)
class JoinedIsland:
    """An island that gets its heat from a neighbor and not from bones.

    Attributes
    ----------
    island : int
        Its number.
    vertices : int
        How many vertices it has.
    neighbor : int
        The island that most of its vertices are joined to.
    distance : float
        The least distance to a neighbor, in the units of the mesh.
    reason : {"sees no bone", "tiny", "no triangles"}
    """

    island: int
    vertices: int
    neighbor: int
    distance: float
    reason: Literal["sees no bone", "tiny", "no triangles"]


@dataclass(frozen=True, eq=False)
class HeatReport:
    """How the parts of a mesh got their weights.

    Attributes
    ----------
    method : {"heat", "capsules"}
        Capsules if heat does not work.
    reason : str
        Why capsules; else empty.
    island_of_vertex : (V,) int32 ndarray
        The number of each vertex's island. Triangles connect islands, after welding; they are numbered from 0 by their
        lowest vertices.
    islands : int
        How many there are.
    joined : tuple of JoinedIsland
    welded : int
        Vertices at the same point as a lower one.
    degenerate_triangles : int
        Triangles without area.
    blind_vertices : int
        Vertices from which the surface hides the nearest bone; heat reaches them only over the surface.
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
                f" {island.neighbor} at a distance of {island.distance:.3g}"
            )
        return "\n".join(lines)


class HeatWeights(InfluencesAndMore):
    """Influences, and how they came to be.

    Attributes
    ----------
    joint_indices : (V, K) int32 ndarray
    joint_weights : (V, K) float64 ndarray
        As in `Influences`.
    report : HeatReport
    """

    report: HeatReport


def heat_weights(
    positions: ArrayLike,
    triangles: ArrayLike,
    heads: ArrayLike,
    tails: ArrayLike,
    *,
    joints: Joints | None = None,
    names: Sequence[str] | None = None,
    strength: float = 4.0,
    limit: int | None = None,
    prune: float = 1e-3,
    capsules: Capsules | None = None,
    progress: Callable[[float], object] | None = None,
    threads: int | None = None,
) -> HeatWeights:
    """Weights as the temperature of a surface heated by bones: that of a joint is 1 at its bone and 0 at all others.

    For each joint, (-L + H) w = H p, with the cotangent Laplacian L; H = c / d^2 if the nearest bone, at the distance
    d, is visible from the vertex, else 0; and p = 1 if that bone is the joint's. If k bones are equally near, each
    counts 1/k, and H is k times as large. The equations are solved for all joints at once.

    Any mesh is accepted. Vertices at one point, or nearly so, count as one. Islands of the surface from which no bone
    is visible (a shirt over a body), or that are tiny (a button), are joined to their neighbors: there H p is c / d^2
    times the weights of the nearest point of the neighbor, at the distance d.

    Parameters
    ----------
    positions : (V, 3) array_like
        Rest positions, in bind space.
    triangles : (T, 3) array_like of int
        There may be degenerate ones, and holes.
    heads, tails : (J, 3) array_like
        The bones, from `bone_segments`; equal for a point.
    joints : (N,) array_like of int or str, or (J,) array_like of bool, optional
        Joints that may get weight; by default all.
    names : sequence of J str, optional
        Of the joints, such as `Skeleton.names`, if `joints` has names.
    strength : float
        c, above 0: the larger, the shorter the transitions between bones. The paper uses 1, and 0.22 to come close to
        heat that spreads through the volume; 4 to 8 comes closest to weights of artists, see docs/weights.md.
    limit : int, optional
        The most influences per vertex; by default all.
    prune : float
        Weights below this share of the vertex's largest are dropped, because heat is nowhere exactly 0. In [0, 1].
    capsules : Capsules, optional
        Of the J joints, for a mesh for which heat does not work: points without triangles, loose triangles, a surface
        from which no bone is visible. By default all are as wide as most of the mesh.
    progress : callable, optional
        Called now and then with how much is done, from 0 to 1. An exception that it raises ends the computation.
    threads : int, optional
        The most threads that search for visible bones; one thread solves the equations. The result does not depend on
        it, not even in a bit.

    Returns
    -------
    HeatWeights
        The weights of each vertex sum to 1; vertices at one point have equal weights.

    Raises
    ------
    ValueError
        If a shape is wrong, there are no vertices or joints, a number is NaN or infinite, or an index or option is out
        of its range.
    TypeError
        If an array holds neither real numbers nor, for indices, integers.
    KeyError
        If no joint has a name.
    """
    chosen = flag_joints(joints, np.shape(heads)[0] if np.ndim(heads) else 0, names)
    if joints is not None and not chosen.any():
        raise ValueError("joints is empty: at least one joint must be allowed to get weight")
    if not (np.isfinite(strength) and strength > 0):
        raise ValueError(f"strength must be a finite number above 0, not {strength}")
    if not 0 <= prune <= 1:
        raise ValueError(f"prune must be between 0 and 1, not {prune}")
    if capsules is not None and len(capsules) != len(chosen):
        raise ValueError(f"there are {len(capsules)} capsules for {len(chosen)} joints")

    found, island_of_vertex, joined, (trouble, width, islands, *counts) = _core.heat_weights(
        positions,
        triangles,
        heads,
        tails,
        enabled=chosen,
        strength=strength,
        limit=limit,
        prune=prune,
        progress=progress,
        threads=threads,
    )
    if found is None:
        usual = _fit_one_width(positions, heads, tails, chosen) if capsules is None else capsules
        usable = replace(usual, enabled=usual.enabled & chosen)
        influences = capsule_weights(np.asarray(positions, np.float64), usable, limit=limit)
    else:
        indices, shares = found
        influences = narrowed(indices, shares, width)
    report = HeatReport(
        "capsules" if trouble else "heat",
        trouble,
        island_of_vertex,
        islands,
        tuple(
            JoinedIsland(island, vertices, neighbor, distance, reason)
            for island, neighbor, vertices, distance, reason in joined
        ),
        *counts,
    )
    return HeatWeights(*influences, report)


def _fit_one_width(positions: ArrayLike, heads: ArrayLike, tails: ArrayLike, chosen: NDArray[np.bool_]) -> Capsules:
    """Capsules of one width that contain most of the vertices."""
    ends = np.concatenate([np.asarray(heads)[chosen], np.asarray(tails)[chosen]]).astype(np.float64)
    count = np.count_nonzero(chosen)
    segments = np.arange(count)[:, None] + [0, count, count]  # as degenerate triangles
    distances = _core.nearest_on_surface(ends, segments, np.asarray(positions, np.float64))[2]
    radii = np.full((len(chosen), 2), np.percentile(distances, 75))
    return Capsules(heads, tails, 0.9 * radii, 1.3 * radii)
