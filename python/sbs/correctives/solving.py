# SPDX-License-Identifier: MIT
"""Shapes from sculpted poses: the deformation of each is undone, and offsets are shared out to several shapes.

In pose i, shape k has the weight W_ik, 1 for k = i. Let t_i be the offset that the rest position of a vertex needs in
that pose. Its deltas d_k follow from

    sum_k W_ik d_k = t_i    for all poses i in which the vertex was sculpted,

by the pseudoinverse: where poses of different joints are the same, each shape gets an equal part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..rigging.triangle_mesh import diagonal, welded
from ..skinning.options import AnyFloats, BlendOptions, PosedShapes
from ..skinning.reports import SingularVertexWarning
from ..skinning.shapes import Shape, Shapes
from ..skinning.skin import Skin
from ..support.callers import warn
from ..support.vectors import unit

__all__ = ["TOLERANCE", "After", "Solution", "Target", "finished", "solve", "sum_of_shapes"]

Floats = NDArray[np.float64]
After = Callable[[AnyFloats, Floats], AnyFloats]

TOLERANCE = 1e-6
"""Deltas below this share of the size are dropped: they are rounding, in float32."""

ALIKE = 0.05
"""Singular values of W below this share of the largest: poses that differ so little are met together as well as can be,
not each by large deltas that cancel."""

COUPLED = 1e-6
"""A weight below this adds nothing that could be seen."""

STEPS = 2
"""How often errors of rounding are added to the goal, and undone again."""

STEPS_AFTER = 8
"""The most steps of Newton's method to undo `after`."""

DIFFERENCE = 1e-3
"""How far a vertex is moved to find how that depends on its place: a share of the size."""

FLAT = 0.03
"""Where it takes space to a plane, as muscles do that keep skin at a distance, nothing is gained across that."""

MET = 1e-4
"""Vertices that it takes no nearer, as a share of the size, are told."""

NORMALS = 1e-3
"""Smaller changes of unit normals are dropped."""


@dataclass(frozen=True, eq=False)
class Target:
    """The mesh in a pose as it should look.

    Attributes
    ----------
    skinning_matrices : (J, 3, 4) ndarray of float64
        The pose.
    vertices : (M,) ndarray of int32, or None
        The vertices that were sculpted. None until shapes are first solved: all.
    positions : (M, 3) or (V, 3) ndarray
        Where they should be in the pose.
    """

    skinning_matrices: Floats
    vertices: NDArray[np.int32] | None
    positions: AnyFloats

    @classmethod
    def make(cls, skinning_matrices: ArrayLike, posed: ArrayLike, vertices: ArrayLike | None) -> Target:
        """A target from the arguments of `Correctives.add`, checked and copied."""
        matrices = np.array(skinning_matrices, np.float64)
        if matrices.ndim != 3 or matrices.shape[1:] not in ((3, 4), (4, 4)):
            raise ValueError(f"skinning_matrices has shape {matrices.shape}, expected (J, 4, 4) or (J, 3, 4)")
        positions = np.array(posed)
        if positions.dtype.kind not in "fiu":
            raise TypeError(f"posed must be real numbers, not {positions.dtype}")
        if positions.ndim != 2 or positions.shape[1] != 3:
            raise ValueError(f"posed has shape {positions.shape}, expected (V, 3)")
        if not np.isfinite(positions).all():
            raise ValueError(f"posed[{np.argwhere(~np.isfinite(positions))[0][0]}] is not finite")
        if vertices is None:
            return cls(matrices[:, :3].copy(), None, positions)
        chosen = np.unique(np.arange(len(positions), dtype=np.int32)[np.asarray(vertices)])
        return cls(matrices[:, :3].copy(), chosen, positions[chosen])


@dataclass(frozen=True, eq=False)
class Solution:
    """The shape of a corrective, and how well it does.

    Attributes
    ----------
    shape : Shape
    target : Target
        With the vertices that were sculpted.
    error : float
        The largest distance from the target in the pose with all shapes, as a share of the size of the mesh.
    unreached : (N,) ndarray of int32
        Sculpted vertices that are not in `error`: joints have crushed them, and they are left; or the function after
        the deformation takes nothing to where they should be, and they get as near as can be.
    """

    shape: Shape
    target: Target
    error: float
    unreached: NDArray[np.int32]

    @property
    def vertices(self) -> NDArray[np.int32]:
        """The vertices that the shape moves."""
        found: NDArray[np.int32] = self.shape.vertices
        return found


