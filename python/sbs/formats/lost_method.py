# SPDX-License-Identifier: MIT
"""Tell that a format has no place for the way in which a character is deformed."""

from __future__ import annotations

from pathlib import Path

from ..rigging.content import FileWarning
from ..skinning.options import BlendOptions
from ..support.callers import warn

__all__ = ["tell_lost_method"]


def tell_lost_method(path: Path, options: BlendOptions) -> None:
    """Warn, if options ask for more than linear blending, that programs do not hear of it."""
    method = options.get("method", "linear")
    if method != "linear":
        part = "" if options.get("amount") is None else " in part"
        warn(f"{path} cannot say that it is deformed by {method}{part}; programs deform it otherwise", FileWarning)
