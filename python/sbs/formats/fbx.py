# SPDX-License-Identifier: MIT
"""Characters from FBX files, by ufbx, in a process of its own.

ufbx 0.0.5 for Python crashes after some of its objects were freed. So none is, until the process ends: `_kept`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rigging import affine
from ..rigging.animation import NEAR_END
from ..rigging.content import CharacterContent, FileError, SkinnedMesh, Wanted
from ..rigging.rig import Floats
from ..rigging.shapes import BlendShape
from ..rigging.triangle_mesh import area_weighted_normals
from ..support.extras import load
from ..support.vectors import unit
from .apart import read_apart
from .gltf.meshes import join
from .polygons import fans
from .sampling import JUST_BEFORE
from .scene import Clip, Nodes, Scene, to_content

__all__ = ["NEEDS", "read", "scene"]

NEEDS = "ufbx", "ufbx", "FBX files"

# Transforms of nodes that animations are sampled to, at most.
_MOST_SAMPLES = 4_000_000

# Seconds by which rounding may take a time to before a step.
_ROUNDING = 1e-9

# Two clusters of a bone, or of a mesh, that say otherwise by no more than this, relative to the size, say the same.
_SAME = 1e-4


def read(path: Path, wanted: Wanted) -> CharacterContent:
    """See `sbs.load`; `skin` counts the skin deformers of the file."""
    load(*NEEDS)
    return to_content(path, read_apart(__name__, path, wanted))


def scene(path: Path, wanted: Wanted) -> Scene:
    """The scene of a file, read in this process. Raises FileError, whose message does not name the file."""
    import ufbx

    try:
        # Other files, which an FBX may name, are not opened.
        opened = _kept(
            ufbx.load_memory(
                path.read_bytes(),
                target_axes=ufbx.axes_right_handed_y_up,
                target_unit_meters=1.0,
                space_conversion=ufbx.SpaceConversion.TRANSFORM_ROOT,
                inherit_mode_handling=ufbx.InheritModeHandling.HELPER_NODES,
                load_external_files=False,
                ignore_embedded=True,
            )
        )
        return _read_scene(opened, wanted)
    except ufbx.UfbxError as error:
        raise FileError(f"damaged: {type(error).__name__}: {' '.join(str(error).split())[:300]}") from None


_everything: list[Any] = []


def _kept(thing: Any) -> Any:
    """The same, never to be freed."""
    _everything.append(thing)
    return thing


def _items(things: Any) -> list[Any]:
    """The elements of a list of ufbx."""
    things = _kept(things)
    return _kept([things[index] for index in range(len(things))])  # type: ignore[no-any-return]


def _array(values: Any, columns: int, dtype: Any = np.float64) -> NDArray[Any]:
    """Copies a list of numbers or vectors, (n, columns)."""
    return np.array(_items(values), dtype=dtype).reshape(-1, columns)


def _matrix(matrix: Any) -> Floats:
    """A 3 by 4 matrix of ufbx as 4 by 4, for columns as ours."""
    rows = np.eye(4)
    for column, values in enumerate((matrix.c0, matrix.c1, matrix.c2, matrix.c3)):
        rows[:3, column] = values.x, values.y, values.z
    return rows


def _read_scene(opened: Any, wanted: Wanted) -> Scene:
    remarks: list[str] = []
    skin = wanted.skin
    nodes = _items(opened.nodes)
    number = {node.typed_id: index for index, node in enumerate(nodes)}
    meshes = [(mesh, _items(mesh.skin_deformers)) for mesh in _items(opened.meshes)]
    skinned = [mesh for mesh, deformers in meshes if deformers]
    if skin is not None and not 0 <= skin < len(skinned):
        raise FileError(f"there is no skin {skin}, the file has {len(skinned)}")
    if not skinned:
        raise FileError("no mesh is skinned, so there is nothing to deform")
    others = [_object_name(mesh) for mesh, deformers in meshes if not deformers]
    if others:
        remarks.append(f"left out, as they have no skin: {', '.join(others[:5])}")
    # The bones in the order in which they are found, and their bind matrices.
    joints_by_node: dict[int, int] = {}
    binds: list[Floats] = []
    added: list[int] = []
    parts = []
    channels: list[Any] = []
    for mesh in skinned if skin is None else [skinned[skin]]:
        part = _surface(mesh, number, joints_by_node, binds, added, channels, remarks)
        if part is not None:
            parts.append(part)
    if not parts:
        raise FileError("no mesh has both triangles and a skin that can be read")
    # 3ds Max writes a blend for each skin, most often one of nothing but linear blending.
    amount = np.concatenate([part[1] for part in parts])
    blends = amount.max() > 0.0 and amount.min() < 1.0
    now = _decomposed([[node.local_transform for node in nodes]])
    still = {"translations": [0.0] * 3, "quaternions": [1.0, 0.0, 0.0, 0.0], "scales": [1.0] * 3}
    parents = [_kept(node.parent) for node in nodes]
    names = [
        (parent.name if node.is_scale_helper else node.name) or ("root" if node.is_root else f"node_{index}")
        for index, (node, parent) in enumerate(zip(nodes, parents, strict=True))
    ]
    above = [-1 if parent is None else number[parent.typed_id] for parent in parents]
    return Scene(
        nodes=Nodes(
            names=[*names, *(names[node] for node in added)],
            parents=np.array([*above, *added], np.int32),
            **{key: np.concatenate([rows[0], np.tile(still[key], (len(added), 1))]) for key, rows in now.items()},
        ),
        joints=np.array(list(joints_by_node), np.int64),
        inverse_bind_matrices=_inverses(binds),
        surface=join([part[0] for part in parts]),
        clips=list(_clips(opened, nodes, channels, remarks)),
        remarks=remarks,
        method="dual_quaternion" if amount.any() else "linear",
        amount=amount if blends else None,
    )


def _inverses(binds: list[Floats]) -> Floats:
    matrices = np.array(binds)
    if not np.isfinite(matrices).all() or affine.are_singular(matrices).any():
        raise FileError("a bind matrix is singular or not finite")
    return affine.inverse(matrices)


def _decomposed(frames: list[list[Any]]) -> dict[str, Any]:
    """Translations, quaternions and scales (F, N, n) of transforms in frames."""
    rows = np.array(
        [
            [(*t.translation, t.rotation.w, t.rotation.x, t.rotation.y, t.rotation.z, *t.scale) for t in transforms]
            for transforms in frames
        ],
        np.float64,
    )
    return {"translations": rows[..., :3], "quaternions": rows[..., 3:7], "scales": rows[..., 7:]}


def _surface(
    mesh: Any,
    number: dict[int, int],
    joints_by_node: dict[int, int],
    binds: list[Floats],
    added: list[int],
    channels: list[Any],
    remarks: list[str],
) -> tuple[SkinnedMesh, Floats] | None:
    """A mesh as it is at bind, and the share of dual quaternions at each vertex; None if it has nothing to deform.

    The channels of its blend shapes are added to `channels`. A bone that the meshes before bind otherwise becomes
    another joint, on a new node below the bone's. A bone whose scale others do not inherit has it on a helper node:
    both are joints, as the bones below the bone hang from its own node.
    """
    import ufbx

    name = _object_name(mesh)
    deformer, *others = _items(mesh.skin_deformers)
    if others:
        remarks.append(f"{name}: only the first of its {1 + len(others)} skins is read")
    pairs = [(cluster, _kept(cluster.bone_node)) for cluster in _items(deformer.clusters)]
    clusters = [cluster for cluster, bone in pairs if bone is not None]
    bones = [bone for _, bone in pairs if bone is not None]
    points = _array(mesh.vertices, 3)
    if not clusters or not len(points) or not mesh.num_triangles:
        remarks.append(f"{name} is left out: no clusters with a bone, or no triangles")
        return None
    # Where the mesh was when it was bound: the same by each cluster, but for rounding.
    at_bind = [_matrix(cluster.bind_to_world) for cluster in clusters]
    to_bone = [_matrix(cluster.geometry_to_bone) for cluster in clusters]
    placed = np.array(at_bind) @ np.array(to_bone)
    size = max(float(np.abs(placed[0]).max()), 1e-300)
    if not np.isfinite(placed).all():
        raise FileError(f"{name}: a bind matrix is not finite")
    if np.abs(placed - placed[0]).max() > _SAME * size:
        # The first bone then says where the mesh was, and the others are moved to match.
        at_bind = [placed[0] @ np.linalg.pinv(matrix) for matrix in to_bone]
    joints = []
    otherwise = 0
    for bind, bone in zip(at_bind, bones, strict=True):
        node = number[bone.typed_id]
        above = number[_kept(bone.parent).typed_id] if bone.is_scale_helper else node
        if above not in joints_by_node and above != node:
            joints_by_node[above] = len(joints_by_node)
            binds.append(bind)
        if node in joints_by_node:
            known = binds[joints_by_node[node]]
            if np.abs(known - bind).max() > _SAME * max(float(np.abs(known).max()), 1e-300):
                added.append(node)
                node = len(number) + len(added) - 1
                otherwise += 1
        if node not in joints_by_node:
            joints_by_node[node] = len(joints_by_node)
            binds.append(bind)
        joints.append(joints_by_node[node])
    if otherwise:
        remarks.append(f"{name} binds {otherwise} bones in another pose than the meshes before: it has its own joints")
    indices, weights = _influences(clusters, joints, len(points))
    matrix = placed[0]
    triangles = _triangles(mesh, len(points))
    corners = _array(mesh.vertex_indices, 1, np.int64)[:, 0]
    uvs = _uvs(mesh, corners, len(points), remarks, name)
    if affine.are_singular(matrix[None])[0]:
        raise FileError(f"{name}: the matrix of the mesh at bind is singular")
    surface = SkinnedMesh(
        positions=points,
        triangles=triangles,
        joint_indices=indices,
        joint_weights=weights,
        normals=_normals(mesh, corners, points, triangles),
        uvs=uvs,
        shapes=tuple(_shapes(mesh, channels, remarks)),
    )
    surface = surface.moved(matrix).named(name)
    amount = np.zeros(len(points))
    if deformer.skinning_method == ufbx.SkinningMethod.DUAL_QUATERNION:
        amount[:] = 1.0
    elif deformer.skinning_method == ufbx.SkinningMethod.BLENDED_DQ_LINEAR:
        vertices = _array(deformer.dq_vertices, 1, np.int64)[:, 0]
        inside = vertices < len(points)
        amount[vertices[inside]] = _array(deformer.dq_weights, 1)[inside, 0]
    return surface, np.nan_to_num(amount).clip(0.0, 1.0)


def _object_name(mesh: Any) -> str:
    """The name of the object that has a mesh."""
    instances = _items(mesh.instances)
    return (instances[0].name if instances else "") or mesh.name or "a mesh"


def _shapes(mesh: Any, channels: list[Any], remarks: list[str]) -> Iterator[BlendShape]:
    """The blend shapes of a mesh."""
    for deformer in _items(mesh.blend_deformers):
        for channel in _items(deformer.channels):
            shape = _kept(channel.target_shape)
            if shape is None:
                continue
            if len(_items(channel.keyframes)) > 1:
                remarks.append(f"{channel.name or 'a blend shape'}: shapes in between are left out")
            vertices = _array(shape.offset_vertices, 1, np.int64)[:, 0]
            offsets = _array(shape.position_offsets, 3)
            if len(vertices) != len(offsets) or len(np.unique(vertices)) != len(vertices):
                raise FileError(f"blend shape {channel.name!r}: {len(offsets)} offsets of {len(vertices)} vertices")
            if len(vertices) and vertices.max() > np.iinfo(np.int32).max:
                raise FileError(f"blend shape {channel.name!r} moves vertices that are not there")
            channels.append(channel)
            yield BlendShape(channel.name, vertices.astype(np.int32), offsets, float(channel.weight))


def _influences(clusters: list[Any], joints: list[int], vertex_count: int) -> tuple[NDArray[np.int64], Floats]:
    """Joint indices and weights (V, K), padded."""
    vertices = [_array(cluster.vertices, 1, np.int64)[:, 0] for cluster in clusters]
    weights = np.concatenate([_array(cluster.weights, 1)[:, 0] for cluster in clusters])
    joint = np.repeat(joints, [len(rows) for rows in vertices])
    vertex = np.concatenate(vertices)
    if len(vertex) != len(weights) or (len(vertex) and not (vertex.min() >= 0 and vertex.max() < vertex_count)):
        raise FileError("weights of vertices that are not there")
    order = np.argsort(vertex, kind="stable")
    vertex, joint, weights = vertex[order], joint[order], weights[order]
    counts = np.bincount(vertex, minlength=vertex_count)
    rank = np.arange(len(vertex)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = vertex_count, max(1, int(counts.max()))
    indices, padded = np.zeros(shape, np.int64), np.zeros(shape)
    indices[vertex, rank], padded[vertex, rank] = joint, weights
    return indices, padded


def _triangles(mesh: Any, vertex_count: int) -> NDArray[np.int64]:
    faces = np.array([(face.index_begin, face.num_indices) for face in _items(mesh.faces)], np.int64).reshape(-1, 2)
    corners = _array(mesh.vertex_indices, 1, np.int64)[:, 0]
    if len(faces) and not (faces.min() >= 0 and (faces.sum(axis=1)).max() <= len(corners)):
        raise FileError("a face has corners that are not there")
    if len(corners) and corners.max() >= vertex_count:
        raise FileError("a face names a vertex that is not there")
    return corners[fans(faces[:, 0], faces[:, 1])]


def _uvs(mesh: Any, corners: NDArray[np.int64], vertex_count: int, remarks: list[str], name: str) -> Floats | None:
    """Texture coordinates (V, 2), if each vertex has one."""
    attribute = _kept(mesh.vertex_uv)
    if not attribute.exists:
        return None
    values, indices = _array(attribute.values, 2), _array(attribute.indices, 1, np.int64)[:, 0]
    if len(indices) != len(corners) or not len(values) or indices.max() >= len(values):
        return None
    corner_uvs = values[indices]
    uvs = np.zeros((vertex_count, 2))
    uvs[corners] = corner_uvs
    if np.abs(uvs[corners] - corner_uvs).max() > 1e-6 or not np.isfinite(uvs).all():
        remarks.append(f"{name}: texture coordinates that change at seams are left out")
        return None
    return uvs


def _normals(mesh: Any, corners: NDArray[np.int64], positions: Floats, triangles: NDArray[np.int64]) -> Floats:
    """Unit normals (V, 3), each the mean over the corners at a vertex."""
    attribute = _kept(mesh.vertex_normal)
    if attribute.exists:
        values, indices = _array(attribute.values, 3), _array(attribute.indices, 1, np.int64)[:, 0]
        if len(indices) == len(corners) and len(values) and indices.max() < len(values):
            sums = np.zeros_like(positions)
            np.add.at(sums, corners, values[indices])
            if np.isfinite(np.linalg.norm(sums, axis=1)).all():
                return unit(sums)
    return area_weighted_normals(positions, triangles)


def _curves(stack: Any) -> Iterator[list[Any]]:
    """The keys of each curve of a stack."""
    for layer in _items(stack.layers):
        for value in _items(layer.anim_values):
            for curve in _items(value.curves):
                if curve is not None:
                    yield _items(curve.keyframes)


def _around_steps(stack: Any) -> Iterator[float]:
    """Times just before the steps of a stack, and at them, but for rounding."""
    import ufbx

    for keys in _curves(stack):
        for key, following in itertools.pairwise(keys):
            if key.value == following.value:
                continue
            if key.interpolation == ufbx.Interpolation.CONSTANT_PREV:
                yield from (following.time - JUST_BEFORE, following.time + _ROUNDING)
            elif key.interpolation == ufbx.Interpolation.CONSTANT_NEXT:
                yield from (key.time, key.time + JUST_BEFORE)


def _clips(opened: Any, nodes: list[Any], channels: list[Any], remarks: list[str]) -> Iterator[Clip]:
    """The animation stacks, sampled at the rate of the file and around steps."""
    rate = _kept(opened.settings).frames_per_second
    if not 1.0 <= rate <= 1000.0:
        rate = 24.0
    taken = 0
    for stack in _items(opened.anim_stacks):
        begin, end = stack.time_begin, stack.time_end
        if begin == end:  # as Cinema 4D writes takes
            keyed = [key.time for keys in _curves(stack) for key in keys]
            begin, end = min(keyed, default=begin), max(keyed, default=end)
        if not (math.isfinite(begin) and math.isfinite(end) and end >= begin):
            remarks.append(f"animation {stack.name!r} is left out: it lasts from {begin} to {end} s")
            continue
        count = max(math.ceil((end - begin - NEAR_END) * rate), 0) + 1
        steps = {time - begin for time in _around_steps(stack) if begin < time < end}
        taken += (count + len(steps)) * (len(nodes) + len(channels))
        if taken > _MOST_SAMPLES:
            remarks.append(
                f"animation {stack.name!r} and those behind are left out: {count} frames of {len(nodes)} nodes"
            )
            return
        times = np.unique([*np.minimum(np.arange(count) / rate, end - begin), *steps])
        anim = _kept(stack.anim)
        frames = [[node.evaluate_transform(anim, begin + seconds) for node in nodes] for seconds in times.tolist()]
        weights = [
            [channel.evaluate_blend_weight(anim, begin + seconds) for channel in channels] for seconds in times.tolist()
        ]
        shape_weights = np.array(weights, np.float64).reshape(len(times), len(channels)) if channels else None
        name, moved, parts = stack.name or "animation", np.arange(len(nodes)), _decomposed(frames)
        yield Clip(name, times, moved, **parts, shape_weights=shape_weights, start=begin, rate=rate)
