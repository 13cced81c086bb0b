# SPDX-License-Identifier: MIT
"""Reads a skinned character from a glTF 2.0 file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import affine
from ..content import CharacterContent, FileError, SkinnedMesh, fold_scale, skeleton_of, weighted_joints
from ..rig import Floats, Rig
from . import nodes
from .animations import AnimationReader
from .document import Document
from .meshes import read_surface, vertex_count
from .shapes import weights_of
from .skins import SkinGroup, read_groups
from .source import Part, Source


def read(path: Path, skin: int | None) -> CharacterContent:
    """See `sbs.load`."""
    document = Document(path)
    # Huge numbers overflow in several places; the results are refused below.
    with np.errstate(over="ignore", invalid="ignore"):
        return _read(document, skin)


def _read(document: Document, skin: int | None) -> CharacterContent:
    parents = nodes.read_parents(document)
    group, meshes, is_first = _choose(document, parents, skin)
    places = [node for _, _, node in meshes]
    surface, origins = read_surface(
        document, [(document.all("meshes")[mesh], group.uses[skin]) for mesh, skin, _ in meshes]
    )
    surface, shape_nodes = _weighted_shapes(document, surface, places)
    weighted = weighted_joints(surface, len(group.joints))
    inverse_bind_matrices = _usable(document, group, weighted)
    rig = nodes.read_rig(document, group.joints, parents, inverse_bind_matrices)
    if not np.isfinite(rig.rest_matrices).all():
        raise document.root.error("transforms of nodes or inverse bind matrices are too large", "nodes")
    unscaled = rig
    surface, rig = fold_scale(surface, rig, weighted)
    try:
        skeleton, mesh = skeleton_of(rig), surface.as_mesh()
    except ValueError as error:
        raise FileError(f"{document.path}: {error}") from None
    order = nodes.ancestry(group.joints, parents)
    blobs, buffers = document.blobs()
    parts = _parts(origins, meshes, group, unscaled, rig)
    origins_in_file = [(part.mesh, part.primitive) for part in parts]
    animations, numbers = AnimationReader(document, rig, order, shape_nodes).read()
    return CharacterContent(
        surface=surface,
        skeleton=skeleton,
        rig=rig,
        animations=animations,
        remarks=document.remarks,
        mesh=mesh,
        source=None
        if document.is_compressed or len(set(origins_in_file)) < len(origins_in_file) or not is_first
        else Source(
            path=document.path,
            json=document.json,
            blobs=blobs,
            buffers=buffers,
            parts=parts,
            mesh=mesh,
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
        of_node = weights_of(node, document.follow("meshes", node, "mesh"))
        if of_node:
            shape_nodes[number] = len(weights), len(of_node)
        weights += of_node
    shapes = [replace(shape, weight=weight) for shape, weight in zip(surface.shapes, weights, strict=True)]
    return replace(surface, shapes=tuple(shapes)), shape_nodes


def _parts(
    origins: list[tuple[int, int, int]], meshes: list[tuple[int, int, int]], group: SkinGroup, unscaled: Rig, rig: Rig
) -> list[Part]:
    """Where the vertices are from, and how they were brought into the space of the mesh."""
    before, after = (np.linalg.norm(each.inverse_bind_matrices[0, :3, :3]) for each in (unscaled, rig))
    scale = np.diag([*[before / after] * 3, 1.0])
    parts, first = [], 0
    for place, primitive, count in origins:
        mesh, skin, _ = meshes[place]
        use = group.uses[skin]
        parts.append(Part(mesh, primitive, first, count, use.joint_map, scale @ use.mesh_matrix))
        first += count
    return parts


def _choose(
    document: Document, parents: list[int], skin: int | None
) -> tuple[SkinGroup, list[tuple[int, int, int]], bool]:
    """The group of skins to read, its meshes as numbers (mesh, skin, node), and whether it is read by default."""
    groups = read_groups(document)
    if not groups:
        raise FileError(f"{document.path}: no skin, so there is nothing to deform")
    if skin is not None and not 0 <= skin < len(document.all("skins")):
        raise FileError(f"{document.path}: there is no skin {skin}, the file has {len(document.all('skins'))}")
    pairs, unskinned = _mesh_nodes(document, parents)
    if unskinned:
        document.remarks.append(f"left out, as they have no skin: {_names(unskinned)}")
    group_of_skin = {number: i for i, group in enumerate(groups) for number in group.uses}
    users: list[list[tuple[int, int, int]]] = [[] for _ in groups]
    for place in pairs:
        users[group_of_skin[place[1]]].append(place)
    counts = {mesh: vertex_count(document, document.all("meshes")[mesh]) for mesh in {mesh for mesh, _, _ in pairs}}
    sizes = [sum(counts[mesh] for mesh, _, _ in meshes) for meshes in users]
    chosen = int(np.argmax([skin in group.uses for group in groups])) if skin is not None else int(np.argmax(sizes))
    if not users[chosen]:
        raise FileError(f"{document.path}: no mesh in the scene uses skin {next(iter(groups[chosen].uses))}")
    others = [f"skin {n}" for i, group in enumerate(groups) if i != chosen and users[i] for n in group.uses]
    if others and skin is None:
        document.remarks.append(f"left out, as other skins have more vertices (skin= chooses): {_names(others)}")
    return groups[chosen], users[chosen], chosen == int(np.argmax(sizes))


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
    for joint in np.flatnonzero(singular & weighted)[:1]:
        skin = document.all("skins")[next(iter(group.uses))]
        raise skin.error(f"the inverse bind matrix of joint {joint} is singular", "inverseBindMatrices")
    if singular.any():
        joints = ", ".join(map(str, np.flatnonzero(singular)[:5]))
        document.remarks.append(f"inverse bind matrices of joints without weights are singular and not used: {joints}")
        matrices[singular] = np.eye(4)
    return matrices
