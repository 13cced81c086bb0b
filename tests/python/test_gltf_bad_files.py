# SPDX-License-Identifier: MIT
"""Damaged and hostile files: a ValueError that names the file, whatever is in it, and soon."""

import copy
import json
import struct
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gltf_builder import Builder, arm, pack_glb

import sbs
from sbs.gltf import FileError

# Where something is in a JSON structure: keys and numbers from the outermost on.
Place = tuple[str | int, ...]


def load_bytes(tmp_path: Path, data: bytes, name: str = "bad.glb") -> sbs.Character:
    path = tmp_path / name
    path.unlink(missing_ok=True)  # file systems are slow to write another file over one that is there
    path.write_bytes(data)
    return sbs.load(path)


def load(builder: Builder, tmp_path: Path) -> sbs.Character:
    return sbs.load(builder.save(tmp_path / "bad.glb"))


def moving_arm() -> Builder:
    """The arm with everything that a file may have: animations, sparse and interleaved data, scenes, normals, uvs."""
    builder = arm()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["NORMAL"] = builder.accessor([[0, 0, 1]] * 4)
    attributes["TEXCOORD_0"] = builder.accessor([[0, 0]] * 4)
    where = {"bufferView": builder.view(struct.pack("<2H", 1, 3)), "byteOffset": 0, "componentType": 5123}
    what = {"bufferView": builder.view(struct.pack("<6f", 0, 1, 0, 3, 1, 0)), "byteOffset": 0}
    position = builder.json["accessors"][attributes["POSITION"]]
    position.update(sparse={"count": 2, "indices": where, "values": what}, byteOffset=0, normalized=False)
    builder.json["bufferViews"][0]["byteStride"] = 12
    builder.animation((0, "rotation", [0, 1], [[0, 0, 0, 1]] * 2), (1, "scale", [0], [[1, 1, 1]]), name="wave")
    builder.animation((0, "translation", [0, 1], [[0, 0, 0]] * 6), interpolation="CUBICSPLINE")
    builder.node(matrix=np.eye(4).ravel().tolist(), children=[0])
    builder.json.update(scene=0, scenes=[{"nodes": [2, 3]}], extensionsUsed=["KHR_materials_unlit"])
    return builder


def test_cut_off_files(tmp_path: Path) -> None:
    builder = moving_arm()
    assert len(load(builder, tmp_path).animations) == 2
    whole = {"bad.glb": builder.glb(), "bad.gltf": builder.save_text(tmp_path / "good.gltf").read_bytes()}
    for twentieth in range(20):
        for name, data in whole.items():
            with pytest.raises(FileError, match=name):
                load_bytes(tmp_path, data[: len(data) * twentieth // 20], name)
        (tmp_path / "arm.bin").write_bytes(builder.data[: len(builder.data) * twentieth // 20])
        with pytest.raises(FileError, match=r"bad\.gltf: buffers\[0\].byteLength"):
            sbs.load(builder.save_text(tmp_path / "bad.gltf", "arm.bin"))
    with pytest.raises(FileNotFoundError):
        sbs.load(tmp_path / "none.glb")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "neither GLB nor JSON"),
        (b"\x89PNG\r\n\x1a\n", "neither GLB nor JSON"),
        (b"[" * 100_000, "neither GLB nor JSON"),
        (b'{"asset": ' + b"9" * 5000 + b"}", "neither GLB nor JSON"),
        (b"null", "no object"),
        (b"{}", "asset"),
        (b'{"asset": {"version": "1.0"}}', "version"),
        (b'{"asset": {"version": 2.0}}', "asset.version"),
        (b'{"asset": {"version": "2.0"}}', "no skin"),
        (b"glTF", "header"),
        (pack_glb(b"{}", None, version=1), "version 1"),
        (struct.pack("<4sII", b"glTF", 2, 12), "first chunk"),
        (struct.pack("<4sIII4s", b"glTF", 2, 20, 0, b"BIN\0"), "first chunk"),
        (struct.pack("<4sIII4s", b"glTF", 2, 20, 2**32 - 1, b"JSON"), "chunk 0"),
        (struct.pack("<4sII", b"glTF", 2, 15) + b"abc", "chunk 0"),
    ],
)
def test_bad_containers(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        load_bytes(tmp_path, data)


def elements(value: object, path: Place = ()) -> Iterator[Place]:
    """Every value within a JSON structure, with its path."""
    yield path
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from elements(child, (*path, key))


def replaced(content: Any, path: Place, value: object) -> Any:
    """A copy with the element at `path` replaced, or removed if the value is ...; other elements are shared."""
    content = copy.copy(content)
    key, *further = path
    if further:
        content[key] = replaced(content[key], tuple(further), value)
    elif value is ...:
        del content[key]
    else:
        content[key] = value
    return content


JUNK: list[object] = [
    *(..., None, True, "", "x", [], {}, [0], [[]], {"a": 1}, 0, 1, 2, 5, -1, 0.5, 1e400, float("nan"), -1e308),
    *(2**31, 2**32 - 1, 2**53, 2**63, 10**4000, [1e300] * 3, [1e38] * 4, [0] * 3, [0] * 4, [0] * 16, [-1], [10**9]),
]


# Other junk each, in as many tests as can run side by side.
@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.thorough) for first in (1, 2, 3))])
def test_every_element_replaced_by_every_kind_of_junk(tmp_path: Path, first: int) -> None:
    """Nothing but a good character or a FileError comes out, and warnings of ours."""
    builder = moving_arm()
    content = {**builder.json, "buffers": [{"byteLength": len(builder.data)}]}
    refused = 0
    for path in list(elements(content))[1:]:
        for junk in JUNK[first::4]:
            data = pack_glb(json.dumps(replaced(content, path, junk)).encode(), bytes(builder.data))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", sbs.WeightWarning)
                warnings.simplefilter("ignore", sbs.gltf.FileWarning)
                try:
                    character = load_bytes(tmp_path, data)
                except FileError as error:
                    assert str(error).startswith(str(tmp_path / "bad.glb")), (path, junk)
                    refused += 1
                else:
                    assert np.isfinite(character.rest_matrices).all(), (path, junk)
    assert refused > 250


