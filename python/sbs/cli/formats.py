# SPDX-License-Identifier: MIT
"""``sbs formats``: what is read and written."""

from __future__ import annotations

import json

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ..formats import FORMATS
from .options import JSON

COLUMNS = {
    "read": "character in",
    "motion": "motion in",
    "write": "character out",
    "write_pose": "pose out",
    "frames": "frames out",
}


@click.command()
@JSON
def formats(as_json: bool) -> None:
    """Show which formats of files are read and written, and what each keeps."""
    if as_json:
        rows = [
            {"name": row.name, "suffixes": list(row.suffixes), "keeps": row.keeps, "extra": row.extra}
            | {role: getattr(row, role) is not None for role in COLUMNS}
            for row in FORMATS
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in ("format", "ends in", *COLUMNS.values(), "keeps", "extra"):
        table.add_column(name, overflow="fold", min_width=5)
    for row in FORMATS:
        marks = ("yes" if getattr(row, role) is not None else "" for role in COLUMNS)
        table.add_row(row.name, " ".join(row.suffixes), *marks, row.keeps, row.extra or "")
    console = Console()
    Console(width=None if console.is_terminal else 160).print(table)
