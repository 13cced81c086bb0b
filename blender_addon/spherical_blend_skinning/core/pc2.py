# SPDX-License-Identifier: GPL-3.0-or-later
"""Point caches in the PC2 format, which Blender's Mesh Cache modifier and many other programs read.

A header of 32 bytes, then the points of one sample after the other, all little-endian: 12 characters ``POINTCACHE2``
and a zero, int32 version 1, int32 number of points, float32 first frame, float32 frames from sample to sample, int32
number of samples; float32 x, y, z.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Writer", "read"]

_HEADER = struct.Struct("<12siiffi")
_MAGIC = b"POINTCACHE2\0"
_VERSION = 1


class Writer:
    """Writes a file sample by sample. It appears, or replaces an old one, when it is complete.

    Parameters
    ----------
    path : path
        Its folder must exist.
    point_count, sample_count : int
        Both at least 1.
    start : float
        The frame of the first sample.
    step : float
        How many frames there are from one sample to the next.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        point_count: int,
        sample_count: int,
        *,
        start: float = 0.0,
        step: float = 1.0,
    ) -> None:
        if point_count < 1 or sample_count < 1:
            raise ValueError(f"a point cache of {point_count} points and {sample_count} samples")
        self.path = Path(path)
        self.point_count = point_count
        self.sample_count = sample_count
        self._written = 0
        # In the folder of the final file: renaming is safe only on the same file system.
        self._temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        self._file = self._temporary.open("wb")
        self._file.write(_HEADER.pack(_MAGIC, _VERSION, point_count, start, step, sample_count))

    def write(self, points: NDArray[np.floating]) -> None:
        """Write the next sample, (point_count, 3).

        Raises
        ------
        ValueError
            If the shape is wrong, or all samples are written already.
        """
        if points.shape != (self.point_count, 3):
            raise ValueError(f"points: shape {points.shape}, expected ({self.point_count}, 3)")
        if self._written == self.sample_count:
            raise ValueError(f"all {self.sample_count} samples are written")
        self._file.write(np.ascontiguousarray(points, "<f4").tobytes())
        self._written += 1

    def close(self) -> None:
        """Give the file its name.

        Raises
        ------
        ValueError
            If samples are missing; the file is removed then.
        """
        if self._written != self.sample_count:
            self.discard()
            raise ValueError(f"{self._written} samples of {self.sample_count} are written")
        self._file.close()
        self._temporary.replace(self.path)

    def discard(self) -> None:
        """Remove the unfinished file; an old one with the same name is unchanged."""
        self._file.close()
        self._temporary.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()


def read(path: str | os.PathLike[str]) -> tuple[NDArray[np.float32], float, float]:
    """Samples (S, V, 3) of a file, the frame of the first, and the frames from one to the next.

    Raises
    ------
    ValueError
        If the file is not of this format, or truncated.
    """
    data = Path(path).read_bytes()
    if len(data) < _HEADER.size or not data.startswith(_MAGIC):
        raise ValueError(f"{path} is no PC2 file")
    _, version, point_count, start, step, sample_count = _HEADER.unpack_from(data)
    if version != _VERSION or point_count < 0 or sample_count < 0:
        raise ValueError(f"{path} has version {version}, {point_count} points and {sample_count} samples")
    if len(data) < _HEADER.size + 12 * point_count * sample_count:
        raise ValueError(f"{path} is cut off")
    points = np.frombuffer(data, "<f4", 3 * point_count * sample_count, _HEADER.size)
    return points.reshape(sample_count, point_count, 3).astype(np.float32), start, step
