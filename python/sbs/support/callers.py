# SPDX-License-Identifier: MIT
"""Warnings that point to the line that called the library, however deep inside it they arise."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["about", "warn"]

# Modules of Python that may stand between caller and library: `dataclasses.replace`, cached properties.
_BETWEEN = ("dataclasses", "functools")

_subject: ContextVar[str] = ContextVar("subject", default="")


@contextmanager
def about(subject: str) -> Iterator[None]:
    """Let warnings within the block begin with their subject, such as the name of a file."""
    token = _subject.set(subject)
    try:
        yield
    finally:
        _subject.reset(token)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line that is not the library's."""
    own = __name__.rsplit(".", 2)[0]
    level, frame = 1, sys._getframe()
    while frame.f_back is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module != own and not module.startswith(f"{own}.") and module not in _BETWEEN:
            break
        level, frame = level + 1, frame.f_back
    subject = _subject.get()
    warnings.warn(f"{subject}: {message}" if subject else message, category, stacklevel=level)
