# SPDX-License-Identifier: MIT
"""Warnings that point to the line that called the library, however deep inside it they arise."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn"]

# Modules of Python that may stand between caller and library: `dataclasses.replace`, cached properties.
_BETWEEN = ("dataclasses", "functools")


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line that is not the library's."""
    own = __name__.rpartition(".")[0]
    level, frame = 1, sys._getframe()
    while frame.f_back is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module != own and not module.startswith(f"{own}.") and module not in _BETWEEN:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
