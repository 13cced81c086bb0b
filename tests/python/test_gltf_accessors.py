# SPDX-License-Identifier: MIT
"""Every way in which glTF stores an array, seen through the positions and weights of a loaded character."""

import struct
from pathlib import Path

import numpy as np
import pytest
from gltf_builder import COMPONENT_TYPES, Builder, arm

import sbs

POSITIONS = np.array([[0, 0, 0], [0, 1, 0], [3, 0, 0], [3, 1, 0]], dtype=np.float32)
JOINTS = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]])


def load(builder: Builder, tmp_path: Path, *, strict: bool = False) -> sbs.Character:
    return sbs.load(builder.save(tmp_path / "arm.glb"), strict=strict)


def attributes(builder: Builder) -> dict[str, int]:
    found: dict[str, int] = builder.json["meshes"][0]["primitives"][0]["attributes"]
    return found


def test_plain(tmp_path: Path) -> None:
    character = load(arm(), tmp_path)
    np.testing.assert_array_equal(character.mesh.positions, POSITIONS)
    assert character.mesh.positions.dtype == np.float32
    np.testing.assert_array_equal(character.mesh.joint_indices, JOINTS)
    np.testing.assert_array_equal(character.mesh.joint_weights[2], [0.5, 0.5, 0, 0])
    np.testing.assert_array_equal(character.mesh.triangles, [[0, 2, 1], [1, 2, 3]])


