# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of a mesh in armature space, the space of its skin, and the source of its centers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .matrices import Floats, inverse, is_similarity, linear_part, transform_points

# How far a mesh may be in armature space from where it was bound, as a share of its size. Blender's matrices are
# float32: when a rig is moved with its mesh, the relative place changes in the last bits.
_TOLERANCE = 3e-6


@dataclass(frozen=True)
class SkinSpace:
    """The space of a skin: that of its mesh object, but for `matrix`, which leads there.

    Blender's Armature modifier deforms in armature space. All methods commute with rotation, translation and uniform
    scale. So if the mesh is placed in armature space by those alone, this is the mesh's own space. Otherwise it is the
    one that the linear part of that place leads to.
    """

    #: (4, 4)
    matrix: Floats
    inverse: Floats
    is_mesh: bool  #: Whether it is the space of the mesh object itself

    @classmethod
    def find(cls, to_rig: Floats) -> SkinSpace:
        """The space for a mesh that `to_rig` (4, 4) places."""
        matrix = np.eye(4) if is_similarity(to_rig) else linear_part(to_rig)
        return cls(matrix, inverse(matrix), np.array_equal(matrix, np.eye(4)))

    def place(self, to_rig: Floats) -> Floats:
        """The matrix (4, 4) from here to armature space, for a mesh that is there by `to_rig`."""
        return to_rig @ self.inverse

    def fits(self, to_rig: Floats) -> bool:
        """Whether a skin in this space is valid for a mesh at that place."""
        return is_similarity(self.place(to_rig))

    def from_mesh(self, points: NDArray[Any]) -> NDArray[Any]:
        """Points (V, 3) of the mesh object in this space."""
        return points if self.is_mesh else transform_points(self.matrix, points)

    def to_mesh(self, points: NDArray[Any]) -> NDArray[Any]:
        """Points (V, 3) of this space in that of the mesh object."""
        return points if self.is_mesh else transform_points(self.inverse, points)


@dataclass(frozen=True)
class Place:
    """Where a mesh is in armature space, and the matrices that depend on it."""

    to_rig: bytes  #: The place, a matrix
    before: Floats  #: (4, 4): from armature space to that of the skin
    after: Floats  #: (U, 4, 4): from the space of the skin to that of each bone at rest

    def is_at(self, to_rig: Floats) -> bool:
        """Whether the mesh is at the place of that matrix. Comparing bytes takes a tenth of the time of arrays."""
        return self.to_rig == to_rig.tobytes()


def corners(positions: NDArray[np.float32]) -> Floats:
    """The corners of the box around points (V, 3), (8, 4) with ones."""
    ends = np.stack([positions.min(axis=0), positions.max(axis=0)])
    return np.array([[ends[i, 0], ends[j, 1], ends[k, 2], 1.0] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def is_at_place(box: Floats, to_rig: Floats, other: Floats) -> bool:
    """Whether a mesh with these `corners` is at one place by two matrices (4, 4), but for their last bits."""
    if to_rig is other or np.array_equal(to_rig, other):
        return True
    now, then = box @ to_rig[:3].T, box @ other[:3].T
    return bool(np.abs(now - then).max() <= _TOLERANCE * np.ptp(then, axis=0).max())


@dataclass(frozen=True)
class CenterSource:
    """The source of optimized centers."""

    digest: str  #: Of vertices, weights, faces and bones, all as a file has them
    #: (4, 4): from the mesh object's space to the armature's. The last bits of this matrix differ from
    #: frame to frame, so it is compared with a tolerance.
    place: Floats

    @classmethod
    def from_arrays(cls, arrays: Iterable[NDArray[Any]], options: str, place: Floats) -> Self:
        """The source with the digest of the contents of arrays, and of options."""
        digest = hashlib.blake2b(options.encode(), digest_size=16)
        for array in arrays:
            digest.update(f"{array.dtype}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return cls(digest.hexdigest(), place)
