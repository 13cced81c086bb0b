# SPDX-License-Identifier: MIT
"""Meshes: all primitives of one group of skins, joined into one mesh."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...rigging.content import SkinnedMesh, unique_names
from ...rigging.rig import Floats
from ...rigging.shapes import BlendShape
from ...rigging.triangle_mesh import MeshPart, area_weighted_normals
from ...support.text import well_formed
from . import accessors
from .centers import BOUNDS, CENTER, fit_centers
from .document import Document, Element
from .shapes import read_shapes
from .skins import SkinUse

_TRIANGLES, _TRIANGLE_STRIP, _TRIANGLE_FAN = 4, 5, 6


def read_surface(
    document: Document, meshes: list[tuple[Element, SkinUse, str]]
) -> tuple[SkinnedMesh, list[tuple[int, int, int]]]:
    """Joins the primitives of named meshes, one after the other; each mesh is a part.

    Also returns for each primitive the number of the mesh, its own, and its vertices. Vertices of primitives without
    normals get area-weighted ones if others have normals, and those without texture coordinates get (0, 0) if others
    have them. Raises FileError.
    """
    surfaces, origins = [], []
    shapes: list[BlendShape] = []
    whole: list[MeshPart] = []
    names = unique_names([well_formed(name) for _, _, name in meshes])
    first = 0
    for mesh_number, (mesh, use, _) in enumerate(meshes):
        parts = []
        start = first, len(shapes)
        for number, primitive in enumerate(mesh.children("primitives")):
            surface = _read_primitive(document, primitive, use)
            if surface is not None:
                surfaces.append(surface)
                origins.append((mesh_number, number, len(surface.positions)))
                parts.append((primitive, first, len(surface.positions)))
                first += len(surface.positions)
        shapes += read_shapes(document, mesh, parts, use.mesh_matrix)
        if parts:
            whole.append(MeshPart(names[mesh_number], range(start[0], first), range(start[1], len(shapes))))
    if not surfaces:
        raise document.root.error("no triangles on the skin")
    return replace(join(surfaces), shapes=tuple(shapes), parts=tuple(whole)), origins


def vertex_count(document: Document, mesh: Element) -> int:
    """How many vertices a mesh has."""
    positions = [
        document.follow("accessors", primitive.child("attributes"), "POSITION")
        for primitive in mesh.children("primitives")
    ]
    return sum(map(accessors.count, positions))


def join(surfaces: list[SkinnedMesh]) -> SkinnedMesh:
    """One mesh of several, with all parts of these."""
    first_vertices = np.cumsum([0] + [len(surface.positions) for surface in surfaces[:-1]])
    first_shapes = np.cumsum([0] + [len(surface.shapes) for surface in surfaces[:-1]])
    names = iter(unique_names([part.name for surface in surfaces for part in surface.parts]))
    width = max(surface.joint_indices.shape[1] for surface in surfaces)

    def padded(influences: list[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in influences])

    def joined(name: str, missing: Callable[[SkinnedMesh], Floats] | None = None) -> Floats | None:
        """An array of all surfaces, in which a function replaces missing ones; None if there is no function then."""
        arrays = [getattr(surface, name) for surface in surfaces]
        absent = [array is None for array in arrays]
        if all(absent) or (missing is None and any(absent)):
            return None
        pairs = zip(arrays, surfaces, strict=True)
        return np.concatenate([missing(own) if missing and array is None else array for array, own in pairs])

    return SkinnedMesh(
        positions=np.concatenate([surface.positions for surface in surfaces]),
        triangles=np.concatenate([s.triangles + first for s, first in zip(surfaces, first_vertices, strict=True)]),
        joint_indices=padded([surface.joint_indices for surface in surfaces]),
        joint_weights=padded([surface.joint_weights for surface in surfaces]),
        normals=joined("normals", lambda surface: area_weighted_normals(surface.positions, surface.triangles)),
        uvs=joined("uvs", lambda surface: np.zeros((len(surface.positions), 2))),
        tangents=joined("tangents"),
        centers=joined("centers", lambda surface: surface.positions),
        amounts=joined("amounts", lambda surface: np.zeros(len(surface.positions))),
        shapes=tuple(
            replace(shape, vertices=shape.vertices + np.int32(first))
            for surface, first in zip(surfaces, first_vertices, strict=True)
            for shape in surface.shapes
        ),
        parts=tuple(
            replace(part.moved(int(first), int(first_shape)), name=next(names))
            for surface, first, first_shape in zip(surfaces, first_vertices, first_shapes, strict=True)
            for part in surface.parts
        ),
    )


def _read_primitive(document: Document, primitive: Element, use: SkinUse) -> SkinnedMesh | None:
    mode = primitive.integer("mode", _TRIANGLES)
    if mode < _TRIANGLES:
        document.remarks.append(f"{primitive.label} is left out: it has points or lines, not triangles")
        return None
    if mode > _TRIANGLE_FAN:
        raise primitive.error(f"{mode} is no mode", "mode")
    attributes = primitive.child("attributes")
    position_accessor = document.follow("accessors", attributes, "POSITION")
    if "bufferView" not in position_accessor and primitive.has_extension("KHR_draco_mesh_compression"):
        raise document.compressed("KHR_draco_mesh_compression")
    rows = accessors.count(position_accessor)
    positions = accessors.read_floats(document, position_accessor, "VEC3")
    normals = _read_attribute(document, attributes, "NORMAL", "VEC3", rows) if "NORMAL" in attributes else None
    uvs = _read_attribute(document, attributes, "TEXCOORD_0", "VEC2", rows) if "TEXCOORD_0" in attributes else None
    tangents = _read_attribute(document, attributes, "TANGENT", "VEC4", rows) if "TANGENT" in attributes else None
    centers = _read_centers(document, primitive, positions)
    joint_indices, joint_weights = _read_influences(document, attributes, use, rows)
    return SkinnedMesh(
        positions=positions,
        triangles=_read_triangles(document, primitive, mode, rows),
        joint_indices=joint_indices,
        joint_weights=joint_weights,
        normals=normals,
        uvs=uvs,
        tangents=tangents,
        centers=None if centers is None else centers[:, :3],
        amounts=None if centers is None else centers[:, 3],
    ).moved(use.mesh_matrix)


def _attribute(document: Document, attributes: Element, name: str, rows: int) -> Element:
    accessor = document.follow("accessors", attributes, name)
    if accessors.count(accessor) != rows:
        raise attributes.error(f"{accessors.count(accessor)} elements for {rows} vertices", name)
    return accessor


def _read_attribute(document: Document, attributes: Element, name: str, kind: str, rows: int) -> Floats:
    return accessors.read_floats(document, _attribute(document, attributes, name, rows), kind)


def _read_centers(document: Document, primitive: Element, positions: Floats) -> Floats | None:
    """Centers and amounts (V, 4) that the file has for a shader."""
    attributes, extras = primitive.child("attributes"), primitive.anything("extras")
    bounds = extras.get(BOUNDS) if isinstance(extras, dict) else None
    if CENTER not in attributes:
        if bounds is not None:
            document.remarks.append(f"{attributes.label}: {CENTER} was removed; blending is linear there")
        return None
    found = _read_attribute(document, attributes, CENTER, "VEC4", len(positions))
    for vertex in np.flatnonzero((found[:, 3] < 0.0) | (found[:, 3] > 1.0))[:1]:
        raise attributes.error(f"the amount of vertex {vertex} is {found[vertex, 3]:g}, not between 0 and 1", CENTER)
    centers = fit_centers(found[:, :3], positions, bounds)
    if centers is None:
        document.remarks.append(
            f"{attributes.label}: {CENTER} does not fit positions, which were changed since; blending is linear there"
        )
        return None
    return np.column_stack([centers, found[:, 3]])


def _read_influences(
    document: Document, attributes: Element, use: SkinUse, rows: int
) -> tuple[NDArray[np.int64], Floats]:
    """Joint indices and weights (V, 4 n) of n sets; weights may be any numbers, also NaN.

    They are as stored, but divided by their sum where rounding to normalized integers explains that it is not 1.
    """
    set_count = 0
    while f"JOINTS_{set_count}" in attributes and f"WEIGHTS_{set_count}" in attributes:
        set_count += 1
    for name in (f"JOINTS_{set_count}", f"WEIGHTS_{set_count}"):
        if set_count and name in attributes:
            document.remarks.append(f"{attributes.label}: {name} is left out, as it is alone")
    if set_count == 0 and not any(f"{name}_0" in attributes for name in ("JOINTS", "WEIGHTS")):
        document.remarks.append(f"{attributes.label}: no JOINTS_0, so these {rows} vertices have no weights")
        return np.zeros((rows, 1), dtype=np.int64), np.zeros((rows, 1))
    joint_sets, weight_sets, rounding = [], [], 0.0
    for number in range(max(set_count, 1)):
        accessor = _attribute(document, attributes, f"JOINTS_{number}", rows)
        joints = accessors.read_integers(document, accessor, "VEC4")
        weights_accessor = _attribute(document, attributes, f"WEIGHTS_{number}", rows)
        weights = accessors.read_floats(document, weights_accessor, "VEC4", finite=False)
        outside = joints >= len(use.joint_map)
        for vertex, influence in np.argwhere(outside & (weights != 0.0))[:1]:
            raise accessor.error(
                f"joint {joints[vertex, influence]} of vertex {vertex}, but the skin has {len(use.joint_map)} joints"
            )
        # Some programs leave arbitrary joint numbers where the weight is 0.
        joint_sets.append(use.joint_map[np.where(outside, 0, joints)])
        weight_sets.append(weights)
        rounding += weights.shape[1] * accessors.rounding(weights_accessor)
    weights = np.concatenate(weight_sets, axis=1)
    total = weights.sum(axis=1, keepdims=True)
    is_rounded = np.abs(total - 1.0) < 1.01 * rounding  # and by rounding of the sum
    return np.concatenate(joint_sets, axis=1), np.divide(weights, total, out=weights, where=is_rounded)


def _read_triangles(document: Document, primitive: Element, mode: int, rows: int) -> NDArray[np.int64]:
    if "indices" in primitive:
        accessor = document.follow("accessors", primitive, "indices")
        indices = accessors.read_integers(document, accessor, "SCALAR")[:, 0]
        if indices.max() >= rows:
            place = int(np.argmax(indices))
            raise accessor.error(f"element {place} is {indices[place]}, but there are {rows} vertices")
    else:
        indices = np.arange(rows)
    if mode == _TRIANGLES:
        if len(indices) % 3:
            raise primitive.error(f"{len(indices)} corners do not make whole triangles")
        return indices.reshape(-1, 3)
    if len(indices) < 3:
        raise primitive.error(f"{len(indices)} corners do not make a triangle")
    if mode == _TRIANGLE_FAN:
        return np.stack([indices[1:-1], indices[2:], np.full(len(indices) - 2, indices[0])], axis=1)
    # Every other triangle of a strip has the opposite winding; those with a corner twice only connect its pieces.
    triangles = np.stack([indices[:-2], indices[1:-1], indices[2:]], axis=1)
    triangles[1::2] = triangles[1::2, [0, 2, 1]]
    a, b, c = triangles.T
    whole: NDArray[np.bool_] = (a != b) & (b != c) & (c != a)
    return triangles[whole]
