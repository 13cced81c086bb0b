# SPDX-License-Identifier: MIT
"""Capsules: every case of the rule by hand, against a reference, properties, those that fit a mesh, and bad input."""

from __future__ import annotations

import dataclasses
import pickle
from dataclasses import dataclass
from typing import Any

import capsule_reference
import characters
import numpy as np
import pytest
from capsule_reference import CapsuleArrays
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

import sbs
from sbs import weights
from sbs.weights.capsules import Falloff, Outside

# Bone 0 along x from 0 to 4, bone 1 along y from (4, 0) to (4, 4); inner radii 1, outer radii 3.
HEADS = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]])
TAILS = np.array([[4.0, 0.0, 0.0], [4.0, 4.0, 0.0]])
INNER = np.full((2, 2), 1.0)
OUTER = np.full((2, 2), 3.0)
ELBOW = weights.Capsules(HEADS, TAILS, INNER, OUTER)

# The formula takes a handful of roundings of eps / 2 each, and so do the expected weights.
EXACT = 8 * float(np.finfo(float).eps)


def assert_exact(found: np.ndarray, expected: ArrayLike) -> None:
    np.testing.assert_allclose(found, np.asarray(expected), rtol=EXACT, atol=0)


def replaced(capsules: weights.Capsules, **changes: Any) -> weights.Capsules:
    """`dataclasses.replace`, which takes what the class takes, where type checkers go by its attributes."""
    return dataclasses.replace(capsules, **changes)


def one_point(
    point: list[float],
    capsules: weights.Capsules = ELBOW,
    *,
    falloff: Falloff = "linear",
    outside: Outside = "nearest",
) -> np.ndarray:
    dense = weights.capsule_weights([point], capsules, falloff=falloff, outside=outside, dense=True)
    sparse = weights.capsule_weights([point], capsules, falloff=falloff, outside=outside)
    np.testing.assert_array_equal(weights.to_dense(*sparse, len(capsules)), dense)
    row: np.ndarray = dense[0]
    return row


# --------------------------------------------------------------------------------------------------------- by hand


def test_on_axes() -> None:
    """Of one bone, which outweighs all others; of both; and of bones 0 and 2 of three, which cross at (2, 0, 0)."""
    np.testing.assert_array_equal(one_point([2.0, 0.0, 0.0]), [1, 0])
    np.testing.assert_array_equal(one_point([4.0, 0.0, 0.0]), [1 / 2, 1 / 2])
    capsules = weights.Capsules(
        [*HEADS, [2, 1, 0]], [*TAILS, [2, -1, 0]], np.full((3, 2), 1.0), np.full((3, 2), 3.0), [1, 1, 3]
    )
    np.testing.assert_array_equal(one_point([2.0, 0.0, 0.0], capsules), [1 / 4, 0, 3 / 4])
    even = replaced(capsules, multipliers=None)
    np.testing.assert_array_equal(one_point([2.0, 0.0, 0.0], even), [1 / 2, 0, 1 / 2])


def test_on_an_axis_up_to_rounding() -> None:
    """Points of a bone that runs askew are not on it to the last bit, yet belong to it alone, or equally to two."""
    rng = np.random.default_rng(0)
    head, middle, tail = np.array([0.1, 0.2, 0.3]), np.array([1.1, -0.7, 0.9]), np.array([2.3, 0.4, 0.1])
    line = head + rng.random((100, 1)) * (middle - head)
    capsules = weights.Capsules([head, middle, head], [middle, tail, middle], np.ones((3, 2)), np.ones((3, 2)))
    for dtype in (np.float32, np.float64):
        dense = weights.capsule_weights(line.astype(dtype), capsules, dense=True)
        np.testing.assert_array_equal(dense, np.tile(np.array([0.5, 0, 0.5], dtype), (100, 1)))


@pytest.mark.parametrize(("distance", "expected"), [(2.0, 1.0), (np.nextafter(2.0, 3.0), 0.0)])
def test_equal_radii_are_a_step_that_includes_them(distance: float, expected: float) -> None:
    """r_inner = r_outer = d is inside."""
    step = weights.Capsules(HEADS[:1], TAILS[:1], [[2, 2]], [[2, 2]])
    assert one_point([1.0, distance, 0.0], step, outside="unweighted") == expected


