# SPDX-License-Identifier: MIT
"""Puts a character into a glTF file; everything that is there already and was not changed stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...rigging import affine
from ...rigging.animation import Animation
from ...rigging.rig import Floats
from ...rigging.triangle_mesh import Mesh
from ...skinning.influences import tidy
from ...skinning.tangents import moved_tangents
from ...support.vectors import unit
from .centers import put_centers
from .fill_animations import fill_animations
from .fill_shapes import fill_shapes
from .influences import stored_influences
from .output import ARRAY_BUFFER, Json, Output
from .source import Part, Source

__all__ = ["fill", "put_surface"]


def fill(
    output: Output, source: Source, mesh: Mesh, animations: Sequence[Animation], weights: str, centers: Floats | None
) -> bool:
    """Put the changes of a character into its file, and say whether the nodes of the file can hold them.

    They cannot if a joint that a skin binds in another pose than others, which has no node of its own in the file, gets
    other animations, or weights of the meshes of other skins.

    Parameters
    ----------
    output : Output
        The file of the source.
    source : Source
        One that fits.
    mesh : Mesh
    animations : sequence of Animation
    weights : str
        How weights are stored that were changed.
    centers : (V, 4) ndarray or None
        See `engine_centers`.
    """
    known = {id(animation) for animation, _ in source.animations}
    tracks = [track for animation in animations if id(animation) not in known for track in animation.tracks]
    if any(source.nodes[node] < 0 for track in tracks for node in track.nodes.tolist()):
        return False
    changed = [
        part for part in source.parts if weights != "float32" or not _same_influences(source.mesh, mesh, part.rows)
    ]
    joint_maps: dict[int, NDArray[np.int64]] = {}
    for skin in {part.skin for part in changed}:
        joint_map = _add_joints(output, source, mesh, [part for part in changed if part.skin == skin])
        if joint_map is None:
            return False
        joint_maps[skin] = joint_map
    for part in source.parts:
        primitive = output.json["meshes"][part.mesh]["primitives"][part.primitive]
        attributes = primitive["attributes"]
        _put_changes(output, source.mesh, mesh, part, attributes)
        put_centers(output, source.centers, centers, mesh, part, primitive)
        if part in changed:
            _put_influences(output, attributes, mesh, part.rows, joint_maps[part.skin], weights)
    if source.lacks_shapes(mesh) and not fill_shapes(output, source, mesh, joint_maps):
        return False
    fill_animations(output, source, mesh, animations)
    return True


def _add_joints(output: Output, source: Source, mesh: Mesh, parts: Sequence[Part]) -> NDArray[np.int64] | None:
    """Add the joints to a skin that its meshes now have weights of; the character's joint of each joint of the skin.

    None if a joint has no node of its own in the file.
    """
    joint_map, matrix = parts[0].joint_map.astype(np.int64), parts[0].matrix
    used = set()
    for part in parts:
        indices, shares = tidy(mesh.joint_indices[part.rows], mesh.joint_weights[part.rows])
        used.update(np.unique(indices[shares > 0.0]).tolist())
    missing = sorted(used.difference(joint_map.tolist()))
    if not missing:
        return joint_map
    skin = output.json["skins"][parts[0].skin]
    nodes = [source.nodes[int(source.rig.joints[joint])] for joint in missing]
    if min(nodes) < 0 or not set(skin["joints"]).isdisjoint(nodes):
        return None
    joint_map = np.concatenate([joint_map, missing])
    matrices = (source.rig.inverse_bind_matrices[joint_map] @ matrix).transpose(0, 2, 1).reshape(-1, 16)
    skin["joints"] = [*skin["joints"], *nodes]
    skin["inverseBindMatrices"] = output.accessor(matrices.astype(np.float32))
    return joint_map


def put_surface(
    output: Output,
    attributes: Json,
    positions: NDArray[Any] | None,
    normals: NDArray[Any] | None = None,
    uvs: NDArray[Any] | None = None,
    tangents: NDArray[Any] | None = None,
    matrix: Floats | None = None,
) -> None:
    """Put positions, unit normals, texture coordinates and tangents of a primitive that are not None.

    `matrix` (4, 4) brings the space of the file to theirs.
    """
    to_theirs = np.eye(4) if matrix is None else matrix
    inverse = affine.inverse(to_theirs[None])[0]
    if positions is not None:
        stored = positions @ inverse[:3, :3].T + inverse[:3, 3]
        attributes["POSITION"] = output.accessor(stored.astype(np.float32), ARRAY_BUFFER, bounds=True)
    if normals is not None:
        turned = unit(np.asarray(normals, np.float64) @ to_theirs[:3, :3])
        attributes["NORMAL"] = output.accessor(turned.astype(np.float32), ARRAY_BUFFER)
    if uvs is not None:
        attributes["TEXCOORD_0"] = output.accessor(uvs.astype(np.float32), ARRAY_BUFFER)
    if tangents is not None:
        moved = moved_tangents(tangents, inverse[:3, :3])
        attributes["TANGENT"] = output.accessor(moved.astype(np.float32), ARRAY_BUFFER)


def _put_changes(output: Output, before: Mesh, mesh: Mesh, part: Part, attributes: Json) -> None:
    """Put positions, normals, texture coordinates and tangents that differ from the file's."""
    changed: dict[str, Any] = {}
    for name in ("positions", "normals", "uvs", "tangents"):
        ours, theirs, rows = getattr(mesh, name), getattr(before, name), part.rows
        same = ours is None or (theirs is not None and np.array_equal(ours[rows], theirs[rows]))
        changed[name] = None if same else ours[rows]
    put_surface(output, attributes, **changed, matrix=part.matrix)


def _same_influences(before: Mesh, mesh: Mesh, rows: slice) -> bool:
    """Whether vertices have the influences that the file has, none of which needed a repair or to be normalized."""
    if mesh.joint_indices.shape != before.joint_indices.shape or not (
        np.array_equal(mesh.joint_indices[rows], before.joint_indices[rows])
        and np.array_equal(mesh.joint_weights[rows], before.joint_weights[rows])
    ):
        return False
    found = mesh.joint_weights[rows]
    with np.errstate(invalid="ignore"):
        return bool(np.all(found >= 0.0) and np.all(np.abs(found.sum(axis=1) - 1.0) <= 1e-6))


def _put_influences(
    output: Output, attributes: Json, mesh: Mesh, rows: slice, joint_map: NDArray[np.int64], weights: str
) -> None:
    for name in [name for name in attributes if name.startswith(("JOINTS_", "WEIGHTS_"))]:
        del attributes[name]
    joints, stored = stored_influences(mesh.joint_indices[rows], mesh.joint_weights[rows], np.dtype(weights))
    number_in_skin = np.zeros(int(max(joint_map.max(), joints.max())) + 1, np.int64)  # 0 also where there is no weight
    number_in_skin[joint_map] = np.arange(len(joint_map))
    joint_type = np.uint8 if len(joint_map) <= 256 else np.uint16
    kind = {} if stored.dtype == np.float32 else {"normalized": True}
    for first in range(0, joints.shape[1], 4):
        columns = slice(first, first + 4)
        indices = number_in_skin[joints[:, columns]].astype(joint_type)
        attributes[f"JOINTS_{first // 4}"] = output.accessor(indices, ARRAY_BUFFER)
        attributes[f"WEIGHTS_{first // 4}"] = output.accessor(stored[:, columns], ARRAY_BUFFER, **kind)
