# SPDX-License-Identifier: MIT
"""What docs/bones_blending.md shows, runs."""

from __future__ import annotations

import re
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from sbs.cli import main

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "bones_blending.md").read_text(encoding="utf-8")


def copy_woman(path: Path) -> None:
    with resources.as_file(resources.files("sbs.demo") / "data" / "woman.glb") as woman:
        shutil.copy(woman, path)


def test_the_examples_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_woman(tmp_path / "character.glb")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL):
        exec(block, names)  # what a reader would paste
    assert names["positions"].shape == (13380, 3)
    np.testing.assert_array_equal(names["finer"].positions, names["colors"])


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_woman(tmp_path / "woman.glb")
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    sbs (.*?)(?:  +#.*)?$", TEXT, flags=re.MULTILINE)
    assert len(commands) == 8
    for command in commands:
        arguments = command.split()
        quick = {
            "compare": ["--width", "250", "--samples", "1"] * ("-o" in arguments),
            "curvature": ["--steps", "2"],
        }.get(arguments[0], [])
        result = CliRunner().invoke(main, [*arguments, *quick])
        assert result.exit_code == 0, f"{command}: {result.output}"
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"woman.glb", "arm.png", "finer.glb", "knee.glb", "curvature.png"}
