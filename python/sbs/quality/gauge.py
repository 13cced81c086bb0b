# SPDX-License-Identifier: MIT
"""A character's rest pose, ready to measure poses against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..characters.character import Character
from ..rigging import affine
from ..rigging.bones import bone_segments
from ..skinning.influences import tidy
from ..support.quantiles import weighted_quantiles
from . import measures
from .caps import make_parts
from .surface import Floats, make_surface

MEASURES: dict[str, tuple[str, ...]] = {
    "volume": ("smallest", "largest"),
    "limb_volume": ("smallest", "largest"),
    "area": ("smallest", "low", "high", "largest"),
    "edge": ("smallest", "low", "high", "largest"),
    "thickness": ("smallest", "low", "high", "largest"),
    "tear": ("high", "largest"),
    "surface_energy": ("mean",),
    "bending": ("total",),
    "crossing": ("triangles", "area"),
    "seam": ("largest",),
    "pop": ("high", "largest", "jump"),
}
"""The measures and their statistics. Low and high are the first and the last percentile of the region that deforms."""

APART = 1e-3
"""Places that are farther apart than this share of the size are not the same."""

FLAT = 0.01
"""A surface whose volume is less than this times its area to the power of 3/2 holds none worth a ratio: a ball has
0.094, a card of 10 by 10 by 0.2 has 0.007."""

LEAST_LIMB = 1e-3
"""A part with less than this share of the whole volume is no limb."""

AT_THE_BONE = 0.25
"""Vertices that are nearer to their bone than this share of their limb's radius have no thickness to keep."""

Statistics = dict[str, float]


