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


def bound(rest: np.ndarray, weights: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """What each vertex may be off by its center alone, as a multiple of ROUNDING: n d / l. `matrices` (V, n, 3, 4)."""
    turns = matrices[..., :3]
    apart = turns - np.einsum("vi,vijk->vjk", weights, turns)[:, None]
    moved = np.einsum("vijk,vk->vij", turns, rest) + matrices[..., 3]
    moved -= np.einsum("vi,vij->vj", weights, moved)[:, None]
    equations = np.einsum("vi,vika,vikb->vab", weights, apart, apart)
    damping = 0.5e-6 * (1 - np.sum(weights**2, axis=1))  # over pairs of joints
    least = np.linalg.eigvalsh(equations)[:, 0] + damping
    apart_by = np.sqrt(np.einsum("vi,vik,vik->v", weights, moved, moved))
    return np.asarray(weights.shape[1] * apart_by / least)


@pytest.mark.parametrize("size", [1.0, 1e6])
@pytest.mark.parametrize("influences", [3, 4, 6])
@pytest.mark.parametrize("about", ["any", "one"])
def test_no_further_off_than_the_header_says(about: Literal["any", "one"], influences: int, size: float) -> None:
    """Whatever the unit: to 1e-6 of the size and half a unit in the last place comes what the equations lose."""
    rng = np.random.default_rng(influences)
    largest = 0.0
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
        weights = given.astype(float) / given.astype(float).sum(axis=1, keepdims=True)
        ordinary = 1e-6 * extent + 2 * ROUNDING * np.abs(expected).max()
        assert np.all(off <= ordinary + ROUNDING * bound(rest.astype(float), weights, matrices[indices]))
        largest = max(largest, float(off.max()) / extent)
    if about == "one":
        assert largest > 1e-4  # so that what is far beyond the ordinary was seen
