# SPDX-License-Identifier: MIT
"""Characters from PMX files of MikuMikuDance, versions 2.0 and 2.1, with spherical deformation (SDEF).

An SDEF vertex hangs on two bones and has a center C and two points R0 and R1. MikuMikuDance turns it about C by the
spherical interpolation of the two rotations, and moves C by both bones:

    v' = Q (v - C) + w0 A0 (C + (R0 - Rw) / 2) + w1 A1 (C + (R1 - Rw) / 2),    Rw = w0 R0 + w1 R1

With R0 = R1 that is eq. (9) of Kavan and Zara 2005 about the center C, which is how the vertex is read:
``method="spherical", rotation="average", center="optimized"``, with C among `Mesh.centers`. All other vertices are
their own centers, so that they are blended linearly. `sbs.formats.sdef` computes the term of R0 and R1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rigging.animation import Animations
from ..rigging.content import CharacterContent, FileError, SkinnedMesh, Wanted, bind_skeleton, unique_names
from ..rigging.rig import Floats, Rig
from ..skinning.options import BlendOptions
from .binary import Bytes
from .scene import Nodes, make_rig

__all__ = ["Model", "parse", "read"]

_BDEF1, _BDEF2, _BDEF4, _SDEF, _QDEF = range(5)
_SIGNED = {1: "<i1", 2: "<i2", 4: "<i4"}
_UNSIGNED = {1: "<u1", 2: "<u2", 4: "<i4"}

# MikuMikuDance is left-handed.
_MIRROR = np.array([1.0, 1.0, -1.0])


@dataclass
class Model:
    """The mesh of a file and its bones, in a right-handed system: z is mirrored.

    Attributes
    ----------
    positions, normals : (V, 3) ndarray
    uvs : (V, 2) ndarray
    triangles : (T, 3) ndarray
    joint_indices : (V, 4) ndarray
    joint_weights : (V, 4) ndarray
        As stored; SDEF has the first and the second bone in the first two columns.
    sdef : (S,) ndarray of int
        The vertices with spherical deformation.
    sdef_points : (S, 3, 3) ndarray
        Their C, R0 and R1.
    qdef : (V,) ndarray of bool
        The vertices that go by dual quaternions.
    names : list of B str
    parents : (B,) int32 ndarray
    heads : (B, 3) ndarray
        Where the bones are.
    remarks : list of str
    """

    positions: Floats
    normals: Floats
    uvs: Floats
    triangles: NDArray[np.int64]
    joint_indices: NDArray[np.int64]
    joint_weights: Floats
    sdef: NDArray[np.intp]
    sdef_points: Floats
    qdef: NDArray[np.bool_]
    names: list[str]
    parents: NDArray[np.int32]
    heads: Floats
    remarks: list[str]


@dataclass
class _Sizes:
    """How long the indices of the file are, in bytes, and how its text is encoded."""

    encoding: str
    more_uvs: int
    vertex: int
    texture: int
    material: int
    bone: int


def read(path: Path, wanted: Wanted) -> CharacterContent:
    """See `sbs.load`; the file has one skin."""
    if wanted.skin not in (None, 0):
        raise FileError(f"{path}: there is no skin {wanted.skin}, the file has 1")
    model = parse(path)
    centers = model.positions.astype(np.float32).astype(np.float64)  # which the mesh will have: its own to the last bit
    centers[model.sdef] = model.sdef_points[:, 0]
    rig = _rig(path, model)
    has_sdef = len(model.sdef) > 0
    return CharacterContent(
        surface=SkinnedMesh(
            positions=model.positions,
            triangles=model.triangles,
            joint_indices=model.joint_indices,
            joint_weights=model.joint_weights,
            normals=model.normals,
            uvs=model.uvs,
            centers=centers if has_sdef else None,
        ),
        skeleton=bind_skeleton(rig),
        rig=rig,
        animations=Animations(),
        remarks=model.remarks,
        options=_options(model),
    )


def _options(model: Model) -> BlendOptions:
    """The method that the vertices ask for; one skin cannot have both spherical deformation and dual quaternions."""
    if len(model.sdef):
        if model.qdef.any():
            model.remarks.append(f"{model.qdef.sum()} vertices with QDEF are blended linearly, as others have SDEF")
        return BlendOptions(method="spherical", rotation="average", center="optimized")
    if model.qdef.all():
        return BlendOptions(method="dual_quaternion")
    if model.qdef.any():
        return BlendOptions(method="dual_quaternion", amount=model.qdef.astype(np.float64), base="linear")
    return BlendOptions()


def _rig(path: Path, model: Model) -> Rig:
    """Bones are nodes and joints at once, at bind not turned."""
    count = len(model.parents)
    nodes = Nodes(
        model.names,
        model.parents,
        model.heads - np.where(model.parents[:, None] < 0, 0.0, model.heads[model.parents]),
        np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        np.ones((count, 3)),
    )
    inverse_bind_matrices = np.tile(np.eye(4), (count, 1, 1))
    inverse_bind_matrices[:, :3, 3] = -model.heads
    return make_rig(path, nodes, np.arange(count), inverse_bind_matrices)[0]


def parse(path: Path) -> Model:
    """Reads a file as far as its bones; materials, morphs and physics are left out.

    Raises
    ------
    FileError
        If the file is damaged; the message names the byte.
    OSError
        If it cannot be read.
    """
    file = Bytes(path, path.read_bytes())
    sizes = _read_header(file)
    vertices = _read_vertices(file, sizes)
    triangles = _read_triangles(file, sizes, len(vertices["positions"]))
    for _ in range(file.count(4, "textures")):
        file.text(sizes.encoding, "a texture")
    for _ in range(file.count(80, "materials")):
        _skip_material(file, sizes)
    names, parents, heads = _read_bones(file, sizes)
    model = Model(triangles=triangles, names=names, parents=parents, heads=heads, remarks=[], **vertices)
    _check(file, model)
    materials_and_more = ["materials are left out"]
    if file.place + 4 <= len(file.data) and (morphs := file.number("i", "the number of morphs")) > 0:
        materials_and_more.append(f"{morphs} morphs are left out")
    model.remarks += materials_and_more
    return model


def _read_header(file: Bytes) -> _Sizes:
    magic, version, count = file.unpack("4sfB", "the header")
    if magic != b"PMX " or not (1.99 < version < 2.2):
        raise file.error(f"version {version:g} of PMX; 2.0 and 2.1 can be read")
    numbers = file.unpack(f"{count}B", "the header")
    if count < 8 or numbers[0] > 1 or numbers[1] > 4 or any(size not in (1, 2, 4) for size in numbers[2:8]):
        raise file.error(f"a header that says {list(numbers)[:16]}")
    encoding = "utf-8" if numbers[0] else "utf-16-le"
    for what in ("the name", "the English name", "the comment", "the English comment"):
        file.text(encoding, what)
    return _Sizes(encoding, *numbers[1:6])


@np.errstate(invalid="ignore")  # numbers that are not finite are told later
def _read_vertices(file: Bytes, sizes: _Sizes) -> dict[str, Any]:
    """All vertices: how long each is depends on how it is weighted, so that it takes a walk to find them."""
    bone = sizes.bone
    weights_size = {
        _BDEF1: bone,
        _BDEF2: 2 * bone + 4,
        _BDEF4: 4 * bone + 16,
        _SDEF: 2 * bone + 40,
        _QDEF: 4 * bone + 16,
    }
    before = 32 + 16 * sizes.more_uvs
    count = file.count(before + 1 + bone + 4, "vertices")
    places, kinds = np.empty(count, np.int64), np.empty(count, np.uint8)
    for vertex in range(count):
        places[vertex] = file.skip(before + 1, "a vertex")
        kind = file.data[file.place - 1]
        if kind not in weights_size:
            raise file.error(f"{kind} is no way to weight vertex {vertex}")
        kinds[vertex] = kind
        file.skip(weights_size[kind] + 4, "the weights of a vertex")
    data = np.frombuffer(file.data, np.uint8)

    def gathered(rows: NDArray[Any], offset: int, dtype: str, columns: int) -> NDArray[Any]:
        layout = np.dtype(dtype)
        size = layout.itemsize * columns
        taken = data[(places[rows] + offset)[:, None] + np.arange(size)]
        return np.ascontiguousarray(taken).view(layout).reshape(len(rows), columns)

    everyone = np.arange(count)
    numbers = gathered(everyone, 0, "<f4", 8).astype(np.float64)
    indices, weights = np.zeros((count, 4), np.int64), np.zeros((count, 4))
    after = before + 1
    for kind, columns in ((_BDEF1, 1), (_BDEF2, 2), (_BDEF4, 4), (_SDEF, 2), (_QDEF, 4)):
        rows = np.flatnonzero(kinds == kind)
        indices[rows, :columns] = gathered(rows, after, _SIGNED[bone], columns)
        if columns == 1:
            weights[rows, 0] = 1.0
        elif columns == 2:
            weights[rows, 0] = gathered(rows, after + 2 * bone, "<f4", 1)[:, 0]
            weights[rows, 1] = 1.0 - weights[rows, 0]
        else:
            weights[rows] = gathered(rows, after + 4 * bone, "<f4", 4)
    sdef = np.flatnonzero(kinds == _SDEF)
    points = gathered(sdef, after + 2 * bone + 4, "<f4", 9).astype(np.float64).reshape(-1, 3, 3)
    return {
        "positions": numbers[:, :3] * _MIRROR,
        "normals": numbers[:, 3:6] * _MIRROR,
        "uvs": numbers[:, 6:8],
        "joint_indices": indices,
        "joint_weights": weights,
        "sdef": sdef,
        "sdef_points": points * _MIRROR,
        "qdef": kinds == _QDEF,
    }


def _read_triangles(file: Bytes, sizes: _Sizes, vertex_count: int) -> NDArray[np.int64]:
    count = file.count(sizes.vertex, "corners of triangles")
    if count % 3:
        raise file.error(f"{count} corners do not make whole triangles")
    corners = file.array(_UNSIGNED[sizes.vertex], count, "the triangles").astype(np.int64)
    for corner in np.flatnonzero((corners < 0) | (corners >= vertex_count))[:1]:
        raise file.error(f"corner {corner} is vertex {corners[corner]}, but there are {vertex_count}")
    # Mirrored, triangles run the other way round.
    return corners.reshape(-1, 3)[:, ::-1]


def _skip_material(file: Bytes, sizes: _Sizes) -> None:
    for what in ("the name of a material", "the English name of a material"):
        file.text(sizes.encoding, what)
    file.skip(4 * (4 + 3 + 1 + 3) + 1 + 4 * (4 + 1) + 2 * sizes.texture + 1, "a material")
    shares_toon = file.number("B", "a material")
    file.skip(1 if shares_toon else sizes.texture, "a material")
    file.text(sizes.encoding, "the note of a material")
    file.skip(4, "a material")


def _read_bones(file: Bytes, sizes: _Sizes) -> tuple[list[str], NDArray[np.int32], Floats]:
    """Names, parents and places; tails, inverse kinematics and all else of bones is skipped."""
    size = sizes.bone
    names, parents, heads = [], [], []
    count = file.count(8 + 12 + size + 4 + 2 + size, "bones")
    for _ in range(count):
        name = file.text(sizes.encoding, "the name of a bone")
        english = file.text(sizes.encoding, "the English name of a bone")
        names.append(name or english)
        heads.append(file.array("<f4", 3, "a bone").astype(np.float64))
        parents.append(int(file.array(_SIGNED[size], 1, "a bone")[0]))
        file.skip(4, "a bone")
        flags = file.number("H", "a bone")
        file.skip(size if flags & 0x0001 else 12, "the tail of a bone")
        if flags & 0x0300:
            file.skip(size + 4, "what a bone inherits")
        if flags & 0x0400:
            file.skip(12, "the axis of a bone")
        if flags & 0x0800:
            file.skip(24, "the axes of a bone")
        if flags & 0x2000:
            file.skip(4, "the key of a bone")
        if flags & 0x0020:
            file.skip(size + 8, "inverse kinematics")
            for _ in range(file.count(size + 1, "links of inverse kinematics")):
                file.skip(size, "a link")
                if file.number("B", "a link"):
                    file.skip(24, "the limits of a link")
    if not count:
        raise file.error("no bones, so there is nothing to deform")
    return unique_names(names), np.array(parents, np.int32), np.array(heads) * _MIRROR


def _check(file: Bytes, model: Model) -> None:
    """See that numbers are finite and indices within their range."""
    count = len(model.parents)
    for bone in np.flatnonzero((model.parents < -1) | (model.parents >= count))[:1]:
        raise FileError(f"{file.path}: the parent of bone {bone} is {model.parents[bone]}, but there are {count} bones")
    unused = (model.joint_indices < 0) & ((model.joint_weights == 0.0) | (model.joint_indices == -1))
    # -1 is no bone at all.
    model.joint_weights[unused] = 0.0
    model.joint_indices[unused] = 0
    outside = (model.joint_indices < 0) | (model.joint_indices >= count)
    for vertex, influence in np.argwhere(outside)[:1]:
        bone = model.joint_indices[vertex, influence]
        raise FileError(f"{file.path}: vertex {vertex} hangs on bone {bone}, but there are {count} bones")
    for what in ("positions", "normals", "uvs", "sdef_points", "heads"):
        rows = getattr(model, what)
        for row in np.argwhere(~np.isfinite(rows))[:1, 0]:
            raise FileError(f"{file.path}: {what} of number {row} are not finite")
    if not len(model.positions) or not len(model.triangles):
        raise FileError(f"{file.path}: no triangles")
