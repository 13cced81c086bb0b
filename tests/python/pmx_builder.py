# SPDX-License-Identifier: MIT
"""Builds small PMX files byte by byte; shares nothing with the code that is tested."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

BDEF1, BDEF2, BDEF4, SDEF, QDEF = range(5)


@dataclass
class Vertex:
    """In MikuMikuDance's left-handed system; `points` are C, R0 and R1."""

    position: Sequence[float]
    kind: int
    bones: Sequence[int]
    weights: Sequence[float] = ()
    points: Sequence[Sequence[float]] = ()


@dataclass
class Pmx:
    """A file, as far as its morphs, of which it says that there are none."""

    vertices: list[Vertex]
    triangles: Sequence[Sequence[int]]
    bones: Sequence[tuple[str, int, Sequence[float]]]  # name, parent, place
    version: float = 2.0
    utf8: bool = False
    bone_size: int = 1
    vertex_size: int = 2
    more_uvs: int = 0
    flags: dict[int, tuple[int, bytes]] = field(default_factory=dict)  # of bones: more flags, and what they bring

    def text(self, text: str) -> bytes:
        data = text.encode("utf-8" if self.utf8 else "utf-16-le")
        return struct.pack("<i", len(data)) + data

    def bone(self, number: int) -> bytes:
        return struct.pack("<" + {1: "b", 2: "h", 4: "i"}[self.bone_size], number)

    def vertex(self, vertex: Vertex) -> bytes:
        data = struct.pack("<3f3f2f", *vertex.position, 0, 0, -1, 0.25, 0.75) + bytes(16 * self.more_uvs)
        data += bytes([vertex.kind]) + b"".join(map(self.bone, vertex.bones))
        data += struct.pack(f"<{len(vertex.weights)}f", *vertex.weights)
        return data + np.array(vertex.points, "<f4").tobytes() + struct.pack("<f", 1)

    def material(self) -> bytes:
        data = self.text("skin") + self.text("") + struct.pack("<11f", *range(11)) + bytes(21)
        return data + bytes([0, 255]) + b"\0" + b"\1\3" + self.text("note") + struct.pack("<i", 3 * len(self.triangles))

    def to_bytes(self) -> bytes:
        data = struct.pack("<4sfB", b"PMX ", self.version, 8)
        data += bytes([self.utf8, self.more_uvs, self.vertex_size, 1, 1, self.bone_size, 1, 1])
        data += b"".join(map(self.text, ("モデル", "model", "", "")))
        data += struct.pack("<i", len(self.vertices)) + b"".join(map(self.vertex, self.vertices))
        corners = np.array(self.triangles, {1: "<u1", 2: "<u2", 4: "<i4"}[self.vertex_size])
        data += struct.pack("<i", corners.size) + corners.tobytes()
        data += struct.pack("<i", 1) + self.text("skin.png")
        data += struct.pack("<i", 1) + self.material()
        data += struct.pack("<i", len(self.bones))
        for number, (name, parent, place) in enumerate(self.bones):
            more, behind = self.flags.get(number, (0, b""))
            data += self.text(name) + self.text("") + struct.pack("<3f", *place) + self.bone(parent)
            data += struct.pack("<iH", 0, more) + (self.bone(-1) if more & 1 else struct.pack("<3f", 0, 0, 1)) + behind
        return data + struct.pack("<i", 0)


def elbow(sdef: bool = True, length: int = 13, around: int = 8) -> Pmx:
    """An arm along x of radius 1 and length 6 that bends in the origin, as an SDEF model has it.

    C lies on the bone beside the vertex, R0 and R1 before and behind it.
    """
    vertices = []
    for x in np.linspace(-3, 3, length):
        for angle in 2 * np.pi * np.arange(around) / around:
            place = (float(x), float(np.cos(angle)), float(np.sin(angle)))
            weight = float(np.clip(0.5 - x / 2, 0, 1))
            if not 0 < weight < 1:
                vertices.append(Vertex(place, BDEF1, [0 if weight else 1]))
            elif sdef:
                points = [[x / 4, 0, 0], [-0.5, 0.1, 0], [0.75, -0.2, 0.1]]
                vertices.append(Vertex(place, SDEF, [0, 1], [weight], points))
            else:
                vertices.append(Vertex(place, BDEF2, [0, 1], [weight]))
    triangles = []
    for ring in range(length - 1):
        for side in range(around):
            a, b = ring * around + side, ring * around + (side + 1) % around
            triangles += [[a, b, a + around], [b, b + around, a + around]]
    return Pmx(vertices, triangles, [("上腕", -1, (-3, 0, 0)), ("ひじ", 0, (0, 0, 0))])
