# SPDX-License-Identifier: MIT
"""Weights by dragging: targets that can be reached are, by the deformation itself; others are approached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import solids
from hypothesis import given
from hypothesis import strategies as st

import sbs
from sbs.weights import Brush

NO_TRIANGLES = np.zeros((0, 3), int)

# Steps end when weights change by less than 1e-9, of vertices that move by about 1.
REACHED = 1e-8

METHODS: list[dict[str, Any]] = [
    {"method": "linear"},
    {"method": "spherical", "center": "weighted"},
    {"method": "spherical", "center": "optimized"},
    {"method": "spherical", "center": "joint_set"},
    {"method": "dual_quaternion"},
    {"method": "spherical", "center": "weighted", "amount": 0.4},
    {"method": "dual_quaternion", "amount": 0.3},
]


def poses(joints: int, seed: int = 0, most: float = 60.0) -> np.ndarray:
    """Matrices (J, 3, 4) of joints that turn by up to so many degrees, and slide a little."""
    rng = np.random.default_rng(seed)
    axes, angles = rng.normal(size=(joints, 3)), rng.uniform(20, most, joints)
    turns = sbs.rotations.matrices_from_axis_angle(axes, angles, degrees=True)
    return np.concatenate([turns, rng.uniform(-0.1, 0.1, (joints, 3, 1))], axis=2)


def single(shares: Any, **options: Any) -> tuple[Brush, sbs.Skin]:
    """A vertex with these weights of the first joints."""
    place, row = np.array([[0.3, 1.0, -0.2]]), np.asarray(shares, np.float64)[None]
    joints = np.arange(row.size)[None]
    skin = sbs.Skin(place, joints, row / row.sum(), centers=[[0.1, 0.4, 0.0]])
    return Brush(place, NO_TRIANGLES, joints, row, joint_count=row.size, **options), skin


def posed(brush: Brush, skin: sbs.Skin, matrices: np.ndarray, **options: Any) -> np.ndarray:
    """Where the mesh is with the weights of the brush."""
    indices, weights = brush.influences()
    return np.asarray(skin.update_weights(*sbs.weights.normalize(indices, weights)).deform(matrices, **options))


def bent_arm(mirrored: bool = False) -> tuple[sbs.Character, Brush, np.ndarray]:
    """The arm, bent by 70 degrees at the elbow."""
    arm = solids.arm(21, 16)
    brush = Brush(arm.mesh.positions, arm.mesh.triangles, arm.mesh.joint_indices, arm.mesh.joint_weights, joint_count=3)
    return arm, brush, solids.turned(arm, "fore", [0, 0, -1 if mirrored else 1], 70)


# ---------------------------------------------------------------------------------------------------- targets reached


@pytest.mark.parametrize("options", METHODS, ids=str)
@pytest.mark.parametrize("joints", [2, 3])
def test_every_target_on_the_patch_is_reached(options: dict[str, Any], joints: int) -> None:
    matrices = poses(joints, seed=joints)
    rng = np.random.default_rng(1)
    for shares in rng.dirichlet(np.ones(joints), 20):
        brush, skin = single(np.full(joints, 1 / joints))
        (target,) = skin.update_weights(np.arange(joints)[None], shares[None]).deform(matrices, **options)
        brush.drag(0, target, skin, matrices, radius=1, **options)
        np.testing.assert_allclose(posed(brush, skin, matrices, **options), target[None], atol=REACHED)


def test_known_answer() -> None:
    """A quarter turn, by spherical blending: the middle of the arc is half of the weight, a corner all of it."""
    matrices = np.tile(np.eye(3, 4), (2, 1, 1))
    matrices[1, 1:, 1:3] = [[0, -1], [1, 0]]
    skin = sbs.Skin([[0.0, 1.0, 0.0]], [[0, 1]], [[0.9, 0.1]])
    brush = Brush([[0.0, 1.0, 0.0]], NO_TRIANGLES, [[0, 1]], [[0.9, 0.1]])
    for target, expected in (([0, 0.5**0.5, 0.5**0.5], 0.5), ([0, 1, 0], 0.0), ([0, -1, 5], 1.0)):
        brush.drag(0, target, skin, matrices, radius=1)
        weights = sbs.weights.to_dense(*brush.influences(), 2)
        np.testing.assert_allclose(weights, [[1 - expected, expected]], atol=1e-7)
        brush = Brush([[0.0, 1.0, 0.0]], NO_TRIANGLES, [[0, 1]], [[0.9, 0.1]])


@given(st.integers(0, 10_000), st.sampled_from(METHODS[:3]))
def test_nothing_is_nearer_to_what_is_beside_the_patch(seed: int, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(seed)
    matrices = poses(3, seed, most=40.0)
    brush, skin = single([0.4, 0.3, 0.3])
    assert skin.centers is not None
    own = {"rotation_center": skin.centers[0]} if options.get("center") == "optimized" else {}
    patch = sbs.weights.reachable(skin.rest_positions[0], matrices, **options, **own)
    target = patch.points[rng.integers(len(patch.points))] + rng.uniform(-0.05, 0.05, 3)
    brush.drag(0, target, skin, matrices, radius=1, **options)
    (reached,) = posed(brush, skin, matrices, **options)
    # a curved patch may come near at several places; of linear blending it is flat
    around = np.abs(patch.weights - sbs.weights.to_dense(*brush.influences(), 3)).max(axis=1)
    close = np.ones_like(around, bool) if options["method"] == "linear" else around < 0.1
    nearest = np.linalg.norm(patch.points[close] - target, axis=1).min()
    assert np.linalg.norm(reached - target) <= nearest + 1e-7  # steps end when the error falls by less than rounding


def test_others_go_along_by_the_fall_off() -> None:
    """Each as near to its share of the way as its two joints take it."""
    arm, brush, matrices = bent_arm()
    options: dict[str, Any] = {"method": "spherical", "center": "weighted"}
    skin = sbs.Skin(
        arm.mesh.positions.astype(np.float64), arm.mesh.joint_indices, arm.mesh.joint_weights, joint_count=3
    )
    vertex = int(np.linalg.norm(arm.mesh.positions - [0.3, 0, 1], axis=1).argmin())
    before = posed(brush, skin, matrices, **options)
    way = np.array([-0.1, 0.2, 0.05])
    stroke = brush.drag(vertex, before[vertex] + way, skin, matrices, radius=0.8, **options)
    after = posed(brush, skin, matrices, **options)
    distance = np.linalg.norm(skin.rest_positions - skin.rest_positions[vertex], axis=1) / 0.8
    share = np.where(distance < 1, 1 - 3 * distance**2 + 2 * distance**3, 0)
    assert set(stroke.vertices) <= set(np.flatnonzero(share > 0))
    # a set's pivot depends on all of its weights, and the last bits on the pivot
    np.testing.assert_allclose(after[share == 0], before[share == 0], rtol=0, atol=1e-14)
    steps = np.linspace(0, 1, 1001)
    for one in np.flatnonzero(share > 0):
        goal = before[one] + share[one] * way
        scan = sbs.Skin(np.tile(skin.rest_positions[one], (1001, 1)), np.tile([0, 1], (1001, 1)),
                        np.stack([1 - steps, steps], axis=1), joint_count=3).deform(matrices, **options)  # fmt: skip
        nearest = np.linalg.norm(scan - goal, axis=1).min()
        assert np.linalg.norm(after[one] - goal) <= nearest + 1e-7


@pytest.mark.parametrize("moved", [False, True])
def test_a_spread_twist_and_amounts_are_those_of_the_skin(moved: bool) -> None:
    """Also where other positions tell where along bones vertices are."""
    woman = sbs.samples.load("woman")
    twist = sbs.limb_twist(woman)
    positions = woman.mesh.positions.astype(np.float64)
    joints = woman.skeleton.joint_positions
    elbow, hand = (joints[woman.skeleton.index(f"Left{name}")] for name in ("ForeArm", "Hand"))
    rest = positions + 0.3 * (hand - elbow) if moved else positions
    skin = sbs.Skin(rest, woman.mesh.joint_indices, woman.mesh.joint_weights, joint_count=len(woman.skeleton),
                    twist=twist, twist_positions=positions if moved else None)  # fmt: skip
    amount = sbs.twist_amounts(woman, twist)
    pose = np.zeros((len(woman.skeleton), 3))
    pose[woman.skeleton.index("LeftHand"), 0] = 1.5
    pose[woman.skeleton.index("LeftForeArm")] = 0.5, 0.5, 1.0
    matrices = woman.skinning_matrices(pose)
    options: dict[str, Any] = {"center": "weighted", "amount": amount}
    brush = Brush(rest, woman.mesh.triangles, woman.mesh.joint_indices, woman.mesh.joint_weights,
                  joint_count=len(woman.skeleton))  # fmt: skip
    shared = np.sort(woman.mesh.joint_weights, axis=1)[:, -2] > 0.3
    vertex = int(np.where(shared, np.linalg.norm(woman.mesh.positions - elbow, axis=1), np.inf).argmin())
    indices, weights = (np.array(each[vertex]) for each in brush.influences())
    changed = weights * np.linspace(0.5, 1.5, weights.size)
    target = skin.update_weights(indices[None], (changed / changed.sum())[None], vertices=[vertex])
    goal = target.deform(matrices, **options)[vertex]
    assert np.linalg.norm(goal - skin.deform(matrices, **options)[vertex]) > 1e-3
    brush.drag(vertex, goal, skin, matrices, radius=0.05, **options)
    reached = posed(brush, skin, matrices, **options)[vertex]
    np.testing.assert_allclose(reached, goal, atol=1e-6)


# ------------------------------------------------------------------------------------------------------- kept weights


@pytest.mark.parametrize("options", METHODS, ids=str)
def test_nothing_changes_without_a_way(options: dict[str, Any]) -> None:
    arm, brush, matrices = bent_arm()
    skin = sbs.Skin(arm.mesh.positions.astype(np.float64), arm.mesh.joint_indices, arm.mesh.joint_weights,
                    joint_count=3, centers=np.zeros_like(arm.mesh.positions, np.float64))  # fmt: skip
    target = posed(brush, skin, matrices, **options)[100]
    stroke = brush.drag(100, target, skin, matrices, radius=1, **options)
    # the set's own center is that of all its vertices together, off by the damping from that of each alone
    assert options.get("center") == "joint_set" or len(stroke.vertices) == 0
    np.testing.assert_allclose(stroke.new.joint_weights, stroke.old.joint_weights, atol=1e-6)


def test_sums_locks_and_the_limit() -> None:
    rng = np.random.default_rng(3)
    matrices = poses(6, 5)
    place = np.array([[0.3, 1.0, -0.2]])
    row = rng.dirichlet(np.ones(4), 1)
    skin = sbs.Skin(place, [[0, 1, 2, 3]], row, joint_count=6)
    brush = Brush(place, NO_TRIANGLES, [[0, 1, 2, 3]], row, joint_count=6, limit=4)
    before = sbs.weights.to_dense(*brush.influences(), 6)
    brush.drag(0, [0.5, 0.2, 0.9], skin, matrices, radius=1, joints=[4, 5], locked=[1], center="weighted")
    after = sbs.weights.to_dense(*brush.influences(), 6)
    assert after[0, 1] == before[0, 1]
    assert (after > 0).sum() <= 4
    assert not np.array_equal(before, after)
    np.testing.assert_allclose(after.sum(), 1, atol=1e-12)  # some sums and products of weights


def test_strokes_are_undone_and_threads_change_no_bit() -> None:
    arm, brush, matrices = bent_arm()
    before = brush.influences()
    stroke = brush.drag(160, [0.5, 1.2, 0.3], arm.skin, matrices, radius=1, threads=1)
    assert len(stroke.vertices) > 10
    brush.undo(stroke)
    assert all(np.array_equal(a, b) for a, b in zip(before, brush.influences(), strict=True))
    again = brush.drag(160, [0.5, 1.2, 0.3], arm.skin, matrices, radius=1, threads=3)
    assert np.array_equal(again.new.joint_weights, stroke.new.joint_weights)


def test_weights_of_any_sum_keep_it() -> None:
    matrices = poses(2)
    brush, skin = single([1.5, 0.5])
    goal = sbs.Skin(skin.rest_positions, [[0, 1]], [[0.4, 0.6]]).deform(matrices, center="weighted")[0]
    brush.drag(0, goal, skin, matrices, radius=1, center="weighted")
    np.testing.assert_allclose(sbs.weights.to_dense(*brush.influences(), 2), [[0.8, 1.2]], atol=1e-7)


def test_the_mirror_image_is_the_same_on_the_other_side() -> None:
    """Two arms side by side, one of them posed: both get the weights that the posed one gets alone."""
    arm, alone, matrices = bent_arm()
    aside = np.array([5.0, 0, 0])
    there = aside + arm.mesh.positions
    places = np.concatenate([there, there * [-1, 1, 1]])
    shift = np.eye(4)
    shift[0, 3] = 5
    posed_arm = shift @ matrices @ np.linalg.inv(shift)
    joints = np.concatenate([arm.mesh.joint_indices, arm.mesh.joint_indices + 3])
    weights = np.tile(arm.mesh.joint_weights, (2, 1))
    triangles = np.concatenate([arm.mesh.triangles, arm.mesh.triangles + len(arm.mesh.positions)])
    both = Brush(places, triangles, joints, weights, joint_count=6)
    skin = sbs.Skin(places, joints, weights, joint_count=6)
    other = np.tile(np.eye(4), (3, 1, 1))  # rest on that side
    options: dict[str, Any] = {"center": "weighted", "radius": 1.0}
    target = np.array([0.4, 1.3, 0.2])
    alone.drag(160, target, arm.skin, matrices, **options)
    both.drag(160, aside + target, skin, np.concatenate([posed_arm, other]), **options, mirror="x",
              mirror_joints=[3, 4, 5, 0, 1, 2])  # fmt: skip
    expected = sbs.weights.to_dense(*alone.influences(), 3)
    found = sbs.weights.to_dense(*both.influences(), 6)
    count = len(expected)
    np.testing.assert_allclose(found[:count, :3], expected, atol=1e-6)  # the shift rounds positions
    np.testing.assert_allclose(found[count:, 3:], expected, atol=1e-6)


# ---------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vertex": 999}, "vertex = 999"),
        ({"vertex": -1}, "vertex = -1"),
        ({"target": [0, 0]}, r"target has shape \(2,\)"),
        ({"target": [0, np.nan, 0]}, "target"),
        ({"skinning_matrices": np.zeros((2, 4, 4))}, r"skinning_matrices has shape \(2, 4, 4\)"),
        ({"skinning_matrices": np.full((3, 3, 4), np.inf)}, r"skinning_matrices\[0, 0, 0\]"),
        *[({"radius": number}, "radius") for number in (0.0, np.nan)],
        ({"method": "rigid"}, "method"),
        ({"center": "optimized"}, "centers"),
        ({"method": "linear", "center": "weighted"}, "center has no effect"),
        ({"base": "linear"}, "base has no effect without amount"),
        ({"amount": np.full(336, 1.5)}, r"amount\[0\]"),
        ({"amount": [0.5]}, "amount has shape"),
        ({"twists": np.zeros((1, 2))}, "twists has no effect"),
        ({"joints": [7]}, "joints"),
        ({"mirror": "x", "mirror_joints": [0]}, "mirror_joints"),
        ({"skin": single([0.5, 0.5])[1]}, "skin has 1 vertices and 2 joints"),
    ],
)
def test_bad_input(change: dict[str, Any], message: str) -> None:
    arm, brush, matrices = bent_arm()
    before = brush.influences()
    arguments: dict[str, Any] = {
        "vertex": 160, "target": [0.5, 1, 0], "skin": arm.skin, "skinning_matrices": matrices, "radius": 1.0,
    } | change  # fmt: skip
    with pytest.raises(ValueError, match=message):
        brush.drag(**arguments)
    assert all(np.array_equal(a, b) for a, b in zip(before, brush.influences(), strict=True))
