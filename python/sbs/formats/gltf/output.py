# SPDX-License-Identifier: MIT
"""A glTF file to write: its JSON, the bytes of its only buffer, and both as GLB."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...support.text import well_formed
from .container import LARGEST
from .unused import drop_unused

__all__ = ["ARRAY_BUFFER", "ELEMENT_ARRAY_BUFFER", "HEAD_SIZE", "Json", "Output", "make_glb_head"]

Json = dict[str, Any]

ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
"""The targets of buffer views with attributes of vertices, and with corners of triangles."""

HEAD_SIZE = 20
"""Bytes of a GLB before its JSON."""

_COMPONENT_TYPES = {"uint8": 5121, "uint16": 5123, "uint32": 5125, "float32": 5126}
_TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class Output:
    """A file that grows by elements.

    Attributes
    ----------
    json : dict
    data : bytearray
        The bytes of its buffer.
    size : int
        Bytes of its buffer, including arrays that are only described.
    """

    def __init__(self, content: Json | None = None) -> None:
        self.json: Json = content or {"asset": {"version": "2.0", "generator": "spherical-blend-skinning"}}
        self.data = bytearray()
        self.size = 0

    def elements(self, kind: str) -> list[Json]:
        """The elements of a kind, such as "nodes"; a list that can be added to."""
        if self.json.get(kind) is None:
            self.json[kind] = []
        found: list[Json] = self.json[kind]
        return found

    def add(self, kind: str, element: Json) -> int:
        """Append an element, and return its number."""
        self.elements(kind).append(element)
        return len(self.elements(kind)) - 1

    def append(self, data: bytes) -> int:
        """Append bytes to the buffer, and return where they begin: at a multiple of 4."""
        self.data += bytes(-len(self.data) % 4)
        start = len(self.data)
        self.data += data
        self.size = len(self.data)
        return start

    def view(self, data: bytes, target: int | None = None) -> int:
        """Append bytes with a buffer view."""
        return self._add_view(self.append(data), len(data), target)

    def _add_view(self, start: int, size: int, target: int | None) -> int:
        view = {"buffer": 0, "byteOffset": start, "byteLength": size}
        return self.add("bufferViews", view if target is None else view | {"target": target})

    def accessor(self, array: NDArray[Any], target: int | None = None, *, bounds: bool = False, **keys: Any) -> int:
        """Append an array, (count,) or (count, components), with an accessor."""
        rows = np.ascontiguousarray(array).reshape(len(array), -1)
        if bounds:
            keys |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        return self._add_accessor(self.view(rows.tobytes(), target), rows.dtype, *rows.shape, **keys)

    def describe(self, dtype: Any, count: int, components: int, **keys: Any) -> int:
        """An accessor of numbers that the caller writes behind all others."""
        layout, start = np.dtype(dtype), self.size
        length = layout.itemsize * count * components
        self.size += length + -length % 4
        return self._add_accessor(self._add_view(start, length, None), layout, count, components, **keys)

    def _add_accessor(self, view: int, dtype: np.dtype[Any], count: int, components: int, **keys: Any) -> int:
        described = {"componentType": _COMPONENT_TYPES[dtype.name], "count": count, "type": _TYPES[components]}
        return self.add("accessors", {"bufferView": view, **described, **keys})

    def sparse_accessor(self, count: int, rows: NDArray[np.int32], values: NDArray[Any], *, bounds: bool) -> int:
        """Append `count` vectors with values in some rows, each once, and 0 in all others."""
        order = np.argsort(rows)
        indices = rows[order].astype(np.uint16 if count <= 65536 else np.uint32)
        stored = values[order].astype(np.float32)
        if indices.nbytes + stored.nbytes >= count * stored.itemsize * 3:
            dense = np.zeros((count, 3), np.float32)
            dense[indices] = stored
            return self.accessor(dense, ARRAY_BUFFER, bounds=bounds)
        accessor: Json = {"componentType": _COMPONENT_TYPES["float32"], "count": count, "type": "VEC3"}
        if len(rows):
            component_type = _COMPONENT_TYPES[indices.dtype.name]
            accessor["sparse"] = {
                "count": len(rows),
                "indices": {"bufferView": self.view(indices.tobytes()), "componentType": component_type},
                "values": {"bufferView": self.view(stored.tobytes())},
            }
        if bounds:
            accessor["min"] = stored.min(axis=0, initial=0.0).tolist()
            accessor["max"] = stored.max(axis=0, initial=0.0).tolist()
        return self.add("accessors", accessor)

    def text(self) -> bytes:
        """The JSON, with spaces behind it up to a multiple of 4 bytes."""
        if self.size:
            self.json["buffers"] = [{"byteLength": self.size}]
        else:
            self.json.pop("buffers", None)
        text = well_formed(json.dumps(self.json, ensure_ascii=False, allow_nan=False, separators=(",", ":"))).encode()
        return text + b" " * (-len(text) % 4)

    def to_bytes(self) -> bytes:
        """The file as GLB, without accessors, buffer views and bytes that nothing refers to."""
        self.data = drop_unused(self.json, self.data)
        self.size = len(self.data)
        text = self.text()
        return b"".join([make_glb_head(text, self.size), self.data])


def make_glb_head(text: bytes, size: int) -> bytes:
    """The bytes of a GLB before its buffer. The sizes of the JSON and of the buffer are multiples of 4.

    Raises
    ------
    ValueError
        If this is more than a GLB can have.
    """
    head = HEAD_SIZE + len(text) + (8 if size else 0)
    if head + size > LARGEST:
        raise ValueError(f"a GLB has at most {LARGEST} bytes, and this one would have {head + size}")
    binary = struct.pack("<I4s", size, b"BIN\0") if size else b""
    return struct.pack("<4sIII4s", b"glTF", 2, head + size, len(text), b"JSON") + text + binary
