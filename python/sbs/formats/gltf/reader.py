# SPDX-License-Identifier: MIT
"""Reads a skinned character from a glTF 2.0 file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...rigging import affine
from ...rigging.content import (
    CharacterContent,
    FileError,
    SkinnedMesh,
    Wanted,
    bind_skeleton,
    to_scene,
    weighted_joints,
)
from ...rigging.engine_centers import engine_centers, engine_options
from ...rigging.rig import Floats
from ...rigging.shape_drivers import driven_shapes
from ...skinning.options import BlendOptions
from ...support.text import well_formed
from . import nodes
from .animations import AnimationReader
from .document import Document
from .meshes import read_surface, vertex_count
from .shapes import pose_drivers, shape_weights
from .skins import SkinGroup, join_skins, read_skins, skeletons
from .source import Part, Source


def read(path: Path, wanted: Wanted) -> CharacterContent:
    """See `sbs.load`."""
    document = Document(path)
    # Huge numbers overflow in several places; the results are refused below.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _read(document, wanted)


def _read(document: Document, wanted: Wanted) -> CharacterContent:
    parents = nodes.read_parents(document)
    group, meshes = _choose(document, parents, wanted)
    places = [node for _, _, node in meshes]
    named = [
        (document.all("meshes")[mesh], group.uses[skin], _name(document, mesh, node)) for mesh, skin, node in meshes
    ]
    surface, origins = read_surface(document, named)
    surface, shape_nodes = _weighted_shapes(document, surface, places)
    weighted = weighted_joints(surface, len(group.joints))
    inverse_bind_matrices = _usable(document, group, weighted)
    rig = nodes.read_rig(document, group.joints, parents, inverse_bind_matrices)
    if not np.isfinite(rig.rest_matrices).all():
        raise document.root.error("transforms of nodes or inverse bind matrices are too large", "nodes")
    surface, rig, matrix = to_scene(surface, rig, weighted)
    try:
        skeleton = bind_skeleton(rig)
        elements = [named[place][0] for place in dict.fromkeys(place for place, _, _ in origins)]
        mesh = replace(surface, shapes=driven_shapes(surface, [*map(pose_drivers, elements)], rig)).as_mesh()
    except ValueError as error:
        raise FileError(f"{document.path}: {error}") from None
    order = nodes.ancestry(group.joints, parents)
    order += [-1] * (len(rig.parents) - len(order))  # joints that the file has no node of their own for
    blobs, buffers = document.blobs()
    parts = _parts(origins, meshes, group, matrix)
    origins_in_file = [(part.mesh, part.primitive) for part in parts]
    animations, numbers = AnimationReader(document, rig, order, shape_nodes).read()
    options = BlendOptions() if surface.amounts is None else engine_options(surface.amounts)
    return CharacterContent(
        surface=surface,
        skeleton=skeleton,
        rig=rig,
        animations=animations,
        remarks=document.remarks,
        options=options,
        mesh=mesh,
        source=None
        if document.is_compressed or len(set(origins_in_file)) < len(origins_in_file)
        else Source(
            path=document.path,
            json=document.json,
            blobs=blobs,
            buffers=buffers,
            parts=parts,
            mesh=mesh,
            centers=engine_centers(mesh, options),
            rig=rig,
            nodes=order,
            shape_nodes=shape_nodes,
            animations=list(zip(animations, numbers, strict=True)),
        ),
    )


def _weighted_shapes(
    document: Document, surface: SkinnedMesh, places: list[int]
) -> tuple[SkinnedMesh, dict[int, tuple[int, int]]]:
    """Shapes with the weights of the file's own pose; and for each node of a mesh its first shape and how many."""
    weights: list[float] = []
    shape_nodes: dict[int, tuple[int, int]] = {}
    for number in places:
        node = document.all("nodes")[number]
        node_weights = shape_weights(node, document.follow("meshes", node, "mesh"))
        if node_weights:
            shape_nodes[number] = len(weights), len(node_weights)
        weights += node_weights
    shapes = [replace(shape, weight=weight) for shape, weight in zip(surface.shapes, weights, strict=True)]
    return replace(surface, shapes=tuple(shapes)), shape_nodes


def _parts(
    origins: list[tuple[int, int, int]], meshes: list[tuple[int, int, int]], group: SkinGroup, to_scene: Floats
) -> list[Part]:
    """Where the vertices are from, and how they were brought into the scene."""
    parts, first = [], 0
    for place, primitive, count in origins:
        mesh, skin, _ = meshes[place]
        use = group.uses[skin]
        parts.append(Part(mesh, primitive, skin, first, count, use.joint_map, to_scene @ use.mesh_matrix))
        first += count
    return parts


