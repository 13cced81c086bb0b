# SPDX-License-Identifier: MIT
"""The examples of docs/twist.md run."""

from __future__ import annotations

import re
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sbs

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "twist.md").read_text(encoding="utf-8")


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, with a character that has an animation, as the reader's has."""
    with resources.as_file(resources.files("sbs.demo") / "data" / "woman.glb") as woman:
        shutil.copy(woman, tmp_path / "woman.glb")
    character = sbs.load(tmp_path / "woman.glb")
    local = np.tile(np.eye(3), (2, len(character.skeleton), 1, 1))
    local[1, character.skeleton.index("LeftForeArm")] = sbs.rotations.matrices_from_axis_angle([1, 0, 0], 1.0)
    moving = sbs.Animation.from_skinning_matrices("turn", [0.0, 1.0], character.skinning_matrices(local), character.rig)
    sbs.Character(character.name, character.mesh, character.skeleton, character.rig, sbs.Animations((moving,))).save(
        tmp_path / "character.glb"
    )
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for example in re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL):
        exec(example, names)
    assert names["positions"].shape == character.mesh.positions.shape
    assert names["paths"].shape == (24, *character.mesh.positions.shape)
