# SPDX-License-Identifier: MIT
"""What must hold for capsule weights of any capsules and points."""

from __future__ import annotations

from dataclasses import dataclass

import capsule_reference
import numpy as np
from capsule_reference import CapsuleArrays
from hypothesis import given, settings
from hypothesis import strategies as st

from sbs import rotations, weights
from sbs.weights.capsules import Falloff, Outside

SEED = st.integers(0, 2**32 - 1)
FALLOFF: st.SearchStrategy[Falloff] = st.sampled_from(["linear", "smooth", "quadratic"])
OUTSIDE: st.SearchStrategy[Outside] = st.sampled_from(["nearest", "unweighted"])

thorough = settings(max_examples=60)

# A point this far from where the rule changes stays on its side, though rounding moves it.
MARGIN = 1e-6
# Distances of up to 6 carry about 4 eps of that, 5e-15. Of 1/d and of f, the fall-off of a distance from the outer
# surface, it is at most 5e-9 at a MARGIN, and twice that of a square.
CLOSE = 1e-8


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


@thorough
@given(scenes(), FALLOFF, OUTSIDE, SEED)
def test_other_points_change_no_bit(scene: Scene, falloff: Falloff, outside: Outside, seed: int) -> None:
    some = np.random.default_rng(seed).permutation(len(scene.points))[:7]
    few = Scene(scene.arrays, scene.points[some])
    np.testing.assert_array_equal(dense(few, falloff, outside), dense(scene, falloff, outside)[some])


@thorough
@given(scenes(), FALLOFF, OUTSIDE, SEED)
def test_rigid_motion(scene: Scene, falloff: Falloff, outside: Outside, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rotation, shift = rotations.matrices_from_quaternions(rng.normal(size=4)), rng.uniform(-2, 2, 3)
    arrays: CapsuleArrays = {
        **scene.arrays,
        "heads": scene.arrays["heads"] @ rotation.T + shift,
        "tails": scene.arrays["tails"] @ rotation.T + shift,
    }
    moved = Scene(arrays, scene.points @ rotation.T + shift)
    kept = robust(scene)
    np.testing.assert_allclose(
        dense(moved, falloff, outside)[kept], dense(scene, falloff, outside)[kept], rtol=0, atol=CLOSE
    )


@thorough
@given(scenes(), FALLOFF, OUTSIDE, st.floats(1e-6, 1e6))
def test_scale(scene: Scene, falloff: Falloff, outside: Outside, scale: float) -> None:
    """Weights have no unit of length."""
    scaled: CapsuleArrays = {
        **scene.arrays,
        "heads": scene.arrays["heads"] * scale,
        "tails": scene.arrays["tails"] * scale,
        "inner_radii": scene.arrays["inner_radii"] * scale,
        "outer_radii": scene.arrays["outer_radii"] * scale,
    }
    kept = robust(scene)
    found = dense(Scene(scaled, scene.points * scale), falloff, outside)
    np.testing.assert_allclose(found[kept], dense(scene, falloff, outside)[kept], rtol=0, atol=CLOSE)


# Across an outer surface, a change of d by STEP is a change of f by at most STEP / 0.012, the least width between radii
# that there is (0.3 * 0.4 * 0.1), and of k by that over 0.04, the least outer radius. It stands beside the k of others,
# which have f of (CLEARANCE / 3)^2 or more at d < 4. A jump would be of size 1.
STEP, CLEARANCE = 1e-11, 1e-2
LARGEST_CHANGE = 2 * (STEP / 0.012 / 0.04) / ((CLEARANCE / 3) ** 2 / 4)  # 0.015


@thorough
@given(scenes(), FALLOFF, SEED)
def test_continuous_across_the_outer_radius(scene: Scene, falloff: Falloff, seed: int) -> None:
    """A small step through the outer surface of one capsule changes weights a little, whatever else is there.

    But for the lines where the surfaces of two capsules meet: points near them are left out.
    """
    rng = np.random.default_rng(seed)
    heads, tails, inner, outer = (scene.arrays[key] for key in capsule_reference.KEYS)
    arrays: CapsuleArrays = {"heads": heads, "tails": tails, "inner_radii": inner, "outer_radii": outer}
    for joint, (head, tail, radii) in enumerate(zip(heads, tails, outer, strict=True)):
        # Straight out from a place on the bone, so that this remains the nearest.
        u = rng.random((20, 1)) * (head != tail).any()
        normals = np.cross(tail - head if (head != tail).any() else rng.normal(size=3), rng.normal(size=(20, 3)))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        surface = (1 - u) * head + u * tail + ((1 - u) * radii[0] + u * radii[1]) * normals
        shape = capsule_reference.measure(surface, arrays)
        clear = (np.abs(np.delete(shape.distances - shape.outer, joint, axis=1)) > CLEARANCE).all(axis=1)
        if clear.any():
            inside, outside = (
                dense(Scene(arrays, surface[clear] + step * normals[clear]), falloff, "nearest")
                for step in (-STEP, STEP)
            )
            assert np.abs(outside - inside).max() < LARGEST_CHANGE


def test_not_continuous_where_two_outer_surfaces_meet() -> None:
    """Spheres of radius 2 about (-1, 0, 0) and (1, 0, 0): they end on one circle of radius sqrt(3)."""
    capsules = weights.Capsules(
        [[-1, 0, 0], [1, 0, 0]], [[-1, 0, 0], [1, 0, 0]], np.zeros((2, 2)), np.full((2, 2), 2.0)
    )
    meeting = np.array([0, np.sqrt(3), 0])
    steps = 1e-9 * np.array([[-1, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(weights.capsule_weights(meeting + steps, capsules, dense=True), [[1, 0], [0, 1]])
