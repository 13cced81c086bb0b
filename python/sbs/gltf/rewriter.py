# SPDX-License-Identifier: MIT
"""Writes a character into the glTF file that it is from: whatever was not changed stays, byte for byte."""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rigging import affine
from ..rigging.animation import Animation, Track
from ..rigging.content import FileError, FileWarning
from ..rigging.rig import Floats
from ..rigging.triangle_mesh import Mesh
from ..skinning.influences import tidy
from ..support.callers import warn
from ..support.text import well_formed
from ..tangents import moved_tangents
from .added_shapes import mesh_nodes, put_shapes
from .container import LARGEST, read_uri
from .influences import CENTER, stored_influences
from .keys import node_keys, weight_keys, with_all_shapes
from .source import Part, Source

__all__ = ["rewrite"]

_COMPONENT_TYPES = {"float32": 5126, "uint8": 5121, "uint16": 5123, "uint32": 5125}
_TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_ARRAY_BUFFER = 34962

# What stands for numbers that JSON does not have.
_NEAREST = {"Infinity": sys.float_info.max, "-Infinity": -sys.float_info.max, "NaN": None}

# What files of images begin with: those of glTF itself, and of its extensions.
_IMAGES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
    "image/ktx2": re.compile(rb"\xabKTX 20\xbb\r\n\x1a\n"),
    "image/vnd-ms.dds": re.compile(rb"DDS "),
    "image/avif": re.compile(rb"....ftypavif", re.DOTALL),
}

# Bytes of all of them that lie beside a file.
_MOST_IMAGES = 1 << 30


