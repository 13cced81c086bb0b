# SPDX-License-Identifier: MIT
"""Locked joints, as the tools take them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def locked_joints(locked: ArrayLike | None) -> NDArray[np.integer] | None:
    """Joints by their numbers, given so or by a mask of all joints; None where none is locked."""
    if locked is None:
        return None
    given = np.asarray(locked)
    if given.dtype == np.bool_:
        if given.ndim != 1:
            raise ValueError(f"locked has shape {given.shape}, expected (J,) as a mask")
        return np.flatnonzero(given)
    return given.astype(np.int32) if given.size == 0 else given
