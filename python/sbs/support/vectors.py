# SPDX-License-Identifier: MIT
"""Vectors of length 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["unit"]


def unit(vectors: NDArray[Any]) -> NDArray[Any]:
    """Vectors (..., N) divided by their lengths; those of length 0 stay."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0.0, lengths, 1.0))
