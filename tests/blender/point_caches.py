# SPDX-License-Identifier: GPL-3.0-or-later
"""Point caches with shapes that a test expects, for Mesh Cache modifiers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import addon
import numpy as np
from numpy.typing import NDArray


def write(path: Path, numbers: range, shapes: Iterable[NDArray[np.float64]]) -> None:
    """Write shapes (V, 3) to a PC2 file, one for each number, by the package that the add-on uses."""
    caches = addon.module("core.library").load("formats.caches")
    first, *others = shapes
    no_triangles = np.empty((0, 3), np.int32)
    content = caches.Frames(numbers, 1.0, len(first), first.dtype, no_triangles)
    with caches.PC2(path, content) as cache:
        for shape in (first, *others):
            cache.append(shape[None], None)