@pytest.mark.parametrize(("code", "largest"), [("B", 255), ("H", 65535)])
def test_normalized_weights(tmp_path: Path, code: str, largest: int) -> None:
    builder = arm()
    stored = [[largest, 0, 0, 0], [largest, 0, 0, 0], [largest // 5, largest - largest // 5, 0, 0], [0, largest, 0, 0]]
    attributes(builder)["WEIGHTS_0"] = builder.accessor(stored, code, normalized=True)
    weights = load(builder, tmp_path, strict=True).mesh.joint_weights
    np.testing.assert_allclose(weights, np.array(stored) / largest, rtol=1e-7)


def quantized(code: str, total: int, sets: int) -> Builder:
    """The arm, whose vertices have integer weights with a sum."""
    builder = arm()
    for number in range(sets):
        attributes(builder)[f"JOINTS_{number}"] = builder.accessor(JOINTS, "B")
        stored = [[total - 100, 100, 0, 0], [0, 0, 0, 0]][number]
        attributes(builder)[f"WEIGHTS_{number}"] = builder.accessor([stored] * 4, code, normalized=True)
    attributes(builder)["JOINTS_0"] = builder.accessor([[0, 1, 0, 0]] * 4, "B")
    return builder


@pytest.mark.parametrize(
    ("code", "total", "sets"),
    [("B", 253, 1), ("B", 254, 1), ("B", 257, 1), ("B", 251, 2), ("H", 65533, 1), ("H", 65537, 1)],
)
def test_sums_that_rounding_explains_need_no_repair(tmp_path: Path, code: str, total: int, sets: int) -> None:
    """Each of 4 or 8 weights is rounded by up to half a step, also one that is rounded to zero."""
    weights = load(quantized(code, total, sets), tmp_path, strict=True).mesh.joint_weights
    np.testing.assert_allclose(weights[:, :2], [[1 - 100 / total, 100 / total]] * 4, rtol=1e-6)


@pytest.mark.parametrize(("total", "sets"), [(252, 1), (258, 1), (250, 2)])
def test_sums_that_rounding_does_not_explain_are_told(tmp_path: Path, total: int, sets: int) -> None:
    with pytest.warns(sbs.WeightWarning, match="4 with weights that do not sum to 1"):
        load(quantized("B", total, sets), tmp_path)


def test_integer_weights_that_are_not_normalized_are_taken_as_found(tmp_path: Path) -> None:
    builder = arm()
    attributes(builder)["WEIGHTS_0"] = builder.accessor([[255, 0, 0, 0]] * 4, "B")
    with pytest.warns(sbs.WeightWarning, match="4 with weights that do not sum to 1"):
        character = load(builder, tmp_path)
    np.testing.assert_array_equal(character.mesh.joint_weights[:, 0], 255)


@pytest.mark.parametrize(
    ("code", "stored", "value"),
    [("b", 127, 1.0), ("b", -127, -1.0), ("b", -128, -1.0), ("h", -32768, -1.0), ("h", 32767, 1.0), ("B", 51, 0.2)],
)
def test_normalized_integers(tmp_path: Path, code: str, stored: int, value: float) -> None:
    """Positions as KHR_mesh_quantization has them: c / max, the lowest integer is -1 too."""
    builder = arm()
    builder.json["extensionsRequired"] = ["KHR_mesh_quantization"]
    attributes(builder)["POSITION"] = builder.accessor([[stored, 0, 0]] * 4, code, normalized=True)
    np.testing.assert_array_equal(load(builder, tmp_path).mesh.positions[:, 0], np.float32(value))


@pytest.mark.parametrize("code", ["b", "B", "h", "H", "I"])
def test_integers_of_every_type(tmp_path: Path, code: str) -> None:
    """Positions, joints and indices, each where glTF has the type for them."""
    builder = arm()
    if code != "I":
        attributes(builder)["POSITION"] = builder.accessor(POSITIONS.astype(int), code)
    if code in "BH":
        attributes(builder)["JOINTS_0"] = builder.accessor(JOINTS, code)
    if code in "BHI":
        builder.json["meshes"][0]["primitives"][0]["indices"] = builder.accessor([3, 1, 0], code)
    mesh = load(builder, tmp_path).mesh
    np.testing.assert_array_equal(mesh.positions, POSITIONS)
    np.testing.assert_array_equal(mesh.joint_indices, JOINTS)
    np.testing.assert_array_equal(mesh.triangles, [[3, 1, 0]] if code in "BHI" else [[0, 2, 1], [1, 2, 3]])


@pytest.mark.parametrize("uri", [None, "arm.bin", "parts%20of/arm%C3%A9.bin"])
def test_buffers_in_the_file_and_beside_it(tmp_path: Path, uri: str | None) -> None:
    builder = arm()
    (tmp_path / "parts of").mkdir()
    for name in ("arm.bin", "parts of/armé.bin"):
        (tmp_path / name).write_bytes(builder.data)
    character = sbs.load(builder.save_text(tmp_path / "arm.gltf", uri))
    np.testing.assert_array_equal(character.mesh.positions, POSITIONS)


def interleaved(builder: Builder) -> int:
    """One byte, then rows: position, three bytes in between, joints, weights."""
    rows = [
        struct.pack("<3f3x4B4f1x", *position, *joints, 0.25, 0.75, 0, 0)
        for position, joints in zip(POSITIONS, JOINTS, strict=True)
    ]
    stride = len(rows[0])
    assert stride == 36
    # The last row may lack bytes behind its last attribute.
    return builder.view(b"\xff" + b"".join(rows)[:-1], byteStride=stride)


def test_interleaved_and_not_aligned(tmp_path: Path) -> None:
    builder = arm()
    builder.data += b"\0"
    view = interleaved(builder)
    attributes(builder).update(
        POSITION=builder.describe(view, 4, 3, "f", byteOffset=1),
        JOINTS_0=builder.describe(view, 4, 4, "B", byteOffset=16),
        WEIGHTS_0=builder.describe(view, 4, 4, "f", byteOffset=20),
    )
    with pytest.warns(sbs.WeightWarning, match="2 with a joint more than once"):
        mesh = load(builder, tmp_path).mesh
    np.testing.assert_array_equal(mesh.positions, POSITIONS)
    np.testing.assert_array_equal(mesh.joint_indices, JOINTS)
    np.testing.assert_array_equal(mesh.joint_weights, [[0.25, 0.75, 0, 0]] * 4)


def test_a_stride_of_zero_is_none(tmp_path: Path) -> None:
    builder = arm()
    for view in builder.json["bufferViews"]:
        view["byteStride"] = 0
    np.testing.assert_array_equal(load(builder, tmp_path).mesh.positions, POSITIONS)


@pytest.mark.parametrize("with_base", [True, False])
@pytest.mark.parametrize("index_code", ["B", "H", "I"])
def test_sparse(tmp_path: Path, with_base: bool, index_code: str) -> None:
    """Elements 1 and 3 are overwritten; without a buffer view the others are zero."""
    builder = arm()
    values = [[7, 8, 9], [-1, -2, -3]]
    sparse = {
        "count": 2,
        "indices": {
            "bufferView": builder.view(struct.pack(f"<2{index_code}", 1, 3)),
            "componentType": COMPONENT_TYPES[index_code],
        },
        "values": {"bufferView": builder.view(b"\0\0" + struct.pack("<6f", *np.ravel(values))), "byteOffset": 2},
    }
    base = builder.json["accessors"][attributes(builder)["POSITION"]].pop("bufferView")
    expected = POSITIONS.copy() if with_base else np.zeros((4, 3), np.float32)
    expected[[1, 3]] = values
    attributes(builder)["POSITION"] = builder.describe(base if with_base else None, 4, 3, "f", sparse=sparse)
    np.testing.assert_array_equal(load(builder, tmp_path).mesh.positions, expected)
