# SPDX-License-Identifier: MIT
"""Bones blending: against the formulas of 2003 as they stand, by hand, by what the paper promises, and bad input."""

from __future__ import annotations

from importlib import resources
from typing import Any

import characters
import numpy as np
import pytest
from surfaces import tube

import sbs
from sbs import rotations
from sbs.poses import turned
from sbs.rigging.blending import BlendingProfile

LARGEST_ANGLE = np.radians(179.9)  # up to here axis and angle of a matrix are known to 1e-13


# --------------------------------------------------------------------------------------------- Kavan and Zara 2003


def rotation_power(rotation: np.ndarray, t: float) -> np.ndarray:
    """M^t: the rotation about the axis of M by t times its angle."""
    doubled = np.array(
        [rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]
    )
    sine = np.sqrt(doubled @ doubled) / 2
    angle = np.arctan2(sine, (np.trace(rotation) - 1) / 2)
    if sine == 0:
        return np.eye(3)
    x, y, z = doubled / (2 * sine)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    power: np.ndarray = np.eye(3) + np.sin(t * angle) * cross + (1 - np.cos(t * angle)) * cross @ cross
    return power


def hanging_on(parents: np.ndarray, j: int) -> int:
    """How many joints hang on a joint, itself included."""
    return 1 + sum(hanging_on(parents, k) for k in range(len(parents)) if parents[k] == j)


def direct(
    parents: np.ndarray,
    A: np.ndarray,
    T: np.ndarray,
    rest: np.ndarray,
    attachment: np.ndarray,
    t_min: np.ndarray,
    t_max: np.ndarray,
    profile: BlendingProfile,
) -> np.ndarray:
    """Deform vertices one by one: v0 = A(j)^-1 v, t' = <v0, n>, and K (K^-1 L)^t v0 about the joint.

    K is the rotation with which the parent alone would move the bone, F(p) R(j), and L that of F(j) = F(p) R(j) T(j).
    Angles of T(j) that are too large to have an axis leave NaN.
    """
    count = len(parents)
    R = [A[j] if parents[j] < 0 else np.linalg.inv(A[parents[j]]) @ A[j] for j in range(count)]
    F: dict[int, np.ndarray] = {}

    def pose(j: int) -> np.ndarray:
        if j not in F:
            F[j] = (np.eye(4) if parents[j] < 0 else pose(parents[j])) @ R[j] @ T[j]
        return F[j]

    result = np.full(rest.shape, np.nan)
    for row, (v, j) in enumerate(zip(rest, attachment, strict=True)):
        v0 = (np.linalg.inv(A[j]) @ [*v, 1])[:3]
        p = parents[j]
        if p < 0:
            result[row] = (pose(j) @ [*v0, 1])[:3]
            continue
        children = [k for k in range(count) if parents[k] == j]
        steps = [R[k][:3, 3] for k in children] or [R[j][:3, :3].T @ R[j][:3, 3]]
        # the paper has one child; of several each counts with its joints, as `weights.bone_segments` says
        n = np.average(steps, axis=0, weights=[hanging_on(parents, k) for k in children] or None)
        n = n / np.sqrt(n @ n)
        t = min(max((v0 @ n - t_min[j]) / (t_max[j] - t_min[j]), 0), 1)
        if profile == "smoothstep":
            t = 3 * t**2 - 2 * t**3
        before = pose(p) @ R[j]
        K, L = before[:3, :3], pose(j)[:3, :3]
        M = np.linalg.inv(K) @ L
        if np.arccos(np.clip((np.trace(M) - 1) / 2, -1, 1)) > LARGEST_ANGLE:
            continue
        origin = (before @ [*(t * T[j][:3, 3]), 1])[:3]
        result[row] = origin + K @ rotation_power(M, t) @ v0
    return result


