# SPDX-License-Identifier: MIT
"""Bones blending: by the formulas of 2003 and by hand; bends, zones that are fitted, and bad input."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import refuse, succeed
from numpy.typing import NDArray
from surfaces import tube

import sbs
from sbs import mesh as meshes
from sbs import poses, rotations
from sbs.poses import flexed, turned
from sbs.quality import fit_zones
from sbs.rigging.blending import BlendingProfile
from sbs.weights import bone_segments

LARGEST_ANGLE = np.radians(179.9)  # up to here axis and angle of a matrix are known to 1e-13


# -------------------------------------------------------------------------------------------------- Kavan and Zara 2003


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


# ------------------------------------------------------------------------------------------------------------- the bind


def arm(length: float = 3.0) -> sbs.Skeleton:
    """Upper arm, forearm and hand along x; the elbow is at the origin."""
    bind = np.tile(np.eye(4), (3, 1, 1))
    bind[:, 0, 3] = [-length, 0, length]
    return sbs.Skeleton([-1, 0, 1], bind, ["upper", "fore", "hand"])


def sleeve(rings: int = 49, sides: int = 12, radius: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    positions, triangles = tube(rings, sides, length=6.0, radius=radius)
    return positions - [3, 0, 0], triangles


def test_shares_by_hand() -> None:
    points = np.array([[-2, 0.3, 0], [-1, 0, 0], [-0.5, 9, 9], [0, 0, 0], [1, 1, 0], [7, 0, 0]])
    blending = sbs.bones_blending(arm(), points, attachment=[1, 1, 1, 1, 1, 1], t_min=-1, t_max=1)
    np.testing.assert_allclose(blending.t, [0, 0, 0.25, 0.5, 1, 1], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(blending.joint_indices, [[0, 0], [0, 0], [0, 1], [0, 1], [0, 1], [0, 1]])
    np.testing.assert_allclose(blending.joint_weights[:, 1], blending.t, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(blending.centers, np.zeros((6, 3)))
    smooth = sbs.bones_blending(arm(), points, attachment=[1] * 6, t_min=-1, t_max=1, profile="smoothstep")
    np.testing.assert_allclose(smooth.t, [0, 0, 0.15625, 0.5, 1, 1], rtol=0, atol=1e-15)
    root = sbs.bones_blending(arm(), points, attachment=[0, 0, 0, 2, 2, 2])
    np.testing.assert_array_equal(root.joint_weights[:3], [[0, 1]] * 3)
    np.testing.assert_array_equal(root.joint_indices[:3], 0)


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


# ------------------------------------------------------------------------------------------------------------- benefits


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
    return sbs.samples.load("woman")


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


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"t_min": 1, "t_max": 1}, ValueError, "t_min is 1, .*'fore'"),
        ({"t_min": [0, -1, 3], "t_max": [0, 1, 2]}, ValueError, "t_min is 3, .*'hand'"),
        ({"t_min": [1, 2]}, ValueError, r"t_min \(2,\)"),
        ({"t_max": np.inf}, ValueError, r"t_max\[0\] is inf"),
        ({"attachment": [0, 1]}, ValueError, r"attachment \(2,\)"),
        ({"attachment": [0, 1, 3, 0]}, ValueError, r"attachment\[2\] = 3"),
        ({"attachment": [0.0, 1, 2, 0]}, TypeError, "attachment"),
        ({"profile": "cubic"}, ValueError, "profile"),
        ({"profile": None}, TypeError, "profile"),
        *[({"zone_scale": number}, ValueError, "zone_scale") for number in (0, np.nan, np.inf)],
        ({"joints": ["tail"]}, KeyError, "'tail'"),
        ({"joints": [3]}, ValueError, "joint 3"),
        ({"tails": np.zeros((2, 3))}, ValueError, r"tails \(2, 3\)"),
        ({"tails": np.full((3, 3), np.nan)}, ValueError, r"tails\[0, 0\] is nan"),
        ({"rest_positions": np.zeros((4, 2))}, ValueError, r"positions has shape \(4, 2\)"),
        ({"rest_positions": np.full((4, 3), np.nan)}, ValueError, r"positions\[0, 0\] is nan"),
        ({"influences": ([[0]], [[1]])}, ValueError, r"joint_indices \(1, 1\)"),
        ({"influences": (np.full((4, 1), 7), np.ones((4, 1)))}, ValueError, r"joint_indices\[0, 0\] = 7"),
        ({"skeleton": "coincident", "attachment": [0, 1, 1, 1], "joints": ["b"]}, ValueError, "joint 'b'"),
    ],
)
def test_bad_input(change: dict[str, Any], error: type[Exception], message: str) -> None:
    coincident = sbs.Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)), ["a", "b"])
    usual: dict[str, Any] = {"skeleton": arm(), "rest_positions": np.zeros((4, 3)), "attachment": [0, 1, 1, 2]}
    if "skeleton" in change:
        change = {**change, "skeleton": coincident}
    with pytest.raises(error, match=message):
        sbs.bones_blending(**(usual | change))
    # a joint that is not blended may have any zone, and lie anywhere
    sbs.bones_blending(**usual, t_min=[9, -1, 3], t_max=[0, 1, 2], joints=["fore"])
    rigid = sbs.bones_blending(coincident, np.zeros((4, 3)), attachment=[0, 1, 1, 1])
    np.testing.assert_array_equal(rigid.t, 1)


# ---------------------------------------------------------------------------------------------------------------- bends


def between_bones(skeleton: sbs.Skeleton, joint: int, local: NDArray[np.float64]) -> NDArray[np.float64]:
    """The angles (N,) in degrees between a joint's bone and its parent's, in poses."""
    heads, tails = bone_segments(skeleton)
    moved = skeleton.skinning_matrices(skeleton.forward(local))[..., :3, :3]
    parent = int(skeleton.parents[joint])
    bones = [moved[:, number] @ (tails - heads)[number] for number in (parent, joint)]
    across = np.linalg.norm(np.cross(*bones), axis=-1)
    degrees: NDArray[np.float64] = np.degrees(np.arctan2(across, (bones[0] * bones[1]).sum(axis=-1)))
    return degrees


@pytest.mark.parametrize("joint", ["LeftForeArm", "RightForeArm", "LeftLeg", "LeftHand", "Head"])
@pytest.mark.parametrize("axis", [None, (1, 0, 0), (0.2, 0.3, 1)])
def test_a_bend_is_told_from_the_stretched_limb(
    woman: sbs.Character, joint: str, axis: tuple[float, float, float] | None
) -> None:
    angles = np.array([0, 10, 90, 135])
    number = woman.skeleton.index(joint)
    found = between_bones(woman.skeleton, number, flexed(woman.skeleton, joint, angles, axis))
    np.testing.assert_allclose(found, angles, atol=1e-6)


def test_the_limb_bends_as_it_does_at_bind(woman: sbs.Character) -> None:
    """The hinge is the limb's own, and the woman's elbow is bent at bind, to the front."""
    elbow = woman.skeleton.index("LeftForeArm")
    (at_bind,) = between_bones(woman.skeleton, elbow, np.tile(np.eye(3), (1, 31, 1, 1)))
    assert at_bind > 30
    np.testing.assert_allclose(flexed(woman.skeleton, elbow, at_bind)[0], np.tile(np.eye(3), (31, 1, 1)), atol=1e-7)


def measured(path: object, joint: str, *options: str) -> dict[str, NDArray[np.float64]]:
    told: dict[str, Any] = json.loads(succeed("curvature", path, "--joint", joint, "--json", *options))
    return {name: np.array(curve["degrees"]) for name, curve in told["curvature"].items()}


def test_a_parent_without_triangles_is_no_hindrance(tmp_path: Path) -> None:
    """Its triangles cannot be divided, but those of the joint that was asked for can."""
    hand, path = sbs.samples.load("hand"), tmp_path / "hand.glb"
    joint, parent = (hand.skeleton.index(f"thumb-{name}") for name in ("phalanx-proximal", "metacarpal"))
    given = np.flatnonzero(meshes.heaviest_joints(hand.mesh.joint_indices, hand.mesh.joint_weights) == parent)
    wrist = np.full((len(given), 1), hand.skeleton.index("wrist"))
    hand.with_weights(wrist, np.ones((len(given), 1)), vertices=given).save(path)
    assert len(measured(path, hand.skeleton.names[joint], "--steps", "2")) == 2
    assert "'thumb-metacarpal'" in refuse("curvature", path, "--joint", "thumb-metacarpal")
    assert len(measured(path, "wrist", "--steps", "2")) == 2  # which has no parent


def test_new_vertices_belong_where_those_around_them_do(tmp_path: Path) -> None:
    """At the knee they were bound anew and went to other joints, and the mesh tore at the least bend."""
    sbs.samples.copy(tmp_path)
    options = ("--bend", "30:60", "--steps", "2", "--bones-blending", "all")
    original, once = measured(tmp_path / "woman.glb", "LeftLeg", *options).values()
    np.testing.assert_allclose(once, original, atol=1)


SAMPLES = 2001


@pytest.mark.parametrize(
    ("profile", "zone_scale", "degrees", "crosses", "folds"),
    [
        ("linear", 1.0, 100, False, False),
        ("linear", 1.0, 101, True, False),
        ("smoothstep", 1.5, 137, True, False),
        ("smoothstep", 1.5, 138, True, True),
    ],
)
def test_what_the_inner_side_of_a_bend_does(
    profile: BlendingProfile, zone_scale: float, degrees: float, crosses: bool, folds: bool
) -> None:
    """On a tube of radius 1, t grows over 2.4: at more than 2.4 radians (137.5 degrees) the profile turns back.

    It crosses itself from where the forearm at the end of the zone is beyond the plane that halves the bend:
    tan(bend / 2) = 1.2, 100.4 degrees. Smoothstep is at most as steep over 3.6.
    """
    bind = np.tile(np.eye(4), (3, 1, 1))
    bind[:, 0, 3] = -6, 0, 6
    skeleton = sbs.Skeleton([-1, 0, 1], bind)
    along = np.linspace(-5, 5, SAMPLES)
    angle = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rest = np.concatenate([np.repeat(along, 16)[:, None], np.tile(around, (SAMPLES, 1))], axis=1)
    blending = sbs.bones_blending(skeleton, rest, profile=profile, zone_scale=zone_scale)
    ends = np.array([-1.2, 1.2]) * zone_scale
    np.testing.assert_allclose([blending.t_min[1], blending.t_max[1]], ends, rtol=1e-3)
    local = np.tile(np.eye(3), (3, 1, 1))
    local[1] = rotations.matrices_from_axis_angle([0, 0, 1], degrees, degrees=True)
    matrices = skeleton.skinning_matrices(skeleton.forward(local))
    inner = blending.skin().deform(matrices, **blending.options)[::16, :2]  # towards which it bends
    half = np.radians(degrees) / 2
    beyond = inner @ [np.cos(half), np.sin(half)]
    assert bool((beyond[along > 1e-9] < -1e-9).any()) == crosses
    turns = np.radians(degrees) * np.choose(blending.attachment[::16], [0.0, blending.t[::16], 1.0])
    between = (turns[1:] + turns[:-1]) / 2
    forward = (np.diff(inner, axis=0) * np.stack([np.cos(between), np.sin(between)], axis=1)).sum(axis=1)
    assert bool((forward < 0).any()) == folds


# ------------------------------------------------------------------------------------------------ zones that are fitted

SCALES = 0.75, 1.0, 1.5, 2.5


def energies(rest: np.ndarray, posed: np.ndarray, triangles: np.ndarray) -> tuple[float, float]:
    """Triangle by triangle, and edge by edge: s1^2 + s2^2 + s1^-2 + s2^-2 - 4, and 3 l^2 / (A1 + A2) (angle)^2."""
    stretched = area = folded = 0.0
    beside: dict[frozenset[int], list[np.ndarray]] = {}
    for corners in triangles:
        sides, moved = ((points[corners[1:]] - points[corners[0]]).T for points in (rest, posed))
        own = float(np.linalg.norm(np.cross(*sides.T)) / 2)
        frame, _ = np.linalg.qr(sides)
        squares = np.linalg.svd(moved @ np.linalg.inv(frame.T @ sides), compute_uv=False) ** 2
        stretched += own * (squares.sum() + (1 / np.maximum(squares, 0.01)).sum() - 4)
        area += own
        for first, second in ((0, 1), (1, 2), (2, 0)):
            beside.setdefault(frozenset((corners[first], corners[second])), []).append(corners)
    for edge, pair in beside.items():
        if len(pair) < 2:
            continue
        one, other = edge
        length = np.linalg.norm(rest[one] - rest[other])
        areas = sum(np.linalg.norm(np.cross(*(rest[corners[1:]] - rest[corners[0]]))) / 2 for corners in pair)
        folded += float(3 * length**2 / areas) * (fold(posed, edge, pair) - fold(rest, edge, pair)) ** 2
    return stretched / area, folded


def fold(points: np.ndarray, edge: frozenset[int], pair: list[np.ndarray]) -> float:
    """The angle between two triangles; less than 0 where they open to the outside."""
    normals = [np.cross(*(points[corners[1:]] - points[corners[0]])) for corners in pair]
    unit = [normal / np.linalg.norm(normal) for normal in normals]
    (apex,) = set(pair[1].tolist()) - edge
    side = (points[apex] - points[min(edge)]) @ unit[0]
    return float(-np.sign(side) * np.arccos(np.clip(unit[0] @ unit[1], -1, 1)))


@pytest.mark.parametrize(("radius", "profile"), [(0.8, "linear"), (0.5, "smoothstep")])
def test_the_best_of_sixteen(radius: float, profile: Any) -> None:
    """The energies of all triangles that are in one of the zones, with all poses of the elbow worked out here."""
    rest, triangles = sleeve(17, 6, radius)
    skeleton = arm()
    ends = [min(scale * 1.2 * radius, 1.5) for scale in SCALES]
    tried = [
        sbs.bones_blending(skeleton, rest, joints=["fore"], t_min=-start, t_max=end, profile=profile)
        for start, end in product(ends, ends)
    ]
    between = np.any([(each.t > 0) & (each.t < 1) & (each.attachment == 1) for each in tried], axis=0)
    near = triangles[between[triangles].any(axis=1)]
    sums = []
    for each in tried:
        loss = 0.0
        for degrees in (45, 90, 120):
            local = poses.turned(skeleton, "fore", poses.axes(skeleton, 1)[0], degrees)
            matrices = skeleton.skinning_matrices(skeleton.forward(local))
            posed = each.skin().deform(matrices, **each.options)
            loss += sum(np.log(energy + 0.01) for energy in energies(rest, posed, near))
        sums.append(loss)
    best = tried[int(np.argmin(sums))]
    found = fit_zones(skeleton, rest, triangles, joints=["fore"], profile=profile)
    np.testing.assert_allclose([found.t_min[1], found.t_max[1]], [best.t_min[1], best.t_max[1]], rtol=1e-12)
    assert sorted(sums)[1] > min(sums) + 1e-3
    np.testing.assert_array_equal(found.t, best.t)


def test_ends_that_are_given_stay() -> None:
    rest, triangles = sleeve(33, 8)
    default = sbs.bones_blending(arm(), rest)
    both = fit_zones(arm(), rest, triangles, t_min=-0.3, t_max=0.4)
    np.testing.assert_array_equal(both.t, sbs.bones_blending(arm(), rest, t_min=-0.3, t_max=0.4).t)
    one = fit_zones(arm(), rest, triangles, t_min=[np.nan, -0.3, np.nan])
    assert one.t_min[1] == -0.3
    scales = one.t_max[1:] / default.t_max[1:]
    np.testing.assert_allclose(scales, [min(SCALES, key=lambda scale: abs(scale - found)) for found in scales])


def test_seams_are_closed() -> None:
    """Vertices of its own for each triangle: the folds are those of the surface without seams."""
    rest, triangles = sleeve(33, 8)
    joined = fit_zones(arm(), rest, triangles, joints=["fore"])
    torn = fit_zones(arm(), rest[triangles.ravel()], np.arange(triangles.size).reshape(-1, 3), joints=["fore"])
    np.testing.assert_allclose([torn.t_min[1], torn.t_max[1]], [joined.t_min[1], joined.t_max[1]], rtol=0.05)


def test_where_there_is_no_surface_zones_are_the_default() -> None:
    rest, _ = sleeve(33, 8)
    found = fit_zones(arm(), rest, np.empty((0, 3), np.int32))
    default = sbs.bones_blending(arm(), rest)
    np.testing.assert_array_equal(found.t_min, default.t_min)
    np.testing.assert_array_equal(found.t, default.t)
    flat = fit_zones(arm(), rest, [[0, 0, 1]])
    np.testing.assert_array_equal(flat.t, default.t)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"triangles": [[0, 1]]}, ValueError, r"triangles has shape \(1, 2\)"),
        ({"triangles": [[0, 1, 999999]]}, ValueError, "999999"),
        ({"triangles": [[0.0, 1.0, 2.0]]}, TypeError, "triangles"),
        ({"joints": ["upper"]}, ValueError, "'upper'"),
    ],
)
def test_zones_that_can_not_be_fitted(options: dict[str, Any], error: type[Exception], message: str) -> None:
    rest, triangles = sleeve(33, 8)
    with pytest.raises(error, match=message):
        fit_zones(arm(), rest, **{"triangles": triangles, **options})
