# SPDX-License-Identifier: MIT
"""HTML for notebooks. Names come from files, so everything is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from .text import plain

__all__ = ["folded", "listed", "table"]

_MOST = 8


def table(title: str, rows: Mapping[str, object]) -> str:
    """A table of names and values."""
    cells = "".join(f"<tr><th>{_safe(name)}</th><td>{_safe(value)}</td></tr>" for name, value in rows.items())
    return f"<table><caption>{_safe(title)}</caption>{cells}</table>"


def folded(title: str, lines: Sequence[str]) -> str:
    """Lines that show when their title is clicked at."""
    return f"<details><summary>{_safe(title)}</summary><pre>{'<br>'.join(map(_safe, lines))}</pre></details>"


def listed(names: Sequence[str]) -> str:
    """How many names there are, and the first of them."""
    more = ", ..." if len(names) > _MOST else ""
    return f"{len(names)}: {', '.join(names[:_MOST])}{more}" if names else "0"


def _safe(value: object) -> str:
    return escape(plain(str(value)))
