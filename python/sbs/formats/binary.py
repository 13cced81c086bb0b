# SPDX-License-Identifier: MIT
"""Numbers and text from binary files, none of them beyond the end."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rigging.content import FileError
from ..support.text import well_formed

__all__ = ["Bytes"]


class Bytes:
    """The bytes of a file, and where one is in them; little-endian.

    Raises
    ------
    FileError
        By every method, if the file ends too early.
    """

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.data = data
        self.place = 0

    def error(self, message: str) -> FileError:
        return FileError(f"{self.path}: byte {self.place}: {message}")

    def skip(self, size: int, what: str) -> int:
        """Goes on, and returns from where."""
        start = self.place
        if size < 0 or start + size > len(self.data):
            raise self.error(f"cut off: {what} takes {size} bytes, {len(self.data) - start} are left")
        self.place = start + size
        return start

    def unpack(self, layout: str, what: str) -> tuple[Any, ...]:
        """Numbers of a layout of `struct`."""
        layout = f"<{layout}"
        return struct.unpack_from(layout, self.data, self.skip(struct.calcsize(layout), what))

    def number(self, layout: str, what: str) -> int:
        """One integer."""
        return int(self.unpack(layout, what)[0])

    def count(self, smallest: int, what: str) -> int:
        """A number of things that take at least so many bytes each; the rest of the file must be able to hold them."""
        count = self.number("i", f"the number of {what}")
        if not 0 <= count * smallest <= len(self.data) - self.place:
            raise self.error(f"{count} {what} do not fit into the {len(self.data) - self.place} bytes that are left")
        return count

    def array(self, dtype: Any, count: int, what: str) -> NDArray[Any]:
        """So many numbers of one type, not copied."""
        layout = np.dtype(dtype)
        return np.frombuffer(self.data, layout, count, self.skip(layout.itemsize * count, what))

    def text(self, encoding: str, what: str) -> str:
        """Text behind its length in bytes."""
        size = self.number("i", f"the length of {what}")
        start = self.skip(size, what)
        return well_formed(self.data[start : start + size].decode(encoding, "replace"))
