# SPDX-License-Identifier: MIT
"""A mesh bound twice to the very same numbers, by the library and by the reference, and how the two are compared."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import numpy as np
import tolerances
from numpy.typing import ArrayLike, DTypeLike
from reference import REAL, Mesh, Pose, PoseOptions, length

import sbs
from sbs.options import Method, MethodOptions


class Subject:
    """A mesh in the library and in the reference.

    Positions, normals and weights are rounded to `dtype` first, so that both read bit-identical input.
    """

    def __init__(
        self,
        rest_positions: ArrayLike,
        joint_indices: np.ndarray,
        joint_weights: ArrayLike,
        dtype: DTypeLike,
        *,
        rest_normals: ArrayLike | None = None,
        parents: np.ndarray | None = None,
        joint_positions: ArrayLike | None = None,
        centers: ArrayLike | None = None,
    ) -> None:
        mesh = np.asarray(rest_positions).astype(dtype), joint_indices, np.asarray(joint_weights).astype(dtype)
        self.dtype = np.dtype(dtype)
        more: dict[str, Any] = {
            "parents": parents,
            "joint_positions": joint_positions,
            "rest_normals": None if rest_normals is None else np.asarray(rest_normals).astype(dtype),
            "centers": centers,
        }
        self.mesh = Mesh(*mesh, **more)
        with warnings.catch_warnings():  # weights are taken as found: that some need repair is no news here
            warnings.simplefilter("ignore", sbs.WeightWarning)
            self.skin = sbs.Skin(*mesh, **more)

    def pose(self, skinning_matrices: np.ndarray, **options: Unpack[PoseOptions]) -> Pose:
        """Prepare the reference for a frame."""
        return Pose(self.mesh, skinning_matrices, **options)

    def undecided(self, pose: Pose, vertices: Iterable[int], method: str) -> set[int]:
        """Find the vertices for which a rounding error chooses between two results."""
        if method not in ("spherical", "dual_quaternion"):
            return set()
        influenced = [vertex for vertex in vertices if self.mesh.influences[vertex]]
        return {
            vertex
            for vertex in influenced
            if pose.sign_margin(vertex) < tolerances.SIGN_MARGIN
            or (
                method == "spherical"
                and pose.center_choice == "joint_set"
                and pose.is_center_undecided(tuple(self.mesh.influences[vertex]))
            )
        }

    def reach(self, pose: Pose) -> float:
        """Return the largest distance, after a joint has moved both, of a vertex and its rotation center."""
        distances = []
        for vertex, position in enumerate(self.mesh.rest_positions):
            origin, z = pose.vertex_turn(vertex)
            for joint in self.mesh.influences[vertex]:
                distances.append(length(z - pose.joints[joint].stretch @ (position - origin)))
        return float(max(distances))

    def check(
        self, pose: Pose, method: Method, vertices: Iterable[int] | None = None, *, bound: float | None = None
    ) -> int:
        """How many vertices are left out because a rounding error decides; others are held against the reference.

        `pose` is of this subject. Positions may be off by `bound`, besides half a unit in the last place; by
        default, as normals, by that of `tolerances` for real characters.
        """
        chosen = range(len(self.mesh.influences)) if vertices is None else list(vertices)
        skipped = self.undecided(pose, chosen, method)
        rows = [vertex for vertex in chosen if vertex not in skipped]
        options: MethodOptions = {
            "damping": pose.damping,
            "rcond": pose.rcond,
            "rotation": pose.rotation,
            "center": pose.center_choice,
            "method": method,
        }
        if self.mesh.rest_normals is None:
            positions = self.skin.deform(pose.skinning_matrices, **options)
        else:
            positions, normals = self.skin.deform(pose.skinning_matrices, normals=True, **options)
            assert normals.dtype == self.dtype
            expected = np.array([pose.normal(vertex, method) for vertex in rows])
            tolerance = tolerances.CHARACTER_NORMALS if bound is None else tolerances.NORMALS
            assert_within(normals[rows], expected, tolerance[self.dtype], "normal", rows)
        assert positions.dtype == self.dtype
        expected = np.array([pose.position(vertex, method) for vertex in rows])
        if bound is None:
            bound = tolerances.share(self.dtype, method) * self.mesh.size
        assert_within(positions[rows], expected, bound + tolerances.half_ulp(expected, self.dtype), "position", rows)
        return len(skipped)


def assert_within(
    actual: np.ndarray,
    expected: np.ndarray,
    bound: float | np.ndarray,
    what: str = "value",
    names: Sequence[int] | None = None,
) -> None:
    """Assert |actual - expected| <= bound for every component, and say where it is exceeded most."""
    assert actual.shape == expected.shape
    error = np.abs(actual.astype(REAL) - expected)
    excess = np.nan_to_num((error / bound).astype(float), nan=np.inf)
    if excess.size and excess.max() > 1:
        row = int(np.argmax(excess.reshape(len(excess), -1).max(axis=1)))
        raise AssertionError(
            f"{what} {row if names is None else names[row]} is {excess.max():.3g} times its tolerance away: "
            f"{actual[row]} instead of {expected[row].astype(float)} ({int((excess > 1).any(axis=-1).sum())} such rows)"
        )
