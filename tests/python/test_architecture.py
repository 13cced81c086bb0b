# SPDX-License-Identifier: MIT
"""docs/architecture.md is true: its files exist, and each equation is found where the page says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """The cells of a table, without its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


NAMED = sorted(set(re.findall(r"`((?:[\w.]+/)+[\w.*]+)`", PAGE)))
EQUATIONS = rows("Where each equation is")


@pytest.mark.parametrize("path", NAMED)
def test_files_exist(path: str) -> None:
    assert list(ROOT.glob(path)), path


def test_all_folders_of_sources_are_told() -> None:
    told = {name for row in rows("The tree") for name in re.findall(r"`([\w/*.]+)`", row[0])}
    folders = {f"csrc/{path.name}" for path in (ROOT / "csrc").iterdir() if path.is_dir()}
    assert folders - {"csrc/include", "csrc/examples"} <= told


@pytest.mark.parametrize("row", EQUATIONS, ids=lambda row: row[1])
def test_equations_are_found(row: list[str]) -> None:
    _, _, path, function, words = (cell.strip("`") for cell in row)
    text = (ROOT / path).read_text(encoding="utf-8")
    # A comment may break its line anywhere.
    plain = re.sub(r"\s*\n\s*[*/#]*\s*", " ", text)
    assert re.search(rf"\b{re.escape(function)}\b", text), f"{path} has no {function}"
    assert words in plain, f"{path} does not say {words!r}"


def test_every_numbered_equation_of_2005_is_told() -> None:
    told = "".join(row[1] for row in EQUATIONS)
    assert [number for number in range(1, 10) if f"({number})" not in told] == []
