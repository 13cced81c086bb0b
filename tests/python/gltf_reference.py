# SPDX-License-Identifier: MIT
"""Linear blend skinning of a plain GLB, straight from the glTF 2.0 specification: no numpy, one number at a time.

For files as exporters write them: packed float attributes, no sparse accessors, translation, rotation and scale or a
matrix for each node, LINEAR animation.
"""

from __future__ import annotations

import bisect
import json
import math
import struct
from pathlib import Path
from typing import Any

Matrix = list[list[float]]

CODES = {5121: "B", 5123: "H", 5125: "I", 5126: "f"}
SIZES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def opened(path: Path) -> tuple[dict[str, Any], bytes]:
    """JSON and binary chunk of a GLB."""
    return opened_bytes(path.read_bytes())


def opened_bytes(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The same of its bytes."""
    size = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + size]), data[28 + size :]


def view(content: dict[str, Any], data: bytes, number: int) -> bytes:
    element = content["bufferViews"][int(number)]
    start = element.get("byteOffset", 0)
    return data[start : start + element["byteLength"]]


def resolved(path: Path) -> tuple[dict[str, Any], set[int], set[int]]:
    """A file with accessors and bytes in place of their numbers; the accessors and the buffer views that it uses."""
    content, data = opened(path)
    accessors, views = set(), set()

    def look_up(element: dict[str, Any], *keys: str) -> None:
        for key in keys:
            if key not in element:
                continue
            number = element[key]
            if key == "bufferView":
                views.add(number)
                element[key] = view(content, data, number)
            else:
                accessors.add(number)
                element[key] = found = json.loads(json.dumps(content["accessors"][number]))
                for holder in (found, *(found["sparse"][each] for each in ("indices", "values") if "sparse" in found)):
                    look_up(holder, "bufferView")

    for primitive in (primitive for mesh in content["meshes"] for primitive in mesh["primitives"]):
        look_up(primitive, "indices")
        for attributes in (primitive["attributes"], *primitive.get("targets", [])):
            look_up(attributes, *attributes)
    for skin in content["skins"]:
        look_up(skin, "inverseBindMatrices")
    for sampler in (sampler for animation in content.get("animations", []) for sampler in animation["samplers"]):
        look_up(sampler, "input", "output")
    for image in content.get("images", []):
        look_up(image, "bufferView")
    return content, accessors, views


class Scene:
    """A GLB file and its one skin."""

    def __init__(self, path: Path) -> None:
        self.json, self.data = opened(path)

    def accessor(self, number: int) -> list[tuple[float, ...]]:
        accessor = self.json["accessors"][number]
        components = SIZES[accessor["type"]]
        rows = [(0.0,) * components] * accessor["count"]
        if "bufferView" in accessor:
            rows = self._rows(accessor, accessor["componentType"], components, accessor["count"])
        if "sparse" in accessor:
            count, indices, values = (accessor["sparse"][key] for key in ("count", "indices", "values"))
            places = self._rows(indices, indices["componentType"], 1, count)
            for (place,), row in zip(
                places, self._rows(values, accessor["componentType"], components, count), strict=True
            ):
                rows[int(place)] = row
        return rows

    def _rows(self, part: dict[str, Any], component: int, components: int, count: int) -> list[tuple[float, ...]]:
        view = self.json["bufferViews"][part["bufferView"]]
        row = struct.Struct(f"<{components}{CODES[component]}")
        start = view.get("byteOffset", 0) + part.get("byteOffset", 0)
        stride = view.get("byteStride", row.size)
        return [row.unpack_from(self.data, start + stride * i) for i in range(count)]

    def animation(self, name: str | None) -> dict[str, Any]:
        return next(a for a in self.json["animations"] if a.get("name") == name)

    def skinning_matrices(self, animation: dict[str, Any] | None, time: float) -> list[Matrix]:
        nodes = [dict(node) for node in self.json["nodes"]]
        played = animation or {"channels": []}
        for channel in played["channels"]:
            sampler = played["samplers"][channel["sampler"]]
            path = channel["target"]["path"]
            if path == "weights":
                continue
            assert sampler.get("interpolation", "LINEAR") == "LINEAR"
            times = [key for (key,) in self.accessor(sampler["input"])]
            values = self.accessor(sampler["output"])
            nodes[channel["target"]["node"]][path] = interpolate(times, values, time, path == "rotation")
        parents = {child: number for number, node in enumerate(nodes) for child in node.get("children", [])}

        def to_scene(number: int) -> Matrix:
            matrix = local_matrix(nodes[number])
            return multiply(to_scene(parents[number]), matrix) if number in parents else matrix

        skin = self.json["skins"][0]
        inverse_binds = [
            [[columns[4 * column + row] for column in range(4)] for row in range(4)]
            for columns in self.accessor(skin["inverseBindMatrices"])
        ]
        return [
            multiply(to_scene(joint), inverse) for joint, inverse in zip(skin["joints"], inverse_binds, strict=True)
        ]

    def shape_weights(self, number: int, animation: dict[str, Any] | None, time: float) -> list[float]:
        """The weights of the morph targets of a node's mesh."""
        node = self.json["nodes"][number]
        mesh = self.json["meshes"][node["mesh"]]
        count = len(mesh["primitives"][0].get("targets", []))
        played = animation or {"channels": []}
        for channel in played["channels"]:
            if channel["target"] == {"node": number, "path": "weights"}:
                sampler = played["samplers"][channel["sampler"]]
                times = [key for (key,) in self.accessor(sampler["input"])]
                flat = [value for (value,) in self.accessor(sampler["output"])]
                keys = [flat[start : start + count] for start in range(0, len(flat), count)]
                return interpolate(times, keys, time, False)
        return list(node.get("weights", mesh.get("weights", [0.0] * count)))

    def deform(self, animation: dict[str, Any] | None, time: float) -> list[list[float]]:
        """Positions in the scene of all skinned vertices, in the order of the file."""
        matrices = self.skinning_matrices(animation, time)
        deformed = []
        for number, node in enumerate(self.json["nodes"]):
            if "skin" not in node:
                continue
            amounts = self.shape_weights(number, animation, time)
            for primitive in self.json["meshes"][node["mesh"]]["primitives"]:
                attributes = primitive["attributes"]
                positions = self.accessor(attributes["POSITION"])
                for target, amount in zip(primitive.get("targets", []), amounts, strict=True):
                    if amount and "POSITION" in target:
                        moves = self.accessor(target["POSITION"])
                        positions = [
                            tuple(a + amount * b for a, b in zip(point, move, strict=True))
                            for point, move in zip(positions, moves, strict=True)
                        ]
                rows = zip(
                    positions,
                    self.accessor(attributes["JOINTS_0"]),
                    self.accessor(attributes["WEIGHTS_0"]),
                    strict=True,
                )
                deformed += [skin_point(position, matrices, joints, weights) for position, joints, weights in rows]
        return deformed


def skin_point(position: Any, matrices: list[Matrix], joints: Any, weights: Any) -> list[float]:
    point = [*position, 1.0]
    total = sum(weights)
    result = [0.0, 0.0, 0.0]
    for joint, weight in zip(joints, weights, strict=True):
        for axis in range(3):
            result[axis] += weight / total * sum(matrices[int(joint)][axis][k] * point[k] for k in range(4))
    return result


def multiply(a: Matrix, b: Matrix) -> Matrix:
    return [[sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def local_matrix(node: dict[str, Any]) -> Matrix:
    if "matrix" in node:
        return [[node["matrix"][4 * column + row] for column in range(4)] for row in range(4)]
    x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
    length = math.sqrt(x * x + y * y + z * z + w * w)
    x, y, z, w = x / length, y / length, z / length, w / length
    rotation = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    scale = node.get("scale", (1.0, 1.0, 1.0))
    shift = node.get("translation", (0.0, 0.0, 0.0))
    rows = [[rotation[i][j] * scale[j] for j in range(3)] + [shift[i]] for i in range(3)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def interpolate(times: list[float], values: list[Any], time: float, rotation: bool) -> list[float]:
    if time <= times[0]:
        return list(values[0])
    if time >= times[-1]:
        return list(values[-1])
    later = bisect.bisect_right(times, time)
    start, end = list(values[later - 1]), list(values[later])
    fraction = (time - times[later - 1]) / (times[later] - times[later - 1])
    if not rotation:
        return [a + fraction * (b - a) for a, b in zip(start, end, strict=True)]
    start = [a / math.hypot(*start) for a in start]
    end = [b / math.hypot(*end) for b in end]
    cosine = sum(a * b for a, b in zip(start, end, strict=True))
    if cosine < 0.0:
        end, cosine = [-b for b in end], -cosine
    angle = math.acos(min(cosine, 1.0))
    if angle < 1e-6:
        return [a + fraction * (b - a) for a, b in zip(start, end, strict=True)]
    early, late = math.sin((1 - fraction) * angle), math.sin(fraction * angle)
    return [(early * a + late * b) / math.sin(angle) for a, b in zip(start, end, strict=True)]
