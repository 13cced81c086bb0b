# SPDX-License-Identifier: MIT
"""Rules of the glTF 2.0 specification that a written GLB has to keep; shares nothing with the code that is tested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gltf_reference import opened
from numpy.typing import NDArray

DTYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
COLUMNS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}

Json = dict[str, Any]


def packed(content: Json, data: bytes, element: Json, dtype: np.dtype[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """An array in a view, which it lies within, and aligned."""
    view = content["bufferViews"][element["bufferView"]]
    start, offset = view.get("byteOffset", 0), element.get("byteOffset", 0)
    row = dtype.itemsize * shape[1]
    stride = view.get("byteStride", row)
    assert (start + offset) % dtype.itemsize == 0
    assert offset + stride * (shape[0] - 1) + row <= view["byteLength"]
    return np.ndarray(shape, dtype, data, start + offset, (stride, dtype.itemsize)).copy()


def rows_of(content: Json, data: bytes, accessor: Json) -> NDArray[Any]:
    """The numbers of an accessor, which are finite and within its bounds."""
    dtype, shape = np.dtype(DTYPES[accessor["componentType"]]), (accessor["count"], COLUMNS[accessor["type"]])
    rows = packed(content, data, accessor, dtype, shape) if "bufferView" in accessor else np.zeros(shape, dtype)
    if "sparse" in accessor:
        sparse = accessor["sparse"]
        index_type = np.dtype(DTYPES[sparse["indices"]["componentType"]])
        where = packed(content, data, sparse["indices"], index_type, (sparse["count"], 1))[:, 0].astype(int)
        assert (np.diff(where) > 0).all() and where[-1] < len(rows)
        rows[where] = packed(content, data, sparse["values"], dtype, (sparse["count"], shape[1]))
    assert np.isfinite(rows.astype(float)).all()
    if "min" in accessor:
        np.testing.assert_array_equal(rows.min(axis=0), np.array(accessor["min"], dtype))
        np.testing.assert_array_equal(rows.max(axis=0), np.array(accessor["max"], dtype))
    return rows


def count_dead_bytes(content: Json, size: int) -> int:
    """Bytes of the buffer that neither accessors nor images have; up to three behind a row align the next one."""
    dead = np.ones(size, bool)
    for image in content.get("images", []):
        if "bufferView" in image:
            view = content["bufferViews"][image["bufferView"]]
            dead[view.get("byteOffset", 0) :][: view["byteLength"]] = False
    for accessor in content["accessors"]:
        sparse = accessor.get("sparse", {})
        arrays = [(accessor, accessor["componentType"], accessor["count"], COLUMNS[accessor["type"]])]
        if sparse:
            indices, values = sparse["indices"], sparse["values"]
            arrays.append((indices, indices["componentType"], sparse["count"], 1))
            arrays.append((values, accessor["componentType"], sparse["count"], COLUMNS[accessor["type"]]))
        for element, component_type, count, columns in arrays:
            if "bufferView" in element:
                view, row = content["bufferViews"][element["bufferView"]], np.dtype(DTYPES[component_type]).itemsize
                start = view.get("byteOffset", 0) + element.get("byteOffset", 0)
                stride = view.get("byteStride", row * columns)
                np.ndarray((count, row * columns), bool, dead.data, start, (stride, 1))[:] = False
                if stride - row * columns < 4:
                    dead[start : start + stride * count] = False
    return int(dead.sum())


def check_validity(path: Path) -> None:
    """An AssertionError or an IndexError if a rule is broken."""
    check_content(*opened(path))


def check_content(content: Json, data: bytes) -> None:
    assert content["buffers"][0]["byteLength"] in range(len(data) - 3, len(data) + 1)
    assert all(value for value in content.values() if isinstance(value, list)), "glTF has no empty lists"
    assert all(view.get("byteOffset", 0) + view["byteLength"] <= len(data) for view in content["bufferViews"])
    # but for up to three bytes that align each array
    assert count_dead_bytes(content, len(data)) <= 3 * len(content["bufferViews"])
    accessors = content["accessors"]
    arrays = [rows_of(content, data, accessor) for accessor in accessors]
    for mesh in content["meshes"]:
        for primitive in mesh["primitives"]:
            check_primitive(primitive, accessors, arrays)
            assert len(mesh.get("weights", [])) in (0, len(primitive.get("targets", [])))
    for skin in content.get("skins", []):
        if "inverseBindMatrices" in skin:
            assert len(arrays[skin["inverseBindMatrices"]]) == len(skin["joints"])
        assert max(skin["joints"]) < len(content["nodes"])
    for animation in content.get("animations", []):
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            assert "min" in accessors[sampler["input"]]
            assert (np.diff(arrays[sampler["input"]][:, 0]) > 0).all(), "times of keys have to increase"
            assert arrays[sampler["output"]].size % len(arrays[sampler["input"]]) == 0
            assert channel["target"]["node"] < len(content["nodes"])


def check_primitive(primitive: Json, accessors: list[Json], arrays: list[NDArray[Any]]) -> None:
    attributes = primitive["attributes"]
    count = len(arrays[attributes["POSITION"]])
    for vertices in (attributes, *primitive.get("targets", [])):
        assert "min" in accessors[vertices["POSITION"]]
        assert all(len(arrays[number]) == count for number in vertices.values())
    if "indices" in primitive:
        assert arrays[primitive["indices"]].max() < count
    sets = [arrays[attributes[name]] for name in attributes if name.startswith("WEIGHTS_")]
    if sets:
        weights = np.hstack(sets)
        whole = 1 if weights.dtype.kind == "f" else np.iinfo(weights.dtype).max
        np.testing.assert_allclose(weights.sum(axis=1, dtype=float), whole, rtol=2e-6)
