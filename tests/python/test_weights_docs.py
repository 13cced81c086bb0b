# SPDX-License-Identifier: MIT
"""What docs/weights.md shows, runs."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner

import sbs
from sbs.cli import main

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "weights.md").read_text(encoding="utf-8")


def test_the_examples_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resources.as_file(resources.files("sbs.demo") / "data" / "hand.glb") as hand:
        shutil.copy(hand, tmp_path / "character.glb")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()) as output:
        for block in re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL):
            exec(block, names)  # what a reader would paste
    printed = output.getvalue()
    for said in re.findall(r"^print\(.*\)  # (\w.*)$", TEXT, flags=re.MULTILINE):
        assert said == "numbers of vertices" or said in printed
    assert (tmp_path / "capsules.json").exists()
    assert sbs.load(tmp_path / "weighted.glb").skin.max_influences == 4


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resources.as_file(resources.files("sbs.demo") / "data" / "hand.glb") as hand:
        shutil.copy(hand, tmp_path / "hero.glb")
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    sbs (weights .*?)(?:  +#.*)?$", TEXT, flags=re.MULTILINE)
    assert len(commands) >= 6
    for command in commands:
        arguments = command.replace("LeftArm", "wrist").split()
        quick = ["--width", "200", "--samples", "1"] if "--show" in arguments else []
        result = CliRunner().invoke(main, [*arguments, *quick])
        assert result.exit_code == 0, f"{command}: {result.output}"
    assert {path.name for path in tmp_path.iterdir()} == {"hero.glb", "out.glb", "capsules.json", "arm.png"}