def test_on_the_outer_radius_is_outside() -> None:
    assert one_point([1.0, 3.0, 0.0], outside="unweighted").sum() == 0
    assert one_point([1.0, np.nextafter(3.0, 0.0), 0.0], outside="unweighted").sum() == 1


def test_in_none() -> None:
    """The gaps d - r_outer: 5 - 3 = 2 for bone 0 and sqrt(4^2 + 1^2) - 3 = 1.1 for bone 1."""
    np.testing.assert_array_equal(one_point([0.0, 5.0, 0.0]), [0, 1])
    np.testing.assert_array_equal(one_point([0.0, 5.0, 0.0], outside="unweighted"), [0, 0])
    with pytest.raises(ValueError, match=r"2 of 3 points .* points\[1\]"):
        weights.capsule_weights([[0, 0, 0], [0, 5, 0], [0, 9, 0]], ELBOW, outside="error")


def test_nearest_goes_by_radius_and_then_by_joint() -> None:
    """4 from sphere 0 of radius 1 and 5 from sphere 1 of radius 3; 5 from sphere 2, which is as near as 1 is."""
    spheres = [[-4.0, 0.0, 0.0], [5.0, 0.0, 0.0], [0.0, 5.0, 0.0]]
    capsules = weights.Capsules(spheres, spheres, np.zeros((3, 2)), [[1, 1], [3, 3], [3, 3]])
    np.testing.assert_array_equal(one_point([0.0, 0.0, 0.0], capsules), [0, 1, 0])


def test_no_influence_of_weight_zero_beside_tiny_multipliers() -> None:
    """On bone 0, which counts next to nothing, and within the inner capsule of bone 1."""
    influences = weights.capsule_weights([[3.25, 0.0, 0.0]], replaced(ELBOW, multipliers=[1e-300, 1]))
    np.testing.assert_array_equal(influences.joint_weights, [[1]])


@pytest.mark.parametrize("change", [{"multipliers": [0, 1]}, {"enabled": [False, True]}])
def test_capsules_that_are_off(change: dict[str, Any]) -> None:
    """Not even nearest, nor on their axes."""
    off = replaced(ELBOW, **change)
    for point in ([0.5, 0.25, 0.0], [1.0, 0.0, 0.0], [-9.0, 0.0, 0.0]):
        np.testing.assert_array_equal(one_point(point, off), [0, 1])
        assert one_point(point, off, outside="unweighted")[0] == 0


def test_all_off() -> None:
    off = replaced(ELBOW, enabled=[False, False])
    with pytest.raises(ValueError, match="no capsule is enabled"):
        weights.capsule_weights([[0, 0, 0]], off)
    np.testing.assert_array_equal(one_point([0.0, 0.0, 0.0], off, outside="unweighted"), [0, 0])
    assert off.count_outside([[0, 0, 0], [1, 1, 1]]) == 2


def test_a_limit_keeps_the_heaviest() -> None:
    """Spheres at distances 1, 2, 2 and 4, all inside: k = 1, 1/2, 1/2 and 1/4."""
    spheres = [[0, 0, 4], [2, 0, 0], [0, -2, 0], [1, 0, 0]]
    capsules = weights.Capsules(spheres, spheres, np.full((4, 2), 9.0), np.full((4, 2), 9.0))
    everything = weights.capsule_weights([[0, 0, 0]], capsules)
    np.testing.assert_array_equal(everything.joint_indices, [[3, 1, 2, 0]])
    assert_exact(everything.joint_weights, np.array([[4, 2, 2, 1]]) / 9)
    two = weights.capsule_weights([[0, 0, 0]], capsules, limit=2)
    np.testing.assert_array_equal(two.joint_indices, [[3, 1]])
    assert_exact(two.joint_weights, [[2 / 3, 1 / 3]])
    dense = weights.capsule_weights([[0, 0, 0]], capsules, limit=2, dense=True)
    assert_exact(dense, [[0, 1 / 3, 0, 2 / 3]])
    assert weights.capsule_weights([[0, 0, 0]], capsules, limit=99).joint_weights.shape == (1, 4)
    assert weights.capsule_weights([[99, 99, 99]], ELBOW, outside="unweighted").joint_weights.tolist() == [[0]]


# ----------------------------------------------------------------------------------------------- against a reference


