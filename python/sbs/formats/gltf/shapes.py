# SPDX-License-Identifier: MIT
"""Morph targets of meshes, and the tracks of their weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...rigging.rig import Floats
from ...rigging.shapes import BlendShape
from ...support.text import well_formed
from . import accessors
from .document import Document, Element

__all__ = ["pose_drivers", "read_shapes", "shape_weights", "target_count"]


def target_count(mesh: Element) -> int:
    """How many morph targets a mesh has, by its first primitive: all have as many."""
    primitives = mesh.children("primitives")
    return len(primitives[0].children("targets")) if primitives else 0


def read_shapes(
    document: Document, mesh: Element, parts: list[tuple[Element, int, int]], mesh_matrix: Floats
) -> list[BlendShape]:
    """The morph targets of a mesh.

    Parameters
    ----------
    document : Document
    mesh : Element
    parts : list of (Element, int, int)
        The primitives that are read, with the number of their first vertex and how many they have.
    mesh_matrix : (4, 4) ndarray
        From the space of the mesh to that of the character.

    Raises
    ------
    FileError
    """
    count = target_count(mesh)
    names = _names(mesh, count)
    targets = []
    for primitive, _, _ in parts:
        targets.append(primitive.children("targets"))
        if len(targets[-1]) != count:
            raise primitive.error(f"{len(targets[-1])} morph targets, the first primitive has {count}", "targets")
    shapes = []
    for number in range(count):
        vertices, offsets, normals = [np.zeros(0, np.int32)], [np.zeros((0, 3))], [np.zeros((0, 3))]
        has_normals = False
        for (_, first, rows), elements in zip(parts, targets, strict=True):
            target = elements[number]
            found, turned = (_read_offsets(document, target, kind, rows) for kind in ("POSITION", "NORMAL"))
            has_normals |= "NORMAL" in target
            moved = np.flatnonzero(found.any(axis=1) | turned.any(axis=1))
            vertices.append((first + moved).astype(np.int32))
            offsets.append(found[moved])
            normals.append(turned[moved])
        shape = BlendShape(
            names[number],
            np.concatenate(vertices),
            np.concatenate(offsets),
            normals=np.concatenate(normals) if has_normals else None,
        )
        shapes.append(shape.moved(mesh_matrix[:3, :3]))
    return shapes


def _read_offsets(document: Document, target: Element, kind: str, rows: int) -> Floats:
    """The offsets (V, 3) of a kind in a morph target; 0 if it has none."""
    if kind not in target:
        return np.zeros((rows, 3))
    accessor = document.follow("accessors", target, kind)
    if accessors.count(accessor) != rows:
        raise target.error(f"{accessors.count(accessor)} elements for {rows} vertices", kind)
    return accessors.read_floats(document, accessor, "VEC3")


def shape_weights(node: Element, mesh: Element) -> list[float]:
    """How much of each morph target a node has, in the file's own pose: its weights, else those of the mesh."""
    none = [0.0] * target_count(mesh)
    if not none:
        return none  # whatever weights there are
    return (node if "weights" in node else mesh).numbers("weights", none)


def pose_drivers(mesh: Element) -> Any:
    """The drivers of morph targets in the extras of a mesh, as they stand; None if there are none."""
    extras = mesh.anything("extras")
    return extras.get("pose_drivers") if isinstance(extras, dict) else None


def _names(mesh: Element, count: int) -> list[str]:
    """The names of morph targets that most programs put into extras; numbers in place of missing ones."""
    extras = mesh.anything("extras")
    found = extras.get("targetNames") if isinstance(extras, dict) else None
    named = found if isinstance(found, list) else []
    texts = [well_formed(name) if isinstance(name, str) else "" for name in named[:count]] + [""] * (count - len(named))
    return [text or f"shape_{number}" for number, text in enumerate(texts)]
