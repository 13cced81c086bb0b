# SPDX-License-Identifier: MIT
"""The arrays of objects that do not change: their own, so that no caller can write to them."""

from __future__ import annotations

from .. import _core

__all__ = ["own"]


def own(holder: object, *names: str) -> None:
    """Let a frozen dataclass own arrays among its attributes; None stays.

    They become read-only, and are copied unless nobody else can write to them: an array that one object owns is shared
    by all others that get it.
    """
    for name in names:
        given = getattr(holder, name)
        if given is not None:
            object.__setattr__(holder, name, _core.owned(given, name))