@pytest.mark.parametrize("falloff", ["linear", "smooth", "quadratic"])
@pytest.mark.parametrize("outside", ["nearest", "unweighted"])
@pytest.mark.parametrize("radius", [0.05, 0.5, 5.0])
def test_reference(falloff: Falloff, outside: Outside, radius: float) -> None:
    """Points in no order, in a cube of which the capsules take a little or all."""
    rng = np.random.default_rng(3)
    given = capsule_reference.random_capsules(rng, 40, radius=radius)
    given |= {"multipliers": rng.choice([0, 0.5, 1, 2], 40), "enabled": rng.random(40) < 0.8}
    points = rng.uniform(-2, 2, (5000, 3))
    expected = capsule_reference.dense_weights(points, given, falloff=falloff, outside=outside)
    found = weights.capsule_weights(points, weights.Capsules(**given), falloff=falloff, outside=outside, dense=True)
    # Near an outer radius f is a difference: it carries the rounding of distances of 4 (4 eps each), over a width of at
    # least 0.3 * 0.4 radius, and is divided by the sum of others that may be as small.
    assert np.abs(found - expected).max() < 1e-9


@pytest.mark.parametrize("falloff", ["linear", "quadratic"])
def test_falloffs_of_capsules(falloff: Falloff) -> None:
    rng = np.random.default_rng(11)
    given = capsule_reference.random_capsules(rng, 6)
    points = rng.uniform(-1, 1, (500, 3))
    own: list[Falloff | None] = ["smooth", None, "quadratic", "linear", None, "smooth"]
    capsules = weights.Capsules(**given, falloffs=own)
    found = weights.capsule_weights(points, capsules, falloff=falloff, dense=True)
    expected = capsule_reference.dense_weights(points, given, falloff=[name or falloff for name in own])
    # As in test_reference: roundings of distances, which near an outer radius are large beside the weight.
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    alike = weights.Capsules(**given, falloffs=["smooth"] * 6)
    np.testing.assert_array_equal(
        weights.capsule_weights(points, alike, dense=True),
        weights.capsule_weights(points, weights.Capsules(**given), falloff="smooth", dense=True),
    )
    # Outside are the same points, whatever falls how.
    assert capsules.count_outside(points) == weights.Capsules(**given).count_outside(points)


def test_float32_points_give_float32_weights() -> None:
    rng = np.random.default_rng(5)
    capsules = weights.Capsules(**capsule_reference.random_capsules(rng, 20))
    points = rng.uniform(-1, 1, (500, 3)).astype(np.float32)
    single = weights.capsule_weights(points, capsules, dense=True)
    assert single.dtype == weights.capsule_weights(points, capsules).joint_weights.dtype == np.float32
    double = weights.capsule_weights(points.astype(np.float64), capsules, dense=True)
    np.testing.assert_array_equal(single, double.astype(np.float32))  # computed in double, then rounded once


@pytest.mark.parametrize("power", [-1060, -600, -100, 100, 600, 1018])
def test_no_scale_is_too_large_or_too_small(power: int) -> None:
    """A power of two changes no bit but where numbers lose digits: in the last one they have a few left."""
    rng = np.random.default_rng(6)
    random = capsule_reference.random_capsules(rng, 20)
    heads, tails, inner, outer = (np.round(random[key] * 256) / 256 for key in capsule_reference.KEYS)
    points = np.round(rng.uniform(-1, 1, (300, 3)) * 256) / 256
    expected = weights.capsule_weights(points, weights.Capsules(heads, tails, inner, outer), dense=True)
    heads, tails, inner, outer = (np.ldexp(array, power) for array in (heads, tails, inner, outer))
    scaled = weights.Capsules(heads, tails, inner, outer)
    found = weights.capsule_weights(np.ldexp(points, power), scaled, dense=True)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_count_outside() -> None:
    rng = np.random.default_rng(8)
    given = capsule_reference.random_capsules(rng, 30, radius=0.3)
    points = rng.uniform(-1, 1, (3000, 3))
    lost = capsule_reference.dense_weights(points, given, outside="unweighted").sum(axis=1) == 0
    assert 0 < np.count_nonzero(lost) < 3000
    assert weights.Capsules(**given).count_outside(points) == np.count_nonzero(lost)


# -------------------------------------------------------------------------------------------------- the class Capsules


