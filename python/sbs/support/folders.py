# SPDX-License-Identifier: MIT
"""Which other files a file may refer to: only files in its folder, which came with it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["lies_beside"]


def lies_beside(other: str | os.PathLike[str], file: Path) -> bool:
    """Whether a path, wherever its links lead, is in the folder of a file or below it."""
    return Path(os.path.realpath(other)).is_relative_to(os.path.realpath(file.parent))