def solve(
    skin: Skin,
    targets: Sequence[Target],
    weights: Floats,
    fixed: Sequence[tuple[Shape, Floats]],
    *,
    triangles: NDArray[np.integer] | None,
    tolerance: float,
    after: After | None,
    options: BlendOptions,
) -> list[Solution]:
    """Shapes of targets.

    Parameters
    ----------
    skin : Skin
    targets : sequence of P Target
    weights : (P, P) ndarray
        Of each shape, by column, in the pose of each target, by row.
    fixed : sequence of (Shape, (P,) ndarray)
        Shapes that stay as they are, and their weights in the poses.
    triangles, tolerance, after, options
        As of `Correctives.solve`.
    """
    if options.get("twists") is not None:
        raise ValueError("twists has no effect on correctives: their poses are within half a turn")
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be at least 0, not {tolerance}")
    size = diagonal(skin.rest_positions)
    limit = tolerance * size
    undone = [_Undone(skin, target, size, limit, after, options) for target in targets]
    anywhere = np.unique(np.concatenate([one.sculpted for one in undone]))
    sculpted = np.stack([np.isin(anywhere, one.sculpted, assume_unique=True) for one in undone])
    needed = np.zeros((len(targets), len(anywhere), 3))
    for number, one in enumerate(undone):
        needed[number, np.searchsorted(anywhere, one.vertices)] = one.deltas
        for shape, factors in fixed:
            if factors[number]:
                needed[number] -= factors[number] * _dense(shape, skin.vertex_count)[anywhere]
        needed[number, ~sculpted[number]] = 0
        needed[number, np.searchsorted(anywhere, one.vertices[one.crushed])] = 0
    normals = None
    if triangles is not None and skin.has_normals:
        normals = _Normals(skin.rest_positions.astype(np.float64), triangles)
    shapes = [_sparse(skin, anywhere, each, limit, normals) for each in _share_out(needed, sculpted, weights)]
    every = Shapes(skin, [*shapes, *(_positions_alone(skin, shape) for shape, _ in fixed)])
    solutions = []
    crushed = np.zeros(skin.vertex_count, np.bool_)
    for number, (target, one) in enumerate(zip(targets, undone, strict=True)):
        every_weight = [*weights[number], *(factors[number] for _, factors in fixed)]
        posed = skin.deform(target.skinning_matrices, shapes=every, shape_weights=every_weight, **options)
        posed = posed if after is None else after(posed, target.skinning_matrices)
        positions = target.positions if target.vertices is not None else target.positions[one.sculpted]
        kept = replace(target, vertices=one.sculpted, positions=positions)
        unreached = one.vertices[one.crushed | one.unreached]
        missed = (posed[one.sculpted] - positions)[~np.isin(one.sculpted, unreached, assume_unique=True)]
        error = float(np.sqrt(_squares(missed).max(initial=0.0))) / size
        solutions.append(Solution(shapes[number], kept, error, unreached))
        crushed[one.vertices[one.crushed]] = True
    if crushed.any():
        warn(SingularVertexWarning.message(crushed), SingularVertexWarning)
    return solutions


