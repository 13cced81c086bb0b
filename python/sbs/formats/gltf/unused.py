# SPDX-License-Identifier: MIT
"""Accessors, buffer views and bytes of a glTF file that nothing refers to, which are not written.

Files are read as far as a character needs it, so the rest may be anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

import numpy as np

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


def _pack_views(content: Json, data: bytearray) -> None:
    """Give accessors views of their own where a view has bytes of none, as of attributes that were replaced."""
    views = content.get("bufferViews")
    users: dict[int, list[Json]] = {}
    for holder, key in _find_view_references(content):
        if _is_integer(holder.get(key)):
            users.setdefault(int(holder[key]), []).append(holder)
    counts = {id(part): accessor for accessor, part in _find_sparse_parts(content)}
    for number, holders in users.items():
        if not isinstance(views, list) or number >= len(views) or not isinstance(views[number], dict):
            continue
        rows = [_find_rows(views[number], holder, counts.get(id(holder), holder), data) for holder in holders]
        if any(each is None for each in rows):
            continue
        used = np.zeros(int(views[number]["byteLength"]), bool)
        places: dict[tuple[int, ...], int] = {}
        for start, stride, count, size in filter(None, rows):
            inside = start - int(views[number].get("byteOffset") or 0)
            np.lib.stride_tricks.as_strided(used[inside:], (count, size), (stride, 1))[:] = True
        if used.sum() > len(used) - 4:
            continue
        for holder, found in zip(holders, rows, strict=True):
            assert found is not None
            if found not in places:
                places[found] = len(views)
                views.append(_packed_view(views[number], data, *found))
            holder["bufferView"] = places[found]
            holder.pop("byteOffset", None)


def _packed_view(view: Json, data: bytearray, start: int, stride: int, count: int, size: int) -> Json:
    """A view of copied rows; those of attributes, which have a stride, begin at multiples of 4 bytes."""
    rows = np.lib.stride_tricks.as_strided(np.frombuffer(data, np.uint8)[start:], (count, size), (stride, 1))
    step = size + -size % 4 if "byteStride" in view else size
    packed = np.pad(rows, ((0, 0), (0, step - size))).tobytes()
    del rows  # which would keep the buffer from growing
    _padded(data)
    made = {key: value for key, value in view.items() if key != "byteStride"}
    made |= {"byteOffset": len(data), "byteLength": len(packed)}
    data += packed
    return made | ({"byteStride": step} if "byteStride" in view else {})


def _find_rows(view: Json, holder: Json, accessor: Json, data: bytearray) -> tuple[int, int, int, int] | None:
    """Where the rows of an accessor, or of a part of a sparse one, are: start, stride, count and size.

    None if they are damaged, or of an image.
    """
    start, offset, length = view.get("byteOffset") or 0, holder.get("byteOffset") or 0, view.get("byteLength")
    kind = "SCALAR" if "componentType" in holder and holder is not accessor else accessor.get("type")
    component = _COMPONENT_SIZES.get((holder if "componentType" in holder else accessor).get("componentType", 0), 0)
    count = (accessor["sparse"] if holder is not accessor else accessor).get("count")
    size = component * _COLUMNS.get(kind, 0) if isinstance(kind, str) else 0
    stride = view.get("byteStride") or size
    numbers = [int(number) for number in (start, offset, length, count, stride) if _is_integer(number)]
    if not size or len(numbers) < 5:
        return None
    start, offset, length, count, stride = numbers
    end = offset + stride * (count - 1) + size
    if count < 1 or stride < size or end > length or start + length > len(data):
        return None
    return start + offset, stride, count, size


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


def _find_sparse_parts(content: Json) -> Iterator[tuple[Json, Json]]:
    """Sparse accessors, and the objects of their indices and values."""
    for accessor in _find_members([content], "accessors"):
        sparse = accessor.get("sparse")
        if type(sparse) is dict:
            yield from (
                (accessor, part) for part in (sparse.get("indices"), sparse.get("values")) if type(part) is dict
            )


def _find_view_references(content: Json) -> Iterator[tuple[Json, str]]:
    """Every object that has the number of a buffer view, and its key."""
    parts = [part for _, part in _find_sparse_parts(content)]
    holders = (*_find_members([content], "accessors"), *parts, *_find_members([content], "images"))
    yield from ((element, "bufferView") for element in holders)


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
