# SPDX-License-Identifier: MIT
"""Small files that would cost much if anything were not linear in their size."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from gltf_builder import Builder, arm


def shared_file_buffers(folder: Path, count: int = 100) -> Path:
    """Buffers that all name one file of 20 MB."""
    builder = arm()
    path = builder.save_text(folder / "buffers.gltf", uri="buffer.bin")
    (folder / "buffer.bin").write_bytes(bytes(builder.data) + bytes(20_000_000))
    content = json.loads(path.read_text())
    content["buffers"] += [{"byteLength": 20_000_000, "uri": "buffer.bin"}] * count
    path.write_text(json.dumps(content))
    return path


def overlapping_rows(folder: Path, count: int = 1000) -> Path:
    """Attributes that each have every other number of a view, from another one on."""
    builder = arm()
    view = len(builder.json["bufferViews"])
    start, size = len(builder.data) + -len(builder.data) % 4, 16 * count
    builder.data += bytes(start + size - len(builder.data))
    builder.json["bufferViews"].append({"buffer": 0, "byteOffset": start, "byteLength": size, "byteStride": 8})
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    for number in range(count):
        attributes[f"_A{number}"] = len(builder.json["accessors"])
        builder.json["accessors"].append(
            {"bufferView": view, "byteOffset": 8 * number, "componentType": 5126, "count": count, "type": "SCALAR"}
        )
    return builder.save(folder / "rows.glb")


def influence_sets(folder: Path, count: int = 3000) -> Path:
    """A triangle with many sets of four influences, all at one accessor."""
    builder = arm()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    for number in range(1, count):
        attributes[f"JOINTS_{number}"] = attributes["JOINTS_0"]
        attributes[f"WEIGHTS_{number}"] = attributes["WEIGHTS_0"]
    return builder.save(folder / "sets.glb")


def _joints(folder: Path, name: str, names: list[str], parents: list[int]) -> Path:
    """A triangle on the first of many joints."""
    builder = Builder()
    for bone in names:
        builder.node(name=bone, translation=[0.001, 0, 0])
    for node, parent in enumerate(parents):
        if parent >= 0:
            builder.json["nodes"][parent].setdefault("children", []).append(node)
    mesh = builder.mesh(builder.primitive([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0] * 4] * 3, [[1, 0, 0, 0]] * 3))
    builder.node(mesh=mesh, skin=builder.skin(range(len(names))))
    return builder.save(folder / name)


def equally_named_joints(folder: Path, count: int = 20_000) -> Path:
    return _joints(folder, "names.glb", ["bone"] * count, [-1] * count)


def joints_in_a_row(folder: Path, count: int = 100_000) -> Path:
    return _joints(folder, "row.glb", [f"b{number}" for number in range(count)], list(range(-1, count - 1)))


def joints_side_by_side(folder: Path, count: int = 100_000) -> Path:
    return _joints(folder, "side.glb", [f"b{number}" for number in range(count)], [-1] + [0] * (count - 1))


def shared_space_skins(folder: Path, count: int = 3000) -> Path:
    """Skins of the same joints, all without a mesh but the first."""
    builder = arm()
    builder.json["skins"] += [{"joints": [1, 0]}] * count
    return builder.save(folder / "skins.glb")


def other_joint_skins(folder: Path, count: int = 3000) -> Path:
    """Skins of joints of their own, each with the mesh."""
    builder = arm()
    for _ in range(count):
        joint = builder.node()
        builder.json["skins"].append({"joints": [0, joint]})
        builder.node(mesh=0, skin=len(builder.json["skins"]) - 1)
    return builder.save(folder / "others.glb")


def other_space_skins(folder: Path, count: int = 3000) -> Path:
    """Skins of the same joints that are bound so differently that none can be one with another, each with the mesh."""
    builder = arm()
    binds = np.tile(np.eye(4), (2, 1, 1))
    for number in range(count):
        binds[1, 0, 3] = number
        builder.node(mesh=0, skin=builder.skin([0, 1], binds))
    return builder.save(folder / "spaces.glb")


def shifted_matrix_skins(folder: Path, count: int = 100, joints: int = 200) -> Path:
    """Skins of the same joints, whose matrices are those of the next joint in the skin before."""
    builder = arm()
    nodes = [0, *(builder.node() for _ in range(joints - 1))]
    builder.json["nodes"][0]["children"] = [1, *nodes[1:]]
    binds = np.tile(np.eye(4), (count + joints, 1, 1))
    binds[:, :3, 3] = np.random.default_rng(3).normal(size=(count + joints, 3))
    first = builder.accessor(binds.transpose(0, 2, 1).reshape(-1, 16))
    view = builder.json["accessors"][first]["bufferView"]
    for number in range(count):
        shifted = builder.describe(view, joints, 16, "f", byteOffset=64 * number)
        builder.json["skins"].append({"joints": nodes, "inverseBindMatrices": shifted})
        builder.node(mesh=0, skin=len(builder.json["skins"]) - 1)
    return builder.save(folder / "shifted.glb")


def primitives_times_nodes(folder: Path, count: int = 1000) -> Path:
    """A mesh of many primitives on many nodes, each with a skin of its own."""
    builder = arm()
    builder.json["meshes"][0]["primitives"] *= count
    for copy in range(1, count):
        builder.json["skins"].append({"joints": [0, 1]})
        builder.node(mesh=0, skin=copy)
    return builder.save(folder / "primitives.glb")


def channels(folder: Path, count: int = 100_000) -> Path:
    """Channels that all name one sampler."""
    builder = arm()
    builder.animation((0, "translation", [0, 1], [[0, 0, 0]] * 2))
    builder.json["animations"][0]["channels"] *= count
    return builder.save(folder / "channels.glb")


def animations(folder: Path, count: int = 10_000) -> Path:
    """Animations that share their samplers' accessors."""
    builder = arm()
    builder.animation((0, "translation", [0, 1], [[0, 0, 0]] * 2))
    builder.json["animations"] *= count
    return builder.save(folder / "animations.glb")


def crowd(folder: Path, joints: int = 66, clips: int = 44) -> Path:
    """What a character with 44 clips of 66 joints has: 8,712 channels of 30 keys, with accessors of their own."""
    builder = Builder()
    for number in range(joints):
        builder.node(name=f"joint_{number}", children=[number + 1] if number + 1 < joints else [])
    del builder.json["nodes"][-1]["children"]
    mesh = builder.mesh(builder.primitive([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2, 3]] * 3, [[0.25] * 4] * 3))
    builder.node(mesh=mesh, skin=builder.skin(range(joints)))
    times = np.arange(30) / 24
    keys = {"translation": [[0.1, 0.2, 0.3]] * 30, "rotation": [[0, 0, 0.6, 0.8]] * 30, "scale": [[1, 1, 1]] * 30}
    for clip in range(clips):
        moves = [(joint, path, times, values) for joint in range(joints) for path, values in keys.items()]
        builder.animation(*moves, name=f"clip_{clip}")
        first = builder.json["animations"][clip]["samplers"][0]["input"]
        for sampler in builder.json["animations"][clip]["samplers"]:
            sampler["input"] = first
    return builder.save(folder / "crowd.glb")


def shared_file_images(folder: Path, count: int = 400) -> Path:
    """Many images by different names, all of which are one file of 5 MB."""
    builder = arm()
    builder.json["images"] = [{"uri": "./" * number + "skin.png"} for number in range(count)]
    (folder / "skin.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(5_000_000))
    return builder.save_text(folder / "images.gltf")
