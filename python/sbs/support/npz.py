# SPDX-License-Identifier: MIT
"""Arrays of NumPy archives from strangers, which cost no more than their size warrants."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["read_arrays", "read_names"]

# How much more than the archive all arrays may need, in bytes; zeros can be compressed a thousandfold.
_GROWTH, _GROWTH_FREE = 100, 1 << 26

_END = ".npy"


def read_names(path: Path) -> set[str]:
    """The names of all members, those of arrays without their ending.

    Raises
    ------
    ValueError
        If the file is no archive.
    OSError
        If it cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return {name.removesuffix(_END) for name in archive.namelist()}
    except (zipfile.BadZipFile, NotImplementedError) as error:  # archives of newer versions raise the second
        raise ValueError(f"{path}: no NumPy archive: {error}") from error


def read_arrays(path: Path, names: Collection[str], data: bytes | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of these names that an archive has.

    Sizes come from the headers of all of them before the content of any is decompressed.

    Parameters
    ----------
    path : Path
    names : collection of str
    data : bytes, optional
        The content of the file, if it was read before.

    Raises
    ------
    ValueError
        If it is no archive, something in it is no array, or all together need far more memory than the file is large.
    OSError
        If it cannot be read.
    """
    content = path.read_bytes() if data is None else data
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found = {info.filename.removesuffix(_END): info for info in archive.infolist()}
            wanted = {name: info for name, info in found.items() if name in names}
            needed = sum(_size(archive, info) for info in wanted.values())
            if needed > _GROWTH_FREE + _GROWTH * len(content):
                raise ValueError(f"asks for more memory ({needed} bytes) than an archive of its size can need")
            return {name: _array(archive, info) for name, info in wanted.items()}
    except Exception as error:  # NumPy and zipfile raise many kinds for damaged archives
        raise ValueError(f"{path}: no NumPy archive: {error}") from error


def _size(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int:
    """Bytes of an array, by its header."""
    # Others, which NumPy does not write, are decompressed in large pieces.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{info.filename} is compressed by method {info.compress_type}")
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        if version != (1, 0):  # of at most 64 KiB
            raise ValueError(f"{info.filename} has a header of version {version}")
        shape, _, dtype = np.lib.format.read_array_header_1_0(member)
    if min(shape, default=0) < 0:
        raise ValueError(f"{info.filename} has shape {shape}")
    return math.prod(shape) * dtype.itemsize


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(info) as member:
        array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
        return array
