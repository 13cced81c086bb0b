# SPDX-License-Identifier: MIT
"""Tables on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..support.text import plain
from .streams import is_output_claimed


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print a table, the first `left` columns left-aligned and others right-aligned; cells are text, not markup."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for index, name in enumerate(columns):
        table.add_column(
            Text(plain(name).replace(" ", "\n")), justify="left" if index < left else "right", overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    # A file or a pipe has no width that the table must fit.
    elsewhere = is_output_claimed()
    stream = sys.stderr if elsewhere else sys.stdout
    Console(width=None if stream.isatty() else 160, stderr=elsewhere).print(table)


def print_records(columns: Mapping[str, str], records: Iterable[Mapping[str, Any]]) -> None:
    """Print a table of records by a format for each column, as in ``{"share": "{share:.2%}"}``."""
    print_table([*columns], [[cell.format_map(record) for cell in columns.values()] for record in records])
