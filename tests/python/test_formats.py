# SPDX-License-Identifier: MIT
"""The table of formats, and how the format of a file is found."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from gltf_builder import arm

import sbs
from sbs.cli import main
from sbs.formats import FORMATS
from sbs.rigging.content import FileError


def test_the_content_tells_the_format_before_the_name_does(tmp_path: Path) -> None:
    path = arm().save(tmp_path / "arm.glb")
    for name in ("arm", "arm.bin", "arm.gltf", "arm.npy"):
        shutil.copy(path, tmp_path / name)
        assert sbs.load(tmp_path / name).skin.vertex_count == 4
    text = arm().save_text(tmp_path / "text.json")
    assert sbs.load(text).skin.vertex_count == 4


def test_an_unknown_one_is_told_with_the_list(tmp_path: Path) -> None:
    path = tmp_path / "hero.xyz"
    path.write_bytes(b"nothing that is known")
    with pytest.raises(FileError, match=r"hero\.xyz") as told:
        sbs.load(path)
    assert all(suffix in str(told.value) for row in FORMATS if row.read for suffix in row.suffixes)
    character = sbs.load(arm().save(tmp_path / "arm.glb"))
    with pytest.raises(ValueError, match=r"'hero.obj' does not end in .glb"):
        character.save(tmp_path / "hero.obj")
    assert not (tmp_path / "hero.obj").exists()


def test_the_command_lists_them() -> None:
    shown = CliRunner().invoke(main, ["formats"]).output
    rows = json.loads(CliRunner().invoke(main, ["formats", "--json"]).output)
    assert [row["name"] for row in rows] == [row.name for row in FORMATS]
    assert all(row.name in shown and row.suffixes[0] in shown for row in FORMATS)
    glb = next(row for row in rows if ".glb" in row["suffixes"])
    assert glb["read"]
    assert glb["write"]
    assert glb["frames"]
    assert not next(row for row in rows if ".obj" in row["suffixes"])["frames"]


def test_the_table_of_the_page() -> None:
    text = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    roles = ("read", "motion", "write", "write_pose", "frames")
    told: dict[str, tuple[list[bool], str | None]] = {}
    for line in re.findall(r"^\| (?!format)[^-].*\|$", text.partition("## Characters")[0], re.MULTILINE):
        name, *cells, extra = (cell.strip() for cell in line.strip("|").split("|"))
        for suffix in set(re.findall(r"`(\.\w+)`", name)) or {".obj", ".ply"}:
            told[suffix] = [cell == "yes" for cell in cells], extra.strip("`") or None
    rows = {suffix: row for row in FORMATS for suffix in row.suffixes}
    assert told == {
        suffix: ([getattr(row, role) is not None for role in roles], row.extra) for suffix, row in rows.items()
    }
