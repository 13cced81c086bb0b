# SPDX-License-Identifier: MIT
"""Warnings that point to the line that called the library, however deep inside of it they are found."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn"]

# What the library may be called through, by `dataclasses.replace` or a cached property.
_BETWEEN = ("dataclasses", "functools")


def warn(message: str, category: type[Warning]) -> None:
    """Warn of something at the innermost line that is not the library's."""
    own = __name__.rpartition(".")[0]
    level, frame = 1, sys._getframe()
    while frame.f_back is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module != own and not module.startswith(f"{own}.") and module not in _BETWEEN:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
