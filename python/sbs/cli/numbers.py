# SPDX-License-Identifier: MIT
"""Numbers from NPY files."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A longer header is refused: it is one line of Python with few keys and a short shape.
_LONGEST_HEADER = 1000


def read_npy(path: str | os.PathLike[str]) -> NDArray[np.number[Any]]:
    """The numbers of an NPY file.

    Raises
    ------
    ValueError
        If it is not an NPY file, or damaged. The size in its header must be that of the file before anything is read.
    OSError
        If it cannot be read.
    """
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            version = np.lib.format.read_magic(file)
            read_header = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, _, dtype = read_header(file, max_header_size=_LONGEST_HEADER)
        except OSError:
            raise
        except Exception as error:  # NumPy parses the header as Python, which raises errors of many kinds
            raise ValueError("no NPY file") from error
        if dtype.kind not in "biuf":
            raise ValueError(f"no NPY file of numbers, but of {dtype.str}")
        if math.prod(shape) * dtype.itemsize != size - file.tell() or max(shape, default=0) > size:
            raise ValueError(f"damaged: its header does not agree with its size of {size} bytes")
        file.seek(0)
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False, max_header_size=_LONGEST_HEADER))
