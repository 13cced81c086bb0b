# SPDX-License-Identifier: MIT
"""docs/fitting.md: what it shows, runs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "fitting.md").read_text(encoding="utf-8")


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other; those of PyTorch where that is installed."""
    monkeypatch.chdir(tmp_path)
    has_torch = importlib.util.find_spec("torch") is not None
    names: dict[str, Any] = {}
    for example in re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL):
        if has_torch or "torch" not in example:
            exec(example, names)  # what a reader would paste
    gradient = names["gradient"]
    assert gradient.joint_weights.shape == (1, 2)
    assert gradient.skinning_matrices.shape == (2, 3, 4)
    assert names["fitted"].joint_weights.shape == (np.count_nonzero(names["near"]), 4)
    assert names["fitted"].errors.max() < 1e-2  # of dual quaternions by spherical skinning; she is 16.7 tall
    if has_torch:
        model, still = names["body"], [names["torch"].zeros(2, 1, 3), names["torch"].zeros(2, 3, 31, 3)]
        at_rest = model(*still).numpy()
        assert at_rest.shape == (2, 3, 13380, 3)
        np.testing.assert_allclose(at_rest, np.broadcast_to(names["rest"], at_rest.shape), atol=1e-5)  # float32
        joints = (names["regressor"] @ names["template"]).numpy()
        np.testing.assert_allclose(joints, names["woman"].skeleton.joint_positions, atol=1e-4)  # float32
        assert names["after"] < 0.05 * names["before"]
