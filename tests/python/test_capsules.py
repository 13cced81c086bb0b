# SPDX-License-Identifier: MIT
"""Capsule weights: every case of the rule by hand, against a reference, and input that can't be used."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import capsule_reference
import numpy as np
import pytest
from numpy.typing import ArrayLike

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


def test_on_the_axis_of_one_bone() -> None:
    """2 from bone 1, within its outer capsule: 1 / d of bone 0 outweighs it."""
    np.testing.assert_array_equal(one_point([2.0, 0.0, 0.0]), [1, 0])


def test_on_the_axes_of_two_bones() -> None:
    np.testing.assert_array_equal(one_point([4.0, 0.0, 0.0]), [1 / 2, 1 / 2])


def test_on_the_axes_of_two_bones_of_three() -> None:
    """Bones 0 and 2 cross at (2, 0, 0); bone 1 is 2 away."""
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
    with pytest.raises(ValueError, match=r"2 of 3 points are outside of all outer capsules, the first is points\[1\]"):
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
    with pytest.raises(ValueError, match="no capsule is enabled: outside='nearest' needs one"):
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


def test_padding_and_width() -> None:
    indices, values = weights.capsule_weights([[0.5, 0.25, 0.0], [4.0, 0.0, 0.0]], ELBOW)
    np.testing.assert_array_equal(indices, [[0, 0], [0, 1]])
    np.testing.assert_array_equal(values, [[1, 0], [0.5, 0.5]])
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


def test_falloffs_are_kept_and_checked() -> None:
    capsules = replaced(ELBOW, falloffs=["smooth", None])
    assert capsules.falloffs == ("smooth", None)
    assert pickle.loads(pickle.dumps(capsules)).falloffs == capsules.falloffs
    assert replaced(capsules, falloffs=[None, None]).falloffs is None
    for falloffs, message in (
        (["smooth"], "falloffs has length 1, expected 2"),
        (["smooth", "steep"], r"falloffs\[1\] must be None or one of 'linear', 'smooth', 'quadratic', not 'steep'"),
    ):
        with pytest.raises(ValueError, match=message):
            replaced(ELBOW, falloffs=falloffs)
    with pytest.raises(TypeError, match="not be a str"):
        replaced(ELBOW, falloffs="smooth")


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
    capsules = weights.Capsules(heads, TAILS, INNER, OUTER)
    heads[0] = 9
    np.testing.assert_array_equal(capsules.heads, HEADS)
    for field in ("heads", "tails", "inner_radii", "outer_radii", "multipliers", "enabled"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(capsules, field)[0] = 1
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(capsules, field, None)


def test_defaults() -> None:
    assert len(ELBOW) == 2
    np.testing.assert_array_equal(ELBOW.multipliers, [1.0, 1.0])
    np.testing.assert_array_equal(ELBOW.enabled, [True, True])
    assert ELBOW.enabled.dtype == bool
    assert ELBOW.names is None


def test_pickled() -> None:
    capsules = replaced(ELBOW, multipliers=[1, 2], enabled=[True, False], names=["a", "b"])
    copy = pickle.loads(pickle.dumps(capsules))
    for field in dataclasses.fields(capsules):
        np.testing.assert_array_equal(getattr(copy, field.name), getattr(capsules, field.name))
    assert not copy.heads.flags.writeable


# ----------------------------------------------------------------------------------------------------------- bad input


def changed(array: np.ndarray, index: tuple[int, ...], value: float) -> np.ndarray:
    result = array.copy()
    result[index] = value
    return result


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": np.zeros(6)}, r"heads has shape \(6,\), expected \(J, 3\)"),
        ({"heads": np.zeros((2, 2))}, r"heads has shape \(2, 2\), expected \(J, 3\)"),
        ({"tails": np.zeros((3, 3))}, r"heads has shape \(2, 3\), tails \(3, 3\)"),
        ({"inner_radii": np.zeros(2)}, r"inner_radii has shape \(2,\), expected \(J, 2\)"),
        ({"outer_radii": np.ones((2, 3))}, r"outer_radii has shape \(2, 3\), expected \(J, 2\)"),
        ({"outer_radii": np.ones((3, 2))}, r"inner_radii has shape \(2, 2\), outer_radii \(3, 2\)"),
        ({"multipliers": [1.0]}, r"heads has shape \(2, 3\), multipliers \(1,\)"),
        ({"enabled": [[True, True]]}, r"enabled has shape \(1, 2\), expected \(J,\)"),
        ({"heads": changed(HEADS, (1, 2), np.nan)}, r"heads\[1, 2\] is nan, where a finite number is needed"),
        ({"tails": changed(TAILS, (0, 1), -np.inf)}, r"tails\[0, 1\] is -inf, where a finite number is needed"),
        ({"inner_radii": changed(INNER, (1, 0), np.nan)}, r"inner_radii\[1, 0\] is nan"),
        ({"outer_radii": changed(OUTER, (1, 1), np.inf)}, r"outer_radii\[1, 1\] is inf"),
        ({"inner_radii": changed(INNER, (0, 1), -0.5)}, r"inner_radii\[0, 1\] is -0.5, but must not be negative"),
        ({"outer_radii": changed(OUTER, (0, 1), -2)}, r"outer_radii\[0, 1\] is -2.0, but must not be negative"),
        ({"inner_radii": changed(INNER, (1, 1), 3.5)}, r"inner_radii\[1, 1\] is 3.5, above the outer radius, 3.0"),
        ({"multipliers": [1.0, np.nan]}, r"multipliers\[1\] is nan"),
        ({"multipliers": [-1.0, 1.0]}, r"multipliers\[0\] is -1.0, but must not be negative"),
        ({"names": ["a"]}, "names has length 1, expected 2"),
        ({"names": ["a", "a"]}, r"names\[1\] = 'a' is also the name of joint 0"),
    ],
)
def test_bad_capsules(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replaced(ELBOW, **changes)


def test_no_capsules() -> None:
    with pytest.raises(ValueError, match="heads is empty: there must be at least one capsule"):
        weights.Capsules(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 2)), np.zeros((0, 2)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": HEADS.astype(complex)}, "heads must hold real numbers"),
        ({"outer_radii": np.full((2, 2), "1")}, "outer_radii must hold real numbers"),
        ({"enabled": np.array([1, 0], np.int64)}, "enabled must hold bool, not int64"),
        ({"names": ["a", 1]}, r"names\[1\] must be a str, not int"),
    ],
)
def test_capsules_of_wrong_types(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        replaced(ELBOW, **changes)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(
    ("points", "options", "error", "message"),
    [
        (np.zeros((0, 3)), {}, ValueError, "points is empty: there must be at least one point"),
        (np.zeros(3), {}, ValueError, r"points has shape \(3,\), expected \(V, 3\)"),
        (np.zeros((2, 4)), {}, ValueError, r"points has shape \(2, 4\), expected \(V, 3\)"),
        ([[0, 0, 0], [0, np.nan, 0]], {}, ValueError, r"points\[1, 1\] is nan, where a finite number is needed"),
        ([[np.inf, 0, 0]], {}, ValueError, r"points\[0, 0\] is inf"),
        (np.zeros((1, 3), complex), {}, TypeError, "points must hold real numbers"),
        ([[0, 0, 0]], {"falloff": "cubic"}, ValueError, r"falloff must be one of \['linear', .*\], not 'cubic'"),
        ([[0, 0, 0]], {"outside": "none"}, ValueError, r"outside must be one of \['nearest', .*\], not 'none'"),
        ([[0, 0, 0]], {"limit": 0}, ValueError, "limit must be None or at least 1, not 0"),
        ([[0, 0, 0]], {"limit": 1.5}, TypeError, "limit must be None or an integer"),
        ([[0, 0, 0]], {"threads": 0}, ValueError, "threads must be None or at least 1, not 0"),
        ([[9, 9, 9]], {"outside": "error"}, ValueError, r"1 of 1 points are outside .*, the first is points\[0\]"),
    ],
)
def test_bad_points_and_options(
    points: Any, options: dict[str, Any], error: type[Exception], message: str, dense: bool
) -> None:
    with pytest.raises(error, match=message):
        weights.capsule_weights(points, ELBOW, dense=dense, **options)


def test_bad_points_to_count() -> None:
    with pytest.raises(ValueError, match=r"points has shape \(1, 2\), expected \(V, 3\)"):
        ELBOW.count_outside([[0, 0]])
