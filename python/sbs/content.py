# SPDX-License-Identifier: MIT
"""The results of readers of files: a mesh on joints, and how its parts get one unit of length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .animation import Animations
from .options import BlendOptions
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
    "fold_scale",
    "skeleton_of",
    "unique_names",
    "weighted_joints",
]

# How much the scales of joints may differ, relative to their mean, and still count as one scale.
_ONE_SCALE = 1e-4

# A scale that is 1 apart from rounding in a file is ignored.
_NO_SCALE = 1e-6


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
        That of a skin, by its number in the file.
    meshes : tuple of str
        That of the first of these meshes, by their names in the file. By default the one with the most vertices.
    """

    skin: int | None = None
    meshes: tuple[str, ...] = ()


@dataclass
class SkinnedMesh:
    """Vertices and triangles, in double precision; see `sbs.Mesh`."""

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

    def named(self, name: str) -> SkinnedMesh:
        """The same as a part of that name."""
        return replace(self, parts=(MeshPart(name, range(len(self.positions)), range(len(self.shapes))),))

    def as_mesh(self) -> Mesh:
        """The same in single precision; numbers too large for it become infinite, which `Skin` refuses."""

        def single(array: Floats | None) -> NDArray[np.float32] | None:
            return None if array is None else array.astype(np.float32)

        with np.errstate(over="ignore"):
            return Mesh(
                positions=self.positions.astype(np.float32),
                triangles=self.triangles.astype(np.int32),
                joint_indices=self.joint_indices.astype(np.int32),
                joint_weights=self.joint_weights.astype(np.float32),
                normals=single(self.normals),
                uvs=single(self.uvs),
                centers=self.centers,
                tangents=single(self.tangents),
                shapes=tuple(replace(shape, offsets=shape.offsets.astype(np.float32)) for shape in self.shapes),
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
        What ``surface.as_mesh()`` returns, where the reader has it.
    source : optional
        What the writer of the same format needs to keep the rest of the file.
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
    with np.errstate(invalid="ignore"):
        used = surface.joint_indices[surface.joint_weights > 0.0]
    return np.bincount(used, minlength=joint_count) > 0


def fold_scale(surface: SkinnedMesh, rig: Rig, weighted: NDArray[np.bool_]) -> tuple[SkinnedMesh, Rig]:
    """Scale the mesh as all joints scale it in the file's own pose, and inverse bind matrices by the inverse.

    Deformed positions do not change, and skinning matrices become rigid.
    """
    linear = rig.rest_matrices[weighted, :3, :3]
    if not len(linear):
        return surface, rig
    scale = float(np.cbrt(np.abs(np.linalg.det(linear))).mean())
    if scale == 0.0 or abs(scale - 1.0) <= _NO_SCALE:
        return surface, rig
    gram = linear.transpose(0, 2, 1) @ linear / scale**2
    if np.abs(gram - np.eye(3)).max() > 2.0 * _ONE_SCALE:
        return surface, rig
    inverse_bind_matrices = rig.inverse_bind_matrices.copy()
    inverse_bind_matrices[:, :3, :3] /= scale
    centers = None if surface.centers is None else surface.centers * scale
    shapes = tuple(replace(shape, offsets=shape.offsets * scale) for shape in surface.shapes)
    return (
        replace(surface, positions=surface.positions * scale, centers=centers, shapes=shapes),
        replace(rig, inverse_bind_matrices=inverse_bind_matrices),
    )


def skeleton_of(rig: Rig) -> Skeleton:
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
