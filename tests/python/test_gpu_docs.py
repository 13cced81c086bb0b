# SPDX-License-Identifier: MIT
"""docs/gpu.md: what it shows, runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from marks import computes
from snippets import blocks, text


@computes
@pytest.mark.usefixtures("device")
def test_the_examples_run() -> None:
    names: dict[str, Any] = {}
    for example in blocks(text("gpu.md"), "python"):
        exec(example, names)  # what a reader would paste
    wanted = names["woman"].skin.deform_many(names["matrices"], center="weighted")
    size = float(np.linalg.norm(np.ptp(names["woman"].skin.rest_positions, axis=0)))
    np.testing.assert_allclose(names["positions"], wanted, atol=1e-6 * size)  # test_gpu.py holds it against float64
    assert names["shape"] == (50, *wanted.shape[1:])
