# SPDX-License-Identifier: MIT
"""Builds small glTF files byte by byte, good and bad ones; shares nothing with the code that is tested."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

COMPONENT_TYPES = {"b": 5120, "B": 5121, "h": 5122, "H": 5123, "I": 5125, "f": 5126}
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}

IDENTITY = np.eye(4)


def translation(x: float, y: float, z: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


class Builder:
    """A glTF structure, `json`, that can be changed at will, and the bytes of its buffer."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "accessors": [],
            "bufferViews": [],
            "meshes": [],
            "nodes": [],
            "skins": [],
        }

    def _add(self, kind: str, element: dict[str, Any]) -> int:
        elements = self.json.setdefault(kind, [])
        elements.append(element)
        return len(elements) - 1

    def view(self, data: bytes, **keys: Any) -> int:
        """A buffer view of new bytes, at a multiple of 4."""
        self.data += bytes(-len(self.data) % 4)
        start = len(self.data)
        self.data += data
        return self._add("bufferViews", {"buffer": 0, "byteOffset": start, "byteLength": len(data), **keys})

    def accessor(self, values: Any, code: str = "f", **keys: Any) -> int:
        """A packed accessor of (count,) or (count, components) values; `code` is that of `struct`."""
        rows = [tuple(np.atleast_1d(row).tolist()) for row in values]
        data = b"".join(struct.pack(f"<{len(row)}{code}", *row) for row in rows)
        if code == "f" and len(rows[0]) in (1, 3) and np.isfinite(rows).all():  # of positions and times
            stored = np.array(rows, np.float32)
            keys = {"min": stored.min(axis=0).tolist(), "max": stored.max(axis=0).tolist()} | keys
        return self.describe(self.view(data), len(rows), len(rows[0]), code, **keys)

    def describe(self, view: int | None, count: int, components: int, code: str, **keys: Any) -> int:
        """An accessor on a view that is there already."""
        accessor = {"componentType": COMPONENT_TYPES[code], "count": count, "type": TYPES[components], **keys}
        return self._add("accessors", accessor if view is None else {"bufferView": view, **accessor})

    def primitive(
        self,
        positions: Any,
        joints: Any,
        weights: Any,
        *,
        indices: Any = None,
        index_code: str = "H",
        attributes: dict[str, int] | None = None,
        **keys: Any,
    ) -> dict[str, Any]:
        """A primitive with one set of influences, bytes and floats; `attributes` adds or replaces accessors."""
        primitive = {
            "attributes": {
                "POSITION": self.accessor(positions),
                "JOINTS_0": self.accessor(joints, "B"),
                "WEIGHTS_0": self.accessor(weights),
                **(attributes or {}),
            },
            **keys,
        }
        if indices is not None:
            primitive["indices"] = self.accessor(indices, index_code)
        return primitive

    def mesh(self, *primitives: dict[str, Any], **keys: Any) -> int:
        return self._add("meshes", {"primitives": list(primitives), **keys})

    def node(self, **keys: Any) -> int:
        return self._add("nodes", keys)

    def skin(self, joints: Sequence[int], inverse_binds: Any = None, **keys: Any) -> int:
        """A skin; inverse bind matrices (J, 4, 4) are stored column by column."""
        skin = {"joints": list(joints), **keys}
        if inverse_binds is not None:
            columns = np.asarray(inverse_binds).transpose(0, 2, 1).reshape(-1, 16)
            skin["inverseBindMatrices"] = self.accessor(columns)
        return self._add("skins", skin)

    def animation(self, *channels: tuple[int, str, Any, Any], interpolation: str | None = None, **keys: Any) -> int:
        """Channels (node, path, times, values); values are an array or the number of an accessor."""
        samplers = []
        for _, _, times, values in channels:
            sampler = {
                "input": self.accessor(times),
                "output": values if isinstance(values, int) else self.accessor(values),
            }
            samplers.append(sampler if interpolation is None else {**sampler, "interpolation": interpolation})
        targets = [
            {"sampler": number, "target": {"node": node, "path": path}}
            for number, (node, path, _, _) in enumerate(channels)
        ]
        return self._add("animations", {"samplers": samplers, "channels": targets, **keys})

    def glb(self) -> bytes:
        content = {**self.json, "buffers": [{"byteLength": len(self.data)}]}
        return pack_glb(json.dumps(content).encode(), bytes(self.data))

    def save(self, path: Path) -> Path:
        """Writes a GLB."""
        path.write_bytes(self.glb())
        return path

    def save_text(self, path: Path, uri: str | None = None) -> Path:
        """Writes a .gltf whose buffer is at `uri`, or embedded."""
        if uri is None:
            uri = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        path.write_text(json.dumps({**self.json, "buffers": [{"byteLength": len(self.data), "uri": uri}]}))
        return path


def pack_glb(text: bytes, data: bytes | None, version: int = 2) -> bytes:
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    if data is not None:
        data += bytes(-len(data) % 4)
        chunks += struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", version, 12 + len(chunks)) + chunks


def arm() -> Builder:
    """A strip of four vertices on two joints: the shoulder at the origin and the elbow at (2, 0, 0).

    Vertices 0 and 1 hang on the shoulder, 2 and 3 half on each. Nodes: 0 shoulder, 1 elbow, 2 the mesh.
    """
    builder = Builder()
    builder.node(name="shoulder", children=[1])
    builder.node(name="elbow", translation=[2.0, 0.0, 0.0])
    primitive = builder.primitive(
        positions=[[0, 0, 0], [0, 1, 0], [3, 0, 0], [3, 1, 0]],
        joints=[[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]],
        weights=[[1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0]],
        indices=[0, 2, 1, 1, 2, 3],
    )
    builder.mesh(primitive)
    builder.skin([0, 1], [IDENTITY, translation(-2, 0, 0)])
    builder.node(name="body", mesh=0, skin=0)
    return builder
