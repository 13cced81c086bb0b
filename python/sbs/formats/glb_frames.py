# SPDX-License-Identifier: MIT
"""Frames of a deformed mesh in one GLB: morph targets of the first frame, which an animation shows in turn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rigging.triangle_mesh import MeshPart, triangles_within
from ..support.text import well_formed
from .caches import Cache, Rows
from .gltf.output import HEAD_SIZE, Json, Output, make_glb_head

__all__ = ["GLB"]

Bounds = tuple[list[float], list[float]]

MOST = 4096
"""The most frames: each has a weight of each target, so the weights of these take 64 MiB."""

# A number of float32 that is as long as any in JSON.
_LONGEST = -1.2345678901234567e-38


class GLB(Cache):
    """glTF 2.0, binary: positions and normals in float32, linear between frames, without a skeleton."""

    normals = True
    has_faces = True

    def __enter__(self) -> GLB:
        frames = self.frames
        count = len(frames.numbers)
        if count > MOST:
            raise ValueError(f"{count} frames are more than the {MOST} that a GLB is written with")
        self._parts = frames.parts or (MeshPart("", range(frames.vertex_count)),)
        self._bounds: list[list[Bounds]] = []
        # The JSON comes first in the file, but has the bounds of all frames.
        longest = self._describe([[([_LONGEST] * 3,) * 2] * len(self._parts)] * count)
        head = make_glb_head(b" " * len(longest.text()), longest.size)
        self._file = self.resources.enter_context(self.path.open("wb"))
        self._file.write(head)
        self._file.write(longest.data)
        return self

    def __exit__(self, *failure: Any) -> bool | None:
        if failure[0] is None:
            self._file.seek(HEAD_SIZE)
            self._file.write(self._describe(self._bounds).text())
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

    def _describe(self, bounds: list[list[Bounds]]) -> Output:
        """The file but for its frames, whose accessors have the bounds of each part in each frame."""
        output, count = Output(), len(self.frames.numbers)
        primitives: list[Json] = []
        for part in self._parts:
            corners = triangles_within(self.frames.triangles, part.vertices).ravel().astype("<u4")
            primitives.append({"indices": output.accessor(corners)} if len(corners) else {})
            mesh: Json = {"primitives": primitives[-1:]} | ({"name": well_formed(part.name)} if part.name else {})
            if count > 1:
                mesh["weights"] = [0.0] * (count - 1)
            output.add("meshes", mesh)
        nodes = range(len(primitives))
        output.json["nodes"] = [
            {"mesh": node} | ({"name": mesh["name"]} if "name" in mesh else {})
            for node, mesh in enumerate(output.json["meshes"])
        ]
        output.json |= {"scenes": [{"nodes": list(nodes)}], "scene": 0}
        if count > 1:
            times = output.accessor((np.arange(count) / self.frames.fps).astype("<f4"), bounds=True)
            weights = output.accessor(np.eye(count, dtype="<f4")[:, 1:].ravel())
            channels = [{"sampler": 0, "target": {"node": node, "path": "weights"}} for node in nodes]
            sampler = {"input": times, "output": weights, "interpolation": "LINEAR"}
            output.add("animations", {"name": "frames", "channels": channels, "samplers": [sampler]})
        for frame, limits in enumerate(bounds):
            shapes = [
                {"POSITION": output.describe("<f4", len(part.vertices), 3, min=least, max=most)}
                for part, (least, most) in zip(self._parts, limits, strict=True)
            ]
            if self.frames.has_normals:
                for part, shape in zip(self._parts, shapes, strict=True):
                    shape["NORMAL"] = output.describe("<f4", len(part.vertices), 3)
            for primitive, shape in zip(primitives, shapes, strict=True):
                if frame == 0:
                    primitive["attributes"] = shape
                else:
                    primitive.setdefault("targets", []).append(shape)
        return output
