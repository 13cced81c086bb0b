# SPDX-License-Identifier: MIT
"""Shapes from what was sculpted: the deformation of each pose is undone, and what several shapes add is shared out.

In pose i, shape k has the weight W_ik, 1 for k = i. Let t_i be what has to be added to the rest position of a vertex in
that pose. Its deltas d_k follow from

    sum_k W_ik d_k = t_i    for all poses i in which the vertex was sculpted,

by the pseudoinverse: where poses of different joints are the same, each shape gets an equal part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..options import AnyFloats, BlendOptions, PosedShapes
from ..rigging.triangle_mesh import diagonal, welded
from ..skinning.reports import SingularVertexWarning
from ..skinning.shapes import Shape, Shapes
from ..skinning.skin import Skin
from ..support.callers import warn

__all__ = ["TOLERANCE", "After", "Solution", "Target", "finished", "solve"]

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
"""How often what rounding has missed is added to what is undone."""

STEPS_AFTER = 8
"""The most steps of Newton's method to undo what is done after the deformation."""

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
    """What the mesh should look like in a pose.

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
        Sculpted vertices that are not in `error`: joints have crushed them, and they are left; or what is done after
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
    needed = np.zeros((len(targets), skin.vertex_count, 3))
    sculpted = np.zeros((len(targets), skin.vertex_count), np.bool_)
    unreached = np.zeros_like(sculpted)
    crushed = np.zeros(skin.vertex_count, np.bool_)
    for number, target in enumerate(targets):
        one = _Undone(skin, target, size, limit, after, options)
        sculpted[number, one.vertices] = one.moved if target.vertices is None else True
        needed[number, one.vertices] = one.deltas
        for shape, factors in fixed:
            np.subtract.at(needed[number], shape.vertices, factors[number] * np.asarray(shape.deltas, np.float64))
        crushed[one.vertices[one.crushed]] = True
        unreached[number, one.vertices] = one.crushed | one.unreached
        needed[number, ~sculpted[number]] = 0
        needed[number, one.vertices[one.crushed]] = 0
    deltas = _share_out(needed, sculpted, weights)
    normals = None
    if triangles is not None and skin.has_normals:
        normals = _Normals(skin.rest_positions.astype(np.float64), triangles)
    shapes = [_sparse(skin, each, limit, normals) for each in deltas]
    every = Shapes(skin, [*shapes, *(_positions_alone(skin, shape) for shape, _ in fixed)])
    solutions = []
    for number, target in enumerate(targets):
        every_weight = [*weights[number], *(factors[number] for _, factors in fixed)]
        posed = skin.deform(target.skinning_matrices, shapes=every, shape_weights=every_weight, **options)
        posed = posed if after is None else after(posed, target.skinning_matrices)
        vertices = np.flatnonzero(sculpted[number]).astype(np.int32)
        rows = vertices if target.vertices is None else np.searchsorted(target.vertices, vertices)
        kept = replace(target, vertices=vertices, positions=target.positions[rows])
        missed = np.linalg.norm(posed[vertices] - kept.positions, axis=1)[~unreached[number, vertices]]
        error = float(missed.max(initial=0.0)) / size
        solutions.append(Solution(shapes[number], kept, error, np.flatnonzero(unreached[number]).astype(np.int32)))
    if crushed.any():
        warn(SingularVertexWarning.message(crushed), SingularVertexWarning)
    return solutions


class _Undone:
    """The deformation of one pose, undone for a target.

    Attributes
    ----------
    vertices : (M,) ndarray of int32
        Those that the target is of.
    moved : (M,) ndarray of bool
        Which of them are elsewhere than the skin has them.
    deltas : (M, 3) ndarray
        What has to be added to their rest positions.
    crushed, unreached : (M,) ndarray of bool
        Which of those that moved have no inverse, and get nothing; and which get as near as can be.
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
        self.vertices = np.arange(skin.vertex_count, dtype=np.int32) if target.vertices is None else target.vertices
        posed = skin.deform(self._matrices, **options)
        goal = np.asarray(target.positions, np.float64)
        self.moved = np.linalg.norm(goal - self._finish(posed), axis=1) > limit
        self.unreached = np.zeros(len(goal), np.bool_)
        if after is not None:
            goal = self._before(posed, goal, size, limit)
        rest = skin.rest_positions[self.vertices].astype(np.float64)
        self.deltas = np.zeros_like(goal)
        offsets = goal - posed[self.vertices]
        for _ in range(STEPS):
            wanted = np.array(posed, np.float64)
            wanted[self.vertices] += offsets
            back, singular = skin.inverse_deform(wanted, self._matrices, return_singular=True, **options)
            self.crushed = self.moved & singular[self.vertices]
            changed = self.moved & ~singular[self.vertices]
            self.deltas[changed] = (back[self.vertices] - rest)[changed]
            missed = goal - _deformed(skin, self._matrices, self.vertices, self.deltas, options)[self.vertices]
            if np.linalg.norm(missed[changed], axis=1).max(initial=0.0) <= limit:
                break
            offsets = offsets + missed

    def _finish(self, posed: AnyFloats) -> Floats:
        """Where the vertices are when all is done."""
        after = posed if self._after is None else self._after(posed.copy(), self._matrices)
        return after[self.vertices].astype(np.float64)

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
            tried[self.vertices] += (np.where(self.moved, shares, 0.0)[:, None] * steps).astype(posed.dtype)
            now = goal - self._finish(tried)
            nearer = np.linalg.norm(now, axis=1) < np.linalg.norm(missed, axis=1)
            found[self.vertices[nearer]] = tried[self.vertices[nearer]]
            missed[nearer] = now[nearer]
            shares = np.where(nearer, 1.0, shares / 2)
            if np.linalg.norm(missed[self.moved], axis=1).max(initial=0.0) <= limit:
                break
        self.unreached = self.moved & (np.linalg.norm(missed, axis=1) > MET * size)
        return found[self.vertices].astype(np.float64)


