# SPDX-License-Identifier: MIT
"""Frames of a deformed mesh in one GLB: morph targets of the first frame, which an animation shows in turn."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from .caches import Cache, Rows

__all__ = ["GLB"]

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
        corners = frames.triangles.astype("<u4").tobytes()
        self._head = (corners, b"", b"")
        if count > 1:
            times = (np.arange(count) / frames.fps).astype("<f4")
            self._head = (corners, times.tobytes(), np.eye(count, dtype="<f4")[:, 1:].tobytes())
        self._bounds: list[tuple[list[float], list[float]]] = []
        self._size = sum(map(len, self._head)) + 24 * count * vertex_count
        # The description comes first in the file, but has the bounds of all frames.
        self._room = (len(self._json([([_LONGEST] * 3,) * 2] * count)) + 3) // 4 * 4
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
        assert normals is not None
        for shape in zip(positions, normals, strict=True):
            rows = [np.asarray(row, "<f4") for row in shape]
            if not self._bounds:
                self._first = rows
            else:
                rows = [row - first for row, first in zip(rows, self._first, strict=True)]
            self._bounds.append((rows[0].min(axis=0).tolist(), rows[0].max(axis=0).tolist()))
            self._file.write(b"".join(row.tobytes() for row in rows))

    def _json(self, bounds: list[tuple[list[float], list[float]]]) -> bytes:
        """The description of the file."""
        count, vertex_count = len(self.frames.numbers), self.frames.vertex_count
        corners, times, weights = map(len, self._head)
        views: list[dict[str, int]] = []
        accessors: list[dict[str, Any]] = []

        def array(length: int, kind: int, shape: str, number: int, **limits: list[float]) -> int:
            """The number of an accessor of the next bytes."""
            place = views[-1]["byteOffset"] + views[-1]["byteLength"] if views else 0
            views.append({"buffer": 0, "byteOffset": place, "byteLength": length})
            accessor = {"bufferView": len(views) - 1, "componentType": kind, "count": number, "type": shape}
            accessors.append(accessor | limits)
            return len(accessors) - 1

        primitive: dict[str, Any] = {}
        mesh: dict[str, Any] = {"primitives": [primitive]}
        described: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "sbs"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [mesh],
            "accessors": accessors,
            "bufferViews": views,
            "buffers": [{"byteLength": self._size}],
        }
        if corners:
            primitive["indices"] = array(corners, UNSIGNED_INT, "SCALAR", corners // 4)
        if count > 1:
            last = float(np.float32((count - 1) / self.frames.fps))
            channel = {"sampler": 0, "target": {"node": 0, "path": "weights"}}
            sampler = {
                "input": array(times, FLOAT, "SCALAR", count, min=[0.0], max=[last]),
                "output": array(weights, FLOAT, "SCALAR", weights // 4),
                "interpolation": "LINEAR",
            }
            described["animations"] = [{"name": "frames", "channels": [channel], "samplers": [sampler]}]
            mesh["weights"] = [0.0] * (count - 1)
        shapes = [
            {
                "POSITION": array(12 * vertex_count, FLOAT, "VEC3", vertex_count, min=least, max=most),
                "NORMAL": array(12 * vertex_count, FLOAT, "VEC3", vertex_count),
            }
            for least, most in bounds
        ]
        primitive["attributes"] = shapes[0]
        if count > 1:
            primitive["targets"] = shapes[1:]
        return json.dumps(described, separators=(",", ":"), allow_nan=False).encode()
