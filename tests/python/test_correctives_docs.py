# SPDX-License-Identifier: MIT
"""docs/correctives.md: what it shows, runs and is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "correctives.md").read_text(encoding="utf-8")


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for example in re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL):
        exec(example, names)  # what a reader would paste
    assert names["same"].names == ("knee",)
    np.testing.assert_allclose(names["positions"][100], names["sculpted"][100], atol=1e-3)
