# SPDX-License-Identifier: MIT
"""Files that keep centers of rotation.

    16 bytes   ``sbs.centers`` and zeros
     8 bytes   version of the format and of the computation
    32 bytes   SHA-256 of everything that the centers were computed from
    32 bytes   SHA-256 of the numbers that follow
    24 V bytes centers (V, 3), float64

Numbers are little-endian. A file that is damaged, or of other inputs, is treated as missing. No code in a file is run,
and no number in it decides how much is read.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.files import replacing

MAGIC = b"sbs.centers".ljust(16, b"\0")
VERSION = 1  # raise it whenever the same inputs give other centers
DIGEST = hashlib.sha256().digest_size
HEADER = len(MAGIC) + 8 + 2 * DIGEST


def key_of(
    rest_positions: ArrayLike,
    triangles: ArrayLike,
    joint_indices: ArrayLike,
    joint_weights: ArrayLike,
    options: tuple[object, ...],
    twist_positions: ArrayLike | None = None,
) -> bytes:
    """A digest of everything that centers depend on."""
    digest = hashlib.sha256()
    arrays = [(rest_positions, "<f8"), (triangles, "<i8"), (joint_indices, "<i8"), (joint_weights, "<f8")]
    if twist_positions is not None:
        arrays.append((twist_positions, "<f8"))
    for array, kind in arrays:
        given = np.asarray(array)
        if given.dtype.kind not in ("biuf" if kind == "<f8" else "iu"):
            continue  # arguments that are refused later need no key
        numbers = np.ascontiguousarray(given, kind)
        digest.update(f"{given.shape} ".encode())
        digest.update(numbers.tobytes())
    digest.update(repr(options).encode())
    return digest.digest()


def header_of(key: bytes, content: bytes) -> bytes:
    return MAGIC + VERSION.to_bytes(8, "little") + key + hashlib.sha256(content).digest()


def read(path: str | os.PathLike[str], key: bytes, vertex_count: int) -> NDArray[np.float64] | None:
    """The centers in a file; None if there is no file, or it is damaged or of other inputs.

    Raises
    ------
    ValueError
        If it is a file of another kind.
    OSError
        If the file cannot be read.
    """
    size = HEADER + 24 * vertex_count
    try:
        with Path(path).open("rb") as file:
            data = file.read(size + 1)
    except FileNotFoundError:
        return None
    if data[: len(MAGIC)] != MAGIC[: len(data)]:
        raise ValueError(f"{os.fspath(path)} is no file of rotation centers, and is not overwritten")
    content = data[HEADER:]
    if len(data) != size or data[:HEADER] != header_of(key, content):
        return None
    centers = np.frombuffer(content, "<f8").astype(np.float64).reshape(-1, 3)
    return centers if np.isfinite(centers).all() else None


def write(path: str | os.PathLike[str], key: bytes, centers: NDArray[np.float64]) -> None:
    """Write a file for `read`, completely or not at all."""
    content = np.ascontiguousarray(centers, "<f8").tobytes()
    with replacing(path) as temporary:
        temporary.write_bytes(header_of(key, content) + content)
