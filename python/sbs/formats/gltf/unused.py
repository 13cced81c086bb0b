# SPDX-License-Identifier: MIT
"""Accessors, buffer views and bytes of a glTF file that nothing refers to, which are not written.

Files are read as far as a character needs it, so the rest may be anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from .document import HARMLESS

__all__ = ["drop_unused"]

Json = dict[str, Any]

# Extensions that refer to no accessor and no buffer view in a place of their own.
_KNOWN = (*HARMLESS, "KHR_animation_pointer", "VRM")

_COMPONENT_SIZES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_COLUMNS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def drop_unused(content: Json, data: bytearray) -> bytearray:
    """Drop things without a reference from the JSON, and return the bytes of the buffer that are left."""
    if not all(name.startswith(_KNOWN) for name in _find_extensions(content)):
        return _padded(data)  # it may refer to them in a way of its own
    _keep_used(content, "accessors", _find_accessor_references(content))
    _pack_views(content, data)
    _keep_used(content, "bufferViews", _find_view_references(content))
    before, kept = memoryview(data), bytearray()
    end = shift = 0
    for start, size, view in sorted(_find_places(content), key=lambda placed: placed[:2]):
        first, stop = start - start % 4, min(start + size, len(before))
        if first >= end:  # views may have bytes in common
            _padded(kept)
            end, shift = first, len(kept) - first
        kept += before[end : max(end, stop)]
        end = max(end, stop)
        view["byteOffset"] = start + shift
    return _padded(kept)


def _padded(data: bytearray) -> bytearray:
    """The same, up to a multiple of 4 bytes."""
    data += bytes(-len(data) % 4)
    return data


class _Rows(NamedTuple):
    """Where the rows of an array are in the buffer."""

    start: int
    stride: int
    number: int
    size: int

    def within(self, buffer: bytearray | NDArray[np.bool_], dtype: type, begin: int = 0) -> NDArray[Any]:
        """Those of a buffer, or of a part of it that begins there, (number, size)."""
        return np.ndarray((self.number, self.size), dtype, buffer, self.start - begin, (self.stride, 1))


def _pack_views(content: Json, data: bytearray) -> None:
    """Give arrays views of their own where a view has bytes of none, as of attributes that were replaced."""
    views = content.get("bufferViews")
    if not isinstance(views, list):
        return
    images = [image.get("bufferView") for image in _find_members([content], "images")]
    users: dict[int, list[tuple[Json, _Rows | None]]] = {}
    for holder, *kind in _find_arrays(content):
        number = holder.get("bufferView")
        if _is_integer(number) and number < len(views) and isinstance(views[int(number)], dict):
            users.setdefault(int(number), []).append((holder, _find_rows(views[int(number)], holder, data, *kind)))
    left = len(data)  # more is packed only where arrays overlap, as in files that are built to cost much
    for number, found in users.items():
        rows = [each for _, each in found if each is not None]
        needed = sum(each.number * (each.size + -each.size % 4) for each in set(rows))
        if number in images or len(rows) < len(found) or needed > left:
            continue
        view = views[number]
        used = np.zeros(int(view["byteLength"]), bool)
        for each in rows:
            each.within(used, np.bool_, int(view.get("byteOffset") or 0))[:] = True
        if used.sum() > len(used) - 4:  # which align arrays
            continue
        left -= needed
        packed = {each: len(views) + place for place, each in enumerate(dict.fromkeys(rows))}
        views += [_packed_view(view, data, each) for each in packed]
        for (holder, _), each in zip(found, rows, strict=True):
            holder["bufferView"] = packed[each]
            holder.pop("byteOffset", None)


def _packed_view(view: Json, data: bytearray, rows: _Rows) -> Json:
    """A view of copied rows; those of attributes, which have a stride, begin at multiples of 4 bytes."""
    is_strided = "byteStride" in view
    step = rows.size + -rows.size % 4 if is_strided else rows.size
    packed = np.pad(rows.within(data, np.uint8), ((0, 0), (0, step - rows.size))).tobytes()
    _padded(data)
    made = view | {"byteOffset": len(data), "byteLength": len(packed)} | ({"byteStride": step} if is_strided else {})
    data += packed
    return made


def _find_arrays(content: Json) -> Iterator[tuple[Json, Any, Any, Any]]:
    """Every object that has an array in a view, with the component type, the type and the count of the array."""
    for accessor in _find_members([content], "accessors"):
        component, kind, sparse = accessor.get("componentType"), accessor.get("type"), accessor.get("sparse")
        yield accessor, component, kind, accessor.get("count")
        if type(sparse) is dict:
            indices, values = sparse.get("indices"), sparse.get("values")
            if type(indices) is dict:
                yield indices, indices.get("componentType"), "SCALAR", sparse.get("count")
            if type(values) is dict:
                yield values, component, kind, sparse.get("count")


def _find_rows(view: Json, holder: Json, data: bytearray, component: Any, kind: Any, count: Any) -> _Rows | None:
    """The rows of an array; None if it is damaged."""
    columns = _COLUMNS.get(kind, 0) if isinstance(kind, str) else 0
    size = columns * _COMPONENT_SIZES.get(component, 0) if type(component) is int else 0
    start, offset, length = view.get("byteOffset") or 0, holder.get("byteOffset") or 0, view.get("byteLength")
    given = (start, offset, length, count, view.get("byteStride") or size)
    numbers = [int(number) for number in given if _is_integer(number)]
    if not size or len(numbers) < len(given):
        return None
    start, offset, length, count, stride = numbers
    end = offset + stride * (count - 1) + size
    if count < 1 or stride < size or end > length or start + length > len(data):
        return None
    return _Rows(start + offset, stride, count, size)


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
    yield from ((holder, "bufferView") for holder, *_ in _find_arrays(content))
    yield from ((image, "bufferView") for image in _find_members([content], "images"))


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