class _File:
    """The JSON of a file and the bytes of its only buffer."""

    def __init__(self, source: Source) -> None:
        self.json = _copied(source.json, source.path)
        self.bytes = bytearray()
        starts = []
        for blob in source.blobs:
            self.bytes += bytes(-len(self.bytes) % 4)
            starts.append(len(self.bytes))
            self.bytes += blob
        if len(source.buffers) > 1:
            for view in self.elements("bufferViews"):
                self._move(view, [starts[blob] for blob in source.buffers])
        self._embed_images(source)

    def elements(self, kind: str) -> list[dict[str, Any]]:
        """The elements of a kind; a list that can be added to."""
        if self.json.get(kind) is None:
            self.json[kind] = []
        found: list[dict[str, Any]] = self.json[kind]
        return found

    @staticmethod
    def _move(view: dict[str, Any], starts: list[int]) -> None:
        """Lets a buffer view, of whatever is no part of the character too, begin where its buffer now does."""
        try:
            start = starts[int(view["buffer"])]
            view["byteOffset"], view["buffer"] = int(view.get("byteOffset") or 0) + start, 0
        except (TypeError, ValueError, KeyError, IndexError, AttributeError):
            pass  # nobody reads it: those that are read were checked

    def _embed_images(self, source: Source) -> None:
        """Images that are files beside the source become bytes of the new file, which may lie elsewhere.

        Each file once, however many images have it. What is no image may be anything, such as a key that lies there.
        """
        if not isinstance(self.json.get("images", []), list):
            return
        files: dict[tuple[int, int], bytes] = {}
        views: dict[int, int] = {}
        for number, image in enumerate(self.json.get("images", [])):
            uri = image.get("uri") if isinstance(image, dict) else None
            if not isinstance(uri, str) or uri.startswith("data:"):
                continue
            try:
                data = read_uri(source.path, well_formed(uri), f"images[{number}]", files, _MOST_IMAGES)
            except FileError:
                continue  # nowhere to be found now; the name is kept
            kind = next((kind for kind, start in _IMAGES.items() if start.match(data)), None)
            if kind is None:
                warn(f"{source.path}: images[{number}], {uri[:200]!r}, is no image; its name is kept", FileWarning)
                continue
            if id(data) not in views:
                views[id(data)] = self.view(data)
            del image["uri"]
            image["bufferView"] = views[id(data)]
            image.setdefault("mimeType", kind)

    def view(self, data: bytes, target: int | None = None) -> int:
        """A buffer view of new bytes."""
        self.bytes += bytes(-len(self.bytes) % 4)
        view = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)}
        self.bytes += data
        self.elements("bufferViews").append(view if target is None else view | {"target": target})
        return len(self.elements("bufferViews")) - 1

    def accessor(self, array: NDArray[Any], target: int | None = None, **keys: Any) -> int:
        """An accessor on new numbers, (count, columns)."""
        array = np.ascontiguousarray(array)
        self.elements("accessors").append(
            {
                "bufferView": self.view(array.tobytes(), target),
                "componentType": _COMPONENT_TYPES[array.dtype.name],
                "count": len(array),
                "type": _TYPES[array.shape[1]],
                **keys,
            }
        )
        return len(self.elements("accessors")) - 1

    def sparse_accessor(self, count: int, rows: NDArray[np.int32], values: NDArray[np.float64], bounds: bool) -> int:
        """An accessor on `count` vectors, of which those in some rows, each once, are not 0."""
        order = np.argsort(rows)
        stored = values[order].astype(np.float32)
        accessor: dict[str, Any] = {"componentType": _COMPONENT_TYPES["float32"], "count": count, "type": "VEC3"}
        if len(rows):
            indices = rows[order].astype(np.uint32)
            accessor["sparse"] = {
                "count": len(rows),
                "indices": {"bufferView": self.view(indices.tobytes()), "componentType": _COMPONENT_TYPES["uint32"]},
                "values": {"bufferView": self.view(stored.tobytes())},
            }
        if bounds:
            least = 0.0 if len(rows) < count else np.inf
            accessor["min"] = stored.min(axis=0, initial=least).tolist()
            accessor["max"] = stored.max(axis=0, initial=-least).tolist()
        self.elements("accessors").append(accessor)
        return len(self.elements("accessors")) - 1

    def to_bytes(self) -> bytes:
        """The file as GLB."""
        self.bytes += bytes(-len(self.bytes) % 4)
        if self.bytes:
            self.json["buffers"] = [{"byteLength": len(self.bytes)}]
        text = well_formed(json.dumps(self.json, ensure_ascii=False, separators=(",", ":"))).encode()
        text += b" " * (-len(text) % 4)
        size = 20 + len(text) + (8 + len(self.bytes) if self.bytes else 0)
        if size > LARGEST:
            raise ValueError(f"a GLB has at most {LARGEST} bytes, and this one would have {size}")
        found: list[bytes | memoryview] = [struct.pack("<4sIII4s", b"glTF", 2, size, len(text), b"JSON"), text]
        if self.bytes:
            found += [struct.pack("<I4s", len(self.bytes), b"BIN\0"), memoryview(self.bytes)]
        return b"".join(found)


def _copied(content: dict[str, Any], path: Path) -> dict[str, Any]:
    """A copy of JSON, whose numbers are numbers of JSON: 1e400 becomes infinite when it is read."""
    try:
        copy: dict[str, Any] = json.loads(json.dumps(content), parse_constant=_NEAREST.get)
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply to be saved") from None
    return copy


