# SPDX-License-Identifier: MIT
"""What the README shows, runs."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def test_the_python_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = blocks("python")
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(first, names)  # what a reader would paste
    radii = {method: float(radius) for method, radius in (line.split() for line in output.getvalue().splitlines())}
    assert radii["linear"] == pytest.approx(np.cos(np.radians(85)), rel=1e-9)
    assert radii["spherical"] == pytest.approx(1, rel=1e-9)
    assert radii["dual_quaternion"] == pytest.approx(1, rel=1e-9)

    with resources.as_file(resources.files("sbs.demo") / "data" / "hand.glb") as hand:
        shutil.copy(hand, tmp_path / "character.glb")
    monkeypatch.chdir(tmp_path)
    exec(second, names)
    assert np.shape(names["frames"]) == (24, 1360, 3)
    assert (tmp_path / "copy.glb").exists()
    exec(third, names)
    np.testing.assert_allclose(names["rest"], names["skin"].rest_positions, atol=1e-12)


def test_the_c_example_compiles_without_a_warning(tmp_path: Path) -> None:
    (source,) = blocks("c")
    (tmp_path / "program.c").write_text(source, encoding="utf-8")
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT / 'csrc' / 'include'}"]
    subprocess.run([*command, "program.c"], cwd=tmp_path, check=True)


def test_the_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert "docs/images/demo.png" in links
    assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []
    with Image.open(ROOT / "docs" / "images" / "demo.png") as figure:
        assert figure.width >= 1600
