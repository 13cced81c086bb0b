# SPDX-License-Identifier: MIT
"""The packages that only pictures and plots need, loaded when the first is made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..support.extras import MissingExtraError, load

__all__ = ["MissingExtraError", "load", "load_mitsuba", "silent_stderr"]


def load_mitsuba() -> Any:
    """Mitsuba 3, in the variant that needs no LLVM.

    Raises
    ------
    MissingExtraError
        If it is not installed, or does not load.
    """
    with silent_stderr():
        mitsuba = load("mitsuba", "mitsuba")
    mitsuba.set_variant("scalar_rgb")
    mitsuba.set_log_level(mitsuba.LogLevel.Error)
    return mitsuba


@contextmanager
def silent_stderr() -> Iterator[None]:
    """Nothing gets to file descriptor 2, where Mitsuba says at import that it found no LLVM."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
