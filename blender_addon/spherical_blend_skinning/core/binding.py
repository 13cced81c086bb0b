# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh bound to a rig: from the matrices of one frame to positions of the mesh."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import bendy_bones, influences
from .matrices import Floats, inverse, is_similarity, linear_part, transform_points

__all__ = ["Amount", "Binding", "Rig", "Surface"]


@dataclass(frozen=True)
class Rig:
    """The bones at rest, of which those that deform and move some vertex.

    Attributes
    ----------
    names : tuple of str
        The bones, B of them, in the order of the pose.
    deforms : (B,) ndarray of bool
    rests : (B, 4, 4) ndarray
        Bone to armature space.
    lengths : (B,) ndarray
    segments : (B,) ndarray of int32
        1 for bones that do not bend.
    """

    names: tuple[str, ...]
    deforms: NDArray[np.bool_]
    rests: Floats
    lengths: Floats
    segments: NDArray[np.int32]

    def same_as(self, other: Rig) -> bool:
        """Whether both would bind a mesh alike."""
        return (
            self.names == other.names
            and np.array_equal(self.deforms, other.deforms)
            and np.array_equal(self.rests, other.rests)
            and np.array_equal(self.lengths, other.lengths)
            and np.array_equal(self.segments, other.segments)
        )


@dataclass(frozen=True)
class Surface:
    """The mesh that is bound.

    Attributes
    ----------
    positions : (V, 3) ndarray of float32
        In the space of the mesh object.
    weights : VertexWeights
    groups : tuple of str
        The names of the vertex groups.
    """

    positions: NDArray[np.float32]
    weights: influences.VertexWeights
    groups: tuple[str, ...]

    def has_weights_of(self, other: Surface) -> bool:
        """Whether both have the same vertex groups."""
        return self.groups == other.groups and (self.weights is other.weights or self.weights.equals(other.weights))


@dataclass(frozen=True)
class Amount:
    """A vertex group that says how much of the method each vertex gets, the rest being another method.

    Attributes
    ----------
    weights : (V,) ndarray of float32
    method : str
        The other method, of `sbs.Skin.deform`, or ``"none"`` for the undeformed mesh.
    """

    weights: NDArray[np.float32]
    method: str


