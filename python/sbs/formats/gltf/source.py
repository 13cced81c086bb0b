# SPDX-License-Identifier: MIT
"""The glTF file that a character is from, kept so that saving changes no more of it than the character was changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...rigging.animation import Animation
from ...rigging.engine_centers import engine_centers
from ...rigging.parts import Selection
from ...rigging.rig import Floats, Rig
from ...rigging.triangle_mesh import Mesh
from ...rigging.twist_drivers import EXTRAS
from ...support.text import well_formed

__all__ = ["Part", "Source", "make_node"]


def make_node(rig: Rig, node: int) -> dict[str, Any]:
    """The JSON of a node of a rig, without its children."""
    element: dict[str, Any] = {"name": well_formed(rig.names[node])} if rig.names[node] else {}
    if node in rig.twist_by_node:
        element["extras"] = {EXTRAS: rig.twist_by_node[node].extras()}
    if rig.has_matrix[node]:
        return element | {"matrix": rig.local_matrices[node].T.ravel().tolist()}
    w, x, y, z = rig.quaternions[node].tolist()
    translation, scale = rig.translations[node].tolist(), rig.scales[node].tolist()
    return element | {"translation": translation, "rotation": [x, y, z, w], "scale": scale}


@dataclass(frozen=True, eq=False)
class Part:
    """The vertices that a primitive has in the mesh of a character.

    Attributes
    ----------
    mesh, primitive, skin : int
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
    skin: int
    first: int
    count: int
    joint_map: NDArray[np.int32]
    matrix: Floats

    @property
    def rows(self) -> slice:
        """Its vertices in the mesh."""
        return slice(self.first, self.first + self.count)


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """A file, and the character as it was read.

    Attributes
    ----------
    path : Path
        Where images lie that are files of their own.
    json : dict
    blobs : list of bytes
        The contents of buffers, each once.
    buffers : list of int
        The number in these of each buffer's.
    parts : list of Part
        Every primitive once, in the order of the vertices.
    mesh : Mesh
    centers : (V, 4) ndarray or None
        See `engine_centers`.
    rig : Rig
    nodes : list of int
        The file's node of each node of the rig.
    shape_nodes : dict of int to (int, int)
        The first shape of the mesh at each of the file's nodes that has any, and how many.
    animations : list of (Animation, int)
        The animations that move the rig, with their numbers in the file.
    """

    path: Path
    json: dict[str, Any]
    blobs: list[bytes]
    buffers: list[int]
    parts: list[Part]
    mesh: Mesh
    centers: Floats | None
    rig: Rig
    nodes: list[int]
    shape_nodes: dict[int, tuple[int, int]]
    animations: list[tuple[Animation, int]]

    def of_parts(self, whole: Mesh, part: Selection, animations: dict[int, Animation]) -> Source | None:
        """See `KeptFile`."""
        same_parts = [each.vertices for each in whole.parts] == [each.vertices for each in self.mesh.parts]
        if not same_parts or self.lacks_shapes(whole) or not self._has_shapes(whole):
            return None
        moved = {number: own.vertices.start for number, own in zip(part.numbers, part.mesh.parts, strict=True)}
        first_shapes = {number: own.shapes.start for number, own in zip(part.numbers, part.mesh.parts, strict=True)}
        primitives: list[Part] = []
        shape_nodes: dict[int, tuple[int, int]] = {}
        for number, known in enumerate(whole.parts):
            if number not in moved:
                continue
            step = moved[number] - known.vertices.start
            primitives += [
                replace(each, first=each.first + step) for each in self.parts if each.first in known.vertices
            ]
            shape_nodes |= {
                node: (first - known.shapes.start + first_shapes[number], count)
                for node, (first, count) in self.shape_nodes.items()
                if first in known.shapes
            }
        return replace(
            self,
            parts=primitives,
            mesh=replace(self.mesh.of_parts(part.numbers), shapes=part.mesh.shapes),
            centers=engine_centers(part.mesh, part.options),
            shape_nodes=shape_nodes,
            animations=[(animations.get(id(old), old), number) for old, number in self.animations],
        )

    def with_nodes(self, before: Rig, rig: Rig) -> Source | None:
        """See `KeptFile`."""
        if not before.same_as(self.rig):
            return None
        content, numbers = list(self.json["nodes"]), list(self.nodes)
        roots = []
        for node in range(len(before.names), len(rig.names)):
            parent = -1 if rig.parents[node] < 0 else numbers[int(rig.parents[node])]
            numbers.append(len(content))
            if rig.parents[node] < 0:
                roots.append(len(content))
            elif parent < 0:
                return None
            else:
                children = [*(content[parent].get("children") or []), len(content)]
                content[parent] = {**content[parent], "children": children}
            content.append(make_node(rig, node))
        scenes = [{**scene, "nodes": [*(scene.get("nodes") or []), *roots]} for scene in self.json.get("scenes") or []]
        changed = {**self.json, "nodes": content} | ({"scenes": scenes} if roots and scenes else {})
        return replace(self, json=changed, rig=rig, nodes=numbers)

    @property
    def is_avatar(self) -> bool:
        """Whether the file is a VRM, of any version."""
        return not {"VRM", "VRMC_vrm"}.isdisjoint(map(str, self.json.get("extensionsUsed") or []))

    def lacks_shapes(self, mesh: Mesh) -> bool:
        """Whether a mesh that fits has more shapes than the file."""
        return len(mesh.shapes) > len(self.mesh.shapes)

    def _has_shapes(self, mesh: Mesh) -> bool:
        """Whether each part of a mesh begins with the shapes that it has in the file."""
        if len(mesh.parts) != len(self.mesh.parts):
            return False
        return all(
            len(ours.shapes) >= len(theirs.shapes)
            and all(
                mesh.shapes[ours.shapes[place]] is self.mesh.shapes[shape] for place, shape in enumerate(theirs.shapes)
            )
            for ours, theirs in zip(mesh.parts, self.mesh.parts, strict=True)
        )

    def fits(self, mesh: Mesh, rig: Rig) -> bool:
        """Whether a character still has the triangles and the nodes of the file, so that it can be written into it."""
        return (
            len(mesh.positions) == len(self.mesh.positions)
            and np.array_equal(mesh.triangles, self.mesh.triangles)
            and (mesh.normals is None) == (self.mesh.normals is None)
            and (mesh.uvs is None) == (self.mesh.uvs is None)
            and (mesh.tangents is None) == (self.mesh.tangents is None)
            and self._has_shapes(mesh)
            and rig.same_as(self.rig)
        )
