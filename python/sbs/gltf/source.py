# SPDX-License-Identifier: MIT
"""The glTF file that a character is from, kept so that saving changes no more of it than the character was changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..animation import Animation
from ..rig import Floats, Rig
from ..triangle_mesh import Mesh

__all__ = ["Part", "Source"]


@dataclass(frozen=True)
class Part:
    """The vertices that a primitive has in the mesh of a character.

    Attributes
    ----------
    mesh, primitive : int
        Numbers in the file.
    first, count : int
        Its vertices in the mesh.
    joint_map : (J,) int32 ndarray
        The character's joint of each joint of the skin.
    matrix : (4, 4) ndarray
        From the file's positions to those of the mesh.
    """

    mesh: int
    primitive: int
    first: int
    count: int
    joint_map: NDArray[np.int32]
    matrix: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """A file, and what a character was made of it.

    Attributes
    ----------
    path : Path
        Where images lie that are files of their own.
    json : dict
    blobs : list of bytes
        What buffers begin with.
    buffers : list of int
        Which of these each buffer has.
    parts : list of Part
        Every primitive once, in the order of the vertices.
    mesh : Mesh
    rig : Rig
    nodes : list of int
        The file's node of each node of the rig.
    shape_nodes : dict of int to (int, int)
        The first shape of the mesh at each of the file's nodes that has any, and how many.
    animations : list of (Animation, int)
        Those that move the rig, with their numbers in the file.
    """

    path: Path
    json: dict[str, Any]
    blobs: list[bytes]
    buffers: list[int]
    parts: list[Part]
    mesh: Mesh
    rig: Rig
    nodes: list[int]
    shape_nodes: dict[int, tuple[int, int]]
    animations: list[tuple[Animation, int]]

    def fits(self, mesh: Mesh, rig: Rig) -> bool:
        """Whether a character still has the triangles and the nodes of the file, so that it can be written into it."""
        return (
            len(mesh.positions) == len(self.mesh.positions)
            and np.array_equal(mesh.triangles, self.mesh.triangles)
            and (mesh.normals is None) == (self.mesh.normals is None)
            and (mesh.uvs is None) == (self.mesh.uvs is None)
            and (mesh.tangents is None) == (self.mesh.tangents is None)
            and len(mesh.shapes) == len(self.mesh.shapes)
            and all(ours is theirs for ours, theirs in zip(mesh.shapes, self.mesh.shapes, strict=True))
            and rig.same_as(self.rig)
        )
