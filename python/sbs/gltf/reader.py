# SPDX-License-Identifier: MIT
"""Reads a skinned character from a glTF 2.0 file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import affine
from ..animation import Animations
from ..rig import Floats, Rig
from ..skeleton import Skeleton
from . import nodes
from .animations import AnimationReader
from .document import Document
from .errors import FileError
from .meshes import SkinnedMesh, read_surface, vertex_count
from .skins import SkinGroup, read_groups

# How much the scales of joints may differ, relative to their mean, and still be one scale.
_ONE_SCALE = 1e-4

# A scale that is 1 but for the rounding of a file is left alone.
_NO_SCALE = 1e-6


@dataclass
class CharacterContent:
    """What a file says about a character.

    `remarks` are the parts that were left out, or read in another way than they are stored.
    """

    surface: SkinnedMesh
    skeleton: Skeleton
    rig: Rig
    animations: Animations
    remarks: list[str]


def read(path: Path, skin: int | None) -> CharacterContent:
    """See `sbs.load`."""
    document = Document(path)
    # Numbers near the end of the range overflow here and there; what comes of it is refused below.
    with np.errstate(over="ignore", invalid="ignore"):
        return _read(document, skin)


def _read(document: Document, skin: int | None) -> CharacterContent:
    parents = nodes.read_parents(document)
    group, meshes = _choose(document, parents, skin)
    surface = read_surface(document, [(document.all("meshes")[mesh], group.uses[skin]) for mesh, skin in meshes])
    weighted = _weighted_joints(surface, len(group.joints))
    inverse_bind_matrices = _usable(document, group, weighted)
    rig = nodes.read_rig(document, group.joints, parents, inverse_bind_matrices)
    if not np.isfinite(rig.rest_matrices).all():
        raise document.root.error("transforms of nodes or inverse bind matrices are too large", "nodes")
    surface, rig = _fold_scale(surface, rig, weighted)
    return CharacterContent(
        surface=surface,
        skeleton=_skeleton(document, rig),
        rig=rig,
        animations=AnimationReader(document, rig, nodes.ancestry(group.joints, parents)).read(),
        remarks=document.remarks,
    )


def _choose(document: Document, parents: list[int], skin: int | None) -> tuple[SkinGroup, list[tuple[int, int]]]:
    """The group of skins to read, and its meshes as pairs of numbers (mesh, skin)."""
    groups = read_groups(document)
    if not groups:
        raise FileError(f"{document.path}: no skin, so there is nothing to deform")
    if skin is not None and not 0 <= skin < len(document.all("skins")):
        raise FileError(f"{document.path}: there is no skin {skin}, the file has {len(document.all('skins'))}")
    pairs, unskinned = _mesh_nodes(document, parents)
    if unskinned:
        document.remarks.append(f"left out, as they have no skin: {_names(unskinned)}")
    group_of_skin = {number: i for i, group in enumerate(groups) for number in group.uses}
    users: list[list[tuple[int, int]]] = [[] for _ in groups]
    for pair in pairs:
        users[group_of_skin[pair[1]]].append(pair)
    counts = {mesh: vertex_count(document, document.all("meshes")[mesh]) for mesh in {mesh for mesh, _ in pairs}}
    sizes = [sum(counts[mesh] for mesh, _ in meshes) for meshes in users]
    chosen = int(np.argmax([skin in group.uses for group in groups])) if skin is not None else int(np.argmax(sizes))
    if not users[chosen]:
        raise FileError(f"{document.path}: no mesh in the scene uses skin {next(iter(groups[chosen].uses))}")
    others = [f"skin {n}" for i, group in enumerate(groups) if i != chosen and users[i] for n in group.uses]
    if others and skin is None:
        document.remarks.append(f"left out, as other skins have more vertices (skin= chooses): {_names(others)}")
    return groups[chosen], users[chosen]


def _mesh_nodes(document: Document, parents: list[int]) -> tuple[list[tuple[int, int]], list[str]]:
    """Pairs (mesh, skin) in the scene, each once, and the names of meshes without a skin.

    The place of a skinned mesh in the tree has no meaning (glTF 2.0, section 3.7.3.3): used twice, it is in one place.
    """
    pairs: dict[tuple[int, int], None] = {}
    unskinned = []
    for number in nodes.nodes_in_scene(document, parents):
        node = document.all("nodes")[number]
        if "mesh" not in node:
            continue
        mesh = document.follow("meshes", node, "mesh")
        if "skin" in node:
            document.follow("skins", node, "skin")
            pairs[node.integer("mesh"), node.integer("skin")] = None
        else:
            unskinned.append(node.string("name", "") or mesh.string("name", "") or mesh.label)
    return list(pairs), unskinned


def _names(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _weighted_joints(surface: SkinnedMesh, joint_count: int) -> NDArray[np.bool_]:
    """Which joints move any vertex, (J,)."""
    with np.errstate(invalid="ignore"):
        used = surface.joint_indices[surface.joint_weights > 0.0]
    return np.bincount(used, minlength=joint_count) > 0


def _usable(document: Document, group: SkinGroup, weighted: NDArray[np.bool_]) -> Floats:
    """Inverse bind matrices that can be inverted; joints without weights may have any, and get the identity then."""
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


def _fold_scale(surface: SkinnedMesh, rig: Rig, weighted: NDArray[np.bool_]) -> tuple[SkinnedMesh, Rig]:
    """Scales the mesh as all joints scale it in the file's own pose, and the inverse bind matrices by the inverse.

    Deformed positions stay where they are, and skinning matrices become rigid.
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
    return (
        replace(surface, positions=surface.positions * scale),
        replace(rig, inverse_bind_matrices=inverse_bind_matrices),
    )


def _skeleton(document: Document, rig: Rig) -> Skeleton:
    """The joints at bind, their axes free of the scale of the nodes."""
    names = _unique([rig.names[node] or f"joint_{joint}" for joint, node in enumerate(rig.joints)])
    try:
        return Skeleton(rig.joint_parents, rig.bind_matrices, names=names)
    except ValueError as error:
        raise FileError(f"{document.path}: {error}") from None


def _unique(names: list[str]) -> list[str]:
    """Names with a number behind those that came before."""
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
