# SPDX-License-Identifier: MIT
"""Properties of capsule weights for any capsules and points."""

from __future__ import annotations

from dataclasses import dataclass

import capsule_reference
import numpy as np
from capsule_reference import CapsuleArrays
from hypothesis import given, settings
from hypothesis import strategies as st

from sbs import weights
from sbs.weights.capsules import Falloff, Outside

SEED = st.integers(0, 2**32 - 1)
FALLOFF: st.SearchStrategy[Falloff] = st.sampled_from(["linear", "smooth", "quadratic"])
OUTSIDE: st.SearchStrategy[Outside] = st.sampled_from(["nearest", "unweighted"])

thorough = settings(max_examples=60)

# A point this far from where the rule changes stays on its side, though rounding moves it.
MARGIN = 1e-6


@dataclass
class Scene:
    """Capsules, and points in, around and on them."""

    arrays: CapsuleArrays
    points: np.ndarray  # (V, 3)

    @property
    def capsules(self) -> weights.Capsules:
        return weights.Capsules(**self.arrays)


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Capsules from none that touch to all that overlap, some off, some spheres, some chained; points on axes too."""
    rng = np.random.default_rng(draw(SEED))
    count = draw(st.integers(1, 12))
    arrays = capsule_reference.random_capsules(rng, count, radius=draw(st.sampled_from([0.1, 0.5, 3.0])))
    spheres, chained = rng.random(count) < 0.2, rng.random(count) < 0.3
    arrays["heads"][1:] = np.where(chained[1:, None], arrays["tails"][:-1], arrays["heads"][1:])
    arrays["tails"] = np.where(spheres[:, None], arrays["heads"], arrays["tails"])
    arrays["multipliers"] = rng.choice([0.0, 0.5, 1.0, 1.0, 4.0], count)
    arrays["multipliers"][0] = 1.0  # one must be on
    arrays["enabled"] = rng.random(count) < 0.8
    arrays["enabled"][0] = True
    on_axes = arrays["heads"] + rng.choice([0.0, 0.3, 1.0], (count, 1)) * (arrays["tails"] - arrays["heads"])
    return Scene(arrays, np.concatenate([rng.uniform(-2, 2, (60, 3)), on_axes]))


def robust(scene: Scene) -> np.ndarray:
    """Which points (V,) decide nothing by a rounding error: off axes, outer surfaces and ties of nearest capsules."""
    shape = capsule_reference.measure(scene.points, scene.arrays)
    gaps = shape.distances - shape.outer
    on = scene.arrays["enabled"] & (scene.arrays["multipliers"] > 0)
    nearest = np.sort(np.where(on, gaps, np.inf), axis=1)[:, :2]
    tied = nearest[:, 1] - nearest[:, 0] < MARGIN if nearest.shape[1] > 1 else np.zeros(len(gaps), bool)
    apart = (np.abs(gaps) > MARGIN).all(axis=1) & (shape.distances > MARGIN).all(axis=1)
    decided: np.ndarray = apart & ~(tied & (gaps > 0).all(axis=1))
    return decided


def dense(scene: Scene, falloff: Falloff, outside: Outside) -> np.ndarray:
    return weights.capsule_weights(scene.points, scene.capsules, falloff=falloff, outside=outside, dense=True)


@thorough
@given(scenes(), FALLOFF, OUTSIDE, st.one_of(st.none(), st.integers(1, 5)))
def test_convex(scene: Scene, falloff: Falloff, outside: Outside, limit: int | None) -> None:
    indices, values = weights.capsule_weights(
        scene.points, scene.capsules, falloff=falloff, outside=outside, limit=limit
    )
    assert np.all(values >= 0)
    sums = values.sum(axis=1)
    unweighted = sums == 0
    assert outside == "unweighted" or not unweighted.any()
    np.testing.assert_allclose(sums[~unweighted], 1, rtol=0, atol=2e-15)  # 12 weights, half an ulp each, and their sum
    assert np.all(np.diff(values, axis=1) <= 0)
    assert np.all(indices[values == 0] == 0)
    assert np.all((np.diff(indices, axis=1) > 0) | (np.diff(values, axis=1) < 0) | (values[:, 1:] == 0))
    off = np.flatnonzero(~scene.arrays["enabled"] | (scene.arrays["multipliers"] == 0))
    assert not np.isin(indices[values > 0], off).any()


@thorough
@given(scenes(), FALLOFF, OUTSIDE, SEED)
def test_order_of_capsules_changes_no_bit(scene: Scene, falloff: Falloff, outside: Outside, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(scene.arrays["heads"]))
    kept = robust(scene) | (outside == "unweighted")  # of capsules that are equally near, the first wins
    arrays: CapsuleArrays = {
        "heads": scene.arrays["heads"][order],
        "tails": scene.arrays["tails"][order],
        "inner_radii": scene.arrays["inner_radii"][order],
        "outer_radii": scene.arrays["outer_radii"][order],
        "multipliers": scene.arrays["multipliers"][order],
        "enabled": scene.arrays["enabled"][order],
    }
    shuffled = Scene(arrays, scene.points)
    np.testing.assert_array_equal(
        dense(shuffled, falloff, outside)[kept], dense(scene, falloff, outside)[:, order][kept]
    )
