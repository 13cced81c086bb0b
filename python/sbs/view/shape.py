# SPDX-License-Identifier: MIT
"""Drawings of a deformed mesh: triangles in steps of colors, rotation centers, and muscles."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..muscles import MuscleCover
from ..quality.caps import triangle_areas
from ..quality.methods import NamedMethod, TwistMethod
from ..rigging.triangle_mesh import welded
from ..skinning.influences import share_of, tidy
from ..skinning.skin import Skin

STEPS = 15  # of colors

Floats = NDArray[np.floating[Any]]
Color = tuple[int, int, int]

PLAIN: Color = (203, 178, 158)
_BLUE, _RED = (38, 84, 160), (178, 34, 34)

# Centers farther from the mesh than this share of its size are left out, as they would hide it.
_NEAR = 1.0


def _mixed(start: Color, end: Color, share: float) -> Color:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(start, end, strict=True))
    return red, green, blue


WEIGHT_COLORS = [_mixed(PLAIN, _BLUE, step / (STEPS - 1)) for step in range(STEPS)]
"""From no weight to all of it."""

AREA_COLORS = [
    _mixed(PLAIN, _RED if step < STEPS // 2 else _BLUE, abs(step - STEPS // 2) / (STEPS // 2)) for step in range(STEPS)
]
"""From half the area, or less, over the same to twice as much."""


@dataclass(frozen=True)
class Patch:
    """Triangles of one color: the vertices that they have, (W,), and their own numbers of these, (T, 3)."""

    vertices: NDArray[np.intp]
    triangles: NDArray[np.uint32]


class Surface:
    """The mesh of a character, closed along its seams, whose triangles are sorted by colors."""

    def __init__(self, character: Character) -> None:
        self._mesh = mesh = character.mesh
        self.kept, triangles = welded(mesh.positions, mesh.triangles)
        self.triangles = np.asarray(triangles, np.int32)
        self._scale = float(np.cbrt(abs(np.linalg.det(character.scene_matrix[:3, :3]))))
        self._areas = self._measure_areas(mesh.positions) * self._scale**2

    def _measure_areas(self, positions: Floats) -> NDArray[np.float64]:
        return triangle_areas(np.asarray(positions, np.float64)[self.kept], self.triangles)

    def whole(self) -> Patch:
        """All triangles, of one color."""
        return Patch(self.kept, self.triangles.astype(np.uint32))

    def weights(self, joint: int) -> NDArray[np.int8]:
        """The step of each triangle, (T,), by the weight that a joint has."""
        share = share_of(*tidy(self._mesh.joint_indices, self._mesh.joint_weights), joint)
        return _steps(share[self.kept][self.triangles].mean(axis=1))

    def areas(self, positions: Floats, rest_positions: Floats | None = None) -> NDArray[np.int8]:
        """The step of each triangle, (T,), by the area that it has lost or won; positions are those of all vertices.

        With blend shapes the rest positions differ from those of the mesh.
        """
        found = self._measure_areas(positions)
        rest = self._areas if rest_positions is None else self._measure_areas(rest_positions) * self._scale**2
        with np.errstate(divide="ignore", invalid="ignore"):
            doublings = np.nan_to_num(np.log2(found / rest), nan=0.0, posinf=1.0, neginf=-1.0)
        return _steps(0.5 + 0.5 * doublings)

    def patches(self, steps: NDArray[np.int8]) -> list[Patch]:
        """The triangles of each step; some may have none."""
        found = []
        order = np.argsort(steps, kind="stable")
        ends = np.searchsorted(steps[order], np.arange(STEPS + 1))
        for first, end in pairwise(ends.tolist()):
            corners = self.triangles[order[first:end]]
            used = np.zeros(len(self.kept), bool)
            used[corners] = True
            number = np.cumsum(used) - 1
            found.append(Patch(self.kept[used], number[corners].astype(np.uint32)))
        return found


def _steps(share: NDArray[np.float64]) -> NDArray[np.int8]:
    return np.round(share.clip(0.0, 1.0) * (STEPS - 1)).astype(np.int8)


def bellies(cover: MuscleCover, matrices: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
    """The surfaces of all muscles in a pose as one mesh: positions (N, 3) and triangles (T, 3)."""
    points, corners = zip(*(cover.surface(number, matrices) for number in range(len(cover))), strict=True)
    starts = np.cumsum([0, *map(len, points[:-1])])
    triangles = [each + start for each, start in zip(corners, starts.tolist(), strict=True)]
    return np.concatenate(points), np.concatenate(triangles).astype(np.uint32)


def has_centers(method: NamedMethod) -> bool:
    """Whether a method has rotation centers that can be shown: of joint sets, or found at bind."""
    options = method.options
    is_plain = options.get("method") == "spherical" and not isinstance(method, TwistMethod)
    return is_plain and options.get("center") != "weighted"


def rotation_centers(skin: Skin, method: NamedMethod, matrices: NDArray[np.float64], positions: Floats) -> Floats:
    """The rotation centers (N, 3) of a method in a pose that are near to the mesh.

    They are moved as their joints move them: where a center is one, these agree. Methods whose centers belong to
    vertices in a pose, or that have none, get none here.
    """
    options = method.options
    if not has_centers(method):
        return np.zeros((0, 3))
    if options.get("center") == "optimized":
        at_rest = np.asarray(skin.centers)
        own = np.all(np.isclose(at_rest, skin.rest_positions, rtol=0.0, atol=1e-9), axis=1)
        centers: Floats = skin.deform(matrices, method="linear", rest_positions=at_rest)[~own]
    else:
        found = []
        for joints, center in zip(skin.joint_sets, skin.rotation_centers(matrices), strict=True):
            if len(joints) > 1:
                moved = matrices[list(joints), :3] @ np.append(center, 1.0)
                found.append(moved.mean(axis=0))
        centers = np.array(found).reshape(-1, 3)
    low, high = positions.min(axis=0), positions.max(axis=0)
    margin = _NEAR * float(np.linalg.norm(high - low))
    return centers[np.all((centers >= low - margin) & (centers <= high + margin), axis=1)]
