# SPDX-License-Identifier: MIT
"""The code of README runs, and README fits on a screen."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from PIL import Image
from snippets import ROOT, blocks

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_example() -> None:
    (example,) = blocks(README, "python")
    names: dict[str, Any] = {}
    exec(example, names)  # as a reader would paste it
    woman, pose = names["woman"], names["pose"]
    elbow = woman.skeleton.joint_positions[woman.skeleton.index("LeftForeArm")]
    linear = woman.skin.deform(pose, method="LBS")
    thickness = [np.linalg.norm(each - elbow, axis=1).min() for each in (names["positions"], linear)]
    assert thickness == pytest.approx([0.23, 0.04], abs=0.005)


def test_the_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert "docs/images/demo.png" in links
    assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []
    with Image.open(ROOT / "docs" / "images" / "demo.png") as figure:
        assert figure.width >= 1500