class Gauge:
    """Measures poses of a character against its rest pose.

    Parameters
    ----------
    character : Character
    rest_positions : (V, 3) array_like, optional
        Of the mesh with blend shapes, which deformed positions are then compared with.

    Raises
    ------
    ValueError
        If the mesh has no triangle with an area.

    Attributes
    ----------
    surface : RestSurface
        At rest in the scene, where the skinning matrices of the bind pose put it, so that a character with scaled
        joints is compared with its own size.
    limbs : (L,) ndarray
        The joints whose part of the surface has a volume: not flat, and at least a thousandth of the whole.
    """

    def __init__(self, character: Character, rest_positions: ArrayLike | None = None) -> None:
        mesh = character.mesh
        rest = mesh.positions if rest_positions is None else rest_positions
        self.character = character
        joints, weights = tidy(mesh.joint_indices, mesh.joint_weights)
        skeleton = character.skeleton
        # All joints have the same matrix there. If it flattens the mesh, the mesh's own size is used.
        to_scene = character.skinning_matrices(np.tile(np.eye(3), (len(skeleton), 1, 1)))[0]
        self._to_scene = np.eye(4) if affine.are_singular(to_scene) else to_scene
        self.surface = surface = make_surface(self._in_scene(rest), mesh.triangles, joints, weights)
        self._bind_positions = np.asarray(rest, np.float64)[surface.kept]
        self._joints, self._weights = joints[surface.kept], weights[surface.kept]
        self._heaviest = np.where(self._weights[:, 0] > 0, self._joints[:, 0], -1)
        self._pair_areas = measures.pair_areas(surface)
        self._crossing_at_rest = measures.crossing(surface, surface.positions)
        self._rest_volume = self._volume_worth_a_ratio()
        self._find_limbs()
        self._find_thickness()

    def _in_scene(self, points: ArrayLike) -> Floats:
        """Points (N, 3) of bind space where the bind pose puts them in the scene; equal points stay equal."""
        linear, offset = self._to_scene[:3, :3], self._to_scene[:3, 3]
        return np.asarray((np.asarray(points, np.float64)[:, None] * linear).sum(axis=2) + offset)

    def _volume_worth_a_ratio(self) -> float:
        """The volume at rest; NaN if the surface is flat."""
        whole, rest = self.surface.whole, self.surface.positions
        volume, area = float(whole.volumes(rest)[0]), float(whole.areas(rest)[0])
        return volume if abs(volume) > FLAT * area**1.5 else np.nan

    def _find_limbs(self) -> None:
        surface = self.surface
        all_triangles = surface.whole.triangles
        joints, labels = np.unique(measures.triangle_joints(self._heaviest, all_triangles), return_inverse=True)
        self._parts = make_parts(all_triangles, labels.reshape(-1), len(surface.positions))
        volumes, areas = self._parts.volumes(surface.positions), self._parts.areas(surface.positions)
        whole = abs(float(surface.whole.volumes(surface.positions)[0]))
        kept = (joints >= 0) & (np.abs(volumes) > FLAT * areas**1.5) & (np.abs(volumes) >= LEAST_LIMB * whole)
        self.limbs: NDArray[np.intp] = joints[kept]
        self._limb_labels, self._limb_volumes = np.flatnonzero(kept), volumes[kept]

    def _find_thickness(self) -> None:
        """Choose the vertices that have a thickness, with their distance to the bones at rest."""
        surface, joints, weights = self.surface, self._joints, self._weights
        self._heads, self._tails = bone_segments(self.character.skeleton)
        heads, tails = (
            np.where(weights[..., None] > 0, self._in_scene(ends)[joints], np.nan)
            for ends in (self._heads, self._tails)
        )
        distances = measures.bone_distances(surface.positions, heads, tails)
        limb = np.maximum(self._heaviest, 0)
        joint_count = len(self._heads)
        moved = (self._heaviest >= 0) & (surface.vertex_areas > 0)
        shares = np.where(moved, surface.vertex_areas, 0)
        squares = np.bincount(limb, shares * np.where(moved, distances, 0) ** 2, joint_count)
        totals = np.bincount(limb, shares, joint_count)
        radii = np.sqrt(squares / np.where(totals > 0, totals, 1))
        self._thick = np.flatnonzero(moved & (distances > AT_THE_BONE * radii[limb]))
        self._thick_rest = distances[self._thick]

    # ------------------------------------------------------------------------------------------------------ one pose

    def measure(
        self,
        skinning_matrices: NDArray[np.float64],
        positions: ArrayLike,
        region: NDArray[np.bool_] | None = None,
    ) -> dict[str, Statistics]:
        """Everything but pops, which need a path.

        Parameters
        ----------
        skinning_matrices : (J, 4, 4) ndarray
            The pose, for the bones.
        positions : (V, 3) array_like
            The deformed vertices.
        region : (W,) ndarray of bool, optional
            The vertices of the surface that percentiles are taken over. To compare methods, use the same `region` for
            all of them; by default it is that of these positions alone.

        Returns
        -------
        dict
            The statistics of each of `MEASURES`; NaN if there is nothing to measure.

        Raises
        ------
        ValueError
            If the shape is wrong or a position not finite.
        """
        surface = self.surface
        deformed = self._check(positions, 2)
        points = deformed[surface.kept]
        if region is None:
            region = self.region(skinning_matrices, [deformed])
        in_triangle = np.any(region[surface.triangles], axis=1)
        in_edge = np.any(region[surface.edges], axis=1)
        in_pair = np.any(in_triangle[surface.neighbors], axis=1)
        return {
            "volume": _extremes(surface.whole.volumes(points) / self._rest_volume),
            "limb_volume": _extremes(self.limb_volumes(points)),
            "area": _spread(measures.area_ratios(surface, points), surface.areas, in_triangle),
            "edge": _spread(measures.edge_ratios(surface, points), surface.edge_lengths, in_edge),
            "thickness": _spread(
                self.thicknesses(skinning_matrices, points), surface.vertex_areas[self._thick], region[self._thick]
            ),
            "tear": _upper(_spread(measures.tears(surface, points), self._pair_areas, in_pair)),
            "surface_energy": {"mean": self.surface_energy(points)},
            "bending": {"total": measures.bending_energy(surface, points)},
            "crossing": self._crossing(points),
            "seam": {"largest": float(np.linalg.norm(deformed - deformed[surface.twin], axis=1).max() / surface.size)},
        }

    def region(self, skinning_matrices: NDArray[np.float64], shapes: Iterable[ArrayLike]) -> NDArray[np.bool_]:
        """Which vertices of the surface are deformed in a pose by at least one of several methods.

        These are the vertices that their joints would take to different places, and vertices that a method takes
        elsewhere than their heaviest joint would. The others follow one joint by all methods and would only dilute
        percentiles. All methods are measured on one region, so one that deforms where others do not is measured there,
        too.

        Parameters
        ----------
        skinning_matrices : (J, 4, 4) ndarray
        shapes : iterable of (V, 3) array_like
            The deformed vertices by each method.

        Returns
        -------
        (W,) ndarray of bool
            All vertices if there would be none.

        Raises
        ------
        ValueError
            If a shape is wrong or a position not finite.
        """
        rest = self._bind_positions
        matrices = skinning_matrices[self._joints]
        places = np.einsum("wkxy,wy->wkx", matrices[..., :3, :3], rest) + matrices[..., :3, 3]
        far = APART * self.surface.size
        found = np.any((self._weights > 0) & (np.linalg.norm(places - places[:, :1], axis=2) > far), axis=1)
        as_one = np.where(self._heaviest[:, None] >= 0, places[:, 0], rest)
        for positions in shapes:
            found |= np.linalg.norm(self._check(positions, 2)[self.surface.kept] - as_one, axis=1) > far
        return np.asarray(found if found.any() else ~found)

    def surface_energy(self, points: Floats) -> float:
        """The mean of `measures.surface_energies`, by area; `points` (W, 3) are the vertices of the surface."""
        return float(np.average(measures.surface_energies(self.surface, points), weights=self.surface.areas))

    def crossing(self, positions: ArrayLike) -> NDArray[np.bool_]:
        """Which triangles of the `surface` (T,) cross another with deformed vertices (V, 3), and none at rest."""
        return self._newly_crossing(self._check(positions, 2)[self.surface.kept])

    def _newly_crossing(self, points: Floats) -> NDArray[np.bool_]:
        return measures.crossing(self.surface, points) & ~self._crossing_at_rest

    def _crossing(self, points: Floats) -> Statistics:
        """How many triangles cross that do not at rest, and their share of the area at rest."""
        crossing, areas = self._newly_crossing(points), self.surface.areas
        return {"triangles": float(np.count_nonzero(crossing)), "area": float(areas[crossing].sum() / areas.sum())}

    def limb_volumes(self, points: Floats) -> Floats:
        """Volumes (L,) of the `limbs` divided by those at rest; `points` (W, 3) are the vertices of the surface."""
        return np.asarray(self._parts.volumes(points)[self._limb_labels] / self._limb_volumes)

    def matched_limb_volumes(self, character_limbs: NDArray[np.intp], positions: ArrayLike) -> Floats:
        """`limb_volumes` of deformed vertices (V, 3), for limbs of another gauge; NaN for limbs that this one lacks."""
        found = np.full(len(character_limbs), np.nan)
        volumes = self.limb_volumes(self._check(positions, 2)[self.surface.kept])
        known = np.isin(character_limbs, self.limbs)
        found[known] = volumes[np.searchsorted(self.limbs, character_limbs[known])]
        return found

    def thicknesses(self, skinning_matrices: NDArray[np.float64], points: Floats) -> Floats:
        """Distances of vertices to the nearest bone that moves them, divided by those at rest."""
        heads, tails = (
            np.einsum("jxy,jy->jx", skinning_matrices[:, :3, :3], ends) + skinning_matrices[:, :3, 3]
            for ends in (self._heads, self._tails)
        )
        used = self._weights[self._thick, :, None] > 0
        segments = (np.where(used, ends[self._joints[self._thick]], np.nan) for ends in (heads, tails))
        return np.asarray(measures.bone_distances(points[self._thick], *segments) / self._thick_rest)

    def worst_tear(self, positions: ArrayLike) -> int:
        """A vertex of the mesh at the edge that is torn most; -1 if no edge has two triangles."""
        if not len(self.surface.neighbors):
            return -1
        torn = measures.tears(self.surface, self._check(positions, 2)[self.surface.kept])
        return int(self.surface.kept[self.surface.neighbor_edges[int(np.argmax(torn))]].min())

    def strain(self, positions: ArrayLike) -> Floats:
        """How much the surface is stretched or squeezed around each vertex of the mesh, (V,); for pictures.

        The mean of ``|log2|`` of the ratios of areas around it, weighted by area: 1 where areas are doubled or halved.
        """
        surface = self.surface
        ratios = measures.area_ratios(surface, self._check(positions, 2)[surface.kept])
        strains = np.abs(np.log2(np.maximum(ratios, 1e-6)))
        corners = surface.triangles.reshape(-1)
        sums = np.bincount(corners, np.repeat(strains * surface.areas / 3, 3), len(surface.kept))
        around = surface.vertex_areas
        return np.asarray((sums / np.where(around > 0, around, 1))[surface.surface_vertex])

    # ------------------------------------------------------------------------------------------------------ in time

    def pops(
        self, skinning_matrices: NDArray[np.float64], positions: ArrayLike, offsets: Floats | None = None
    ) -> dict[str, Floats]:
        """How evenly vertices move in time, relative to their heaviest joints; as shares of the mesh's size.

        Relative to the joint, a vertex that follows it does not move, so only the motion of the deformation is left.

        Parameters
        ----------
        skinning_matrices : (S, J, 4, 4) ndarray
            At equal intervals of time.
        positions : (S, V, 3) array_like
        offsets : (S, V, 3) ndarray, optional
            By how much blend shapes move rest positions, which is left out of the motion.

        Returns
        -------
        dict
            ``"high"`` and ``"largest"``, (S - 2,), of the second differences; ``"jump"``, (S - 3,), the largest
            `measures.jumps`.

        Raises
        ------
        ValueError
            If the shape is wrong or a position not finite.
        """
        surface = self.surface
        path = self._check(positions, 3)[:, surface.kept]
        inverses = np.tile(np.eye(4), (*skinning_matrices.shape[:2], 1, 1))
        regular = ~affine.are_singular(skinning_matrices).any(axis=0)
        inverses[:, regular] = affine.inverse(skinning_matrices[:, regular])
        to_joint = inverses[:, np.maximum(self._heaviest, 0)]
        # Back in the bind pose, in the scene.
        to_joint = self._to_scene @ to_joint
        seen = np.einsum("svxy,svy->svx", to_joint[..., :3, :3], path) + to_joint[..., :3, 3]
        seen[:, self._heaviest < 0] = path[:, self._heaviest < 0]
        if offsets is not None:
            seen -= offsets[:, surface.kept] @ self._to_scene[:3, :3].T
        turns = measures.second_differences(seen, surface.size)
        high = [weighted_quantiles(turn, surface.vertex_areas, (measures.HIGH,))[0] for turn in turns]
        jumps = measures.jumps(seen, surface.size)
        return {"high": np.array(high), "largest": turns.max(axis=1, initial=0), "jump": jumps.max(axis=1, initial=0)}

    def _check(self, positions: ArrayLike, dimensions: int) -> Floats:
        points = np.asarray(positions, np.float64)
        count = len(self.surface.surface_vertex)
        if points.ndim != dimensions or points.shape[-2:] != (count, 3):
            raise ValueError(f"positions has shape {points.shape}, expected ({'S, ' * (dimensions - 2)}{count}, 3)")
        bad = np.argwhere(~np.isfinite(points))
        if len(bad):
            place = ", ".join(map(str, bad[0]))
            raise ValueError(f"positions[{place}] is {points[tuple(bad[0])]}, where a finite number is needed")
        return points


def _extremes(values: Floats) -> Statistics:
    if not len(values):
        return {"smallest": np.nan, "largest": np.nan}
    return {"smallest": float(values.min()), "largest": float(values.max())}


def _spread(values: Floats, weights: Floats, region: NDArray[np.bool_]) -> Statistics:
    """The extremes of all, and percentiles of those in the region."""
    chosen = region if region.any() else ~region
    if not len(values) or not weights[chosen].any():
        return dict.fromkeys(("smallest", "low", "high", "largest"), np.nan)
    low, high = weighted_quantiles(values[chosen], weights[chosen], (measures.LOW, measures.HIGH))
    return {"smallest": float(values.min()), "low": float(low), "high": float(high), "largest": float(values.max())}


def _upper(spread: Statistics) -> Statistics:
    return {"high": spread["high"], "largest": spread["largest"]}


def over_time(measured: Sequence[Statistics], statistic: str) -> float:
    """One number for several poses: the least of low statistics, the largest of high ones; NaN if there is none."""
    values = np.array([each[statistic] for each in measured])
    values = values[np.isfinite(values)]
    if not len(values):
        return float("nan")
    return float(values.min() if statistic in ("smallest", "low") else values.max())
