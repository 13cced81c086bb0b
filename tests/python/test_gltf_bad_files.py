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
from sbs.formats.gltf import FileError

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


def test_the_file_that_is_damaged_below_is_good(tmp_path: Path) -> None:
    assert len(load(moving_arm(), tmp_path).animations) == 2


@pytest.mark.parametrize("twentieth", range(20))
def test_cut_off_glb(tmp_path: Path, twentieth: int) -> None:
    data = moving_arm().glb()
    with pytest.raises(FileError, match=r"bad\.glb: "):
        load_bytes(tmp_path, data[: len(data) * twentieth // 20])


@pytest.mark.parametrize("twentieth", range(20))
def test_cut_off_text(tmp_path: Path, twentieth: int) -> None:
    data = moving_arm().save_text(tmp_path / "good.gltf").read_bytes()
    with pytest.raises(FileError, match=r"bad\.gltf: "):
        load_bytes(tmp_path, data[: len(data) * twentieth // 20], "bad.gltf")


@pytest.mark.parametrize("twentieth", range(20))
def test_cut_off_external_buffer(tmp_path: Path, twentieth: int) -> None:
    builder = moving_arm()
    (tmp_path / "arm.bin").write_bytes(builder.data[: len(builder.data) * twentieth // 20])
    with pytest.raises(FileError, match=r"bad\.gltf: buffers\[0\].byteLength: \d+ bytes are promised, \d+ are there"):
        sbs.load(builder.save_text(tmp_path / "bad.gltf", "arm.bin"))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sbs.load(tmp_path / "none.glb")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "neither GLB nor JSON"),
        (b"\x89PNG\r\n\x1a\n", "neither GLB nor JSON"),
        (b"[" * 100_000, "neither GLB nor JSON"),
        (b'{"asset": ' + b"9" * 5000 + b"}", "neither GLB nor JSON"),
        (b'{"asset": {"version": "2.0"}, "nodes": [' + b"{" * 3 + b"]}", "neither GLB nor JSON"),
        (b"[]", "the JSON is no object"),
        (b"null", "the JSON is no object"),
        (b"{}", "asset: missing"),
        (b'{"asset": {"version": "1.0"}}', "glTF version '1.0'; only version 2 can be read"),
        (b'{"asset": {"version": 2.0}}', "asset.version: a string is needed, found 2.0"),
        (b'{"asset": {"version": "2.0"}}', "no skin"),
        (b"glTF", "cut off within the GLB header"),
        (pack_glb(b"{}", None, version=1), "GLB version 1"),
        (struct.pack("<4sII", b"glTF", 2, 12), "the first chunk of a GLB must be JSON"),
        (struct.pack("<4sIII4s", b"glTF", 2, 20, 0, b"BIN\0"), "the first chunk of a GLB must be JSON"),
        (struct.pack("<4sIII4s", b"glTF", 2, 20, 2**32 - 1, b"JSON"), "chunk 0 of 4294967295 bytes ends outside"),
        (struct.pack("<4sII", b"glTF", 2, 15) + b"abc", "the header of chunk 0 ends outside the file"),
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
                warnings.simplefilter("ignore", sbs.formats.gltf.FileWarning)
                try:
                    character = load_bytes(tmp_path, data)
                except FileError as error:
                    assert str(error).startswith(str(tmp_path / "bad.glb")), (path, junk)
                    refused += 1
                else:
                    assert np.isfinite(character.rest_matrices).all(), (path, junk)
    assert refused > 250


def change(path: Place, value: object) -> Callable[[Builder], None]:
    def apply(builder: Builder) -> None:
        builder.json = replaced(builder.json, path, value)

    return apply


PRIMITIVE = ("meshes", 0, "primitives", 0)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (change(("accessors", 0, "count"), -1), r"accessors\[0\]\.count: -1 is less than 1"),
        (
            change(("accessors", 0, "count"), 5),
            r"accessors\[0\]: 5 elements end at byte 60 of bufferViews\[0\], which has 48",
        ),
        (change(("accessors", 0, "count"), 10**9), r"accessors\[0\]: 1000000000 elements end at byte 12000000000"),
        (change(("accessors", 0, "bufferView"), 99), r"accessors\[0\]\.bufferView: 99, but there are 15 bufferViews"),
        (change(("accessors", 0, "componentType"), 5124), r"accessors\[0\]\.componentType: 5124 is no component type"),
        (change(("accessors", 0, "type"), "VEC2"), r"accessors\[0\]\.type: VEC3 is needed, found 'VEC2'"),
        (change(("accessors", 0, "byteOffset"), 4), r"accessors\[0\]: 4 elements end at byte 52 of bufferViews\[0\]"),
        (change(("accessors", 0, "count"), "4"), r"accessors\[0\]\.count: an integer is needed, found '4'"),
        (change(("accessors", 0, "normalized"), "no"), r"accessors\[0\]\.normalized: true or false is needed"),
        (
            change(("accessors", 1, "componentType"), 5120),
            r"accessors\[1\]\.componentType: unsigned integers are needed",
        ),
        (change(("bufferViews", 0, "byteLength"), 10**6), r"bufferViews\[0\]: ends at byte 1000000 of a buffer of \d+"),
        (change(("bufferViews", 0, "byteStride"), 8), r"bufferViews\[0\]\.byteStride: 8 is less than the 12 bytes"),
        (change(("bufferViews", 0, "byteStride"), 252), r"accessors\[0\]: 4 elements end at byte 768"),
        (change(("bufferViews", 0, "buffer"), 1), r"bufferViews\[0\]\.buffer: 1, but there are 1 buffers"),
        (change((*PRIMITIVE, "attributes", "POSITION"), ...), r"attributes\.POSITION: missing"),
        (change((*PRIMITIVE, "attributes", "WEIGHTS_0"), ...), r"attributes\.WEIGHTS_0: missing"),
        (change((*PRIMITIVE, "mode"), 7), r"primitives\[0\]\.mode: 7 is no mode"),
        (change((*PRIMITIVE, "attributes"), []), r"attributes: an object is needed, found a list"),
        (change(("nodes",), {"a": {}}), r"nodes: a list is needed, found an object"),
        (change(("nodes", 0, "children"), [0]), r"nodes\[3\]\.children: node 0 is a child of node 0 already"),
        (change(("nodes", 1, "children"), [0]), r"nodes\[3\]\.children: node 0 is a child of node 1 already"),
        (change(("nodes", 1, "children"), [3]), r"nodes\[0\]: its parents run in a circle"),
        (change(("nodes", 0, "children"), [99]), r"nodes\[0\]\.children: 99, but there are 4 nodes"),
        (change(("nodes", 0, "rotation"), [0, 0, 0, 0]), r"nodes\[0\]\.rotation: a quaternion of length 0"),
        (change(("nodes", 0, "translation"), [0, 0]), r"nodes\[0\]\.translation: 3 numbers are needed, found 2"),
        (change(("nodes", 0, "scale"), [1, "1", 1]), r"nodes\[0\]\.scale\[1\]: a number is needed, found '1'"),
        (change(("nodes", 0, "scale"), [1, 1e400, 1]), r"nodes\[0\]\.scale\[1\]: inf is no finite number"),
        (change(("nodes", 3, "matrix"), list(range(16))), r"nodes\[3\]\.matrix: the last row is not \(0, 0, 0, 1\)"),
        (change(("nodes", 2, "mesh"), 1), r"nodes\[2\]\.mesh: 1, but there are 1 meshes"),
        (change(("nodes", 0, "name"), 5), r"nodes\[0\]\.name: a string is needed, found 5"),
        (change(("skins", 0, "joints"), []), r"skins\[0\]\.joints: a skin without joints"),
        (change(("skins", 0, "joints"), [0, 0]), r"skins\[0\]\.joints\[1\]: node 0 is a joint already"),
        (change(("skins", 0, "joints"), [0, 9]), r"skins\[0\]\.joints\[1\]: 9, but there are 4 nodes"),
        (change(("skins", 0, "joints"), [0, 1, 2]), r"2 inverse bind matrices for 3 joints"),
        (change(("skins", 0, "joints"), [0]), r"joint 1 of vertex 2, but the skin has 1 joints"),
        (change(("skins", 0, "inverseBindMatrices"), 0), r"accessors\[0\]\.type: MAT4 is needed"),
        (change(("scene",), 1), r"scene: 1, but there are 1 scenes"),
        (change(("scenes", 0, "nodes"), [0]), r"no mesh in the scene uses skin 0"),
        (
            change(("animations", 0, "channels", 0, "sampler"), 9),
            r"channels\[0\]\.sampler: 9, but there are 2 samplers",
        ),
        (change(("animations", 0, "channels", 0, "target", "node"), 9), r"target\.node: 9, but there are 4 nodes"),
        (change(("animations", 0, "channels", 0, "target"), ...), r"channels\[0\]\.target: missing"),
        (change(("animations", 0, "samplers", 0, "input"), 0), r"accessors\[0\]\.type: SCALAR is needed"),
        (change(("extensionsRequired",), ["KHR_draco_mesh_compression"]), "compressed by KHR_draco_mesh_compression"),
        (change(("extensionsRequired",), ["EXT_meshopt_compression"]), "compressed by EXT_meshopt_compression"),
        (change(("extensionsRequired",), ["ACME_joints"]), "needs the extension 'ACME_joints', which cannot be read"),
        (change(("extensionsRequired",), [5]), "extensionsRequired: strings are needed"),
    ],
)
def test_the_message_names_the_element(tmp_path: Path, damage: Callable[[Builder], None], message: str) -> None:
    builder = moving_arm()
    damage(builder)
    with pytest.raises(FileError, match=message) as caught:
        load(builder, tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "bad.glb"))


def test_indices_out_of_range(tmp_path: Path) -> None:
    builder = arm()
    builder.json["meshes"][0]["primitives"][0]["indices"] = builder.accessor([0, 1, 4], "H")
    with pytest.raises(FileError, match=r"accessors\[\d\]: element 2 is 4, but there are 4 vertices"):
        load(builder, tmp_path)


def test_attributes_of_different_counts(tmp_path: Path) -> None:
    builder = arm()
    builder.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = builder.accessor([[0, 0, 1]] * 3)
    with pytest.raises(FileError, match=r"primitives\[0\].attributes.NORMAL: 3 elements for 4 vertices"):
        load(builder, tmp_path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("attribute", ["POSITION", "NORMAL"])
def test_coordinates_that_are_not_finite(tmp_path: Path, value: float, attribute: str) -> None:
    builder = arm()
    values = [[0, 0, 0], [0, 0, value], [0, 0, 0], [0, 0, 0]]
    builder.json["meshes"][0]["primitives"][0]["attributes"][attribute] = builder.accessor(values)
    with pytest.raises(FileError, match=r"accessors\[\d\]: element 1 is not finite"):
        load(builder, tmp_path)


def test_inverse_bind_matrix_of_row_vectors(tmp_path: Path) -> None:
    builder = arm()
    shifted = np.eye(4)
    shifted[3, :3] = 1, 2, 3
    builder.skin([0, 1], [np.eye(4), shifted])
    builder.json["nodes"][2]["skin"] = 1
    with pytest.raises(FileError, match=r"accessors\[\d\]: the last row of matrix 1 is not"):
        load(builder, tmp_path)


def test_sparse_index_out_of_range(tmp_path: Path) -> None:
    builder = moving_arm()
    builder.json["accessors"][0]["sparse"]["indices"]["bufferView"] = builder.view(struct.pack("<2H", 1, 4))
    with pytest.raises(FileError, match=r"accessors\[0\].sparse.indices: 4, but the accessor has 4 elements"):
        load(builder, tmp_path)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("missing.bin", "the file 'missing.bin' is missing"),
        ("../secret.bin", "only files in the folder"),
        ("parts/../../secret.bin", "only files in the folder"),
        ("..%2Fsecret.bin", "only files in the folder"),
        ("..\\secret.bin", "only files in the folder"),
        ("/etc/passwd", "only files in the folder"),
        ("C:\\secret.bin", "only files in the folder"),
        ("file:///etc/passwd", "only files in the folder"),
        ("http://example.org/arm.bin", "only files in the folder"),
        ("arm%00.bin", "only files in the folder"),
        (".", "is missing"),
        ("x" * 5000, r"buffers\[0\]"),
        ("data:application/octet-stream;base64", "only base64 data URIs"),
        ("data:text/plain,abc", "only base64 data URIs"),
        ("data:application/octet-stream;base64,@@@@", r"buffers\[0\].uri: "),
        ("data:application/octet-stream;base64,AAA", r"buffers\[0\].uri: "),
    ],
)
def test_bad_uris(tmp_path: Path, uri: str, message: str) -> None:
    builder = arm()
    (tmp_path / "secret.bin").write_bytes(builder.data)
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(FileError, match=message):
        sbs.load(builder.save_text(folder / "bad.gltf", uri))


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
