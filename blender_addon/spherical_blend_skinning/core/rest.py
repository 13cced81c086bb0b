# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of an armature at rest, and a mesh with its weights, to be bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from . import influences
from .matrices import Floats


@dataclass(frozen=True)
class RestBones:
    """The bones of an armature at rest."""

    names: tuple[str, ...]  #: The bones, B of them, in the order of the pose
    deforms: NDArray[np.bool_]  #: (B,)
    rests: Floats  #: (B, 4, 4): bone to armature space
    lengths: Floats  #: (B,)
    segments: NDArray[np.int32]  #: (B,): 1 for bones that do not bend
    parents: NDArray[np.int32]  #: (B,): -1 for bones without
    marked: NDArray[np.bool_]  #: (B,): those marked for bones blending by the artist
    #: (B, 2): where along each bone bones blending begins and ends, NaN if the radius of the limb determines it
    zones: Floats
    #: The bones that map vertices along their curve, each with the ends of its segments at rest, (S + 1, 4, 4).
    curves: Mapping[int, Floats] = field(default_factory=dict)

    def same_as(self, other: RestBones) -> bool:
        """Whether both would bind a mesh in the same way, apart from the zones of bones blending."""
        return self is other or (
            self.names == other.names
            and np.array_equal(self.deforms, other.deforms)
            and np.array_equal(self.rests, other.rests)
            and np.array_equal(self.lengths, other.lengths)
            and np.array_equal(self.segments, other.segments)
            and np.array_equal(self.parents, other.parents)
            and np.array_equal(self.marked, other.marked)
            and self.curves.keys() == other.curves.keys()
            and all(np.array_equal(curve, other.curves[bone]) for bone, curve in self.curves.items())
        )

    def deforming_parents(self) -> NDArray[np.int32]:
        """The nearest ancestor of each bone that deforms, (B,); -1 if there is none."""
        parents = self.parents.copy()
        while (passed := (parents >= 0) & ~self.deforms[parents]).any():
            parents[passed] = self.parents[parents[passed]]
        return parents

    def joints(self) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The bones that deform, (J,), and which of these is the parent of each, (J,); -1 if there is none."""
        bones = np.flatnonzero(self.deforms)
        numbers = np.append(np.cumsum(self.deforms) - 1, -1)  # the last is that of -1
        return bones, numbers[self.deforming_parents()[bones]].astype(np.int32)

    def has_same_zones(self, other: RestBones) -> bool:
        """Whether bones blending begins and ends at the same places in both."""
        return self is other or np.array_equal(self.zones, other.zones, equal_nan=True)


@dataclass(frozen=True)
class BoundMesh:
    """The mesh to bind."""

    positions: NDArray[np.float32]  #: (V, 3): in the space of the mesh object
    weights: influences.VertexWeights
    groups: tuple[str, ...]  #: The names of the vertex groups
    #: (V, 3): the positions before shape keys and modifiers, if these move vertices
    basis: NDArray[np.float32] | None = None

    @property
    def at_rest(self) -> NDArray[np.float32]:
        """The positions before shape keys and modifiers."""
        return self.positions if self.basis is None else self.basis

    def reweighted(self, other: BoundMesh) -> NDArray[np.intp] | None:
        """The vertices whose weights differ from those of another mesh; None if they cannot be compared."""
        if self.groups != other.groups or len(self.positions) != len(other.positions):
            return None
        return np.empty(0, np.intp) if self.weights is other.weights else self.weights.differing(other.weights)

    def has_same_basis(self, other: BoundMesh) -> bool:
        """Whether both have their vertices at the same places before shape keys and modifiers."""
        return self.at_rest is other.at_rest or np.array_equal(self.at_rest, other.at_rest)

    def has_same_positions(self, other: BoundMesh) -> bool:
        """Whether both have their vertices at the same places."""
        return self.positions is other.positions or np.array_equal(self.positions, other.positions)
