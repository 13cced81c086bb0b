# SPDX-License-Identifier: MIT
"""Finer meshes near joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..characters.character import Character, Mesh
from ..rigging.shapes import BlendShape
from ..skinning.attachment import connected_triangles, heaviest_joints
from ..skinning.influences import Influences, tidy
from ..skinning.options import AnyFloats
from ..support.vectors import unit
from .curvature import curvature

__all__ = ["Scheme", "Subdivision", "subdivide", "subdivide_bent", "subdivide_near_joints", "triangles_near_joints"]

Scheme = Literal["1:3", "1:4"]


@dataclass(frozen=True, eq=False, repr=False)
class Subdivision:
    """A divided mesh: the V old vertices with their old numbers, then N new ones.

    Each new vertex is a point of an old triangle, so that any attribute of the old vertices can be interpolated for it.

    Attributes
    ----------
    vertex_count : int
        V.
    parents : (N, 3) int32 ndarray
        The old vertices that each new one lies between.
    shares : (N, 3) float64 ndarray
        The weights of the parents; they sum to 1. Zeros come last.
    triangles : (T', 3) int32 ndarray
        Of the new mesh, in the order of the old triangles that they are parts of.
    sources : (T',) int32 ndarray
        The old triangle that each is a part of.
    """

    vertex_count: int
    parents: NDArray[np.int32]
    shares: NDArray[np.float64]
    triangles: NDArray[np.int32]
    sources: NDArray[np.int32]

    def __repr__(self) -> str:
        vertices = self.vertex_count + len(self.parents)
        return (
            f"<sbs.mesh.Subdivision, vertices: {vertices}, {len(self.parents)} new, triangles: {len(self.triangles)}>"
        )

    def interpolate(self, values: ArrayLike) -> NDArray[Any]:
        """An attribute for all vertices, from that of the old ones: positions, texture coordinates, colors, ...

        Parameters
        ----------
        values : (V, ...) array_like
            Integers become float64.

        Returns
        -------
        (V + N, ...) ndarray
            Computed in double and rounded once, so that vertices at one point get equal values, bit for bit.
        """
        given = self._check(values, "values")
        if given.dtype.kind != "f":
            given = given.astype(np.float64)
        shares = self.shares.reshape(*self.shares.shape, *[1] * (given.ndim - 1))
        new = np.zeros((len(self.parents), *given.shape[1:]))
        for column in range(3):
            new += shares[:, column] * given[self.parents[:, column]]
        return np.concatenate([given, new.astype(given.dtype)])

    def normals(self, normals: ArrayLike) -> NDArray[Any]:
        """Normals (V + N, 3) of all vertices, from those of the old ones (V, 3). New ones are unit vectors or zero."""
        result = self.interpolate(normals)
        result[self.vertex_count :] = unit(result[self.vertex_count :])
        return result

    def influences(self, joint_indices: ArrayLike, joint_weights: ArrayLike) -> Influences:
        """Influences of all vertices, from those of the old ones.

        Parameters
        ----------
        joint_indices, joint_weights : (V, K) array_like

        Returns
        -------
        Influences
            Old vertices keep their influences; new ones have some by decreasing weight with a sum of 1. Wider than K if
            the parents of a vertex have more different joints.
        """
        indices, weights = self._check(joint_indices, "joint_indices"), self._check(joint_weights, "joint_weights")
        if indices.ndim != 2 or indices.shape != weights.shape:
            raise ValueError(
                f"joint_indices has shape {indices.shape}, joint_weights {weights.shape}: both must be (V, K)"
            )
        if not len(self.parents):
            return Influences(indices.astype(np.int32), weights)
        joints, normalized = tidy(indices, weights)
        mixed = _core.clean_weights(
            joints[self.parents].reshape(len(self.parents), -1),
            (normalized[self.parents] * self.shares[:, :, None]).reshape(len(self.parents), -1),
        )
        used = max(indices.shape[1], int(np.count_nonzero(mixed[1], axis=1).max(initial=0)))
        padding = ((0, 0), (0, used - indices.shape[1]))
        floats = weights if weights.dtype in (np.float32, np.float64) else weights.astype(np.float64)
        return Influences(
            np.concatenate([np.pad(indices, padding), _fit(mixed[0], used)]).astype(np.int32),
            np.concatenate([np.pad(floats, padding), _fit(mixed[1], used).astype(floats.dtype)]),
        )

    def attachment(self, attachment: ArrayLike) -> NDArray[np.int32]:
        """The joint that each vertex (V + N,) is attached to, from those of the old ones (V,).

        A new vertex is attached to the joint with the largest share in it; if several have it, to the lowest.
        """
        given = self._check(attachment, "attachment")
        joints = given[self.parents]
        shares = (np.equal(joints[:, :, None], joints[:, None, :]) * self.shares[:, None, :]).sum(axis=2)
        # The thirds of a centroid are rounded, so allow for that.
        largest = shares >= shares.max(axis=1, keepdims=True) - 1e-9
        new = np.where(largest, joints, np.iinfo(np.int32).max).min(axis=1)
        return np.concatenate([given, new]).astype(np.int32)

    def mesh(self, mesh: Mesh) -> Mesh:
        """The divided mesh with all attributes of its vertices; not with several parts, as new vertices come last."""
        influences = self.influences(mesh.joint_indices, mesh.joint_weights)
        return replace(
            mesh,
            positions=self.interpolate(mesh.positions),
            triangles=self.triangles,
            joint_indices=influences.joint_indices,
            joint_weights=influences.joint_weights,
            normals=None if mesh.normals is None else self.normals(mesh.normals),
            uvs=None if mesh.uvs is None else self.interpolate(mesh.uvs),
            centers=None if mesh.centers is None else self.interpolate(mesh.centers),
            tangents=None if mesh.tangents is None else self._tangents(mesh.tangents),
            shapes=tuple(self._shape(shape) for shape in mesh.shapes),
            parts=mesh.parts if len(mesh.parts) == 1 else (),
        )

    def _tangents(self, tangents: AnyFloats) -> AnyFloats:
        found = self.interpolate(tangents)
        found[:, :3] = unit(found[:, :3])
        found[:, 3] = np.where(found[:, 3] < 0.0, -1.0, 1.0)
        return found

    def _shape(self, shape: BlendShape) -> BlendShape:
        normals = np.zeros_like(shape.offsets) if shape.normals is None else shape.normals
        dense = np.zeros((self.vertex_count, 6), shape.offsets.dtype)
        dense[shape.vertices] = np.concatenate([shape.offsets, normals], axis=1)
        fine = self.interpolate(dense)
        moved = np.flatnonzero(fine.any(axis=1)).astype(np.int32)
        return replace(
            shape,
            vertices=moved,
            offsets=fine[moved, :3],
            normals=None if shape.normals is None else fine[moved, 3:],
        )

    def _check(self, values: ArrayLike, name: str) -> NDArray[Any]:
        given = np.asarray(values)
        if not given.ndim or len(given) != self.vertex_count:
            raise ValueError(f"{name} has shape {given.shape}, expected ({self.vertex_count}, ...)")
        return given


def _fit(rows: NDArray[Any], width: int) -> NDArray[Any]:
    """Rows (N, K) with `columns` columns; only padding is cut off."""
    return np.pad(rows, ((0, 0), (0, max(0, width - rows.shape[1]))))[:, :width]


def subdivide(
    positions: ArrayLike, triangles: ArrayLike, chosen: ArrayLike, *, scheme: Scheme = "1:4", levels: int = 1
) -> Subdivision:
    """Divide chosen triangles, and others as far as needed to keep the surface closed.

    Parameters
    ----------
    positions : (V, 3) array_like
        Edges are matched by position, so that seams stay closed.
    triangles : (T, 3) array_like of int
    chosen : (T,) array_like of bool
        Triangles with two corners at one point are not divided.
    scheme : {"1:4", "1:3"}
        ``"1:4"`` splits edges in the middle; a neighbor with n split edges is divided in n + 1 triangles, so that no
        vertex lies in the middle of an edge. ``"1:3"`` divides at the centroid and splits no edge: fewer triangles, but
        thinner ones.
    levels : int
        How often; after the first level the parts of chosen triangles are divided.

    Returns
    -------
    Subdivision

    Raises
    ------
    ValueError, TypeError
        If a shape is wrong, a number is NaN or infinite, an index out of range, an option unknown, or the result would
        be too large.

    Examples
    --------
    >>> fine = subdivide([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [1, 3, 2]], [True, False])
    >>> fine
    <sbs.mesh.Subdivision, vertices: 7, 3 new, triangles: 6>
    >>> fine.sources
    array([0, 0, 0, 0, 1, 1], dtype=int32)
    """
    representatives = _core.weld(positions)
    parts = _core.subdivide(positions, triangles, representatives, chosen, scheme=scheme, levels=levels)
    return Subdivision(len(representatives), *parts)


def subdivide_near_joints(
    character: Character,
    joints: Sequence[str | int],
    *,
    attachment: ArrayLike | None = None,
    scheme: Scheme = "1:4",
    levels: int = 1,
) -> Character:
    """A character with a finer mesh near some joints.

    Triangles connected to one of the joints are divided: those with all vertices attached to it.

    Parameters
    ----------
    character : Character
    joints : sequence of str or int
        Their names or numbers.
    attachment : (V,) array_like of int, optional
        The joint of each vertex; by default its heaviest. With that of `sbs.bones_blending` a joint has the vertices on
        both sides of it.
    scheme, levels
        As for `sbs.mesh.subdivide`.

    Returns
    -------
    Character
        With the same skeleton and animations.

    Raises
    ------
    KeyError
        If no joint has such a name.
    ValueError
        If a joint is out of range or has no triangles, or as `sbs.mesh.subdivide`.
    """
    mesh = character.mesh
    fine = subdivide(
        mesh.positions,
        mesh.triangles,
        triangles_near_joints(character, joints, attachment=attachment),
        scheme=scheme,
        levels=levels,
    )
    return character.with_mesh(fine.mesh(mesh))


def subdivide_bent(
    character: Character,
    deform: Callable[[Character], NDArray[Any]],
    *,
    degrees: float = 10.0,
    scheme: Scheme = "1:4",
    levels: int = 2,
) -> Character:
    """A character with a finer mesh where poses need it.

    Triangles whose curvature in one of the poses is larger than at rest by more than an angle are divided; then those
    of the finer mesh that still are, and so on.

    Parameters
    ----------
    character : Character
    deform : callable
        Takes the character, and then the finer ones, and returns their vertices in the poses, (F, V, 3).
    degrees : float
        At least 0.
    scheme
        As for `sbs.mesh.subdivide`.
    levels : int
        How often, at most.

    Returns
    -------
    Character
        With the same skeleton and animations.

    Raises
    ------
    ValueError
        If the angle is negative or NaN, there is less than one level, or `deform` returns no frames of the vertices;
        and as `sbs.mesh.subdivide`.

    Examples
    --------
    >>> import sbs
    >>> hand = sbs.samples.load("hand")
    >>> matrices = hand.animations["fist"].skinning_matrices([0.5, 1.0])
    >>> finer = subdivide_bent(hand, lambda hand: hand.skin.deform_many(matrices), degrees=20, levels=1)
    >>> len(finer.mesh.triangles) < 4 * len(hand.mesh.triangles)
    True
    """
    if not degrees >= 0:
        raise ValueError(f"degrees is {degrees}; it must be at least 0")
    if levels < 1:
        raise ValueError(f"levels is {levels}; it must be at least 1")
    for _ in range(levels):
        mesh = character.mesh
        posed = curvature(deform(character), mesh.triangles, rest_positions=mesh.positions)
        bent = np.atleast_2d(posed - curvature(mesh.positions, mesh.triangles)) > np.radians(degrees)
        fine = subdivide(mesh.positions, mesh.triangles, bent.any(axis=0), scheme=scheme)
        character = character.with_mesh(fine.mesh(mesh))
    return character


def triangles_near_joints(
    character: Character, joints: Sequence[str | int], *, attachment: ArrayLike | None = None
) -> NDArray[np.bool_]:
    """The triangles of a character that are connected to one of some joints.

    Parameters
    ----------
    character, joints, attachment
        As for `subdivide_near_joints`.

    Returns
    -------
    (T,) bool ndarray

    Raises
    ------
    KeyError, ValueError
        As `subdivide_near_joints`.
    """
    mesh, skeleton = character.mesh, character.skeleton
    if attachment is None:
        attachment = heaviest_joints(mesh.joint_indices, mesh.joint_weights)
    belongs = np.asarray(attachment)
    if belongs.shape != (len(mesh.positions),):
        raise ValueError(f"attachment has shape {belongs.shape}, expected ({len(mesh.positions)},)")
    chosen = np.zeros(len(mesh.triangles), np.bool_)
    for joint in skeleton.indices(joints):
        own = connected_triangles(mesh.triangles, belongs, joint)
        if not own.any():
            raise ValueError(f"no triangle is connected to joint {skeleton.names[joint]!r}")
        chosen |= own
    return chosen
