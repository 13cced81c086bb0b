# SPDX-License-Identifier: MIT
"""Painting weights on a mesh, and dragging vertices of a pose, with strokes that can be undone exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Required, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..skinning.options import (
    DAMPING,
    Center,
    Method,
    MethodOptions,
    base_options,
    method_name,
    refuse_idle,
    vertex_amounts,
)
from ..skinning.skin import Skin
from ._joints import Joints, choose_joints, find_number
from .influences import Influences

__all__ = ["Brush", "Stroke"]

Mode = Literal["add", "subtract", "replace", "scale", "smooth"]
Falloff = Literal["constant", "linear", "smooth", "sphere", "quadratic"]
Distance = Literal["space", "surface"]
Axis = Literal["x", "y", "z"]


class StrokeOptions(TypedDict, total=False):
    """Options of `Brush.stroke`."""

    radius: Required[float]
    mode: Mode
    strength: float
    value: float
    falloff: Falloff
    distance: Distance
    locked: Joints | None
    normalize: bool
    mirror: Axis | None
    mirror_position: float
    mirror_joints: ArrayLike | None


@dataclass(frozen=True, eq=False)
class Stroke:
    """The changes by a stroke of a `Brush`.

    Attributes
    ----------
    vertices : (M,) int32 ndarray
        Each once, in the order in which they were touched; empty if nothing changed.
    old, new : Influences
        (M, L) float64; their influences before and afterwards.
    """

    vertices: NDArray[np.int32]
    old: Influences
    new: Influences

    def then(self, later: Stroke) -> Stroke:
        """Join this stroke with the next one, so that both are undone together.

        Parameters
        ----------
        later : Stroke
            Of the same brush, with no other stroke in between.

        Returns
        -------
        Stroke
            Its old influences are those before this stroke, its new ones those after the later one. Vertices that end
            with the influences they began with are included.
        """
        first = ~np.isin(later.vertices, self.vertices)
        changed_again = np.isin(self.vertices, later.vertices)
        by_vertex = np.argsort(later.vertices)
        rows = by_vertex[np.searchsorted(later.vertices, self.vertices[changed_again], sorter=by_vertex)]
        old = [np.concatenate([ours, theirs[first]]) for ours, theirs in zip(self.old, later.old, strict=True)]
        new = [np.concatenate([ours, theirs[first]]) for ours, theirs in zip(self.new, later.new, strict=True)]
        for ours, theirs in zip(new, later.new, strict=True):
            ours[: len(self.vertices)][changed_again] = theirs[rows]
        return Stroke(np.concatenate([self.vertices, later.vertices[first]]), Influences(*old), Influences(*new))


class Brush:
    """Paints weights on a mesh. It holds a copy of the influences and changes them stroke by stroke.

    The time of a dab depends on the vertices within its radius, not on the size of the mesh. Vertices at one point (the
    seams of a mesh) change together, to equal weights. Only one thread at a time may use a brush.

    Parameters
    ----------
    positions : (V, 3) array_like
        Rest positions.
    triangles : (T, 3) array_like of int
        Smoothing, and distances along the surface, follow their edges.
    joint_indices : (V, K) array_like of int
    joint_weights : (V, K) array_like
        Repaired as by `sbs.weights.normalize`, but not normalized; float64 within the brush.
    joint_count : int, optional
        J, so that joints can be painted that no vertex has yet. By default the number of names, or the largest index
        plus one.
    limit : int, optional
        L, the most influences of a vertex; at least K, by default K, but no less than 4. If a stroke adds more, it
        drops the lightest that are neither painted nor locked.
    names : sequence of J str, optional
        Of the joints, such as `Skeleton.names`, so that strokes can use names.

    Raises
    ------
    ValueError
        If shapes disagree, there are no vertices, an index is out of range, a position is NaN or infinite, or `limit`
        is too small.
    TypeError
        If an array holds neither real numbers nor, for indices, integers.

    Examples
    --------
    >>> square = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]
    >>> brush = Brush(square, [[0, 1, 2], [1, 3, 2]], [[0]] * 4, [[1.0]] * 4, joint_count=2)
    >>> stroke = brush.dab([0.0, 0.0, 0.0], 1, radius=0.5, strength=0.25)
    >>> stroke.vertices, stroke.new.joint_weights[:, :2]
    (array([0], dtype=int32), array([[0.75, 0.25]]))
    >>> brush.undo(stroke)
    >>> brush.influences().joint_weights[0]
    array([1., 0., 0., 0.])
    """

    def __init__(
        self,
        positions: ArrayLike,
        triangles: ArrayLike,
        joint_indices: ArrayLike,
        joint_weights: ArrayLike,
        *,
        joint_count: int | None = None,
        limit: int | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        if names is not None:
            joint_count = len(names) if joint_count is None else joint_count
            if joint_count != len(names):
                raise ValueError(f"joint_count is {joint_count}, names has {len(names)}")
        if limit is None:
            shape = np.shape(joint_indices)
            limit = max(4, shape[1]) if len(shape) == 2 else None
        self._names = names
        self._core = _core.Brush(
            positions, triangles, joint_indices, joint_weights, joint_count=joint_count, limit=limit
        )

    @property
    def vertex_count(self) -> int:
        """V, the number of vertices."""
        return self._core.vertex_count

    @property
    def joint_count(self) -> int:
        """J, the number of joints."""
        return self._core.joint_count

    @property
    def limit(self) -> int:
        """L, the most influences of a vertex."""
        return self._core.limit

    def influences(self) -> Influences:
        """The present influences, (V, L) float64, new arrays."""
        return Influences(*self._core.influences())

    def dab(
        self,
        center: ArrayLike,
        joint: str | int | None,
        **options: Unpack[StrokeOptions],
    ) -> Stroke:
        """Make one dab.

        Parameters
        ----------
        center : (3,) array_like
            In the space of the positions.
        joint, **options
            As in `stroke`.

        Returns
        -------
        Stroke

        Raises
        ------
        ValueError, TypeError, KeyError, RuntimeError
            As `stroke`.
        """
        point = np.asarray(center)
        if point.shape != (3,):
            raise ValueError(f"center has shape {point.shape}, expected (3,)")
        return self.stroke(point[None], joint, **options)

    def stroke(
        self,
        centers: ArrayLike,
        joint: str | int | None,
        *,
        radius: float,
        mode: Mode = "add",
        strength: float = 1.0,
        value: float = 1.0,
        falloff: Falloff = "smooth",
        distance: Distance = "space",
        locked: Joints | None = None,
        normalize: bool = True,
        mirror: Axis | None = None,
        mirror_position: float = 0.0,
        mirror_joints: ArrayLike | None = None,
    ) -> Stroke:
        """Make dabs, one after the other.

        Parameters
        ----------
        centers : (N, 3) array_like
            In the space of the positions.
        joint : int, str or None
            The joint whose weights w are painted; None, only for ``mode="smooth"``, means all.
        radius : float
            How far a dab reaches.
        mode : {"add", "subtract", "replace", "scale", "smooth"}
            With a = `strength` times the fall-off: w + a, at most 1; w - a, at least 0; w + a (value - w);
            w (1 + a (value - 1)), at most 1; w + a (mean - w), the mean over the neighbors along edges as they were
            before the dab.
        strength : float
            In [0, 1].
        value : float
            The new weight to replace with, in [0, 1], or the factor to scale by, at least 0.
        falloff : {"constant", "linear", "smooth", "sphere", "quadratic"}
            With x = distance / radius: 1; 1 - x; 1 - x^2 (3 - 2 x); sqrt(1 - x^2); (1 - x)^2.
        distance : {"space", "surface"}
            In a straight line to the center; or to the vertex that is nearest to the center, and from there along
            edges, by the shortest path.
        locked : (L,) array_like of int or str, or (J,) array_like of bool, optional
            Joints that keep their weights; they are not painted either.
        normalize : bool
            Whether the other unlocked joints of a vertex that changes share the rest of 1, in proportion. If there are
            none, the painted joint takes it.
        mirror : {"x", "y", "z"}, optional
            The axis along which each dab is mirrored and repeated on the other side.
        mirror_position : float
            Where the mirror is on that axis.
        mirror_joints : (J,) array_like of int, optional
            The joint that is painted there in place of each; by default the same. A vertex within both dabs gets both
            at once; of the same joint, the stronger one.

        Returns
        -------
        Stroke

        Raises
        ------
        ValueError
            If a shape is wrong, a center is NaN or infinite, a joint out of range, or an option unknown or out of its
            range. Then nothing has changed.
        TypeError
            If an argument has a wrong type.
        KeyError
            If no joint has a name.
        RuntimeError
            If another thread is using the brush.
        """
        vertices, old_indices, old_weights, new_indices, new_weights = self._core.stroke(
            centers,
            find_number(joint, self._names, "joint"),
            mode=mode,
            radius=radius,
            strength=strength,
            value=value,
            falloff=falloff,
            distance=distance,
            locked=choose_joints(locked, self._names),
            normalize=normalize,
            mirror=mirror,
            mirror_position=mirror_position,
            mirror_joints=mirror_joints,
        )
        return Stroke(vertices, Influences(old_indices, old_weights), Influences(new_indices, new_weights))

    def drag(
        self,
        vertex: int,
        target: ArrayLike,
        skin: Skin,
        skinning_matrices: ArrayLike,
        *,
        radius: float,
        method: Method = "spherical",
        center: Center = "joint_set",
        damping: float = DAMPING,
        amount: ArrayLike | None = None,
        base: Method | MethodOptions | None = None,
        twists: ArrayLike | None = None,
        falloff: Falloff = "smooth",
        distance: Distance = "space",
        joints: Joints | None = None,
        locked: Joints | None = None,
        mirror: Axis | None = None,
        mirror_position: float = 0.0,
        mirror_joints: ArrayLike | None = None,
        threads: int | None = None,
    ) -> Stroke:
        """Drag a vertex of the posed mesh to where it should be: weights follow.

        The vertex gets the weights of its joints with which the method comes nearest to the target. Others within the
        radius go along, by the fall-off, each with weights of its own. Where several weights take a vertex there,
        the weights that differ least from the old ones do. `reachable` shows where it can go.

        Parameters
        ----------
        vertex : int
        target : (3,) array_like
            Where it should go, in the space of the deformed mesh.
        skin : Skin
            Of this mesh, for its centers and its twist; its weights do not matter.
        skinning_matrices : (J, 4, 4) or (J, 3, 4) array_like
            The pose.
        radius : float
            How far from the vertex others go along, at rest.
        method, center, damping, amount, base, twists
            How the mesh is deformed, as of `Skin.deform`; the method may not be ``"rigid"``, the base only
            ``"linear"``. About the center of a joint set each vertex moves as if it were alone in its set.
        falloff, distance
            As of `stroke`: how much of the way others go.
        joints : (N,) array_like of int or str, or (J,) array_like of bool, optional
            Joints that may get weight at vertices where they have none; by default the joints of the dragged vertex.
        locked : (L,) array_like of int or str, or (J,) array_like of bool, optional
            Joints that keep their weights.
        mirror, mirror_position, mirror_joints
            As of `stroke`: the same is done on the other side, as if that were posed as the mirror image.
        threads : int, optional
            As of `Skin.deform`.

        Returns
        -------
        Stroke
            For `undo`, bit for bit.

        Raises
        ------
        ValueError
            If a shape is wrong, a number is not finite, the vertex or a joint is out of range, an option is unknown or
            has no effect, or the skin is of another mesh. Then nothing has changed.
        TypeError
            If an argument has a wrong type.
        KeyError
            If no joint has a name.
        RuntimeError
            If another thread is using the brush.

        Examples
        --------
        Of two joints one turns by 90 degrees; halfway on the arc between them both have half of the weight.

        >>> import numpy as np
        >>> import sbs
        >>> skin = sbs.Skin([[0.0, 1.0, 0.0]], [[0, 1]], [[0.9, 0.1]])
        >>> brush = Brush([[0.0, 1.0, 0.0]], np.zeros((0, 3), int), [[0, 1]], [[0.9, 0.1]])
        >>> turns = sbs.rotations.matrices_from_axis_angle([1, 0, 0], [0, 90], degrees=True)
        >>> matrices = np.concatenate([turns, np.zeros((2, 3, 1))], axis=2)
        >>> stroke = brush.drag(0, [0.0, 0.5**0.5, 0.5**0.5], skin, matrices, radius=0.1)
        >>> stroke.new.joint_weights[:, :2].round(6)
        array([[0.5, 0.5]])
        """
        refuse_idle(method, {"center": center, "damping": damping})
        if (skin.vertex_count, skin.joint_count) != (self.vertex_count, self.joint_count):
            raise ValueError(
                f"skin has {skin.vertex_count} vertices and {skin.joint_count} joints,"
                f" the brush {self.vertex_count} and {self.joint_count}"
            )
        by = method_name(method)
        if by == "rigid":
            raise ValueError("method must not be 'rigid', by which weights only choose a joint")
        if base_options(amount, base)["method"] != "linear":
            raise ValueError("base must be 'linear' here")
        vertices, old_indices, old_weights, new_indices, new_weights = self._core.drag(
            vertex,
            target,
            skinning_matrices,
            method=by,
            center=center,
            damping=damping,
            amount=vertex_amounts(amount, self.vertex_count),
            centers=skin.centers,
            twist=skin._core.twist,
            twist_positions=skin.twist_positions,
            twists=twists,
            radius=radius,
            falloff=falloff,
            distance=distance,
            joints=choose_joints(joints, self._names, "joints"),
            locked=choose_joints(locked, self._names),
            mirror=mirror,
            mirror_position=mirror_position,
            mirror_joints=mirror_joints,
            threads=threads,
        )
        return Stroke(vertices, Influences(old_indices, old_weights), Influences(new_indices, new_weights))

    def undo(self, stroke: Stroke) -> None:
        """Restore the influences from before a stroke, bit for bit.

        Parameters
        ----------
        stroke : Stroke
            Of this brush; strokes are undone from the last to the first.

        Raises
        ------
        ValueError, TypeError
            If the stroke does not fit this brush. Then nothing has changed.
        RuntimeError
            If another thread is using the brush.
        """
        self._core.restore(stroke.vertices, *stroke.old)

    def redo(self, stroke: Stroke) -> None:
        """Repeat the changes of a stroke that was undone, bit for bit.

        Parameters
        ----------
        stroke : Stroke
            Of this brush; strokes are redone from the first to the last.

        Raises
        ------
        ValueError, TypeError, RuntimeError
            As `undo`.
        """
        self._core.restore(stroke.vertices, *stroke.new)

    def __repr__(self) -> str:
        return f"<sbs.weights.Brush on {self.vertex_count} vertices, {self.joint_count} joints, limit {self.limit}>"
