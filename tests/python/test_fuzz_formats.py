# SPDX-License-Identifier: MIT
"""Damaged files of every format but glTF, made from a seed; tests/fuzz/formats.py makes more."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))

import formats  # noqa: E402


@pytest.mark.parametrize("kind", ["bvh", "pmx"])
def test_damaged_files(tmp_path: Path, kind: str) -> None:
    outcomes, findings = formats.run(kind, formats.files(kind, 20260, 500), tmp_path)
    assert findings == []
    assert outcomes["refused"] > 100
    assert outcomes["read"] > 10


@pytest.mark.parametrize(("kind", "module"), [("usda", "pxr"), ("usdc", "pxr"), ("fbx", "ufbx")])
def test_damaged_files_that_are_read_in_a_process_of_their_own(tmp_path: Path, kind: str, module: str) -> None:
    """A few, as each takes about a second."""
    pytest.importorskip(module)
    files = [*itertools.islice(formats.files(kind, 1, 3), 0, None, 6)]
    outcomes, findings = formats.run(kind, iter(files), tmp_path)
    assert findings == []
    assert sum(outcomes.values()) == len(files)