def check_against_formulas(
    skeleton: sbs.Skeleton,
    rest: np.ndarray,
    local: np.ndarray,
    blending: sbs.BonesBlending,
    profile: BlendingProfile = "linear",
) -> int:
    """How many vertices between two rotations were held against the formulas."""
    matrices = skeleton.skinning_matrices(skeleton.forward(local))
    found = blending.skin().deform(matrices, **blending.options)
    expected = direct(
        skeleton.parents,
        skeleton.bind_matrices,
        local,
        np.asarray(rest, float),
        blending.attachment,
        blending.t_min,
        blending.t_max,
        profile,
    )
    known = np.isfinite(expected).all(axis=1)
    assert known.mean() > 0.9
    size = np.linalg.norm(np.ptp(rest, axis=0)) + np.abs(local[:, :3, 3]).max()
    np.testing.assert_allclose(found[known], expected[known], rtol=0, atol=1e-12 * size)
    return int(((blending.t > 0) & (blending.t < 1) & known).sum())


def random_rotations(rng: np.random.Generator, count: int, largest: float = np.pi) -> np.ndarray:
    axes = rng.normal(size=(count, 3))
    return sbs.rigging.affine.from_linear(rotations.matrices_from_axis_angle(axes, rng.uniform(0, largest, count)))


@pytest.mark.parametrize(("seed", "profile"), [*((seed, "linear") for seed in range(6)), (6, "smoothstep")])
def test_is_what_the_paper_says_on_chains(seed: int, profile: BlendingProfile) -> None:
    """Chains and branches whose joints stand askew, in poses with all angles, and with joints that slide."""
    rng = np.random.default_rng(seed)
    parents = np.array([-1, 0, 1, 2, 1, 4])
    steps = random_rotations(rng, len(parents))
    steps[:, :3, 3] = rng.normal((2, 0, 0), size=(len(parents), 3))
    bind = steps.copy()
    for joint in range(1, len(parents)):
        bind[joint] = bind[parents[joint]] @ steps[joint]
    skeleton = sbs.Skeleton(parents, bind)
    attachment = rng.integers(0, len(parents), 300)
    rest = skeleton.joint_positions[attachment] + rng.normal(size=(300, 3))
    blending = sbs.bones_blending(skeleton, rest, attachment=attachment, t_min=-1.0, t_max=[1.5] * 6, profile=profile)
    local = random_rotations(rng, len(parents), LARGEST_ANGLE)
    local[:, :3, 3] = rng.normal(size=(len(parents), 3))
    assert check_against_formulas(skeleton, rest, local, blending, profile) > 100


@pytest.mark.parametrize("frame", [0, -1])
def test_is_what_the_paper_says_on_arnaud(frame: int) -> None:
    """Most of his joints slide."""
    arnaud = characters.load("arnaud_ozz")
    bind = np.tile(np.eye(4), (len(arnaud.parents), 1, 1))
    bind[:, :3] = arnaud.bind_matrices
    left, _, right = np.linalg.svd(bind[:, :3, :3])
    bind[:, :3, :3] = left @ right  # rotations to the last bits of double, where the file has those of float32
    skeleton = sbs.Skeleton(arnaud.parents, bind)
    rest = arnaud.rest_positions.astype(np.float64)
    blending = sbs.bones_blending(skeleton, rest, influences=(arnaud.joint_indices, arnaud.joint_weights))
    clip, number = list(arnaud.poses())[frame]
    matrices = np.tile(np.eye(4), (len(bind), 1, 1))
    matrices[:, :3] = arnaud.clips[clip].skinning_matrices(number)
    local = skeleton.local(matrices @ bind)
    assert np.abs(local[:, :3, 3]).max() > 1e-3
    assert check_against_formulas(skeleton, rest, local, blending) > 1000


# --------------------------------------------------------------------------------------------------------- the bind


def arm(length: float = 3.0) -> sbs.Skeleton:
    """Upper arm, forearm and hand along x; the elbow is at the origin."""
    bind = np.tile(np.eye(4), (3, 1, 1))
    bind[:, 0, 3] = [-length, 0, length]
    return sbs.Skeleton([-1, 0, 1], bind, ["upper", "fore", "hand"])


