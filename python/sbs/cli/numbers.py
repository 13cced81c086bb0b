# SPDX-License-Identifier: MIT
"""Numbers from NPY files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A longer header is refused: it is one line of Python with few keys and a short shape.
_LONGEST_HEADER = 1000


def read_npy(path: str | os.PathLike[str]) -> NDArray[np.number[Any]]:
    """The numbers of an NPY file. Raises ValueError if it is none or damaged, and OSError if it cannot be read."""
    try:
        # A map is refused where the file is shorter than its header says, before memory is taken.
        numbers = np.array(np.lib.format.open_memmap(path, mode="r", max_header_size=_LONGEST_HEADER))
    except OSError:
        raise
    except Exception as error:  # NumPy parses the header as Python, which raises errors of many kinds
        raise ValueError("no NPY file") from error
    if numbers.dtype.kind not in "biuf":
        raise ValueError(f"no NPY file of numbers, but of {numbers.dtype.str}")
    return numbers