class _Undone:
    """The deformation of one pose, undone for a target.

    Attributes
    ----------
    sculpted : (N,) ndarray of int32
        The vertices of the target; if it has none, all that are elsewhere than the skin has them.
    vertices : (M,) ndarray of int32
        The vertices that are elsewhere.
    deltas : (M, 3) ndarray
        Offsets that their rest positions need.
    crushed, unreached : (M,) ndarray of bool
        Which of these have no inverse, and get nothing; and which get as near as can be.
    """

    def __init__(
        self,
        skin: Skin,
        target: Target,
        size: float,
        limit: float,
        after: After | None,
        options: BlendOptions,
    ) -> None:
        count = len(target.positions) if target.vertices is None else int(target.vertices.max(initial=-1)) + 1
        if (target.vertices is None and count != skin.vertex_count) or count > skin.vertex_count:
            raise ValueError(f"a target has {count} vertices, the skin {skin.vertex_count}")
        self._matrices, self._after = target.skinning_matrices, after
        given = np.arange(skin.vertex_count, dtype=np.int32) if target.vertices is None else target.vertices
        posed = skin.deform(self._matrices, **options)
        moved = _squares(target.positions - self._finished(posed)[given]) > limit**2
        self.vertices = given[moved]
        self.sculpted = self.vertices if target.vertices is None else target.vertices
        goal = target.positions[moved].astype(np.float64)
        self.unreached = np.zeros(len(goal), np.bool_)
        if after is not None:
            goal = self._before(posed, goal, size, limit)
        rest = skin.rest_positions[self.vertices].astype(np.float64)
        wanted = posed.copy()
        offsets = goal - posed[self.vertices]
        for _ in range(STEPS):
            wanted[self.vertices] = posed[self.vertices] + offsets
            back, singular = skin.inverse_deform(wanted, self._matrices, return_singular=True, **options)
            self.crushed = singular[self.vertices]
            self.deltas = np.where(self.crushed[:, None], 0.0, back[self.vertices] - rest)
            shapes = Shapes(skin, [(self.vertices, self.deltas)])
            met = skin.deform(self._matrices, shapes=shapes, shape_weights=[1.0], **options)
            missed = goal - met[self.vertices]
            if not (_squares(missed[~self.crushed]) > limit**2).any():
                break
            offsets = offsets + missed

    def _finished(self, posed: AnyFloats) -> AnyFloats:
        """The mesh when all is done."""
        return posed if self._after is None else self._after(posed.copy(), self._matrices)

    def _finish(self, posed: AnyFloats) -> Floats:
        """Where the vertices are when all is done."""
        return self._finished(posed)[self.vertices].astype(np.float64)

    def _before(self, posed: AnyFloats, goal: Floats, size: float, limit: float) -> Floats:
        """Where the vertices have to be before `after`, which moves each by itself: by Newton's method."""
        found = np.array(posed)
        reach = DIFFERENCE * size
        missed = goal - self._finish(found)
        shares = np.ones(len(goal))
        for _ in range(STEPS_AFTER):
            derivative = np.empty((len(goal), 3, 3))
            for axis in range(3):
                beside = found.copy()
                beside[self.vertices, axis] += reach
                derivative[:, :, axis] = (self._finish(beside) - goal + missed) / reach
            steps = np.einsum("vij,vj->vi", np.linalg.pinv(derivative, rcond=FLAT), missed)
            tried = found.copy()
            tried[self.vertices] += (shares[:, None] * steps).astype(posed.dtype)
            now = goal - self._finish(tried)
            nearer = np.linalg.norm(now, axis=1) < np.linalg.norm(missed, axis=1)
            found[self.vertices[nearer]] = tried[self.vertices[nearer]]
            missed[nearer] = now[nearer]
            shares = np.where(nearer, 1.0, shares / 2)
            if np.linalg.norm(missed, axis=1).max(initial=0.0) <= limit:
                break
        self.unreached = np.linalg.norm(missed, axis=1) > MET * size
        return found[self.vertices].astype(np.float64)


def _squares(vectors: AnyFloats) -> AnyFloats:
    """The squared lengths of vectors (M, 3)."""
    found: AnyFloats = np.einsum("vx,vx->v", vectors, vectors)
    return found


def _dense(shape: Shape, vertex_count: int) -> Floats:
    """The offsets of a shape for all vertices, (V, 3)."""
    found = np.zeros((vertex_count, 3))
    np.add.at(found, shape.vertices, shape.deltas)
    return found


def finished(
    skin: Skin, matrices: Floats, correctives: PosedShapes, after: After | None, options: BlendOptions
) -> AnyFloats:
    """The mesh in a pose with correctives, after `after`."""
    posed = skin.deform(matrices, correctives=correctives, **options)
    return posed if after is None else after(posed, matrices)