def test_arrays_are_copies_that_can_not_be_written_to() -> None:
    heads = HEADS.copy()
    capsules = weights.Capsules(heads, TAILS, INNER, OUTER, names=["a", "b"], falloffs=["smooth", None])
    heads[0] = 9
    np.testing.assert_array_equal(capsules.heads, HEADS)
    copy = pickle.loads(pickle.dumps(capsules))
    assert not copy.heads.flags.writeable
    for name in (field.name for field in dataclasses.fields(capsules)):
        np.testing.assert_array_equal(getattr(copy, name), getattr(capsules, name))
    assert replaced(capsules, falloffs=[None, None]).falloffs is None
    for field in ("heads", "tails", "inner_radii", "outer_radii", "multipliers", "enabled"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(capsules, field)[0] = 1
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(capsules, field, None)


# ----------------------------------------------------------------------------------------------------------- bad input


def changed(array: np.ndarray, index: tuple[int, ...], value: float) -> np.ndarray:
    result = array.copy()
    result[index] = value
    return result


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"heads": np.zeros(6)}, ValueError, r"heads has shape \(6,\)"),
        ({"heads": np.zeros((2, 2))}, ValueError, r"heads has shape \(2, 2\)"),
        ({"tails": np.zeros((3, 3))}, ValueError, r"tails \(3, 3\)"),
        ({"inner_radii": np.zeros(2)}, ValueError, r"inner_radii has shape \(2,\)"),
        ({"outer_radii": np.ones((3, 2))}, ValueError, r"outer_radii \(3, 2\)"),
        ({"multipliers": [1.0]}, ValueError, r"multipliers \(1,\)"),
        ({"enabled": [[True, True]]}, ValueError, r"enabled has shape \(1, 2\)"),
        ({"heads": changed(HEADS, (1, 2), np.nan)}, ValueError, r"heads\[1, 2\] is nan"),
        ({"tails": changed(TAILS, (0, 1), -np.inf)}, ValueError, r"tails\[0, 1\] is -inf"),
        ({"outer_radii": changed(OUTER, (1, 1), np.inf)}, ValueError, r"outer_radii\[1, 1\] is inf"),
        ({"inner_radii": changed(INNER, (0, 1), -0.5)}, ValueError, r"inner_radii\[0, 1\] is -0.5"),
        ({"outer_radii": changed(OUTER, (0, 1), -2)}, ValueError, r"outer_radii\[0, 1\] is -2.0"),
        ({"inner_radii": changed(INNER, (1, 1), 3.5)}, ValueError, r"inner_radii\[1, 1\] is 3.5"),
        ({"multipliers": [1.0, np.nan]}, ValueError, r"multipliers\[1\] is nan"),
        ({"multipliers": [-1.0, 1.0]}, ValueError, r"multipliers\[0\] is -1.0"),
        ({"names": ["a"]}, ValueError, "names has length 1"),
        ({"names": ["a", "a"]}, ValueError, r"names\[1\] = 'a'"),
        ({"falloffs": ["smooth"]}, ValueError, "falloffs has length 1"),
        ({"falloffs": ["smooth", "steep"]}, ValueError, r"falloffs\[1\]"),
        ({field: getattr(ELBOW, field)[:0] for field in ("heads", "tails", "inner_radii", "outer_radii")}
         | {"multipliers": None, "enabled": None}, ValueError, "heads is empty"),
        ({"heads": HEADS.astype(complex)}, TypeError, "heads"),
        ({"outer_radii": np.full((2, 2), "1")}, TypeError, "outer_radii"),
        ({"enabled": np.array([1, 0], np.int64)}, TypeError, "enabled"),
        ({"names": ["a", 1]}, TypeError, r"names\[1\]"),
        ({"falloffs": "smooth"}, TypeError, "falloffs"),
    ],
)  # fmt: skip
def test_bad_capsules(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        replaced(ELBOW, **changes)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(
    ("points", "options", "error", "message"),
    [
        (np.zeros((0, 3)), {}, ValueError, "points is empty"),
        (np.zeros(3), {}, ValueError, r"points has shape \(3,\)"),
        (np.zeros((2, 4)), {}, ValueError, r"points has shape \(2, 4\)"),
        ([[0, 0, 0], [0, np.nan, 0]], {}, ValueError, r"points\[1, 1\] is nan"),
        (np.zeros((1, 3), complex), {}, TypeError, "points"),
        ([[0, 0, 0]], {"falloff": "cubic"}, ValueError, "falloff"),
        ([[0, 0, 0]], {"outside": "none"}, ValueError, "outside"),
        ([[0, 0, 0]], {"limit": 0}, ValueError, "limit"),
        ([[0, 0, 0]], {"limit": 1.5}, TypeError, "limit"),
        ([[0, 0, 0]], {"threads": 0}, ValueError, "threads"),
        ([[9, 9, 9]], {"outside": "error"}, ValueError, r"1 of 1 points .* points\[0\]"),
    ],
)
def test_bad_points_and_options(
    points: Any, options: dict[str, Any], error: type[Exception], message: str, dense: bool
) -> None:
    with pytest.raises(error, match=message):
        weights.capsule_weights(points, ELBOW, dense=dense, **options)
    if not options and error is ValueError and len(points):
        with pytest.raises(ValueError, match=message):
            ELBOW.count_outside(points)


# ----------------------------------------------------------------------------------------------------------- properties


FALLOFF: st.SearchStrategy[Falloff] = st.sampled_from(["linear", "smooth", "quadratic"])
OUTSIDE: st.SearchStrategy[Outside] = st.sampled_from(["nearest", "unweighted"])


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
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
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


@settings(max_examples=60)
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


# --------------------------------------------------------------------------------------------- capsules that fit a mesh


def make_skeleton(positions: list[list[float]], parents: list[int]) -> sbs.Skeleton:
    bind = np.tile(np.eye(4), (len(positions), 1, 1))
    bind[:, :3, 3] = positions
    return sbs.Skeleton(parents, bind)


def tube(x: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Rings of 16 points about the x axis, (16 * len(x), 3)."""
    angles = np.tile(np.arange(16) * np.pi / 8, len(x))
    radii = np.repeat(radii, 16)
    return np.stack([np.repeat(x, 16), radii * np.cos(angles), radii * np.sin(angles)], axis=1)


# Bones along x from 0 to 1, to 2, and on to 3.
ARM = make_skeleton([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [-1, 0, 1])


def test_fitted_bones() -> None:
    capsules = weights.fit_capsules(ARM, tube(np.linspace(0, 3, 31), np.full(31, 0.1)))
    np.testing.assert_allclose(capsules.heads[:, 0], [0, 1, 2])
    np.testing.assert_allclose(capsules.tails[:, 0], [1, 2, 3])
    assert capsules.names == ARM.names
    assert capsules.enabled.all()
    some = weights.fit_capsules(ARM, tube(np.linspace(0, 3, 31), np.full(31, 0.1)), enabled=[True, False, True])
    np.testing.assert_array_equal(some.enabled, [True, False, True])


def test_radii_taper_with_the_mesh() -> None:
    """Radius 0.4 for x < 1.5, 0.2 from there on: both ends of bone 0 and the head of bone 1 are wide."""
    x = np.linspace(0, 3, 301)
    capsules = weights.fit_capsules(ARM, tube(x, np.where(x <= 1.5, 0.4, 0.2)), inner=0.5, outer=2.0)
    np.testing.assert_allclose(capsules.inner_radii, [[0.2, 0.2], [0.2, 0.1], [0.1, 0.1]], rtol=1e-12)
    np.testing.assert_allclose(capsules.outer_radii, [[0.8, 0.8], [0.8, 0.4], [0.4, 0.4]], rtol=1e-12)


def test_percentiles() -> None:
    """Of 101 vertices over each place, at 0.00, 0.01, ... 1.00, the percentile p is at p / 100."""
    y = np.tile(np.linspace(0, 1, 101), 20)
    x = np.repeat(np.linspace(0.1, 0.9, 20), 101)
    points = np.stack([x, y, 0 * x], axis=1)
    for percentile in (0, 30, 100):
        capsules = weights.fit_capsules(ARM, points, percentile=percentile, inner=1, outer=1)
        np.testing.assert_allclose(capsules.outer_radii[0], percentile / 100, atol=1e-12)


def test_few_vertices_at_an_end_leave_it_to_the_whole_bone() -> None:
    """Two stray vertices near the tail of the last bone, half as far away as the 160 at its head."""
    points = np.concatenate([tube(np.linspace(2, 2.4, 10), np.full(10, 0.2)), [[2.9, 0.1, 0], [2.9, 0, 0.1]]])
    capsules = weights.fit_capsules(ARM, points, inner=1, outer=1)
    np.testing.assert_allclose(capsules.outer_radii[2], [0.2, 0.2], rtol=1e-12)


def test_joints_without_vertices_are_off() -> None:
    capsules = weights.fit_capsules(ARM, tube(np.linspace(0, 0.9, 10), np.full(10, 0.1)))
    np.testing.assert_array_equal(capsules.enabled, [True, False, False])
    np.testing.assert_allclose(capsules.outer_radii, np.full((3, 2), 0.15), rtol=1e-12)


def test_a_lone_joint_gets_a_sphere() -> None:
    lone = make_skeleton([[1, 2, 3]], [-1])
    corners = np.array([[x, y, z] for x in (0, 2) for y in (1, 3) for z in (2, 4)])
    capsules = weights.fit_capsules(lone, corners, inner=1, outer=1)
    np.testing.assert_array_equal(capsules.tails, capsules.heads)
    np.testing.assert_allclose(capsules.outer_radii, np.sqrt([[3, 3]]), rtol=1e-15)


def test_fitted_capsules_move_and_scale_with_the_character() -> None:
    rotation = sbs.rotations.matrices_from_euler([10, 20, 30], "XYZ", degrees=True)
    points = tube(np.linspace(0.003, 2.99, 100), 0.3 + 0.1 * np.sin(np.arange(100)))  # no vertex is at half of a bone
    moved = make_skeleton((100 * ARM.joint_positions @ rotation.T + 7).tolist(), [-1, 0, 1])
    before, after = weights.fit_capsules(ARM, points), weights.fit_capsules(moved, 100 * points @ rotation.T + 7)
    # Distances carry a few eps of coordinates of 300; radii are at least 10.
    np.testing.assert_allclose(after.outer_radii, 100 * before.outer_radii, rtol=1e-13)


@pytest.mark.parametrize("name", characters.NAMES)
def test_fitted_to_real_characters(name: str) -> None:
    """A first click gives something usable: next to no vertex is outside, and all move much as the artist had them."""
    character = characters.load(name)
    joint_count = len(character.parents)
    bind = np.tile(np.eye(4), (joint_count, 1, 1))
    bind[:, :3] = character.bind_matrices
    moving = np.isin(np.arange(joint_count), character.joint_indices[character.joint_weights > 0])
    points = character.rest_positions
    capsules = weights.fit_capsules(sbs.Skeleton(character.parents, bind), points, enabled=moving)
    assert capsules.count_outside(points) < 0.02 * len(points)

    clip, frame = next(character.poses())
    by_artist, by_capsules = (
        sbs.Skin(points, *influences, joint_count=joint_count).deform(character.clips[clip].skinning_matrices(frame))
        for influences in (
            weights.normalize(character.joint_indices, character.joint_weights),
            weights.capsule_weights(points, capsules, limit=4),
        )
    )
    size = np.linalg.norm(np.ptp(points, axis=0))
    assert np.linalg.norm(by_capsules - by_artist, axis=1).mean() < 0.02 * size


@pytest.mark.parametrize(
    ("points", "options", "error", "message"),
    [
        (np.zeros((0, 3)), {}, ValueError, "points is empty"),
        (np.zeros((4, 2)), {}, ValueError, r"points has shape \(4, 2\)"),
        ([[0, 0, np.nan]], {}, ValueError, r"points\[0, 2\] is nan"),
        (np.zeros((4, 3), "U1"), {}, TypeError, "points"),
        (np.zeros((4, 3)), {"percentile": 101}, ValueError, "percentile .* 101"),
        (np.zeros((4, 3)), {"inner": 2, "outer": 1}, ValueError, "inner and outer .* 2 and 1"),
        (np.zeros((4, 3)), {"outer": np.inf}, ValueError, "inner and outer"),
        (np.zeros((4, 3)), {"enabled": [True]}, ValueError, r"enabled \(1,\)"),
        (np.zeros((4, 3)), {"enabled": [False] * 3}, ValueError, "no capsule is enabled"),
        (np.zeros((4, 3)), {"enabled": [1, 1, 1]}, TypeError, "enabled"),
    ],
)
def test_capsules_that_can_not_be_fitted(
    points: ArrayLike, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        weights.fit_capsules(ARM, points, **options)
