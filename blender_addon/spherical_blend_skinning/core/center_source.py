# SPDX-License-Identifier: GPL-3.0-or-later
"""What optimized centers were found from, by which a file knows whether those that it keeps are up to date."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .matrices import Floats


@dataclass(frozen=True)
class CenterSource:
    """What optimized centers were found from."""

    digest: str  #: Of vertices, weights, faces and bones, all as a file has them
    #: (4, 4): from the space of the mesh object to that of the armature. It is computed anew in each frame, so its last
    #: bits differ, and it is compared with a tolerance.
    place: Floats

    @classmethod
    def from_arrays(cls, arrays: Iterable[NDArray[Any]], options: str, place: Floats) -> Self:
        """That of the contents of arrays, and of options."""
        digest = hashlib.blake2b(options.encode(), digest_size=16)
        for array in arrays:
            digest.update(f"{array.dtype}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return cls(digest.hexdigest(), place)