def rewrite(
    source: Source, mesh: Mesh, animations: Sequence[Animation], weights: str, centers: Floats | None
) -> bytes | None:
    """The bytes of the file with what was changed; None if its nodes cannot hold that.

    A joint that a skin binds in another pose than others has no node of its own in the file, so that it cannot get
    other animations, or weights of the meshes of other skins.

    Parameters
    ----------
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
        return None
    file = _File(source)
    changed = {
        part for part in source.parts if weights != "float32" or not _same_influences(source.mesh, mesh, _rows(part))
    }
    joint_maps = {}
    for skin in {part.skin for part in changed}:
        joint_map = _put_joints(file, source, mesh, [part for part in changed if part.skin == skin])
        if joint_map is None:
            return None
        joint_maps[skin] = joint_map
    if source.lacks_shapes(mesh) and not put_shapes(file.json, source, mesh, joint_maps, file.sparse_accessor):
        return None
    for part in source.parts:
        attributes = file.json["meshes"][part.mesh]["primitives"][part.primitive]["attributes"]
        _put_part(file, source.mesh, mesh, part, attributes)
        _put_centers(file, source.centers, centers, part, attributes)
        if part in changed:
            _put_influences(file, attributes, mesh, _rows(part), joint_maps[part.skin], weights)
    _put_animations(file, source, mesh, animations)
    return file.to_bytes()


def _rows(part: Part) -> slice:
    return slice(part.first, part.first + part.count)


def _put_joints(file: _File, source: Source, mesh: Mesh, parts: Sequence[Part]) -> NDArray[np.int64] | None:
    """Adds the joints to a skin that its meshes now have weights of; the character's joint of each joint of the skin.

    None if a joint has no node of its own in the file.
    """
    joint_map, matrix = parts[0].joint_map.astype(np.int64), parts[0].matrix
    used = set()
    for part in parts:
        indices, shares = tidy(mesh.joint_indices[_rows(part)], mesh.joint_weights[_rows(part)])
        used.update(np.unique(indices[shares > 0.0]).tolist())
    missing = sorted(used.difference(joint_map.tolist()))
    if not missing:
        return joint_map
    skin = file.json["skins"][parts[0].skin]
    nodes = [source.nodes[int(source.rig.joints[joint])] for joint in missing]
    if min(nodes) < 0 or not set(skin["joints"]).isdisjoint(nodes):
        return None
    joint_map = np.concatenate([joint_map, missing])
    matrices = (source.rig.inverse_bind_matrices[joint_map] @ matrix).transpose(0, 2, 1).reshape(-1, 16)
    skin["joints"] = [*skin["joints"], *nodes]
    skin["inverseBindMatrices"] = file.accessor(matrices.astype(np.float32))
    return joint_map


def _put_part(file: _File, before: Mesh, mesh: Mesh, part: Part, attributes: dict[str, Any]) -> None:
    """All that was changed but weights."""
    rows = _rows(part)
    inverse = affine.inverse(part.matrix[None])[0]
    if not np.array_equal(mesh.positions[rows], before.positions[rows]):
        positions = (mesh.positions[rows] @ inverse[:3, :3].T + inverse[:3, 3]).astype(np.float32)
        bounds: dict[str, Any] = {"min": positions.min(axis=0).tolist(), "max": positions.max(axis=0).tolist()}
        attributes["POSITION"] = file.accessor(positions, _ARRAY_BUFFER, **bounds)
    if _differ(mesh.normals, before.normals, rows):
        normals = np.asarray(mesh.normals, np.float64)[rows] @ part.matrix[:3, :3]
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        unit = (normals / np.where(length > 0.0, length, 1.0)).astype(np.float32)
        attributes["NORMAL"] = file.accessor(unit, _ARRAY_BUFFER)
    if _differ(mesh.tangents, before.tangents, rows):
        tangents = moved_tangents(np.asarray(mesh.tangents, np.float64)[rows], inverse[:3, :3])
        attributes["TANGENT"] = file.accessor(tangents.astype(np.float32), _ARRAY_BUFFER)
    if _differ(mesh.uvs, before.uvs, rows):
        attributes["TEXCOORD_0"] = file.accessor(np.asarray(mesh.uvs, np.float32)[rows], _ARRAY_BUFFER)


def _put_centers(
    file: _File, before: Floats | None, centers: Floats | None, part: Part, attributes: dict[str, Any]
) -> None:
    """The centers of rotation and amounts for a shader, or none where they are of other weights."""
    if centers is None:
        attributes.pop(CENTER, None)
    elif before is None or not np.array_equal(before, centers):
        attributes[CENTER] = file.accessor(_moved_centers(centers[_rows(part)], part), _ARRAY_BUFFER)


def _moved_centers(centers: Floats, part: Part) -> NDArray[np.float32]:
    """Centers and amounts in the space of the file."""
    inverse = affine.inverse(part.matrix[None])[0]
    return np.column_stack([centers[:, :3] @ inverse[:3, :3].T + inverse[:3, 3], centers[:, 3]]).astype(np.float32)


def _differ(ours: NDArray[Any] | None, theirs: NDArray[Any] | None, rows: slice) -> bool:
    return ours is not None and theirs is not None and not np.array_equal(ours[rows], theirs[rows])


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
    file: _File, attributes: dict[str, Any], mesh: Mesh, rows: slice, joint_map: NDArray[np.int64], weights: str
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
        attributes[f"JOINTS_{first // 4}"] = file.accessor(indices, _ARRAY_BUFFER)
        attributes[f"WEIGHTS_{first // 4}"] = file.accessor(stored[:, columns], _ARRAY_BUFFER, **kind)


def _put_animations(file: _File, source: Source, mesh: Mesh, animations: Sequence[Animation]) -> None:
    """Keeps the animations that the character still has, and all that do not move it; adds the others.

    Those that the file has, but with other weights of shapes or more tracks, keep all else.
    """
    more_shapes = source.lacks_shapes(mesh)
    if (
        not more_shapes
        and len(animations) == len(source.animations)
        and all(ours is theirs for ours, (theirs, _) in zip(animations, source.animations, strict=True))
    ):
        return
    numbers = {id(animation): number for animation, number in source.animations}
    known = set(numbers.values())
    there = file.elements("animations")
    others = [element for number, element in enumerate(there) if number not in known]
    ours = []
    for animation in animations:
        if not more_shapes and id(animation) in numbers:
            ours.append(there[numbers[id(animation)]])
            continue
        begins = next(((old, number) for old, number in source.animations if _begins_as(animation, old)), None)
        ours.append(_animation(file, source, mesh, animation, begins and (there[begins[1]], len(begins[0].tracks))))
    file.json["animations"] = ours + others
    if not file.json["animations"]:
        del file.json["animations"]


def _begins_as(animation: Animation, old: Animation) -> bool:
    """Whether an animation has all tracks of an old one, and perhaps more behind these."""
    return bool(old.tracks) and list(map(id, animation.tracks[: len(old.tracks)])) == list(map(id, old.tracks))


def _shape_nodes(file: _File, source: Source, mesh: Mesh) -> dict[int, range]:
    """The shapes at each of the file's nodes that has any."""
    if not source.lacks_shapes(mesh):
        return {node: range(first, first + count) for node, (first, count) in source.shape_nodes.items()}
    numbers = {part.first: part.mesh for part in source.parts}
    return {
        node: part.shapes
        for part in mesh.parts
        for node in mesh_nodes(file.json, numbers[part.vertices.start])
        if len(part.shapes)
    }