def _share_out(needed: Floats, sculpted: NDArray[np.bool_], weights: Floats) -> Floats:
    """The deltas of all shapes (P, V, 3), by the offsets that each pose needs."""
    deltas = needed.copy()
    is_coupled = np.zeros(needed.shape[1], np.bool_)
    for pose, shape in np.argwhere(np.abs(weights - np.eye(len(weights))) > COUPLED):
        is_coupled |= sculpted[pose] & sculpted[shape]
    coupled = np.flatnonzero(is_coupled)
    if not len(coupled):
        return deltas
    patterns, numbers = np.unique(sculpted[:, coupled], axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        poses, vertices = np.flatnonzero(pattern), coupled[numbers.reshape(-1) == number]
        inverse = np.linalg.pinv(weights[np.ix_(poses, poses)], rcond=ALIKE)
        deltas[np.ix_(poses, vertices)] = np.einsum("kp,pvx->kvx", inverse, needed[np.ix_(poses, vertices)])
    return deltas


def _sparse(skin: Skin, anywhere: NDArray[np.int32], deltas: Floats, limit: float, normals: _Normals | None) -> Shape:
    """A shape of some vertices without small deltas, and with deltas of normals if these are wanted."""
    changed = _squares(deltas) > limit**2
    vertices, kept = anywhere[changed], deltas[changed].astype(skin.dtype)
    if normals is None:
        return Shape(vertices, kept)
    beside, turned = normals.turned(vertices, kept)
    every = np.union1d(vertices, beside).astype(np.int32)
    added, by_normals = (np.zeros((len(every), 3), skin.dtype) for _ in range(2))
    added[np.searchsorted(every, vertices)] = kept
    by_normals[np.searchsorted(every, beside)] = turned
    return Shape(every, added, by_normals)


def sum_of_shapes(one: Shape, other: Shape) -> Shape:
    """The sum of two shapes; only one that both have normals for changes these."""
    vertices = np.union1d(one.vertices, other.vertices).astype(np.int32)

    def total(first: AnyFloats, second: AnyFloats) -> AnyFloats:
        found = np.zeros((len(vertices), 3), first.dtype)
        np.add.at(found, np.searchsorted(vertices, one.vertices), first)
        np.add.at(found, np.searchsorted(vertices, other.vertices), second)
        return found

    normals = None
    if one.normal_deltas is not None and other.normal_deltas is not None:
        normals = total(one.normal_deltas, other.normal_deltas)
    return Shape(vertices, total(one.deltas, other.deltas), normals)


class _Normals:
    """Unit normals of vertices, by the areas of triangles; the same where vertices are at one point at rest."""

    def __init__(self, rest: Floats, triangles: NDArray[np.integer]) -> None:
        self._kept, self._faces = welded(rest, triangles)
        self._rest = rest[self._kept]
        self._points = np.full(len(rest), -1)
        self._points[triangles.reshape(-1)] = self._faces.reshape(-1)
        self._sums = np.zeros((len(self._kept), 3))
        self._add(self._sums, self._rest, self._faces)

    @staticmethod
    def _add(sums: Floats, positions: Floats, faces: NDArray[np.intp], sign: float = 1.0) -> None:
        """Add twice the area vector of each triangle to its corners."""
        a, b, c = (positions[faces[:, corner]] for corner in range(3))
        across = sign * np.cross(b - a, c - a)
        for corner in range(3):
            np.add.at(sums, faces[:, corner], across)

    def turned(self, vertices: NDArray[np.int32], deltas: AnyFloats) -> tuple[NDArray[np.intp], Floats]:
        """The vertices whose normals change as some are moved by deltas (M, 3) in the rest pose, and the changes."""
        points = self._points[vertices]
        moves = np.zeros(len(self._kept), np.bool_)
        moves[points[points >= 0]] = True
        moved = self._rest.copy()
        moved[points[points >= 0]] = (self._rest[points] + deltas)[points >= 0]
        faces = self._faces[moves[self._faces].any(axis=1)]
        sums = self._sums.copy()
        self._add(sums, self._rest, faces, -1.0)
        self._add(sums, moved, faces)
        touched = np.zeros(len(self._kept), np.bool_)
        touched[faces] = True
        points = np.flatnonzero(touched)
        turned = unit(sums[points]) - unit(self._sums[points])
        counts = np.linalg.norm(turned, axis=1) > NORMALS
        numbers = np.full(len(self._kept), -1)
        numbers[points[counts]] = np.arange(counts.sum())
        rows = np.where(self._points >= 0, numbers[self._points], -1)
        beside = np.flatnonzero(rows >= 0)
        return beside, np.asarray(turned[counts][rows[beside]])


def _positions_alone(skin: Skin, shape: Shape) -> Shape:
    return shape if skin.has_normals else Shape(shape.vertices, shape.deltas)
