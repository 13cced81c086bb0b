# SPDX-License-Identifier: MIT
"""Writes a character as a binary glTF 2.0 file: into the file that it is from, or as a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...rigging.animation import Animation
from ...rigging.content import FileWarning
from ...rigging.engine_centers import engine_centers
from ...rigging.helper_joints import with_joint_for_unweighted
from ...rigging.rig import Floats, Rig
from ...rigging.triangle_mesh import Mesh, MeshPart, triangles_within
from ...skinning.options import BlendOptions
from ...support.callers import warn
from ...support.files import replacing
from ...support.text import well_formed
from ..lost_method import tell_lost_method
from .fill import fill, put_surface
from .kept import open_copy
from .output import ELEMENT_ARRAY_BUFFER, Json, Output
from .source import Part, Source, make_node


def write(
    path: Path,
    name: str,
    mesh: Mesh,
    rig: Rig,
    animations: Sequence[Animation],
    *,
    weights: str = "float32",
    source: object = None,
    options: BlendOptions | None = None,
) -> None:
    """See `sbs.Character.save`."""
    if weights not in ("float32", "uint16", "uint8"):
        raise ValueError(f"weights is {weights!r}, 'float32', 'uint16' or 'uint8' is needed")
    centers = engine_centers(mesh, options or BlendOptions())
    known = source if isinstance(source, Source) and source.fits(mesh, rig) else None
    own = with_joint_for_unweighted(mesh, rig, animations)
    if known is not None and own[1] is not rig:
        known = known.with_nodes(rig, own[1])
    output = None if known is None else open_copy(known)
    if output is not None and known is not None and not fill(output, known, own[0], own[2], weights, centers):
        output = None
    if path.suffix.lower() == ".vrm" and (output is None or known is None or not known.is_avatar):
        raise ValueError(f"{path}: a VRM is written into the VRM that it is from alone; .glb is for all characters")
    if output is None:
        if isinstance(source, Source) and source.json.get("materials"):
            why = "as triangles, nodes or attributes are not those of its file any more"
            warn(f"{path} is written without materials, {why}", FileWarning)
        output = _make_new(name, *own, weights, centers)
    with replacing(path) as temporary:
        temporary.write_bytes(output.to_bytes())
    if centers is None and options is not None:
        tell_lost_method(path, options)


def write_pose(
    path: Path,
    positions: NDArray[Any],
    normals: NDArray[Any] | None,
    triangles: NDArray[np.int32],
    uvs: NDArray[Any] | None = None,
    tangents: NDArray[Any] | None = None,
    parts: Sequence[MeshPart] = (),
) -> None:
    """Writes a mesh without a skeleton, such as a character in one pose; each part as a mesh with its name."""
    output = Output()
    if normals is None:
        tangents = None  # glTF has no tangents without normals
    for part in parts or (MeshPart("", range(len(positions))),):
        primitive = _add_mesh(output, part, triangles)
        rows = slice(part.vertices.start, part.vertices.stop)
        own = (None if array is None else array[rows] for array in (positions, normals, uvs, tangents))
        put_surface(output, primitive["attributes"], *own)
    output.json |= {"scenes": [{"nodes": list(range(len(output.elements("nodes"))))}], "scene": 0}
    path.write_bytes(output.to_bytes())


def _make_new(
    name: str,
    mesh: Mesh,
    rig: Rig,
    animations: Sequence[Animation],
    weights: str,
    centers: Floats | None,
) -> Output:
    """A file of the character alone."""
    parts = mesh.parts or (MeshPart(name, range(len(mesh.positions))),)
    mesh = replace(
        mesh,
        parts=tuple(part for part in parts if len(part.vertices)),  # glTF has no empty arrays
        tangents=None if mesh.normals is None else mesh.tangents,
    )
    output = Output()
    output.json["nodes"] = _make_nodes(rig)
    matrices = rig.inverse_bind_matrices.transpose(0, 2, 1).reshape(-1, 16)
    skin = {"joints": rig.joints.tolist(), "inverseBindMatrices": output.accessor(matrices.astype(np.float32))}
    output.json["skins"] = [skin]
    joints = np.arange(len(rig.joints), dtype=np.int32)
    primitives = []
    for number, part in enumerate(mesh.parts):
        _add_mesh(output, part, mesh.triangles, skin=0)
        primitives.append(Part(number, 0, 0, part.vertices.start, len(part.vertices), joints, np.eye(4)))
    roots, meshes = np.flatnonzero(rig.parents < 0).tolist(), range(len(rig.parents), len(output.json["nodes"]))
    output.json |= {"scenes": [{"nodes": [*roots, *meshes]}], "scene": 0}
    # The file has none of the mesh yet, so all of it is a change.
    nothing = replace(
        mesh,
        positions=np.full_like(mesh.positions, np.nan),
        joint_weights=np.zeros_like(mesh.joint_weights),
        normals=None,
        uvs=None,
        tangents=None,
        shapes=(),
        parts=tuple(replace(part, shapes=range(0)) for part in mesh.parts),
    )
    source = Source(
        path=Path(),
        json=output.json,
        blobs=[],
        buffers=[],
        parts=primitives,
        mesh=nothing,
        centers=None,
        rig=rig,
        nodes=list(range(len(rig.names))),
        shape_nodes={},
        animations=[],
    )
    fill(output, source, mesh, animations, weights, centers)
    return output


def _add_mesh(output: Output, part: MeshPart, triangles: NDArray[np.int32], **keys: Any) -> Json:
    """Add a node with a mesh of the triangles of a part; its primitive, which has no attributes yet."""
    # The largest number of an index type cannot be a vertex: graphics systems use it for the end of a strip.
    index_type = np.uint16 if len(part.vertices) < 65536 else np.uint32
    corners = triangles_within(triangles, part.vertices).ravel().astype(index_type)
    primitive: Json = {"attributes": {}, "mode": 4 if len(corners) else 0}  # triangles, or points alone
    if len(corners):
        primitive["indices"] = output.accessor(corners, ELEMENT_ARRAY_BUFFER)
    name = {"name": well_formed(part.name)} if part.name else {}
    output.add("nodes", {**name, "mesh": output.add("meshes", {**name, "primitives": [primitive]}), **keys})
    return primitive


def _make_nodes(rig: Rig) -> list[Json]:
    nodes = [make_node(rig, node) for node in range(len(rig.names))]
    for node, parent in enumerate(rig.parents.tolist()):
        if parent >= 0:
            nodes[parent].setdefault("children", []).append(node)
    return nodes
