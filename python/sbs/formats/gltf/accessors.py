# SPDX-License-Identifier: MIT
"""Accessors: arrays in the buffers of a glTF file, of any component type, interleaved, normalized or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .document import Document, Element

_COMPONENT_TYPES: dict[int, np.dtype[Any]] = {
    5120: np.dtype("<i1"),
    5121: np.dtype("<u1"),
    5122: np.dtype("<i2"),
    5123: np.dtype("<u2"),
    5125: np.dtype("<u4"),
    5126: np.dtype("<f4"),
}
_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}


def count(accessor: Element) -> int:
    """Number of elements of an accessor."""
    return accessor.integer("count", minimum=1)


def read_floats(document: Document, accessor: Element, kind: str, *, finite: bool = True) -> NDArray[np.float64]:
    """Numbers of an accessor, (count, components); normalized integers as fractions.

    Parameters
    ----------
    document : Document
    accessor : Element
    kind : str
        The type it must have: "SCALAR", "VEC2", ...
    finite : bool, optional
        Refuse NaN and infinity.

    Raises
    ------
    FileError
    """
    values = _as_floats(accessor, _read(document, accessor, kind))
    if finite and not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise accessor.error(f"element {row} is not finite")
    return values


def read_stack(document: Document, elements: list[Element], kind: str) -> NDArray[np.float64]:
    """Finite numbers of accessors of equal count, (accessors, count, components), read as by `read_floats`.

    Files may have thousands of short accessors, for which single calls would take most of the time.
    """
    stored = [_read(document, accessor, kind) for accessor in elements]
    if any(array.dtype.kind != "f" for array in stored):
        stored = [_as_floats(accessor, array) for accessor, array in zip(elements, stored, strict=True)]
    values = np.concatenate(stored).astype(np.float64, copy=False).reshape(len(stored), *stored[0].shape)
    if not np.isfinite(values).all():
        number, row = np.argwhere(~np.isfinite(values).all(axis=2))[0]
        raise elements[number].error(f"element {row} is not finite")
    return values


def _as_floats(accessor: Element, stored: NDArray[Any]) -> NDArray[np.float64]:
    values = stored.astype(np.float64)
    if stored.dtype.kind in "iu" and accessor.flag("normalized"):
        # glTF 2.0 section 3.6.2.2; the lowest signed integer, which has no opposite, means -1, too.
        values = np.maximum(values / np.iinfo(stored.dtype).max, -1.0)
    return values


def rounding(accessor: Element) -> float:
    """By how much numbers of an accessor may be off, if a program has rounded them to normalized integers."""
    dtype = _component_type(accessor)
    return 0.5 / np.iinfo(dtype).max if dtype.kind in "iu" and accessor.flag("normalized") else 0.0


def read_integers(document: Document, accessor: Element, kind: str) -> NDArray[np.int64]:
    """Unsigned integers of an accessor, (count, components). Raises FileError."""
    stored = _read(document, accessor, kind)
    if stored.dtype.kind == "f" and np.all((stored >= 0) & (stored < 2.0**24) & (stored == np.floor(stored))):
        document.remarks.append(f"{accessor.label}: integers as floats")
    elif stored.dtype.kind != "u":
        raise accessor.error("unsigned integers are needed", "componentType")
    return stored.astype(np.int64)


def _read(document: Document, accessor: Element, kind: str) -> NDArray[Any]:
    if accessor.string("type") != kind:
        raise accessor.error(f"{kind} is needed, found {accessor.string('type')[:20]!r}", "type")
    dtype = _component_type(accessor)
    accessor.flag("normalized")
    columns = _COMPONENTS[kind]
    rows = count(accessor)
    document_size = rows * columns * 8
    if "bufferView" in accessor:
        view = document.follow("bufferViews", accessor, "bufferView")
        values = _view(document, view, accessor, rows, columns, dtype)
        document.charge(document_size, accessor)
    else:
        document.charge(document_size, accessor)
        values = np.zeros((rows, columns), dtype)
    if "sparse" in accessor:
        values = values.copy()
        _overwrite(document, accessor.child("sparse"), values)
    return values


def _component_type(element: Element) -> np.dtype[Any]:
    number = element.integer("componentType")
    if number not in _COMPONENT_TYPES:
        raise element.error(f"{number} is no component type", "componentType")
    return _COMPONENT_TYPES[number]


def _view(
    document: Document, view: Element, user: Element, rows: int, columns: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """`rows` elements of `user` (an accessor or a part of a sparse one) in a buffer view, not copied."""
    buffer = document.buffer(view)
    start = view.integer("byteOffset", 0)
    length = view.integer("byteLength", minimum=1)
    if start + length > len(buffer):
        raise view.error(f"ends at byte {start + length} of a buffer of {len(buffer)}")
    size = columns * dtype.itemsize
    # Some programs write a stride of 0 where they mean none.
    stride = view.integer("byteStride", 0) or size
    if stride < size:
        raise view.error(f"{stride} is less than the {size} bytes of an element", "byteStride")
    offset = user.integer("byteOffset", 0)
    end = offset + stride * (rows - 1) + size
    if end > length:
        raise user.error(f"{rows} elements end at byte {end} of {view.label}, which has {length}")
    return np.ndarray((rows, columns), dtype, buffer, start + offset, (stride, dtype.itemsize))


def _overwrite(document: Document, sparse: Element, values: NDArray[Any]) -> None:
    """Write the stored elements of a sparse accessor over the others."""
    rows = sparse.integer("count", minimum=1)
    where, what = sparse.child("indices"), sparse.child("values")
    index_type = _component_type(where)
    if index_type.kind != "u":
        raise where.error("unsigned integers are needed", "componentType")
    index_view = document.follow("bufferViews", where, "bufferView")
    indices = _view(document, index_view, where, rows, 1, index_type)[:, 0]
    if indices.max() >= len(values):
        raise where.error(f"{indices.max()}, but the accessor has {len(values)} elements")
    value_view = document.follow("bufferViews", what, "bufferView")
    values[indices] = _view(document, value_view, what, rows, values.shape[1], values.dtype)
