# SPDX-License-Identifier: MIT
"""Weights for spherical blending: by hand, by properties on any character, and with input that is of no use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sbs
from sbs import weights
from sbs.quality.measures import bending_energy

RINGS, SIDES = 41, 12
RADIUS = 0.5


def tube(spacing: float = 0.1, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A tube along x about the origin."""
    x, angle = np.meshgrid(
        spacing * (np.arange(RINGS) - RINGS // 2) + shift, np.arange(SIDES) * 2 * np.pi / SIDES, indexing="ij"
    )
    points = np.stack([x, RADIUS * np.cos(angle), RADIUS * np.sin(angle)], axis=-1).reshape(-1, 3)
    ring, side = (index.reshape(-1) for index in np.meshgrid(np.arange(RINGS - 1), np.arange(SIDES), indexing="ij"))
    a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
    return points, np.concatenate([np.stack([a, b + SIDES, a + SIDES], 1), np.stack([a, b, b + SIDES], 1)])


HEADS, TAILS = np.array([[-3.0, 0, 0], [0.0, 0, 0]]), np.array([[0.0, 0, 0], [3.0, 0, 0]])


def step(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the two bones of a tube: a step, whose middle ring has half of both."""
    right = np.sign(np.round(points[:, 0], 9)) / 2 + 0.5
    return np.tile([0, 1], (len(points), 1)), np.stack([1 - right, right], axis=1)


def widened(points: np.ndarray, triangles: np.ndarray, **options: Any) -> np.ndarray:
    """The weight of the second bone."""
    pair = weights.widen(points, triangles, *step(points), HEADS, TAILS, **options)
    dense: np.ndarray = weights.to_dense(*pair, 2)
    return dense[:, 1]


# ------------------------------------------------------------------------------------------------------------ by hand


@pytest.mark.parametrize("spacing", [0.05, 0.1, 0.2])
def test_a_step_becomes_as_wide_as_asked_for_however_fine_the_mesh(spacing: float) -> None:
    points, triangles = tube(spacing)
    found = widened(points, triangles, reach=0.5)
    # In one implicit step of heat, rings at a distance h have weights that shrink by q from ring to ring, where
    # q + 1 / q = 2 + (h / length)^2. The length is half the radius of the tube; its end is far. What the other joint
    # gains is less by 0.01, and the sum is 1 again.
    ratio = 1 + (spacing / (0.5 * RADIUS)) ** 2 / 2
    shrink = ratio - np.sqrt(ratio**2 - 1)
    ring = RINGS // 2 + np.arange(1, 6)
    rest = 1 - found.reshape(RINGS, SIDES)[ring]
    gains = np.maximum(0.5 * shrink ** np.arange(1, 6)[:, None] * np.ones(SIDES) - 0.01, 0)
    np.testing.assert_allclose(rest, gains / (1 - 0.01), atol=3e-3)


def test_reach_is_in_radii_of_the_limb() -> None:
    points, triangles = tube()
    small = weights.widen(0.1 * points, triangles, *step(points), 0.1 * HEADS, 0.1 * TAILS)
    large = weights.widen(points, triangles, *step(points), HEADS, TAILS)
    np.testing.assert_allclose(weights.to_dense(*small, 2), weights.to_dense(*large, 2), atol=1e-12)
    nothing = weights.widen(points, triangles, *step(points), HEADS, TAILS, reach=0)
    np.testing.assert_array_equal(weights.to_dense(*nothing, 2), step(points)[1])


def test_hard_parts_keep_their_bits() -> None:
    points, triangles = tube(shift=0.05)  # no ring is in the middle: one joint for each vertex
    indices = (points[:, :1] > 0).astype(np.int32)
    found = weights.widen(points, triangles, indices, np.ones((len(points), 1)), HEADS, TAILS)
    np.testing.assert_array_equal(found.joint_indices, indices)
    np.testing.assert_array_equal(found.joint_weights, 1.0)


def test_a_rigid_island_keeps_its_bits() -> None:
    points, triangles = tube()
    button = np.array([[0.0, 0.6, 0.0], [0.1, 0.6, 0.0], [0.0, 0.6, 0.1]])
    indices, given_weights = step(points)
    rigid = np.tile([0.3, 0.7], (3, 1))
    found = weights.widen(
        np.concatenate([points, button]),
        np.concatenate([triangles, [[len(points), len(points) + 1, len(points) + 2]]]),
        np.concatenate([indices, np.tile([0, 1], (3, 1))]),
        np.concatenate([given_weights, rigid]),
        HEADS,
        TAILS,
    )
    np.testing.assert_array_equal(weights.to_dense(*found, 2)[-3:], rigid)


def test_what_is_masked_keeps_its_weights() -> None:
    points, triangles = tube()
    before = step(points)[1][:, 1]
    free = points[:, 0] > -0.05
    found = widened(points, triangles, mask=free)
    np.testing.assert_array_equal(found[~free], before[~free])
    assert (np.abs(found[free] - before[free]) > 0.05).any()
    half = widened(points, triangles, mask=np.full(len(points), 0.5))
    np.testing.assert_allclose(half, widened(points, triangles, reach=0.25), atol=1e-12)


def test_locked_joints_keep_their_weights() -> None:
    points, triangles = tube()
    base = np.clip(0.2 + 0.1 * points[:, 0], 0, 1)
    right = np.sign(np.round(points[:, 0], 9)) / 2 + 0.5
    given_weights = np.stack([base, (1 - base) * (1 - right), (1 - base) * right], axis=1)
    indices = np.tile([0, 1, 2], (len(points), 1))
    heads, tails = np.concatenate([HEADS[:1], HEADS]), np.concatenate([TAILS[:1], TAILS])
    names = ["root", "left", "right"]
    found = weights.widen(points, triangles, indices, given_weights, heads, tails, locked=["root"], names=names)
    dense = weights.to_dense(*found, 3)
    np.testing.assert_array_equal(dense[:, 0], given_weights[:, 0])
    np.testing.assert_allclose(dense.sum(axis=1), 1, atol=1e-15 * 8)
    assert (np.abs(dense[:, 1] - given_weights[:, 1]) > 0.05).any()


# ------------------------------------------------------------------------------------------------------ real characters


@pytest.fixture(scope="module", params=["woman", "hand"])
def character(request: pytest.FixtureRequest) -> sbs.Character:
    return sbs.samples.load(request.param)


def test_what_holds_on_a_character(character: sbs.Character) -> None:
    mesh = character.mesh
    before = weights.to_dense(*weights.tidy(mesh.joint_indices, mesh.joint_weights), len(character.skeleton))
    found = weights.for_spherical(character)
    after = weights.to_dense(*found, len(character.skeleton))
    assert found.joint_weights.shape[1] <= 8
    np.testing.assert_allclose(after.sum(axis=1), 1, atol=1e-5)  # unchanged rows have the sum of the file
    assert after.min() >= 0
    assert set(np.flatnonzero(after.any(axis=0))) == set(np.flatnonzero(before.any(axis=0)))
    again = weights.for_spherical(character)
    np.testing.assert_array_equal(again.joint_weights, found.joint_weights)


def test_vertices_at_one_point_stay_alike(character: sbs.Character) -> None:
    mesh = character.mesh
    twin = sbs._core.weld(mesh.positions)
    found = weights.to_dense(*weights.for_spherical(character), len(character.skeleton))
    before = weights.to_dense(mesh.joint_indices, mesh.joint_weights, len(character.skeleton))
    alike = (before == before[twin]).all(axis=1)
    np.testing.assert_array_equal(found[alike], found[twin[alike]])


def test_a_cut_changes_nothing(character: sbs.Character) -> None:
    """As along a seam of textures: the triangles of one side get vertices of their own."""
    mesh, count = character.mesh, len(character.mesh.positions)
    sides = mesh.positions[mesh.triangles].mean(axis=1)[:, 0]
    right = sides > np.median(sides)
    doubled = np.intersect1d(mesh.triangles[right], mesh.triangles[~right])
    assert len(doubled) > 50
    rows, copies = np.concatenate([np.arange(count), doubled]), np.arange(count)
    copies[doubled] = count + np.arange(len(doubled))
    triangles = np.where(right[:, None], copies[mesh.triangles], mesh.triangles).astype(np.int32)
    cut = sbs.Mesh(mesh.positions[rows], triangles, mesh.joint_indices[rows], mesh.joint_weights[rows])
    found = weights.for_spherical(sbs.Character.from_mesh(cut, character.skeleton))
    dense = weights.to_dense(*weights.for_spherical(character), len(character.skeleton))
    # A vertex that changes by no more than 1e-6 keeps its weights.
    np.testing.assert_allclose(weights.to_dense(*found, len(character.skeleton)), dense[rows], atol=2e-6)


def test_bends_and_twists_crease_less_than_before() -> None:
    woman = sbs.samples.load("woman")
    softer = woman.with_weights(*weights.for_spherical(woman))
    gauge = sbs.quality.Gauge(woman)
    poses = sbs.quality.made_poses(woman, ["LeftForeArm", "LeftLeg", "LeftUpLeg"]).poses

    def bending(character: sbs.Character) -> np.ndarray:
        twist = sbs.limb_twist(character)
        skin = character.twisted_skin(twist, optimized=True)
        shapes = skin.deform_many(poses, center="optimized", amount=sbs.twist_amounts(character, twist, 0.5))
        return np.array(
            [bending_energy(gauge.surface, shape[gauge.surface.kept].astype(np.float64)) for shape in shapes]
        )

    assert bending(softer).sum() < 0.75 * bending(woman).sum()


# ------------------------------------------------------------------------------------------------------------ any input


@given(st.integers(0, 2**32 - 1), st.floats(0, 100), st.integers(1, 5))
def test_any_weights_come_out_in_order(seed: int, reach: float, limit: int) -> None:
    rng = np.random.default_rng(seed)
    count, joints = int(rng.integers(1, 30)), 4
    points = rng.normal(size=(count, 3)).round(int(rng.integers(0, 3)))  # some at one point
    triangles = rng.integers(0, count, (int(rng.integers(0, 40)), 3))
    values = rng.random((count, 3)) * rng.choice([0, 1, 1e-3, np.nan, -1], (count, 3), p=[0.3, 0.5, 0.1, 0.05, 0.05])
    indices = rng.integers(0, joints, (count, 3))
    heads, tails = rng.normal(size=(2, joints, 3))
    found = weights.widen(points, triangles, indices, values, heads, tails, reach=reach, limit=limit)
    before = weights.to_dense(*weights.tidy(indices, values), joints)
    after = weights.to_dense(*found, joints)
    assert found.joint_weights.shape[1] <= limit
    assert np.isfinite(after).all()
    assert (after >= 0).all()
    np.testing.assert_array_equal(after.any(axis=1), before.any(axis=1))
    assert not after[:, ~before.any(axis=0)].any()


def test_refusals() -> None:
    points, triangles = tube()
    nan, inf = points.copy(), points.copy()
    nan[3, 1], inf[3, 1] = np.nan, np.inf
    cases: list[tuple[dict[str, Any], str]] = [
        *(({"reach": reach}, "reach") for reach in (-0.1, np.nan, np.inf)),
        ({"reach": "far"}, "real number"),
        ({"limit": 0}, "limit"),
        ({"heads": HEADS[:1], "tails": TAILS[:1]}, "joint_indices has 1"),
        ({"heads": HEADS, "tails": TAILS[:1]}, "heads"),
        ({"heads": HEADS * np.nan}, "heads"),
        ({"positions": points[:-1]}, "positions"),
        ({"positions": nan}, r"positions\[3, 1\] is nan"),
        ({"positions": inf}, r"positions\[3, 1\] is inf"),
        ({"triangles": [[0, 1, len(points)]]}, "triangles"),
        ({"triangles": triangles[:, :2]}, "triangles"),
        ({"locked": ["nobody"], "names": ["a", "b"]}, "nobody"),
        *(({"mask": np.full(len(points), value)}, "mask") for value in (1.5, np.nan)),
        ({"mask": [True]}, "mask"),
    ]
    indices, values = step(points)
    usual: dict[str, Any] = {"positions": points, "triangles": triangles, "heads": HEADS, "tails": TAILS}
    for change, message in cases:
        with pytest.raises((ValueError, TypeError, KeyError), match=message):
            weights.widen(**{**usual, "joint_indices": indices, "joint_weights": values, **change})
