# SPDX-License-Identifier: MIT
"""A glTF file to write: its JSON, the bytes of its only buffer, and both as GLB."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ...support.text import well_formed
from .container import LARGEST
from .document import HARMLESS

__all__ = ["ARRAY_BUFFER", "ELEMENT_ARRAY_BUFFER", "HEAD_SIZE", "Json", "Output", "make_glb_head"]

Json = dict[str, Any]

ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
"""The targets of buffer views with attributes of vertices, and with corners of triangles."""

HEAD_SIZE = 20
"""Bytes of a GLB before its JSON."""

_COMPONENT_TYPES = {"uint8": 5121, "uint16": 5123, "uint32": 5125, "float32": 5126}
_TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}

# Extensions that refer to no accessor and no buffer view in a place of their own.
_KNOWN = (*HARMLESS, "KHR_animation_pointer", "VRM")


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
        self._drop_unused()
        self.append(b"")
        text = self.text()
        return b"".join([make_glb_head(text, self.size), self.data])

    def _drop_unused(self) -> None:
        if not all(name.startswith(_KNOWN) for name in _find_extensions(self.json)):
            return  # it may refer to them in a way of its own
        _keep_used(self.json, "accessors", _find_accessor_references(self.json))
        _keep_used(self.json, "bufferViews", _find_view_references(self.json))
        before, self.data = memoryview(self.data), bytearray()
        end = shift = 0
        for start, size, view in sorted(_find_places(self.json), key=lambda placed: placed[:2]):
            first, stop = start - start % 4, min(start + size, len(before))
            if first >= end:  # views may have bytes in common
                end, shift = first, self.append(b"") - first
            self.data += before[end : max(end, stop)]
            end = max(end, stop)
            view["byteOffset"] = start + shift


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


# Files are read as far as a character needs it, so the rest may be anything.


def _find_extensions(content: Json) -> set[str]:
    """The extensions that a file lists or has."""
    names = set(map(str, content.get("extensionsUsed") or []))
    waiting: list[Any] = [content]
    while waiting:
        thing = waiting.pop()
        if type(thing) is dict:
            found = thing.get("extensions")
            names.update(found if type(found) is dict else {})
            waiting += thing.values()
        elif type(thing) is list:
            waiting += thing
    return names


def _find_members(things: Iterable[Json], *keys: str) -> list[Json]:
    """The objects in the lists of this name in objects; with several names, in the lists of these, and so on."""
    for key in keys:
        lists = [thing.get(key) for thing in things]
        things = [member for found in lists if type(found) is list for member in found if type(member) is dict]
    return list(things)


def _find_accessor_references(content: Json) -> Iterator[tuple[Json, str]]:
    """Every object that has the number of an accessor, and its key."""
    for primitive in _find_members([content], "meshes", "primitives"):
        yield primitive, "indices"
        for attributes in (primitive.get("attributes"), *_find_members([primitive], "targets")):
            if type(attributes) is dict:
                yield from ((attributes, name) for name in attributes)
    for skin in _find_members([content], "skins"):
        yield skin, "inverseBindMatrices"
    for sampler in _find_members([content], "animations", "samplers"):
        yield from ((sampler, "input"), (sampler, "output"))


def _find_view_references(content: Json) -> Iterator[tuple[Json, str]]:
    """Every object that has the number of a buffer view, and its key."""
    accessors = _find_members([content], "accessors")
    sparse = [accessor["sparse"] for accessor in accessors if type(accessor.get("sparse")) is dict]
    parts = [part for each in sparse for part in (each.get("indices"), each.get("values")) if type(part) is dict]
    yield from ((element, "bufferView") for element in (*accessors, *parts, *_find_members([content], "images")))


def _keep_used(content: Json, kind: str, references: Iterator[tuple[Json, str]]) -> None:
    """Drop the elements of a kind without a reference, and renumber the references to the others."""
    elements = content.get(kind)
    if type(elements) is not list:
        return
    # By identity, for animations may share samplers.
    places = {
        (id(holder), key): (holder, key)
        for holder, key in references
        if _is_integer(holder.get(key)) and holder[key] < len(elements)
    }
    used = sorted({int(holder[key]) for holder, key in places.values()})
    number = {old: new for new, old in enumerate(used)}
    for holder, key in places.values():
        holder[key] = number[holder[key]]
    content[kind] = [elements[old] for old in used]
    if not used:
        del content[kind]  # glTF has no empty lists


def _find_places(content: Json) -> Iterator[tuple[int, int, Json]]:
    """Where each buffer view begins, how long it is, and the view."""
    for view in _find_members([content], "bufferViews"):
        start, size = view.get("byteOffset") or 0, view.get("byteLength")
        if _is_integer(start) and _is_integer(size):
            yield int(start), int(size), view


def _is_integer(value: Any) -> TypeGuard[int | float]:
    """Whether a value is an integer from 0 on, which JSON may have as 1.0, too."""
    return type(value) in (int, float) and value >= 0 and value == int(value)
