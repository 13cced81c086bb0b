# SPDX-License-Identifier: MIT
"""The packages that only pictures and plots need, loaded when the first is made."""

from __future__ import annotations

from typing import Any

from ...support.extras import MissingExtraError, load, silent_stderr

__all__ = ["MissingExtraError", "load", "load_mitsuba"]


def load_mitsuba() -> Any:
    """Mitsuba 3, in the variant that needs no LLVM."""
    with silent_stderr():
        mitsuba = load("mitsuba", "mitsuba")
    mitsuba.set_variant("scalar_rgb")
    mitsuba.set_log_level(mitsuba.LogLevel.Error)
    return mitsuba