def sleeve(rings: int = 49) -> tuple[np.ndarray, np.ndarray]:
    positions, triangles = tube(rings, 12, length=6.0)
    return positions - [3, 0, 0], triangles


def test_shares_by_hand() -> None:
    points = np.array([[-2, 0.3, 0], [-1, 0, 0], [-0.5, 9, 9], [0, 0, 0], [1, 1, 0], [7, 0, 0]])
    blending = sbs.bones_blending(arm(), points, attachment=[1, 1, 1, 1, 1, 1], t_min=-1, t_max=1)
    np.testing.assert_allclose(blending.t, [0, 0, 0.25, 0.5, 1, 1], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(blending.joint_indices, [[0, 0], [0, 0], [0, 1], [0, 1], [0, 1], [0, 1]])
    np.testing.assert_allclose(blending.joint_weights[:, 1], blending.t, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(blending.centers, np.zeros((6, 3)))
    root = sbs.bones_blending(arm(), points, attachment=[0, 0, 0, 2, 2, 2])
    np.testing.assert_array_equal(root.joint_weights[:3], [[0, 1]] * 3)
    np.testing.assert_array_equal(root.joint_indices[:3], 0)


def test_bones_go_to_the_mean_child_and_on_from_the_parent() -> None:
    bind = np.tile(np.eye(4), (4, 1, 1))
    bind[:, :3, 3] = [[0, 0, 0], [1, 0, 0], [2, 1, 0], [2, -1, 4]]
    skeleton = sbs.Skeleton([-1, 0, 1, 1], bind)
    # the mean of the children of joint 1 is off by (1, 0, 2)
    points = np.array([[1, 0, 5**0.5], [2, 1, 0], [2 + 2**0.5, 1, 0]])
    blending = sbs.bones_blending(skeleton, points, attachment=[1, 2, 2], t_min=-2, t_max=4)
    np.testing.assert_allclose(6 * blending.t - 2, [2, 0, 1], rtol=0, atol=1e-14)


def test_bones_are_those_of_bone_segments() -> None:
    """Joint 1 has a twist joint 2 halfway, and an elbow 3 on which a hand 4 hangs: they count 1:2."""
    bind = np.tile(np.eye(4), (5, 1, 1))
    bind[:, :3, 3] = [[-1, 0, 0], [0, 0, 0], [3, 0, 0], [3, 3, 0], [5, 5, 0]]
    skeleton = sbs.Skeleton([-1, 0, 1, 1, 3], bind)
    tails = sbs.weights.bone_segments(skeleton)[1]
    np.testing.assert_allclose(tails[1], [3, 2, 0], rtol=0, atol=1e-15)
    points = [[3, 2, 0], [-2, 3, 7]]
    for given in (None, tails):
        blending = sbs.bones_blending(skeleton, points, attachment=[1, 1], t_min=-1, t_max=4, tails=given)
        np.testing.assert_allclose(5 * blending.t - 1, [13**0.5, 0], rtol=0, atol=1e-14)


def test_bones_of_joints_at_one_place() -> None:
    """A leaf at the place of its parent has the parent's bone; children whose mean is the joint's place give none."""
    bind = np.tile(np.eye(4), (5, 1, 1))
    bind[:, :3, 3] = [[-1, 0, 0], [0, 0, 0], [0, 2, 0], [0, -2, 0], [0, 2, 0]]
    skeleton = sbs.Skeleton([-1, 0, 1, 1, 2], bind)
    heads, tails = sbs.weights.bone_segments(skeleton)
    # joint 1 counts joint 2 twice, for joint 4 hangs on it
    expected = np.array([[1, 0, 0], [0, 2 / 3, 0], [0, 2, 0], [0, -2, 0], [0, 2, 0]])
    np.testing.assert_allclose(tails - heads, expected, atol=1e-15)
    fewer = sbs.Skeleton([-1, 0, 1, 1], bind[:4])
    heads, tails = sbs.weights.bone_segments(fewer)
    np.testing.assert_allclose(tails[1] - heads[1], [1, 0, 0], rtol=0, atol=1e-15)


def test_bones_go_to_their_tails_where_a_rig_has_some() -> None:
    points = [[1, 2, 0], [3, 0, 1], [3, 4, 0]]
    tails = [[0, 0, 0], [0, 2, 0], [3, 0, 4]]
    blending = sbs.bones_blending(arm(), points, attachment=[1, 2, 2], t_min=-2, t_max=4, tails=tails)
    np.testing.assert_allclose(6 * blending.t - 2, [2, 1, 0], rtol=0, atol=1e-14)
    # the default tails are at the children
    rest, _ = sleeve()
    heads = arm().joint_positions
    same = sbs.bones_blending(arm(), rest, tails=[heads[1], heads[2], 2 * heads[2] - heads[1]])
    np.testing.assert_allclose(same.t, sbs.bones_blending(arm(), rest).t, rtol=0, atol=1e-14)


def test_no_rotation_is_interpolated_where_t_is_0_or_1() -> None:
    rest, _ = sleeve()
    blending = sbs.bones_blending(arm(), rest, t_min=-0.6, t_max=0.6, joints=["fore"])
    sizes = np.array([len(joints) for joints in blending.skin().joint_sets])[blending.skin().joint_set_of_vertex]
    between = (blending.t > 0) & (blending.t < 1) & (blending.attachment == 1)
    assert 0 < between.sum() < len(rest) / 2
    np.testing.assert_array_equal(sizes, np.where(between, 2, 1))


def test_attachments_and_zones_come_from_the_mesh() -> None:
    rest, _ = sleeve()
    blending = sbs.bones_blending(arm(), rest)
    around = np.abs(rest[:, 0]) < 1.19 * 0.5  # 1.2 radii to both sides of the elbow, belong to it
    assert (blending.attachment[around] == 1).all()
    np.testing.assert_allclose([blending.t_min[1], blending.t_max[1]], [-0.6, 0.6], rtol=1e-12)
    assert (blending.attachment[rest[:, 0] < -0.61] == 0).all()
    assert np.isnan(blending.t_min[0])
    # zones of neighbors do not meet
    short = sbs.bones_blending(arm(0.5), rest)
    np.testing.assert_allclose([short.t_min[1], short.t_max[1]], [-0.25, 0.25], rtol=1e-12)


def test_profiles_by_hand() -> None:
    """Places at 0.25, 0.5 and 0.75 of the zone, and beyond both ends."""
    points = [[x, 1.0, 0.0] for x in (-5, -0.5, 0, 0.5, 1, 5)]
    zone: dict[str, Any] = {"attachment": [1] * 6, "t_min": -1, "t_max": 1}
    linear = sbs.bones_blending(arm(), points, **zone)
    np.testing.assert_array_equal(linear.t, [0, 0.25, 0.5, 0.75, 1, 1])
    smooth = sbs.bones_blending(arm(), points, **zone, profile="smoothstep")
    np.testing.assert_array_equal(smooth.t, [0, 0.15625, 0.5, 0.84375, 1, 1])
    np.testing.assert_array_equal(smooth.joint_weights[:, 1], smooth.t)


def test_shares_stay_shares() -> None:
    """Also where 3 t^2 - 2 t^3 rounds, next to 1."""
    points = np.zeros((4000, 3))
    points[:, 0] = 1 - np.arange(4000) * 2.0**-53
    blending = sbs.bones_blending(arm(), points, attachment=[1] * 4000, t_min=0, t_max=1, profile="smoothstep")
    assert blending.t.max() == 1
    assert blending.joint_weights.min() >= 0


def test_wider_zones() -> None:
    """Ends by the limb's radius of 0.5 are scaled, within the middles of bones; those that are given are not."""
    rest, _ = sleeve()
    wide = sbs.bones_blending(arm(), rest, zone_scale=1.5)
    np.testing.assert_allclose([wide.t_min[1], wide.t_max[1]], [-0.9, 0.9], rtol=1e-12)
    short = sbs.bones_blending(arm(0.5), rest, zone_scale=1.5)
    np.testing.assert_allclose([short.t_min[1], short.t_max[1]], [-0.25, 0.25], rtol=1e-12)
    one = sbs.bones_blending(arm(), rest, zone_scale=0.5, t_max=0.7)
    np.testing.assert_allclose([one.t_min[1], one.t_max[1]], [-0.3, 0.7], rtol=1e-12)


# ------------------------------------------------------------------------------------------------- what it is good for


def test_a_twist_keeps_all_distances_to_the_bone() -> None:
    """Figures 4 and 8: at 180 degrees vertex blending collapses to the joint."""
    rest, _ = sleeve()
    skeleton = arm()
    blending = sbs.bones_blending(skeleton, rest, joints=["fore"])
    for degrees in (30, 90, 179, 180, 181, 300):
        matrices = skeleton.skinning_matrices(skeleton.forward(turned(skeleton, "fore", (1, 0, 0), degrees)))
        found = blending.skin().deform(matrices, **blending.options)
        radius = np.hypot(rest[:, 1], rest[:, 2])
        np.testing.assert_allclose(np.hypot(found[:, 1], found[:, 2]), radius, rtol=0, atol=1e-14)
        np.testing.assert_allclose(found[:, 0], rest[:, 0], rtol=0, atol=1e-14)
        if degrees == 180:
            linear = blending.skin().deform(matrices, method="linear")
            assert np.hypot(linear[:, 1], linear[:, 2])[radius > 0.1].min() < 1e-15


@pytest.fixture(scope="module")
def woman() -> sbs.Character:
    with resources.as_file(resources.files("sbs.characters") / "data" / "woman.glb") as path:
        return sbs.load(path)


def character_blending(character: sbs.Character, joints: list[str] | None = None) -> sbs.BonesBlending:
    weights = (character.mesh.joint_indices, character.mesh.joint_weights)
    return sbs.bones_blending(character.skeleton, character.mesh.positions, joints=joints, influences=weights)


def test_the_others_stay_as_they_are(woman: sbs.Character) -> None:
    skeleton = woman.skeleton
    matrices = skeleton.skinning_matrices(skeleton.forward(quaternions=np.random.default_rng(5).normal(size=(31, 4))))
    whole = character_blending(woman, [])
    linear = woman.skin.deform(matrices, method="linear")
    size = float(np.linalg.norm(np.ptp(linear, axis=0)))
    # float32: three roundings of the size of the posed mesh
    np.testing.assert_allclose(whole.skin().deform(matrices, **whole.options), linear, rtol=0, atol=4e-7 * size)
    elbow = skeleton.index("LeftForeArm")
    some = character_blending(woman, ["LeftForeArm"])
    away = (some.attachment != elbow) | (some.t == 0) | (some.t == 1)
    influenced = (woman.mesh.joint_weights * np.isin(woman.mesh.joint_indices, [elbow, elbow - 1])).sum(axis=1) > 0
    found = some.skin().deform(matrices, **some.options)
    np.testing.assert_allclose(found[away & ~influenced], linear[away & ~influenced], rtol=0, atol=4e-7 * size)
    rigid = sbs.bones_blending(skeleton, woman.mesh.positions, joints=["LeftForeArm"])
    assert set(np.unique(rigid.joint_weights[rigid.attachment != elbow])) == {0.0, 1.0}


def test_normals_turn_with_the_vertices() -> None:
    rest, _ = sleeve()
    normals = np.stack([np.zeros(len(rest)), *rest.T[1:]], axis=1)
    skeleton = arm()
    blending = sbs.bones_blending(skeleton, rest, joints=["fore"])
    matrices = skeleton.skinning_matrices(skeleton.forward(turned(skeleton, "fore", (1, 0, 0), 120)))
    positions, found = blending.skin(rest_normals=normals).deform(matrices, normals=True, **blending.options)
    radial = np.stack([np.zeros(len(rest)), *positions.T[1:]], axis=1)
    radial /= np.maximum(np.linalg.norm(radial, axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(found, np.where(normals.any(axis=1, keepdims=True), radial, 0), rtol=0, atol=1e-13)


def test_vertices_that_are_attached_to_nothing_stay() -> None:
    blending = sbs.bones_blending(arm(), [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]], attachment=[-1, 1])
    with pytest.warns(sbs.WeightWarning, match="1 with no weights"):
        skin = blending.skin()
    matrices = np.tile(np.eye(4), (3, 1, 1))
    matrices[:, :3, 3] = 5
    np.testing.assert_array_equal(skin.deform(matrices, **blending.options), [[0, 1, 0], [5, 6, 5]])


def test_bad_input() -> None:
    points = np.zeros((4, 3))
    coincident = sbs.Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)), ["a", "b"])
    usual: dict[str, Any] = {"skeleton": arm(), "rest_positions": points, "attachment": [0, 1, 1, 2]}
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"t_min": 1, "t_max": 1}, ValueError, "t_min is 1, not below t_max, 1, of joint 'fore'"),
        (
            {"t_min": [0, -1, 3], "t_max": [0, 1, 2]},
            ValueError,
            "t_min is 3, not below t_max, 2, of joint 'hand'",
        ),
        ({"t_min": [1, 2]}, ValueError, r"parents has shape \(3,\), t_min \(2,\)"),
        ({"t_max": np.inf}, ValueError, r"t_max\[0\] is inf, where a finite number is needed"),
        ({"attachment": [0, 1]}, ValueError, r"rest_positions has shape \(4, 3\), attachment \(2,\)"),
        ({"attachment": [0, 1, 3, 0]}, ValueError, r"attachment\[2\] = 3 is out of range for 3 joints"),
        ({"attachment": [0.0, 1, 2, 0]}, TypeError, "attachment must hold integers, not float64"),
        ({"profile": "cubic"}, ValueError, r"profile must be one of \['linear', 'smoothstep'\], not 'cubic'"),
        ({"profile": None}, TypeError, "profile must be a str"),
        ({"zone_scale": 0}, ValueError, "zone_scale is 0; it must be positive"),
        ({"zone_scale": np.nan}, ValueError, "zone_scale is nan; it must be positive"),
        ({"zone_scale": np.inf}, ValueError, "zone_scale is inf, where a finite number is needed"),
        ({"joints": ["tail"]}, KeyError, "no joint is named 'tail'"),
        ({"joints": [3]}, ValueError, "joint 3 is out of range for 3 joints"),
        ({"tails": np.zeros((2, 3))}, ValueError, r"joint_positions has shape \(3, 3\), tails \(2, 3\)"),
        ({"tails": np.full((3, 3), np.nan)}, ValueError, r"tails\[0, 0\] is nan"),
        ({"rest_positions": np.zeros((4, 2))}, ValueError, r"positions has shape \(4, 2\), expected \(V, 3\)"),
        ({"rest_positions": points + np.nan}, ValueError, r"positions\[0, 0\] is nan"),
        ({"influences": ([[0]], [[1]])}, ValueError, r"rest_positions has shape \(4, 3\), joint_indices \(1, 1\)"),
        (
            {"influences": (np.full((4, 1), 7), np.ones((4, 1)))},
            ValueError,
            r"joint_indices\[0, 0\] = 7 is out of range for 3 joints",
        ),
        (
            {"skeleton": coincident, "attachment": [0, 1, 1, 1], "joints": ["b"]},
            ValueError,
            "joint 'b' lies at the place of its child and its parent",
        ),
    ]
    for change, kind, text in cases:
        with pytest.raises(kind, match=text):
            sbs.bones_blending(**(usual | change))
    # a joint that is not blended may have any zone
    sbs.bones_blending(**usual, t_min=[9, -1, 3], t_max=[0, 1, 2], joints=["fore"])
    rigid = sbs.bones_blending(coincident, points, attachment=[0, 1, 1, 1])
    np.testing.assert_array_equal(rigid.t, 1)