class Binding:
    """A `sbs.Skin` in the space where skinning commutes with the transforms of the mesh and of its armature.

    Blender's Armature modifier deforms in armature space. All methods commute with rotation, translation and uniform
    scale, so as long as the mesh's place in armature space is made of those, the skin is bound in the mesh's own space
    and stays valid wherever either object moves. Otherwise it is bound in a space that `frame`, the linear part of that
    place, leads to, and `fits` tells when it must be bound anew.

    Parameters
    ----------
    sbs : module
        The package.
    rig, surface : Rig, Surface
    to_rig : (4, 4) ndarray
        From the space of the mesh object to that of the armature.
    limit : int
        How many influences a vertex keeps, the heaviest; 0 for all.

    Raises
    ------
    ValueError
        If the mesh has no vertices or the rig no bones that deform.
    """

    def __init__(self, sbs: ModuleType, rig: Rig, surface: Surface, to_rig: Floats, limit: int = 0) -> None:
        if not len(surface.positions):
            raise ValueError("the mesh has no vertices")
        if not rig.deforms.any():
            raise ValueError("the armature has no bone that deforms")
        self.rig = rig
        self.surface = surface
        self.limit = limit
        bone_of_name = {name: bone for bone, name in enumerate(rig.names) if rig.deforms[bone]}
        bone_of_group = np.array([bone_of_name.get(name, -1) for name in surface.groups], np.int32)
        bones, weights = influences.influences(surface.weights, bone_of_group)
        if limit:
            bones, weights = influences.limited(bones, weights, limit)
        moving = np.zeros(len(rig.names), bool)
        moving[bones[weights > 0.0]] = True
        if not moving.any():
            moving[np.flatnonzero(rig.deforms)[0]] = True
        #: The bones of the pose that move some vertex, (U,), ascending.
        self.bones = np.flatnonzero(moving)
        self._inverse_rests = inverse(rig.rests[self.bones])
        self.segments = rig.segments[self.bones]
        #: Whether some bone that moves vertices bends; the binding then holds for one place of the mesh only.
        self.bends = bool((self.segments > 1).any())
        # Numbers among the moving bones; for the padding, whose bone may move none, that of the first.
        joints = np.where(moving, np.cumsum(moving) - 1, 0).astype(np.int32)[bones]
        if self.bends:
            joints, weights = bendy_bones.split_segments(
                transform_points(to_rig, surface.positions),
                joints,
                weights,
                inverse_rests=self._inverse_rests,
                lengths=rig.lengths[self.bones],
                segments=self.segments,
            )
        self.joint_count = int(bendy_bones.joint_counts(self.segments).sum())
        self._to_rig = to_rig
        self.frame = np.eye(4) if is_similarity(to_rig) else linear_part(to_rig)
        self._inverse_frame = inverse(self.frame)
        self._sbs = sbs
        self._indices, self._weights = joints, weights
        self.skin = self._make_skin(surface.positions)

    def _make_skin(self, positions: NDArray[np.float32]) -> Any:
        if not np.array_equal(self.frame, np.eye(4)):
            positions = transform_points(self.frame, positions)
        with warnings.catch_warnings():
            # Sums other than 1 and vertices without weights are everyday matters; the status line counts the latter.
            warnings.simplefilter("ignore", self._sbs.WeightWarning)
            return self._sbs.Skin(positions, self._indices, self._weights, joint_count=self.joint_count)

    def fits(self, to_rig: Floats) -> bool:
        """Whether the binding holds for another place of the mesh in armature space."""
        if self.bends:
            return np.array_equal(to_rig, self._to_rig)
        return is_similarity(to_rig @ self._inverse_frame)

    def with_positions(self, positions: NDArray[np.float32]) -> Binding:
        """The same weights on vertices that moved, (V, 3) in the space of the mesh object."""
        surface = Surface(positions, self.surface.weights, self.surface.groups)
        if self.bends:
            return Binding(self._sbs, self.rig, surface, self._to_rig, self.limit)
        result = object.__new__(Binding)
        result.__dict__.update(self.__dict__)
        result.surface = surface
        result.skin = result._make_skin(positions)
        return result

    def skinning_matrices(self, pose: Floats, to_rig: Floats, segment_moves: list[Floats] | None = None) -> Floats:
        """The matrices for `skin`.

        Parameters
        ----------
        pose : (B, 4, 4) ndarray
            Bone to armature space, of all bones of the rig.
        to_rig : (4, 4) ndarray
            From the space of the mesh object to that of the armature.
        segment_moves : list of (S + 1, 4, 4) ndarrays, optional
            For each bone of `bones` that bends, in their order, how the ends of its segments move in the bone's space.

        Returns
        -------
        (J, 4, 4) ndarray
        """
        posed = pose[self.bones]
        moves = posed @ self._inverse_rests
        if self.bends and segment_moves is not None:
            bending = iter(segment_moves)
            moves = np.concatenate(
                [
                    posed[bone] @ next(bending) @ self._inverse_rests[bone] if count > 1 else moves[bone : bone + 1]
                    for bone, count in enumerate(self.segments)
                ]
            )
        place = to_rig @ self._inverse_frame
        matrices = inverse(place) @ moves @ place
        matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)
        return matrices

    def deform(
        self, matrices: Floats, method: str, amount: Amount | None = None, threads: int | None = None
    ) -> NDArray[np.float32]:
        """Positions (V, 3), in the space of the mesh object, by the matrices of `skinning_matrices`."""
        positions = self.skin.deform(matrices, method=method, threads=threads)
        if amount is not None:
            if amount.method == "none":
                others = self.skin.rest_positions
            else:
                others = self.skin.deform(matrices, method=amount.method, threads=threads)
            positions = others + amount.weights[:, None] * (positions - others)
        if not np.array_equal(self.frame, np.eye(4)):
            positions = transform_points(self._inverse_frame, positions)
        return positions
