# SPDX-License-Identifier: MIT
"""The tutorial runs, as a page and as a notebook, which is made of the page."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from snippets import blocks, text

import make_notebook
import sbs
from sbs.cli import main

QUICK = {"compare": ["--width", "200", "--samples", "1"]}


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cell after cell, in one folder; their output and files are as the text says."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    printed = io.StringIO()
    content = json.loads(make_notebook.NOTEBOOK.read_text(encoding="utf-8"))
    for cell in content["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        if not source.startswith("!"):
            with contextlib.redirect_stdout(printed):
                exec(source, names)  # as a reader would run it
            continue
        for line in source.splitlines():
            arguments = shlex.split(line.removeprefix("!sbs "))
            result = CliRunner().invoke(main, [*arguments, *QUICK.get(arguments[0], [])])
            assert result.exit_code == 0, f"{line}: {result.output}"
    output = printed.getvalue()
    thickness = dict(re.findall(r"^(\w+) +(\d\.\d\d)$", output, re.MULTILINE))
    assert float(thickness["linear"]) < 0.5 * float(thickness["spherical"])
    assert "(49, 13380, 3)" in output
    assert output.endswith("True\n")
    assert (tmp_path / "wave.pc2").stat().st_size == 32 + 49 * 13380 * 12
    assert np.load(tmp_path / "wave.npy").shape == (11, 13380, 3)
    assert sbs.load(tmp_path / "two.glb").skin.max_influences == 2
    (off,) = re.findall(r"(\d\.\d{4}) of the size", output)
    assert float(off) < 0.005  # a step of eight bits


def test_the_notebook_is_that_of_the_page() -> None:
    page = text("tutorial.md")
    made = make_notebook.NOTEBOOK.read_text(encoding="utf-8")
    assert made == make_notebook.notebook(page), "run tools/make_notebook.py"
    code = ["".join(cell["source"]) + "\n" for cell in json.loads(made)["cells"] if cell["cell_type"] == "code"]
    assert [source for source in code if not source.startswith("!")] == blocks(page, "python")