# By the element's path, with numbers between dots: junk, and the beginning of the message or a part of it.
DAMAGE: dict[str, list[tuple[Any, str]]] = {
    "accessors.0.count": [
        *((-1, r"accessors\[0\]\.count"), ("4", r"accessors\[0\]\.count"), (5, r"accessors\[0\].*bufferViews\[0\]")),
        (10**9, r"accessors\[0\].*byte 12000000000"),
    ],
    "accessors.0.bufferView": [(99, r"accessors\[0\]\.bufferView: 99")],
    "accessors.0.componentType": [(5124, r"accessors\[0\]\.componentType: 5124")],
    "accessors.0.type": [("VEC2", r"accessors\[0\]\.type: VEC3")],
    "accessors.0.byteOffset": [(4, r"accessors\[0\].*bufferViews\[0\]")],
    "accessors.0.normalized": [("no", r"accessors\[0\]\.normalized")],
    "accessors.1.componentType": [(5120, r"accessors\[1\]\.componentType")],
    "bufferViews.0.byteLength": [(10**6, r"bufferViews\[0\]")],
    "bufferViews.0.byteStride": [(8, r"bufferViews\[0\]\.byteStride: 8"), (252, r"accessors\[0\].*byte 768")],
    "bufferViews.0.buffer": [(1, r"bufferViews\[0\]\.buffer: 1")],
    "meshes.0.primitives.0.attributes": [([], "attributes: an object")],
    "meshes.0.primitives.0.attributes.POSITION": [(..., r"attributes\.POSITION")],
    "meshes.0.primitives.0.attributes.WEIGHTS_0": [(..., r"attributes\.WEIGHTS_0")],
    "meshes.0.primitives.0.mode": [(7, r"primitives\[0\]\.mode: 7")],
    "nodes": [({"a": {}}, "nodes: a list")],
    "nodes.0.children": [([0], r"nodes\[3\]\.children: node 0"), ([99], r"nodes\[0\]\.children: 99")],
    "nodes.1.children": [([0], r"nodes\[3\]\.children: node 0"), ([3], r"nodes\[0\].*circle")],
    "nodes.0.rotation": [([0, 0, 0, 0], r"nodes\[0\]\.rotation")],
    "nodes.0.translation": [([0, 0], r"nodes\[0\]\.translation: 3")],
    "nodes.0.scale": [([1, "1", 1], r"nodes\[0\]\.scale\[1\]"), ([1, 1e400, 1], r"nodes\[0\]\.scale\[1\]: inf")],
    "nodes.3.matrix": [(list(range(16)), r"nodes\[3\]\.matrix")],
    "nodes.2.mesh": [(1, r"nodes\[2\]\.mesh: 1")],
    "nodes.0.name": [(5, r"nodes\[0\]\.name")],
    "skins.0.joints": [
        *(([], r"skins\[0\]\.joints"), ([0, 9], r"skins\[0\]\.joints\[1\]: 9"), ([0], "joint 1 of vertex 2")),
    ],
    "skins.0.inverseBindMatrices": [(0, r"accessors\[0\]\.type: MAT4")],
    "scene": [(1, "scene: 1")],
    "scenes.0.nodes": [([0], "skin 0")],
    "animations.0.channels.0.sampler": [(9, r"channels\[0\]\.sampler: 9")],
    "animations.0.channels.0.target.node": [(9, r"target\.node: 9")],
    "animations.0.channels.0.target": [(..., r"channels\[0\]\.target")],
    "animations.0.samplers.0.input": [(0, r"accessors\[0\]\.type: SCALAR")],
    "extensionsRequired": [
        *([([name], name) for name in ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "ACME_joints")]),
        ([5], "extensionsRequired"),
    ],
}


