# SPDX-License-Identifier: MIT
"""The results of readers of files: a mesh on joints, and how its parts get one unit of length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..skinning.influences import tidy
from ..skinning.options import BlendOptions
from ..skinning.tangents import moved_tangents
from ..support.vectors import unit
from . import affine
from .animation import Animations
from .rig import Floats, Rig
from .shapes import BlendShape
from .skeleton import Skeleton
from .triangle_mesh import Mesh, MeshPart

__all__ = [
    "CharacterContent",
    "FileError",
    "FileWarning",
    "SkinnedMesh",
    "Wanted",
    "bind_skeleton",
    "to_scene",
    "uneven_node",
    "unique_names",
    "weighted_joints",
]

# How much the scales of joints may differ, relative to their mean, and still count as one scale.
_ONE_SCALE = 1e-4

# The ratio of its scales at which a node above joints is uneven.
_UNEVEN = 1.001

# A scale that is 1 apart from rounding in a file is ignored.
_NO_SCALE = 1e-6

# A scene matrix so near the identity, relative to the size of the mesh, is ignored: files hold float32.
_IN_PLACE = 1e-5

# Further arrays of vertices, in single precision.
_OF_VERTICES = ("normals", "uvs", "tangents")


class FileError(ValueError):
    """A file that cannot be read as a skinned character. The message names the file and the element at fault."""


class FileWarning(UserWarning):
    """A part of a file was left out, or changed when it was read."""


@dataclass(frozen=True)
class Wanted:
    """Which of the characters in a file is read: one of several skeletons.

    Attributes
    ----------
    skin : int, optional
        The skeleton of a skin, by the skin's number in the file.
    meshes : tuple of str
        The skeleton of the first of these meshes, by their names. By default the one with the most vertices.
    """

    skin: int | None = None
    meshes: tuple[str, ...] = ()


@dataclass
class SkinnedMesh:
    """Vertices and triangles, in double precision; see `sbs.Mesh`. `amounts` (V,) are beside `engine_centers`."""

    positions: Floats
    triangles: NDArray[np.int64]
    joint_indices: NDArray[np.int64]
    joint_weights: Floats
    normals: Floats | None = None
    uvs: Floats | None = None
    centers: Floats | None = None
    tangents: Floats | None = None
    shapes: tuple[BlendShape, ...] = ()
    parts: tuple[MeshPart, ...] = ()
    amounts: Floats | None = None

    def named(self, name: str) -> SkinnedMesh:
        """The same as a part of that name."""
        return replace(self, parts=(MeshPart(name, range(len(self.positions)), range(len(self.shapes))),))

    def moved(self, matrix: Floats) -> SkinnedMesh:
        """The same by an affine matrix (4, 4) that has an inverse; triangles are turned around by one that mirrors."""
        if np.array_equal(matrix, np.eye(4)):
            return self
        linear = matrix[:3, :3]
        normals, tangents, centers = self.normals, self.tangents, self.centers
        if normals is not None:
            normals = unit(normals @ np.linalg.inv(linear))
        return replace(
            self,
            positions=self.positions @ linear.T + matrix[:3, 3],
            triangles=self.triangles[:, ::-1] if np.linalg.det(linear) < 0.0 else self.triangles,
            normals=normals,
            centers=None if centers is None else centers @ linear.T + matrix[:3, 3],
            tangents=None if tangents is None else moved_tangents(tangents, linear),
            shapes=tuple(shape.moved(linear) for shape in self.shapes),
        )

    def as_mesh(self) -> Mesh:
        """The same in single precision; numbers too large for it become infinite, which `Skin` refuses."""

        def owned(name: str, dtype: type[Any]) -> Any:
            array = getattr(self, name)
            return None if array is None else _core.owned(array, name, dtype)

        with np.errstate(over="ignore"):
            return Mesh(
                **{name: owned(name, np.int32) for name in ("triangles", "joint_indices")},
                **{name: owned(name, np.float32) for name in ("positions", "joint_weights", *_OF_VERTICES)},
                centers=self.centers,
                shapes=tuple(shape.in_single_precision() for shape in self.shapes),
                parts=self.parts,
            )


@dataclass
class CharacterContent:
    """The character in a file.

    Attributes
    ----------
    surface : SkinnedMesh
    skeleton : Skeleton
    rig : Rig
    animations : Animations
    remarks : list of str
        The parts that were left out, or read in another way than they are stored.
    options : BlendOptions
        How the file has the mesh deformed, where that is not linear blending.
    mesh : Mesh, optional
        The result of ``surface.as_mesh()``, where the reader has it.
    source : optional
        The rest of the file, for the writer of the same format.
    """

    surface: SkinnedMesh
    skeleton: Skeleton
    rig: Rig
    animations: Animations
    remarks: list[str]
    options: BlendOptions = field(default_factory=BlendOptions)
    mesh: Mesh | None = None
    source: object = None


def weighted_joints(surface: SkinnedMesh, joint_count: int) -> NDArray[np.bool_]:
    """Which joints move a vertex, (J,)."""
    indices, weights = tidy(surface.joint_indices, surface.joint_weights)
    return np.bincount(indices[weights > 0.0], minlength=joint_count) > 0


def to_scene(surface: SkinnedMesh, rig: Rig, weighted: NDArray[np.bool_]) -> tuple[SkinnedMesh, Rig, Floats]:
    """Bring the mesh to where the scene has it in the file's own pose, and inverse bind matrices back from there.

    Deformed positions do not change, but for those of vertices without weights: no joint takes these to the scene.
    Where all joints scale alike, skinning matrices become rigid. Also returns the matrix of the mesh, (4, 4).
    """
    matrix = rig.scene_matrix(surface.joint_indices, surface.joint_weights)
    apart = np.abs(matrix - np.eye(4))
    in_place = apart[:3, :3].max() <= _IN_PLACE and apart[:3, 3].max() <= _IN_PLACE * np.abs(surface.positions).max()
    if in_place or affine.are_singular(matrix[None], 2.0 * affine.FLAT)[0]:
        matrix = np.eye(4)
    matrix = _common_scale(rig.rest_matrices[weighted, :3, :3] @ np.linalg.inv(matrix[:3, :3])) @ matrix
    inverse_bind_matrices = rig.inverse_bind_matrices @ affine.inverse(matrix[None])
    return surface.moved(matrix), replace(rig, inverse_bind_matrices=inverse_bind_matrices), matrix


def _common_scale(linear: Floats) -> Floats:
    """The matrix (4, 4) that scales as all linear maps (n, 3, 3) do, or the identity."""
    scale = float(np.cbrt(np.abs(np.linalg.det(linear))).mean()) if len(linear) else 1.0
    if scale == 0.0 or abs(scale - 1.0) <= _NO_SCALE:
        return np.eye(4)
    gram = linear.transpose(0, 2, 1) @ linear / scale**2
    return np.eye(4) if np.abs(gram - np.eye(3)).max() > 2.0 * _ONE_SCALE else np.diag([scale, scale, scale, 1.0])


def uneven_node(rig: Rig) -> str | None:
    """The first node above a joint that scales unevenly, by its name: joints below it are sheared as they turn."""
    above = rig.parents[rig.joints]
    above = np.unique(above[above >= 0])
    scales = np.linalg.svd(rig.global_matrices(rig.local_matrices)[above, :3, :3], compute_uv=False)
    return next((rig.names[node] for node in above[scales[:, 0] > _UNEVEN * scales[:, 2]]), None)


def bind_skeleton(rig: Rig) -> Skeleton:
    """The joints at bind, without the scale of the nodes in their axes.

    Raises
    ------
    ValueError
        For everything that `Skeleton` refuses.
    """
    names = unique_names([rig.names[node] or f"joint_{joint}" for joint, node in enumerate(rig.joints)])
    return Skeleton(rig.joint_parents, rig.bind_matrices, names=names)


def unique_names(names: Sequence[str]) -> list[str]:
    """Names with a number appended to those that occurred before."""
    taken = set(names)
    numbers: dict[str, int] = {}
    result = []
    for name in names:
        candidate, number = name, numbers.get(name, 0) + 1
        while number > 1 and (candidate := f"{name}_{number}") in taken:
            number += 1
        numbers[name] = number
        taken.add(candidate)
        result.append(candidate)
    return result
