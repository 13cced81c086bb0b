# SPDX-License-Identifier: MIT
"""Frames of a deformed mesh in one GLB: morph targets of the first frame, which an animation shows in turn."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from ..rigging.triangle_mesh import MeshPart, triangles_within
from ..support.text import well_formed
from .caches import Cache, Rows

__all__ = ["GLB"]

Bounds = tuple[list[float], list[float]]

MOST = 4096
"""The most frames: each has a weight of each target, so the weights of these take 64 MiB."""

FLOAT, UNSIGNED_INT = 5126, 5125
# As long as any number of float32 becomes in JSON.
_LONGEST = -1.2345678901234567e-38


class GLB(Cache):
    """glTF 2.0, binary: positions and normals in float32, linear between frames, without a skeleton."""

    normals = True

    def __enter__(self) -> GLB:
        frames = self.frames
        count, vertex_count = len(frames.numbers), frames.vertex_count
        if count > MOST:
            raise ValueError(f"{count} frames are more than the {MOST} that a GLB is written with")
        self._parts = frames.parts or (MeshPart("", range(vertex_count)),)
        pieces = [triangles_within(frames.triangles, part.vertices) for part in self._parts]
        self._corners = [piece.size for piece in pieces]
        corners = b"".join(piece.astype("<u4").tobytes() for piece in pieces)
        self._head = (corners, b"", b"")
        if count > 1:
            times = (np.arange(count) / frames.fps).astype("<f4")
            self._head = (corners, times.tobytes(), np.eye(count, dtype="<f4")[:, 1:].tobytes())
        self._bounds: list[list[Bounds]] = []
        self._size = sum(map(len, self._head)) + (24 if frames.has_normals else 12) * count * vertex_count
        # The description comes first in the file, but has the bounds of all frames.
        self._room = (len(self._json([[([_LONGEST] * 3,) * 2] * len(self._parts)] * count)) + 3) // 4 * 4
        total = 28 + self._room + self._size
        if total >= 2**32:
            raise ValueError(f"{count} frames of {vertex_count} vertices take more than the 4 GiB of a GLB")
        self._file = self.resources.enter_context(self.path.open("wb"))
        self._file.write(struct.pack("<4sII", b"glTF", 2, total))
        self._file.write(struct.pack("<I4s", self._room, b"JSON") + b" " * self._room)
        self._file.write(struct.pack("<I4s", self._size, b"BIN\0") + b"".join(self._head))
        return self

    def __exit__(self, *failure: Any) -> bool | None:
        if failure[0] is None:
            self._file.seek(20)
            self._file.write(self._json(self._bounds))
        return super().__exit__(*failure)

    def append(self, positions: Rows, normals: Rows | None) -> None:
        given = (positions,) if normals is None else (positions, normals)
        for shape in zip(*given, strict=True):
            rows = [np.asarray(row, "<f4") for row in shape]
            if not self._bounds:
                self._first = rows
            else:
                rows = [row - first for row, first in zip(rows, self._first, strict=True)]
            own = (rows[0][part.vertices.start : part.vertices.stop] for part in self._parts)
            self._bounds.append([(piece.min(axis=0).tolist(), piece.max(axis=0).tolist()) for piece in own])
            self._file.write(b"".join(row.tobytes() for row in rows))

    def _json(self, bounds: list[list[Bounds]]) -> bytes:
        """The description of the file, with the bounds of each part in each frame."""
        count = len(self.frames.numbers)
        _, times, weights = map(len, self._head)
        views: list[dict[str, int]] = []
        accessors: list[dict[str, Any]] = []

        def array(length: int, kind: int, shape: str, number: int, **limits: list[float]) -> int:
            """The number of an accessor of the next bytes."""
            place = views[-1]["byteOffset"] + views[-1]["byteLength"] if views else 0
            views.append({"buffer": 0, "byteOffset": place, "byteLength": length})
            accessor = {"bufferView": len(views) - 1, "componentType": kind, "count": number, "type": shape}
            accessors.append(accessor | limits)
            return len(accessors) - 1

        primitives: list[dict[str, Any]] = [{} for _ in self._parts]
        meshes: list[dict[str, Any]] = [{"primitives": [primitive]} for primitive in primitives]
        nodes: list[dict[str, Any]] = [{"mesh": number} for number in range(len(meshes))]
        for part, *called in zip(self._parts, meshes, nodes, strict=True):
            for element in called:
                element |= {"name": well_formed(part.name)} if part.name else {}
        described: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "sbs"},
            "scene": 0,
            "scenes": [{"nodes": list(range(len(nodes)))}],
            "nodes": nodes,
            "meshes": meshes,
            "accessors": accessors,
            "bufferViews": views,
            "buffers": [{"byteLength": self._size}],
        }
        for primitive, corners in zip(primitives, self._corners, strict=True):
            if corners:
                primitive["indices"] = array(4 * corners, UNSIGNED_INT, "SCALAR", corners)
        if count > 1:
            last = float(np.float32((count - 1) / self.frames.fps))
            channels = [{"sampler": 0, "target": {"node": node, "path": "weights"}} for node in range(len(nodes))]
            sampler = {
                "input": array(times, FLOAT, "SCALAR", count, min=[0.0], max=[last]),
                "output": array(weights, FLOAT, "SCALAR", weights // 4),
                "interpolation": "LINEAR",
            }
            described["animations"] = [{"name": "frames", "channels": channels, "samplers": [sampler]}]
            for mesh in meshes:
                mesh["weights"] = [0.0] * (count - 1)
        sizes = [len(part.vertices) for part in self._parts]
        for frame, limits in enumerate(bounds):
            positions = [
                array(12 * size, FLOAT, "VEC3", size, min=least, max=most)
                for size, (least, most) in zip(sizes, limits, strict=True)
            ]
            normals = [array(12 * size, FLOAT, "VEC3", size) for size in sizes if self.frames.has_normals]
            for number, primitive in enumerate(primitives):
                shape = {"POSITION": positions[number]} | ({"NORMAL": normals[number]} if normals else {})
                if frame == 0:
                    primitive["attributes"] = shape
                else:
                    primitive.setdefault("targets", []).append(shape)
        return json.dumps(described, separators=(",", ":"), allow_nan=False).encode()
