# SPDX-License-Identifier: MIT
"""docs/formats.md: its table is that of the package, and its figures of spherical deformation are computed again."""

from __future__ import annotations

import re
from pathlib import Path

from sbs.formats import FORMATS

TEXT = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
ROLES = ("read", "motion", "write", "write_pose", "frames")
ENDINGS = {"OBJ, PLY": {".obj", ".ply"}}


def test_the_table() -> None:
    told: dict[str, list[bool]] = {}
    extras: dict[str, str | None] = {}
    for line in re.findall(r"^\| (?!format)[^-].*\|$", TEXT, re.MULTILINE):
        name, *cells, extra = (cell.strip() for cell in line.strip("|").split("|"))
        for suffix in set(re.findall(r"`(\.\w+)`", name)) or ENDINGS[name]:
            told[suffix], extras[suffix] = [cell == "yes" for cell in cells], extra.strip("`") or None
    rows = {suffix: row for row in FORMATS for suffix in row.suffixes}
    assert told == {suffix: [getattr(row, role) is not None for role in ROLES] for suffix, row in rows.items()}
    assert extras == {suffix: row.extra for suffix, row in rows.items()}
