# SPDX-License-Identifier: MIT
"""``sbs formats``: the formats that are read and written."""

from __future__ import annotations

import click

from ..formats import FORMATS
from .options import JSON, print_json
from .tables import print_table

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
    """Show the formats that are read and written, and the data that each keeps."""
    if as_json:
        rows = [
            {"name": row.name, "suffixes": list(row.suffixes), "keeps": row.keeps, "extra": row.extra}
            | {role: getattr(row, role) is not None for role in COLUMNS}
            for row in FORMATS
        ]
        print_json(rows)
        return
    headings = ("format", "ends in", *COLUMNS.values(), "keeps", "extra")
    print_table(
        headings,
        [
            (
                row.name,
                " ".join(row.suffixes),
                *("yes" if getattr(row, role) is not None else "" for role in COLUMNS),
                row.keeps,
                row.extra or "",
            )
            for row in FORMATS
        ],
        left=len(headings),
    )
