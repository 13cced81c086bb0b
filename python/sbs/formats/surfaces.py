# SPDX-License-Identifier: MIT
"""Write triangle meshes in common formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rigging.triangle_mesh import MeshPart, triangles_within

Rows = NDArray[np.floating[Any]]


def write_obj(
    path: Path,
    positions: Rows,
    normals: Rows | None,
    triangles: NDArray[np.int32],
    uvs: Rows | None = None,
    tangents: Rows | None = None,
    parts: Sequence[MeshPart] = (),
) -> None:
    """Wavefront OBJ, vertices counted from 1; nine digits, which bring back every float32.

    Its texture coordinates count from the lower left, those of glTF and of `Mesh` from the upper left. Each part is an
    object; numbers go on from one to the next.
    """
    corner = "%d" + ("" if uvs is None else "/%d") + ("" if normals is None else "/%d" if uvs is not None else "//%d")
    with path.open("w", encoding="ascii") as file:
        np.savetxt(file, positions, fmt="v %.9g %.9g %.9g")
        if uvs is not None:
            np.savetxt(file, np.stack([uvs[:, 0], 1 - uvs[:, 1]], axis=1), fmt="vt %.9g %.9g")
        if normals is not None:
            np.savetxt(file, normals, fmt="vn %.9g %.9g %.9g")
        for part in parts or (None,):
            faces = np.asarray(triangles, np.int64)
            if part is not None:
                name = "".join(letter if letter.isascii() and letter.isprintable() else "_" for letter in part.name)
                file.write(f"o {name.strip() or 'part'}\n")
                faces = triangles_within(faces, part.vertices) + part.vertices.start
            faces = np.repeat(faces + 1, corner.count("%d"), axis=1)
            np.savetxt(file, faces, fmt=f"f {corner} {corner} {corner}")


def write_ply(
    path: Path,
    positions: Rows,
    normals: Rows | None,
    triangles: NDArray[np.int32],
    uvs: Rows | None = None,
    tangents: Rows | None = None,
    parts: Sequence[MeshPart] = (),
) -> None:
    """Stanford PLY, binary little-endian, in the type of the positions; without texture coordinates."""
    scalar = "double" if positions.dtype == np.float64 else "float"
    names = ["x", "y", "z"] if normals is None else ["x", "y", "z", "nx", "ny", "nz"]
    vertices = positions if normals is None else np.concatenate([positions, normals], axis=1)
    faces = np.empty(len(triangles), [("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, triangles
    header = [
        "ply",
        "format binary_little_endian 1.0",
        f"element vertex {len(vertices)}",
        *(f"property {scalar} {name}" for name in names),
        f"element face {len(faces)}",
        "property list uchar int vertex_indices",
        "end_header",
    ]
    with path.open("wb") as file:
        file.write("".join(f"{line}\n" for line in header).encode("ascii"))
        file.write(vertices.astype(vertices.dtype.newbyteorder("<")).tobytes())
        file.write(faces.tobytes())


def write_npy(
    path: Path,
    positions: Rows,
    normals: Rows | None,
    triangles: NDArray[np.int32],
    uvs: Rows | None = None,
    tangents: Rows | None = None,
    parts: Sequence[MeshPart] = (),
) -> None:
    """NumPy's own format: only the positions."""
    np.save(path, positions)