def _deformed(
    skin: Skin, matrices: Floats, vertices: NDArray[np.int32], deltas: Floats, options: BlendOptions
) -> AnyFloats:
    """The mesh in a pose with something added to rest positions."""
    return skin.deform(matrices, shapes=Shapes(skin, [(vertices, deltas)]), shape_weights=[1.0], **options)


def finished(
    skin: Skin, matrices: Floats, correctives: PosedShapes, after: After | None, options: BlendOptions
) -> AnyFloats:
    """The mesh in a pose with correctives, and with what is done after the deformation."""
    posed = skin.deform(matrices, correctives=correctives, **options)
    return posed if after is None else after(posed, matrices)


def _share_out(needed: Floats, sculpted: NDArray[np.bool_], weights: Floats) -> Floats:
    """The deltas of all shapes (P, V, 3), by what is needed in each pose."""
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


def _sparse(skin: Skin, deltas: Floats, limit: float, normals: _Normals | None) -> Shape:
    """A shape without small deltas, with those of normals if these are wanted."""
    changed = np.linalg.norm(deltas, axis=1) > limit
    vertices = np.flatnonzero(changed).astype(np.int32)
    if normals is None:
        return Shape(vertices, deltas[vertices].astype(skin.dtype))
    kept = np.where(changed[:, None], deltas, 0.0)
    beside, turned = normals.turned(kept, changed)
    every = np.union1d(vertices, beside).astype(np.int32)
    by_normals = np.zeros((len(every), 3), skin.dtype)
    by_normals[np.searchsorted(every, beside)] = turned
    return Shape(every, kept[every].astype(skin.dtype), by_normals)


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

    def turned(self, deltas: Floats, changed: NDArray[np.bool_]) -> tuple[NDArray[np.intp], Floats]:
        """The vertices whose normals change as deltas (V, 3) are added to the rest pose, and by what."""
        moves = np.zeros(len(self._kept), np.bool_)
        moves[self._points[changed & (self._points >= 0)]] = True
        faces = self._faces[moves[self._faces].any(axis=1)]
        sums = self._sums.copy()
        self._add(sums, self._rest, faces, -1.0)
        self._add(sums, self._rest + deltas[self._kept], faces)
        touched = np.zeros(len(self._kept), np.bool_)
        touched[faces] = True
        points = np.flatnonzero(touched)
        turned = _unit(sums[points]) - _unit(self._sums[points])
        counts = np.linalg.norm(turned, axis=1) > NORMALS
        numbers = np.full(len(self._kept), -1)
        numbers[points[counts]] = np.arange(counts.sum())
        rows = np.where(self._points >= 0, numbers[self._points], -1)
        vertices = np.flatnonzero(rows >= 0)
        return vertices, turned[counts][rows[vertices]]


def _unit(vectors: Floats) -> Floats:
    found: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    return found


def _positions_alone(skin: Skin, shape: Shape) -> Shape:
    return shape if skin.has_normals else Shape(shape.vertices, shape.deltas)
