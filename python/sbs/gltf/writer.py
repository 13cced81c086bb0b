# SPDX-License-Identifier: MIT
"""Writes a character as a binary glTF 2.0 file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pygltflib
from numpy.typing import NDArray

from ..options import BlendOptions
from ..rigging.animation import Animation, Track
from ..rigging.engine_centers import engine_centers
from ..rigging.helper_joints import with_joint_for_unweighted
from ..rigging.rig import Rig
from ..rigging.shape_drivers import pose_drivers
from ..rigging.shapes import BlendShape
from ..rigging.triangle_mesh import Mesh, MeshPart, triangles_within
from ..support.files import replacing
from ..support.text import well_formed
from .influences import CENTER, stored_influences
from .keys import node_keys, weight_keys, with_all_shapes
from .rewriter import rewrite
from .source import Source

_COMPONENT_TYPES = {
    np.dtype(np.float32): pygltflib.FLOAT,
    np.dtype(np.uint8): pygltflib.UNSIGNED_BYTE,
    np.dtype(np.uint16): pygltflib.UNSIGNED_SHORT,
    np.dtype(np.uint32): pygltflib.UNSIGNED_INT,
}
_TYPES = {1: pygltflib.SCALAR, 2: pygltflib.VEC2, 3: pygltflib.VEC3, 4: pygltflib.VEC4, 16: pygltflib.MAT4}


class _Builder:
    """A glTF structure and the bytes of its only buffer."""

    def __init__(self) -> None:
        self.gltf = pygltflib.GLTF2(asset=pygltflib.Asset(version="2.0", generator="spherical-blend-skinning"))
        self._bytes = bytearray()

    def accessor(
        self, array: NDArray[Any], *, target: int | None = None, normalized: bool = False, bounds: bool = False
    ) -> int:
        """Append an array of (count,) or (count, components), and return its accessor."""
        array = np.ascontiguousarray(array)
        columns = array.reshape(len(array), -1)
        self.gltf.accessors.append(
            pygltflib.Accessor(
                bufferView=self._view(array, target),
                componentType=_COMPONENT_TYPES[array.dtype],
                normalized=normalized,
                count=len(array),
                type=_TYPES[columns.shape[1]],
                min=columns.min(axis=0).tolist() if bounds else [],
                max=columns.max(axis=0).tolist() if bounds else [],
            )
        )
        return len(self.gltf.accessors) - 1

    def sparse_accessor(self, count: int, rows: NDArray[np.int32], values: NDArray[Any], *, bounds: bool) -> int:
        """Append `count` vectors, of which those in some rows, each once, are not 0, and return their accessor."""
        order = np.argsort(rows)
        index_type = np.dtype(np.uint16 if count <= 65536 else np.uint32)
        stored = np.ascontiguousarray(values[order], np.float32)
        if len(rows) * (index_type.itemsize + stored.itemsize * 3) >= count * stored.itemsize * 3:
            dense = np.zeros((count, 3), np.float32)
            dense[rows] = values
            return self.accessor(dense, target=pygltflib.ARRAY_BUFFER, bounds=bounds)
        sparse = None
        if len(rows):
            sparse = pygltflib.Sparse(
                count=len(rows),
                indices=pygltflib.AccessorSparseIndices(
                    bufferView=self._view(rows[order].astype(index_type)), componentType=_COMPONENT_TYPES[index_type]
                ),
                values=pygltflib.AccessorSparseValues(bufferView=self._view(stored)),
            )
        self.gltf.accessors.append(
            pygltflib.Accessor(
                byteOffset=None,
                componentType=pygltflib.FLOAT,
                count=count,
                type="VEC3",
                sparse=sparse,
                min=stored.min(axis=0, initial=0.0).tolist() if bounds else [],
                max=stored.max(axis=0, initial=0.0).tolist() if bounds else [],
            )
        )
        return len(self.gltf.accessors) - 1

    def _view(self, array: NDArray[Any], target: int | None = None) -> int:
        """Append bytes, and return their buffer view."""
        offset = len(self._bytes)
        self._bytes += array.tobytes()
        self._bytes += bytes(-len(self._bytes) % 4)
        self.gltf.bufferViews.append(
            pygltflib.BufferView(buffer=0, byteOffset=offset, byteLength=array.nbytes, target=target)
        )
        return len(self.gltf.bufferViews) - 1

    def to_bytes(self) -> bytes:
        self.gltf.buffers.append(pygltflib.Buffer(byteLength=len(self._bytes)))
        self.gltf.set_binary_blob(bytes(self._bytes))
        return b"".join(self.gltf.save_to_bytes())


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
    data, centers = None, engine_centers(mesh, options or BlendOptions())
    if isinstance(source, Source) and source.fits(mesh, rig):
        data = rewrite(source, mesh, animations, weights, centers)
    if data is None:
        data = _to_bytes(well_formed(name) or None, *with_joint_for_unweighted(mesh, rig, animations), weights, centers)
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def _to_bytes(
    name: str | None,
    mesh: Mesh,
    rig: Rig,
    animations: Sequence[Animation],
    weights: str,
    centers: NDArray[np.float64] | None,
) -> bytes:
    builder = _Builder()
    gltf = builder.gltf
    gltf.nodes = _nodes(rig)
    gltf.skins = [
        pygltflib.Skin(
            joints=rig.joints.tolist(),
            inverseBindMatrices=builder.accessor(
                rig.inverse_bind_matrices.transpose(0, 2, 1).reshape(-1, 16).astype(np.float32)
            ),
        )
    ]
    places: list[tuple[int, range]] = []
    for number in range(max(1, len(mesh.parts))):
        part = mesh.of_parts([number]) if len(mesh.parts) > 1 else mesh
        called = well_formed(part.parts[0].name) if part.parts else name
        primitive = _primitive(builder, part, len(rig.joints), weights)
        if centers is not None:
            rows = mesh.parts[number].vertices if mesh.parts else range(len(mesh.positions))
            own = centers[rows.start : rows.stop].astype(np.float32)
            setattr(primitive.attributes, CENTER, builder.accessor(own, target=pygltflib.ARRAY_BUFFER))
        gltf.meshes.append(pygltflib.Mesh(name=called, primitives=[primitive]))
        if part.shapes:
            primitive.targets = [_target(builder, part, shape) for shape in part.shapes]
            gltf.meshes[-1].weights = [shape.weight for shape in part.shapes]
            names = [well_formed(shape.name) for shape in part.shapes]
            gltf.meshes[-1].extras = {"targetNames": names}
            drivers = pose_drivers(rig, part.shapes, names)
            if drivers:
                gltf.meshes[-1].extras["pose_drivers"] = drivers
        places.append((len(gltf.nodes), mesh.parts[number].shapes if mesh.parts else range(len(mesh.shapes))))
        gltf.nodes.append(pygltflib.Node(name=called, mesh=number, skin=0))
    gltf.animations = [_animation(builder, animation, mesh, places) for animation in animations]
    roots = np.flatnonzero(rig.parents < 0).tolist()
    gltf.scenes = [pygltflib.Scene(nodes=[*roots, *(node for node, _ in places)])]
    gltf.scene = 0
    return builder.to_bytes()


def _nodes(rig: Rig) -> list[pygltflib.Node]:
    children: list[list[int]] = [[] for _ in rig.parents]
    for node, parent in enumerate(rig.parents.tolist()):
        if parent >= 0:
            children[parent].append(node)
    return [_node(rig, node, children[node]) for node in range(len(children))]


def _node(rig: Rig, node: int, children: list[int]) -> pygltflib.Node:
    name = well_formed(rig.names[node]) or None
    if rig.has_matrix[node]:
        return pygltflib.Node(name=name, children=children, matrix=rig.local_matrices[node].T.ravel().tolist())
    w, x, y, z = rig.quaternions[node].tolist()
    return pygltflib.Node(
        name=name,
        children=children,
        translation=rig.translations[node].tolist(),
        rotation=[x, y, z, w],
        scale=rig.scales[node].tolist(),
    )


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
    builder = _Builder()
    gltf = builder.gltf
    for number, part in enumerate(parts or (MeshPart("", range(len(positions))),)):
        rows = slice(part.vertices.start, part.vertices.stop)
        own = (None if array is None else array[rows] for array in (normals, uvs, tangents))
        attributes = _attributes(builder, positions[rows], *own)
        primitive = _triangles(builder, attributes, triangles_within(triangles, part.vertices), len(part.vertices))
        name = well_formed(part.name) or None
        gltf.meshes.append(pygltflib.Mesh(name=name, primitives=[primitive]))
        gltf.nodes.append(pygltflib.Node(name=name, mesh=number))
    gltf.scenes, gltf.scene = [pygltflib.Scene(nodes=list(range(len(gltf.nodes))))], 0
    path.write_bytes(builder.to_bytes())


def _attributes(
    builder: _Builder,
    positions: NDArray[Any],
    normals: NDArray[Any] | None,
    uvs: NDArray[Any] | None,
    tangents: NDArray[Any] | None,
) -> pygltflib.Attributes:
    """Positions, unit normals, texture coordinates and tangents of vertices."""
    vertices: dict[str, Any] = {"target": pygltflib.ARRAY_BUFFER}
    attributes = pygltflib.Attributes(POSITION=builder.accessor(positions.astype(np.float32), bounds=True, **vertices))
    if normals is not None:
        length = np.linalg.norm(normals.astype(np.float64), axis=1, keepdims=True)
        unit = normals / np.where(length > 0.0, length, 1.0)
        attributes.NORMAL = builder.accessor(unit.astype(np.float32), **vertices)
    if uvs is not None:
        attributes.TEXCOORD_0 = builder.accessor(uvs.astype(np.float32), **vertices)
    if tangents is not None and normals is not None:  # glTF has no tangents without normals
        attributes.TANGENT = builder.accessor(tangents.astype(np.float32), **vertices)
    return attributes


def _triangles(
    builder: _Builder, attributes: pygltflib.Attributes, triangles: NDArray[np.int32], vertex_count: int
) -> pygltflib.Primitive:
    # The largest number of an index type cannot be a vertex: graphics systems use it for the end of a strip.
    index_type = np.uint16 if vertex_count < 65536 else np.uint32
    indices = builder.accessor(triangles.ravel().astype(index_type), target=pygltflib.ELEMENT_ARRAY_BUFFER)
    return pygltflib.Primitive(attributes=attributes, indices=indices, mode=pygltflib.TRIANGLES)


def _primitive(builder: _Builder, mesh: Mesh, joint_count: int, weights: str) -> pygltflib.Primitive:
    vertices: dict[str, Any] = {"target": pygltflib.ARRAY_BUFFER}
    attributes = _attributes(builder, mesh.positions, mesh.normals, mesh.uvs, mesh.tangents)
    joints, stored = stored_influences(mesh.joint_indices, mesh.joint_weights, np.dtype(weights))
    joint_type = np.uint8 if joint_count <= 256 else np.uint16
    for first in range(0, joints.shape[1], 4):
        columns = slice(first, first + 4)
        joint_set = builder.accessor(joints[:, columns].astype(joint_type), **vertices)
        weight_set = builder.accessor(stored[:, columns], normalized=stored.dtype != np.float32, **vertices)
        setattr(attributes, f"JOINTS_{first // 4}", joint_set)
        setattr(attributes, f"WEIGHTS_{first // 4}", weight_set)
    return _triangles(builder, attributes, mesh.triangles, len(mesh.positions))


def _target(builder: _Builder, mesh: Mesh, shape: BlendShape) -> dict[str, int]:
    count = len(mesh.positions)
    target = {"POSITION": builder.sparse_accessor(count, shape.vertices, shape.offsets, bounds=True)}
    if mesh.normals is not None and any(other.normals is not None for other in mesh.shapes):
        # Programs want the same attributes of all targets.
        turned = np.zeros((0, 3)) if shape.normals is None else shape.normals
        target["NORMAL"] = builder.sparse_accessor(count, shape.vertices[: len(turned)], turned, bounds=False)
    return target


def _animation(
    builder: _Builder, animation: Animation, mesh: Mesh, places: list[tuple[int, range]]
) -> pygltflib.Animation:
    """An animation; `places` are the nodes of meshes with the blend shapes of these."""
    gltf_animation = pygltflib.Animation(name=well_formed(animation.name) or None)

    def channel(track: Track, times: int, keys: NDArray[np.float32], node: int) -> None:
        gltf_animation.samplers.append(
            pygltflib.AnimationSampler(input=times, output=builder.accessor(keys), interpolation=track.interpolation)
        )
        gltf_animation.channels.append(
            pygltflib.AnimationChannel(
                sampler=len(gltf_animation.samplers) - 1,
                target=pygltflib.AnimationChannelTarget(node=node, path=track.path),
            )
        )

    for track in animation.tracks:
        times = builder.accessor(track.times.astype(np.float32), bounds=True)
        for column, node in enumerate(track.nodes.tolist()):
            channel(track, times, node_keys(track, column), node)
    for node, shapes in places:
        rest = [shape.weight for shape in mesh.shapes[shapes.start : shapes.stop]]
        for track in with_all_shapes(animation.shape_tracks, shapes.start, len(rest), rest):
            times = builder.accessor(track.times.astype(np.float32), bounds=True)
            channel(track, times, weight_keys(track), node)
    return gltf_animation
