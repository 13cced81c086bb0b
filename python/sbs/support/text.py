# SPDX-License-Identifier: MIT
"""Text from files, which may contain anything, made safe to store and to show."""

from __future__ import annotations

import unicodedata

__all__ = ["plain", "well_formed"]

# Control characters, format characters such as those that change the direction of writing, halves of surrogate pairs,
# and line separators.
_UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

# The zero-width joiner and non-joiner, which Persian, Indic scripts and emoji need.
_SPELLING = frozenset("\u200c\u200d")


def plain(text: str) -> str:
    r"""One line of visible characters; others are shown as escapes, such as ``\x1b``."""
    return "".join(
        character if character in _SPELLING or unicodedata.category(character) not in _UNSHOWN else _escaped(character)
        for character in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def well_formed(text: str) -> str:
    """Text that can be encoded: halves of surrogate pairs are joined, and single ones become U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