@pytest.mark.parametrize("path", DAMAGE)
def test_the_message_names_the_element(tmp_path: Path, path: str) -> None:
    for junk, message in DAMAGE[path]:
        builder = moving_arm()
        place = tuple(int(key) if key.isdigit() else key for key in path.split("."))
        builder.json = replaced(builder.json, place, junk)
        with pytest.raises(FileError, match=message) as caught:
            load(builder, tmp_path)
        assert str(caught.value).startswith(str(tmp_path / "bad.glb"))


def test_bad_values_of_accessors(tmp_path: Path) -> None:
    shifted = np.eye(4)
    shifted[3, :3] = 1, 2, 3
    cases: list[tuple[str, Any, str]] = [
        ("indices", [0, 1, 4], "element 2 is 4"),
        ("NORMAL", [[0, 0, 1]] * 3, r"primitives\[0\].attributes.NORMAL"),
        *((name, [[0, 0, 0], [0, 0, np.inf], [0, 0, 0], [0, 0, 0]], "element 1") for name in ("POSITION", "NORMAL")),
        ("POSITION", [[0, 0, 0], [0, 0, np.nan], [0, 0, 0], [0, 0, 0]], "element 1"),
        ("skin", [np.eye(4), shifted], "last row of matrix 1"),
        ("sparse", struct.pack("<2H", 1, 4), r"accessors\[0\].sparse.indices: 4"),
    ]
    for name, values, message in cases:
        builder = moving_arm()
        primitive = builder.json["meshes"][0]["primitives"][0]
        if name == "skin":
            builder.json["nodes"][2]["skin"] = builder.skin([0, 1], values)
        elif name == "sparse":
            builder.json["accessors"][0]["sparse"]["indices"]["bufferView"] = builder.view(values)
        elif name == "indices":
            primitive["indices"] = builder.accessor(values, "H")
        else:
            primitive["attributes"][name] = builder.accessor(values)
        with pytest.raises(FileError, match=message):
            load(builder, tmp_path)


@pytest.mark.parametrize(
    ("message", "uris"),
    [
        ("is missing", ["missing.bin", "."]),
        (
            "only files in the folder",
            [
                *("../secret.bin", "parts/../../secret.bin", "..%2Fsecret.bin", "..\\secret.bin", "/etc/passwd"),
                *("C:\\secret.bin", "file:///etc/passwd", "http://example.org/arm.bin", "arm%00.bin"),
            ],
        ),
        (r"buffers\[0\]", ["x" * 5000, *(f"data:application/octet-stream;base64,{end}" for end in ("@@@@", "AAA"))]),
        ("only base64 data URIs", ["data:application/octet-stream;base64", "data:text/plain,abc"]),
    ],
)
def test_bad_uris(tmp_path: Path, message: str, uris: list[str]) -> None:
    builder = arm()
    (tmp_path / "secret.bin").write_bytes(builder.data)
    (tmp_path / "folder").mkdir()
    for uri in uris:
        with pytest.raises(FileError, match=message):
            sbs.load(builder.save_text(tmp_path / "folder" / "bad.gltf", uri))


def test_links_out_of_the_folder(tmp_path: Path) -> None:
    builder = arm()
    (tmp_path / "outside.bin").write_bytes(builder.data)
    folder = tmp_path / "folder"
    (folder / "parts").mkdir(parents=True)
    (folder / "link.bin").symlink_to(tmp_path / "outside.bin")
    (folder / "up").symlink_to(tmp_path)
    (folder / "parts" / "arm.bin").write_bytes(builder.data)
    (folder / "within.bin").symlink_to(folder / "parts" / "arm.bin")
    (folder / "circle.bin").symlink_to(folder / "circle.bin")
    for uri in ("link.bin", "up/outside.bin"):
        with pytest.raises(FileError, match="only files in the folder"):
            sbs.load(builder.save_text(folder / "arm.gltf", uri))
    with pytest.raises(FileError, match="is missing"):
        sbs.load(builder.save_text(folder / "arm.gltf", "circle.bin"))
    assert sbs.load(builder.save_text(folder / "arm.gltf", "within.bin")).skin.vertex_count == 4