def _animation(
    file: _File, source: Source, mesh: Mesh, animation: Animation, before: tuple[dict[str, Any], int] | None
) -> dict[str, Any]:
    """An animation; of one that the file has, `before`, with that many of the tracks, the others and shapes are new."""
    shape_nodes = _shape_nodes(file, source, mesh)
    old, known = before or ({"samplers": [], "channels": []}, 0)
    samplers = [*old["samplers"]]
    channels = [channel for channel in old["channels"] if not _is_of_shapes(channel, shape_nodes)]

    def write_times(track: Track) -> int:
        seconds = track.times.astype(np.float32)[:, None]
        bounds: dict[str, Any] = {"min": [float(seconds.min())], "max": [float(seconds.max())]}
        return file.accessor(seconds, **bounds)

    def channel(track: Track, times: int, keys: NDArray[np.float32], node: int) -> None:
        output = file.accessor(keys)
        samplers.append({"input": times, "output": output, "interpolation": track.interpolation})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": track.path}})

    for track in animation.tracks[known:]:
        times = write_times(track)
        for column, node in enumerate(track.nodes.tolist()):
            channel(track, times, node_keys(track, column), source.nodes[node])
    for node, shapes in shape_nodes.items():
        rest = [shape.weight for shape in mesh.shapes[shapes.start : shapes.stop]]
        for track in with_all_shapes(animation.shape_tracks, shapes.start, len(rest), rest):
            channel(track, write_times(track), weight_keys(track), node)
    name = well_formed(animation.name)
    return {**old, "channels": channels, "samplers": samplers} | ({"name": name} if name else {})


def _is_of_shapes(channel: dict[str, Any], shape_nodes: dict[int, range]) -> bool:
    """Whether a channel has the weights of the character's shapes."""
    target = channel["target"]
    return target.get("path") == "weights" and target.get("node") in shape_nodes
