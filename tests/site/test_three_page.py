# SPDX-License-Identifier: MIT
"""The page on three.js: its scene is drawn, by the package and by files that convert writes."""

from __future__ import annotations

import io

import numpy as np
from browsing import Visit
from PIL import Image


def test_scene(visit: Visit) -> None:
    page = visit.open("three.html")
    page.wait_for_selector("#scene[data-state=ready]")
    picture = Image.open(io.BytesIO(page.locator("#scene canvas").screenshot())).convert("RGB")
    thirds = np.array_split(np.asarray(picture, np.int32), 3, axis=1)
    for third in thirds:
        skin = third[..., 0] - third[..., 2] > 20  # no background has this color
        assert 0.02 < skin.mean() < 0.5