def _choose(document: Document, parents: list[int], wanted: Wanted) -> tuple[SkinGroup, list[tuple[int, int, int]]]:
    """The skins to read, and their meshes as numbers (mesh, skin, node)."""
    skins = read_skins(document)
    if not skins:
        raise FileError(f"{document.path}: no skin, so there is nothing to deform")
    if wanted.skin is not None and not 0 <= wanted.skin < len(skins):
        raise FileError(f"{document.path}: there is no skin {wanted.skin}, the file has {len(skins)}")
    pairs, unskinned = _mesh_nodes(document, parents)
    if unskinned:
        document.remarks.append(f"left out, as they have no skin: {_names(unskinned)}")
    used = {skin for _, skin, _ in pairs}
    if wanted.skin is not None and wanted.skin not in used:
        raise FileError(f"{document.path}: no mesh in the scene uses skin {wanted.skin}")
    if not used:
        raise FileError(f"{document.path}: no mesh in the scene uses skin 0")
    together = skeletons(document, [skin for skin in skins if skin.number in used], parents)
    skeleton_by_skin = {skin.number: place for place, members in enumerate(together) for skin in members}
    users: list[list[tuple[int, int, int]]] = [[] for _ in together]
    for pair in pairs:
        users[skeleton_by_skin[pair[1]]].append(pair)
    counts = {mesh: vertex_count(document, document.all("meshes")[mesh]) for mesh in {mesh for mesh, _, _ in pairs}}
    sizes = [sum(counts[mesh] for mesh, _, _ in meshes) for meshes in users]
    chosen = most = int(np.argmax(sizes))
    if wanted.skin is not None:
        chosen = skeleton_by_skin[wanted.skin]
    elif wanted.meshes:
        names = [{_name(document, mesh, node) for mesh, _, node in meshes} for meshes in users]
        chosen = next((place for place in (most, *range(len(names))) if wanted.meshes[0] in names[place]), most)
    others = [
        f"{_name(document, mesh, node)} (skin {skin})"
        for place, meshes in enumerate(users)
        if place != chosen
        for mesh, skin, node in meshes
    ]
    if others and wanted.skin is None and not wanted.meshes:
        document.remarks.append(
            f"left out, as another skeleton has more vertices (skin= or mesh= chooses): {_names(others)}"
        )
    return join_skins(document, together[chosen], parents), users[chosen]


def _name(document: Document, mesh: int, node: int) -> str:
    """The name of a mesh: that of its node, as Blender and others name objects, or its own."""
    element = document.all("meshes")[mesh]
    return well_formed(document.all("nodes")[node].string("name", "") or element.string("name", "") or f"mesh_{mesh}")


def _mesh_nodes(document: Document, parents: list[int]) -> tuple[list[tuple[int, int, int]], list[str]]:
    """Meshes with skins in the scene (mesh, skin, node), each pair once, and the names of meshes without a skin.

    The node of a skinned mesh does not affect its place (glTF 2.0, section 3.7.3.3): used twice, it is there once.
    """
    pairs: dict[tuple[int, int], int] = {}
    unskinned = []
    for number in nodes.nodes_in_scene(document, parents):
        node = document.all("nodes")[number]
        if "mesh" not in node:
            continue
        mesh = document.follow("meshes", node, "mesh")
        if "skin" in node:
            document.follow("skins", node, "skin")
            pairs.setdefault((node.integer("mesh"), node.integer("skin")), number)
        else:
            unskinned.append(node.string("name", "") or mesh.string("name", "") or mesh.label)
    return [(mesh, skin, number) for (mesh, skin), number in pairs.items()], unskinned


def _names(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _usable(document: Document, group: SkinGroup, weighted: NDArray[np.bool_]) -> Floats:
    """Inverse bind matrices, all invertible; joints without weights may have any in the file, and get the identity."""
    matrices = group.inverse_bind_matrices.copy()
    singular = affine.are_singular(matrices)
    flat, unused = np.flatnonzero(singular & weighted), np.flatnonzero(singular & ~weighted)
    if len(flat):
        joints = ", ".join(map(str, flat[:5]))
        document.remarks.append(
            f"inverse bind matrices are singular, which only linear blending takes: joints {joints}"
        )
        matrices[flat] = affine.unflattened(matrices[flat])
    if len(unused):
        joints = ", ".join(map(str, unused[:5]))
        document.remarks.append(f"inverse bind matrices of joints without weights are singular and not used: {joints}")
        matrices[unused] = np.eye(4)
    return matrices
