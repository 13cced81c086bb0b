# SPDX-License-Identifier: MIT
"""The code of README runs, and README fits on a screen."""

from __future__ import annotations

import contextlib
import io
import re

import pytest
from PIL import Image
from snippets import ROOT, blocks

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_example() -> None:
    (example,) = blocks(README, "python")
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(example, {})  # as a reader would paste it
    thickness = {method: float(radius) for method, radius in (line.split() for line in output.getvalue().splitlines())}
    assert thickness == pytest.approx({"LBS": 0.04, "SBS": 0.23, "DQS": 0.23}, abs=0.005)


def test_the_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert "docs/images/demo.png" in links
    assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []
    with Image.open(ROOT / "docs" / "images" / "demo.png") as figure:
        assert figure.width >= 1600
