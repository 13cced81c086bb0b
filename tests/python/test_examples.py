# SPDX-License-Identifier: MIT
"""The examples of the docstrings do as they say."""

import doctest
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import sbs

PACKAGE = Path(sbs.__file__).parent
MODULES = [
    ".".join(("sbs", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.applies(np.lib.NumpyVersion(np.__version__) >= "2.0.0", reason="NumPy 1 writes numbers in another way")
@pytest.mark.parametrize("module", MODULES)
def test_examples(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(import_module(module))
    assert results.attempted > 0
    assert results.failed == 0
