# SPDX-License-Identifier: MIT
"""docs/quality.md: its numbers are those of the script."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pages import quality

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "quality.md").read_text(encoding="utf-8")


def test_the_page_is_what_the_script_makes_of_the_numbers(tmp_path: Path) -> None:
    for name in ("quality.md", "quality.json"):
        shutil.copy(DOCS / name, tmp_path)
    quality.write(docs=tmp_path)
    assert (tmp_path / "quality.md").read_text(encoding="utf-8") == TEXT


def test_losses_by_hand() -> None:
    result = {
        "volume": {"smallest": 0.9, "largest": 1.3},
        "limb_volume": {"smallest": 0.6, "largest": 1.1},
        "thickness": {"smallest": 0.1, "low": 0.2, "high": 1.5, "largest": 2},
        "area": {"smallest": 0.1, "low": 0.25, "high": 8, "largest": 9},
        "tear": {"high": 1.25, "largest": 3},
        "pop": {"high": 0, "largest": 0.1, "jump": None},
    }
    scene = {"name": "a", "methods": {"LBS": result}}
    expected = [0.3, 0.4, 0.8, 0.5, 2, 3, 1.25]
    assert list(quality.mean_losses([scene])["LBS"].values()) == pytest.approx(expected)
    assert quality.most_torn([scene]) == {"LBS": 1}
    assert quality.largest_jump([scene], through_half_a_turn=False) == {"LBS": 0}
