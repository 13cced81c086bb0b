# SPDX-License-Identifier: MIT
"""Tables of the pages, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from sbs.support.files import replacing


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table whose first columns, so many as `left`, have text and whose others have numbers."""
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def replace_tables(page: Path, tables: dict[str, str]) -> None:
    """Replace tables of a page, each between two comments with its name.

    Raises
    ------
    ValueError
        If the page has no such comments.
    """
    text = page.read_text(encoding="utf-8")
    for name, lines in tables.items():
        found = re.search(rf"<!-- Table {name}, [^\n]*\n\n(.*?)\n\n<!-- End of {name}. -->", text, re.DOTALL)
        if found is None:
            raise ValueError(f"{page} has no place for the table {name}")
        text = text[: found.start(1)] + lines + text[found.end(1) :]
    with replacing(page) as temporary:
        temporary.write_text(text, encoding="utf-8")
