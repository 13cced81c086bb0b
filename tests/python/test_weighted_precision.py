# SPDX-License-Identifier: MIT
"""How far weighted centers in float32 are from those in float64: the bound of sbs/sbs.h, also where it is large."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import sbs
from sbs import rotations

VERTICES, JOINTS = 40, 6
ROUNDING = 2.0**-24
"""Half a unit in the last place of 1, in float32."""


def random_matrices(rng: np.random.Generator, about: Literal["any", "one"], size: float) -> np.ndarray:
    """Joints (J, 3, 4) that turn about any axes, or nearly about one, and move by the mesh's size, as float32 is."""
    axes = rng.normal(size=(JOINTS, 3))
    if about == "one":
        axes = np.array([0.3, 0.5, 0.8]) + 10 ** rng.uniform(-4, -0.5) * axes
    turns = rotations.matrices_from_axis_angle(axes, rng.uniform(-3, 3, JOINTS))
    matrices = np.concatenate([turns, size * rng.normal(size=(JOINTS, 3, 1))], axis=2)
    return matrices.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("size", [1.0, 1e6])
@pytest.mark.parametrize("influences", [3, 4, 6])
@pytest.mark.parametrize("about", ["any", "one"])
def test_no_further_off_than_the_header_says(about: Literal["any", "one"], influences: int, size: float) -> None:
    """Whatever the unit, and where the axes of joints nearly agree: 5e-6 of the size, and a unit in the last place."""
    rng = np.random.default_rng(influences)
    for _ in range(60):
        rest = (size * rng.normal(size=(VERTICES, 3))).astype(np.float32)
        indices = np.argsort(rng.random((VERTICES, JOINTS)))[:, :influences]
        given = rng.random((VERTICES, influences)) ** rng.choice([1, 4]) + 1e-3
        given = (given / given.sum(axis=1, keepdims=True)).astype(np.float32)
        matrices = random_matrices(rng, about, size)
        narrow, exact = (sbs.Skin(each, indices, given, joint_count=JOINTS) for each in (rest, rest.astype(float)))
        expected = exact.deform(matrices, center="weighted")
        off = np.linalg.norm(narrow.deform(matrices, center="weighted") - expected, axis=1)
        extent = float(np.linalg.norm(np.ptp(rest, axis=0)))
        assert np.all(off <= 5e-6 * extent + 2 * ROUNDING * np.abs(expected).max())