def test_a_glb_without_its_binary_chunk(tmp_path: Path) -> None:
    builder = arm()
    content = {**builder.json, "buffers": [{"byteLength": len(builder.data)}]}
    with pytest.raises(FileError, match=r"buffers\[0\]: no data"):
        load_bytes(tmp_path, pack_glb(json.dumps(content).encode(), None))


def test_optional_compression_without_plain_data(tmp_path: Path) -> None:
    builder = arm()
    primitive = builder.json["meshes"][0]["primitives"][0]
    primitive["extensions"] = {"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}}
    assert len(load(builder, tmp_path).mesh.positions) == 4
    del builder.json["accessors"][primitive["attributes"]["POSITION"]]["bufferView"]
    with pytest.raises(FileError, match="compressed by KHR_draco_mesh_compression"):
        load(builder, tmp_path)

    builder = arm()
    content = {**builder.json, "buffers": [{"byteLength": 9}], "extensionsUsed": ["EXT_meshopt_compression"]}
    with pytest.raises(FileError, match="compressed by EXT_meshopt_compression"):
        load_bytes(tmp_path, pack_glb(json.dumps(content).encode(), None))


def zero_bomb() -> Builder:
    """Attributes without data: 12 bytes of JSON for gigabytes of zeros."""
    builder = arm()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    for name, components, code in (("POSITION", 3, "f"), ("JOINTS_0", 4, "B"), ("WEIGHTS_0", 4, "f")):
        attributes[name] = builder.describe(None, 10**9, components, code)
    return builder


def repetition_bomb() -> Builder:
    """Tens of thousands of primitives that all show the same vertices."""
    builder = arm()
    rows = 6000
    primitive = builder.primitive(np.zeros((rows, 3)), np.zeros((rows, 4), int), np.full((rows, 4), 0.25))
    builder.json["meshes"][0]["primitives"] = [primitive] * 30_000
    return builder


def influence_bomb() -> Builder:
    """Thousands of sets of influences that are all the same."""
    builder = arm()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    rows = 5000
    attributes["POSITION"] = builder.accessor(np.zeros((rows, 3)))
    joints = builder.accessor(np.zeros((rows, 4), int), "B")
    weights = builder.accessor(np.full((rows, 4), 0.25))
    for number in range(10_000):
        attributes[f"JOINTS_{number}"], attributes[f"WEIGHTS_{number}"] = joints, weights
    return builder


@pytest.mark.parametrize("bomb", [zero_bomb, repetition_bomb, influence_bomb])
def test_files_that_ask_for_too_much_memory(tmp_path: Path, bomb: Callable[[], Builder]) -> None:
    path = bomb().save(tmp_path / "bad.glb")
    tracemalloc.start()
    with pytest.raises(FileError, match="asks for more memory"):
        sbs.load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 64 times the file's size and 16 MiB may be decoded, and as much again while joined.
    assert peak < 2 * (64 * path.stat().st_size + 2**24)


def test_a_large_sparse_accessor_is_no_bomb(tmp_path: Path) -> None:
    """Zeros but for one element, with other attributes that are as long and stored."""
    rows = 200_000
    builder = Builder()
    builder.node()
    joints = builder.describe(builder.view(bytes(4 * rows)), rows, 4, "B")
    weights = builder.accessor(np.tile([1.0, 0, 0, 0], (rows, 1)))
    value = builder.view(struct.pack("<3f", 1, 2, 3))
    where = builder.view(struct.pack("<I", 77))
    sparse = {
        "count": 1,
        "indices": {"bufferView": where, "componentType": 5125},
        "values": {"bufferView": value},
    }
    positions = builder.describe(None, rows, 3, "f", sparse=sparse)
    attributes = {"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights}
    builder.mesh({"attributes": attributes, "indices": builder.accessor([0, 1, 77], "I")})
    builder.skin([0])
    builder.node(mesh=0, skin=0)
    mesh = load(builder, tmp_path).mesh
    np.testing.assert_array_equal(mesh.positions[76:79], [[0, 0, 0], [1, 2, 3], [0, 0, 0]])


def test_a_deep_tree(tmp_path: Path) -> None:
    """A chain of nodes deeper than Python's stack."""
    builder = arm()
    first = len(builder.json["nodes"])
    for number in range(20_000):
        builder.node(children=[first + number + 1], translation=[0, 0, 1])
    builder.node(children=[0])
    character = load(builder, tmp_path)
    np.testing.assert_array_equal(character.mesh.positions[3], [3, 1, 20_000])
    np.testing.assert_array_equal(character.rest_matrices, [np.eye(4)] * 2)
