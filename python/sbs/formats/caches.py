# SPDX-License-Identifier: MIT
"""Write frames of a deformed mesh to a file, chunk by chunk, so that memory does not grow with their number."""

from __future__ import annotations

import io
import struct
import zipfile
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..rigging.triangle_mesh import MeshPart

__all__ = ["MDD", "NPY", "NPZ", "PC2", "Cache", "Frames", "RawCache"]

# The largest number of frames and vertices in Point Cache 2, Motion Designer and NumPy's headers.
_MOST = 2**31 - 1

Rows = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Frames:
    """The frames of a motion to write, and the mesh.

    Attributes
    ----------
    numbers : range
        Frame n is at n / fps seconds.
    fps : float
    vertex_count : int
    dtype : numpy.dtype
        Of the positions.
    triangles : (T, 3) int32 ndarray
    parts : tuple of MeshPart
        Of the mesh, for formats that hold several; empty for one without a name.
    has_normals : bool
        Whether formats that hold normals get any.
    first : int
        The number in the file of frame 0, which PC2 and USD count from, and MDD in seconds.
    """

    numbers: range
    fps: float
    vertex_count: int
    dtype: np.dtype[Any]
    triangles: NDArray[np.int32]
    parts: tuple[MeshPart, ...] = ()
    has_normals: bool = True
    first: int = 0

    def times(self, numbers: range | None = None) -> NDArray[np.float64]:
        """Seconds (F,) of some frames, or of all."""
        return np.asarray(self.numbers if numbers is None else numbers, dtype=np.float64) / self.fps


class Cache(AbstractContextManager["Cache"], ABC):
    """A file that frames are appended to; it is complete when the block ends."""

    normals = False
    """Whether frames come with normals."""

    has_faces = False
    """Whether the file contains triangles."""

    def __init__(self, path: Path, frames: Frames) -> None:
        self.frames = frames
        self.path = path
        self.resources = ExitStack()

    def __exit__(self, *failure: Any) -> bool | None:
        return self.resources.__exit__(*failure)

    @abstractmethod
    def append(self, positions: Rows, normals: Rows | None) -> None:
        """Write the next frames, (F, V, 3)."""


class RawCache(Cache):
    """A file of a header and frames of one size, so that any frame can be written by itself."""

    @staticmethod
    @abstractmethod
    def header(frames: Frames) -> bytes:
        """The bytes before the first frame."""

    @staticmethod
    @abstractmethod
    def encoded(positions: Rows) -> Rows:
        """Frames (F, V, 3) as stored in the file."""

    @classmethod
    def frame_size(cls, frames: Frames) -> int:
        """Bytes of a frame."""
        return cls.encoded(np.empty((0, 1, 3), frames.dtype)).dtype.itemsize * 3 * frames.vertex_count

    def __enter__(self) -> RawCache:
        self._file = self.resources.enter_context(self.path.open("wb"))
        self._file.write(self.header(self.frames))
        return self

    def append(self, positions: Rows, normals: Rows | None) -> None:
        self._file.write(np.ascontiguousarray(self.encoded(positions)).data)


def _counted(number: int, what: str) -> int:
    if number > _MOST:
        raise ValueError(f"{number} {what} are more than the format can count")
    return number


class PC2(RawCache):
    """Point Cache 2, as in 3ds Max and Blender's Mesh Cache: float32, little-endian."""

    @staticmethod
    def header(frames: Frames) -> bytes:
        vertex_count, count = _counted(frames.vertex_count, "vertices"), _counted(len(frames.numbers), "frames")
        numbers = frames.numbers
        start = frames.first + numbers.start
        return struct.pack("<12siiffi", b"POINTCACHE2\0", 1, vertex_count, start, numbers.step, count)

    @staticmethod
    def encoded(positions: Rows) -> Rows:
        return positions.astype("<f4", copy=False)


class MDD(RawCache):
    """LightWave's Motion Designer: float32, big-endian, with the time of each frame."""

    @staticmethod
    def header(frames: Frames) -> bytes:
        vertex_count, count = _counted(frames.vertex_count, "vertices"), _counted(len(frames.numbers), "frames")
        times = frames.times() + frames.first / frames.fps
        return struct.pack(">ii", count, vertex_count) + times.astype(">f4").tobytes()

    @staticmethod
    def encoded(positions: Rows) -> Rows:
        return positions.astype(">f4")


class NPY(RawCache):
    """One array of NumPy, (F, V, 3), in the type of the skin."""

    @staticmethod
    def header(frames: Frames) -> bytes:
        return _npy_header((len(frames.numbers), frames.vertex_count, 3), frames.dtype)

    @staticmethod
    def encoded(positions: Rows) -> Rows:
        return positions


class NPZ(Cache):
    """Arrays of NumPy: positions (F, V, 3), times (F,) in seconds, triangles (T, 3); not compressed."""

    has_faces = True

    def __enter__(self) -> NPZ:
        with ExitStack() as opened:
            self._archive = opened.enter_context(zipfile.ZipFile(self.path, "w", allowZip64=True))
            for name, array in (("times", self.frames.times()), ("triangles", self.frames.triangles)):
                with self._entry(name) as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
            self._positions = opened.enter_context(self._entry("positions"))
            shape = len(self.frames.numbers), self.frames.vertex_count, 3
            self._positions.write(_npy_header(shape, self.frames.dtype))
            self.resources = opened.pop_all()
        return self

    def _entry(self, name: str) -> IO[bytes]:
        # A fixed date, so that files of the same frames are equal.
        return self._archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True)

    def append(self, positions: Rows, normals: Rows | None) -> None:
        self._positions.write(np.ascontiguousarray(positions).data.cast("B"))


def _npy_header(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bytes:
    buffer = io.BytesIO()
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue()
