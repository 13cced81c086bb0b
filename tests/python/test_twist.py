# SPDX-License-Identifier: MIT
"""Skins that spread the twists of limbs: against the reference, a tube by hand, through turns, and as skins go.

Tolerances are some roundings of the type, if not said.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from solids import arm, turned
from twist_reference import Bone, deform, rotation_part

import sbs
from sbs.options import MethodOptions
from sbs.quality.demo.scenes import twist
from sbs.samples import load as load_sample
from sbs.skinning.centers import CenterOptions
from sbs.weights import to_dense

CLOSE = 5e-6  # of meshes of size 5, in float32
FRAMES = 4


def forearm(**options: Any) -> tuple[sbs.Character, sbs.Twist]:
    """The arm with its forearm's twist spread, from the elbow to the hand."""
    character = arm()
    found = sbs.limb_twist(character, ["fore"], **options)
    assert found is not None
    return character, found


def limb_bones(character: sbs.Character, names: list[str] | None = None) -> list[Bone]:
    """The bones for the reference."""
    heads, tails = sbs.weights.bone_segments(character.skeleton)
    bones = []
    for found in sbs.twist_bones(character, names):
        if found.spread:
            children = np.flatnonzero(character.skeleton.parents == found.joint)
            tail = heads[children[0]] if len(children) == 1 else tails[found.joint]
            parent = int(character.skeleton.parents[found.joint])
            bones.append(Bone(found.joint, parent, found.child, heads[found.joint], tail))
    return bones


def dense(character: sbs.Character, chosen: np.ndarray) -> np.ndarray:
    influences = character.skin.influences()
    weights = to_dense(influences.joint_indices, influences.joint_weights, len(character.skeleton))
    return np.asarray(weights[chosen], float)


# ------------------------------------------------------------------------------------------------------------- formula


@pytest.mark.parametrize("degrees", [-170, 60, 170])
def test_a_tube_keeps_its_radius_and_turns_evenly(degrees: float) -> None:
    """Where the forearm alone has weight, from x = 1 to 3: QLERP is 0.2 degrees off a third of 170."""
    character, spread = forearm()
    skin = character.twisted_skin(spread)
    points = np.asarray(character.mesh.positions)
    posed = skin.deform(turned(character, "fore", [1, 0, 0], degrees))
    own = points[:, 0] >= 1
    np.testing.assert_allclose(np.hypot(posed[own, 1], posed[own, 2]), 1, rtol=1e-12)
    np.testing.assert_allclose(posed[own, 0], points[own, 0], rtol=1e-12)
    angles = np.arctan2(posed[own, 2], posed[own, 1]) - np.arctan2(points[own, 2], points[own, 1])
    expected = np.radians(degrees) * points[own, 0] / 3
    assert np.abs(np.remainder(angles - expected + np.pi, 2 * np.pi) - np.pi).max() < np.radians(0.25)


@pytest.mark.parametrize(("dtype", "share"), [(np.float64, 1e-14), (np.float32, 2e-7)])
def test_at_the_frames_a_skin_is_the_reference(dtype: type, share: float) -> None:
    """A vertex whose share is one of the frames is moved as the formula says, across joints too; of any pose.

    Up to a few roundings, as a share of the mesh's size: 2**-24 is 6e-8.
    """
    character = load_sample("woman")
    bones = limb_bones(character)
    points = np.array(character.mesh.positions, np.float64)
    atol = share * float(np.linalg.norm(np.ptp(points, axis=0)))
    chosen = np.arange(0, len(points), 40)
    weights = dense(character, chosen)
    heaviest = weights.argmax(axis=1)
    # Slide the vertices along their limb to a frame.
    for bone in bones:
        on = heaviest == bone.joint
        shares = np.array([bone.share(point) for point in points[chosen[on]]])
        moved = np.round(shares * (FRAMES - 1)) / (FRAMES - 1) - shares
        points[chosen[on]] += moved[:, None] * bone.length * bone.axis
    at_frames = np.array(
        [
            all(
                abs(bone.share(points[v]) * 3 - round(bone.share(points[v]) * 3)) < 1e-13 or row[bone.joint] == 0
                for bone in bones
            )
            for v, row in zip(chosen, weights, strict=True)
        ]
    )
    assert np.count_nonzero(at_frames) > 100
    chosen, weights = chosen[at_frames], weights[at_frames]
    spread = sbs.limb_twist(character, frames=FRAMES)
    assert spread is not None
    mesh = character.mesh
    skin = sbs.Skin(
        points[chosen].astype(dtype),
        mesh.joint_indices[chosen],
        mesh.joint_weights[chosen],
        joint_count=len(character.skeleton),
        twist=spread,
    )
    rng = np.random.default_rng(7)
    local = sbs.rotations.matrices_from_axis_angle(
        rng.normal(size=(len(character.skeleton), 3)), rng.uniform(-1.5, 1.5, len(character.skeleton))
    )
    matrices = character.skinning_matrices(local)
    # Bind matrices of the file are rigid to the rounding of float32; joints shall be to that of float64.
    matrices[:, :3, :3] = [rotation_part(matrix[:3, :3]) for matrix in matrices]
    rest = np.asarray(skin.rest_positions, np.float64)
    expected = deform(rest, weights, matrices, bones)
    np.testing.assert_allclose(skin.deform(matrices, method="linear"), expected, atol=atol)
    centers = rest + 0.03
    about = deform(rest, weights, matrices, bones, centers=centers)
    skin = sbs.Skin(
        skin.rest_positions,
        skin.joint_indices,
        skin.joint_weights,
        joint_count=skin.joint_count,
        centers=centers,
        twist=spread,
    )
    np.testing.assert_allclose(skin.deform(matrices, center="optimized"), about, atol=atol)
    half = deform(rest, weights, matrices, bones, centers=centers, amount=0.5)
    np.testing.assert_allclose(skin.deform(matrices, center="optimized", amount=0.5), half, atol=atol)


def test_between_frames_a_skin_nears_the_reference() -> None:
    """By the square of the step for linear blending: the arc and its chord."""
    character, _ = forearm()
    points = np.asarray(character.mesh.positions)
    matrices = turned(character, "fore", [1, 0.2, 0], 150)
    expected = deform(points, dense(character, np.arange(len(points))), matrices, limb_bones(character, ["fore"]))
    errors = []
    for frames in (5, 9, 17, 33):
        skin = character.twisted_skin(forearm(frames=frames)[1])
        errors.append(float(np.abs(skin.deform(matrices, method="linear") - expected).max()))
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (ratios > 3.5).all()
    assert errors[-1] < 1e-3


def test_scaled_and_mirrored_joints_twist_as_their_rotations_do() -> None:
    character, spread = forearm()
    skin = character.twisted_skin(spread)
    matrices = turned(character, "fore", [1, 0, 0], 120)
    points = skin.deform(matrices, method="linear")
    scene = np.diag([2.0, 2, 2, 1])
    np.testing.assert_allclose(skin.deform(scene @ matrices, method="linear"), 2 * points, atol=1e-12)
    mirror = np.diag([1.0, 1, -1, 1])
    np.testing.assert_allclose(skin.deform(mirror @ matrices, method="linear"), points * [1, 1, -1], atol=1e-12)
    stretched = matrices @ np.diag([1.0, 2, 3, 1])
    np.testing.assert_allclose(spread.angles(stretched), spread.angles(matrices), atol=1e-12)


# ------------------------------------------------------------------------------------------------------ turns and more


def test_a_twist_goes_on_through_half_a_turn() -> None:
    """With history no vertex moves by more than its joint does: by a degree, at a radius of 1."""
    character, spread = forearm()
    skin = character.twisted_skin(spread)
    path = np.stack([turned(character, "fore", [1, 0, 0], float(degrees)) for degrees in np.arange(150, 400)])
    step = 2 * np.sin(np.radians(0.5))
    # The first frame says which way it came.
    twists = spread.angles(path, follow=True)
    np.testing.assert_allclose(np.degrees(twists[:, 0, 0]), np.arange(150, 400), atol=1e-9)
    followed = skin.deform_many(path, twists=twists)
    assert np.linalg.norm(np.diff(followed, axis=0), axis=2).max() < 1.01 * step
    alone = skin.deform_many(path)
    assert np.linalg.norm(np.diff(alone, axis=0), axis=2).max() > 1
    tracker = sbs.TwistTracker(spread)
    np.testing.assert_array_equal(np.stack([tracker(matrices) for matrices in path]), twists)
    tracker.reset()
    np.testing.assert_array_equal(tracker(path[100]), spread.angles(path[100]))
    np.testing.assert_array_equal(skin.deform(path[60], twists=twists[60]), followed[60])


@pytest.mark.parametrize("options", [{}, {"method": "linear"}, {"center": "weighted"}, {"method": "dual_quaternion"}])
def test_where_nothing_twists_nothing_changes(options: MethodOptions) -> None:
    """Frames are their joint; of what they share with others the center is solved for: exact to its damping."""
    character, spread = forearm()
    skin = character.twisted_skin(spread)
    swung = turned(character, "fore", [0, 0, 1], 80)
    plain, twisted = character.skin.deform(swung, **options), skin.deform(swung, **options)
    np.testing.assert_allclose(twisted, plain, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, {"method": "linear"}, {"center": "weighted"}, {"method": "dual_quaternion"}])
def test_the_rest_pose_is_at_rest(dtype: type, options: MethodOptions) -> None:
    """Frames are their joints then, bit for bit; positions, which are sums, to the last place, as without a twist."""
    woman = load_sample("woman")
    mesh = replace(woman.mesh, positions=woman.mesh.positions.astype(dtype))
    character = sbs.Character(woman.name, mesh, woman.skeleton, woman.rig)
    spread = sbs.limb_twist(character)
    assert spread is not None
    still = np.tile(np.eye(4), (len(character.skeleton), 1, 1))
    count = len(still) + spread.bone_count * spread.frames
    np.testing.assert_array_equal(spread.pose(still), np.tile(np.eye(4)[:3], (count, 1, 1)))
    last_place = np.spacing(np.abs(mesh.positions).max())
    for skin in (character.skin, character.twisted_skin(spread)):
        assert np.abs(skin.deform(still, **options) - mesh.positions).max() <= last_place


def test_optimized_centers_are_found_anew() -> None:
    """For the influences of the frames."""
    woman = load_sample("woman")
    spread = sbs.limb_twist(woman)
    assert spread is not None
    influences = spread.influences(woman.mesh.positions, woman.mesh.joint_indices, woman.mesh.joint_weights)
    given: tuple[CenterOptions, ...] = ({}, {"sigma": 0.3})
    for options, sigma in zip(given, (1.0, 0.3), strict=True):
        centers = sbs.optimized_centers(woman.mesh.positions, woman.mesh.triangles, *influences, sigma=sigma)
        found = woman.twisted_skin(spread, optimized=True, **options).centers
        assert found is not None
        np.testing.assert_allclose(found, centers, atol=1e-6)  # kept in float32
    with pytest.raises(ValueError, match="sigma has no effect"):
        woman.twisted_skin(spread, sigma=1.0)


def test_amounts_are_all_along_a_limb_and_less_across_joints() -> None:
    """By hand: weights of the forearm from 0 at x = -1 to 1 at x = 1; a third elsewhere is all across."""
    character, spread = forearm()
    x = np.asarray(character.mesh.positions)[:, 0]
    fore = np.clip((x + 1) / 2, 0, 1)
    expected = np.where(fore < 2 / 3, 0.25, 1 - 0.75 * 3 * (1 - fore))
    np.testing.assert_allclose(sbs.twist_amounts(character, spread, 0.25), expected, atol=1e-12)
    np.testing.assert_array_equal(sbs.twist_amounts(character, spread, 1), 1)
    with pytest.raises(ValueError, match=r"across is 1\.5; it must be between 0 and 1"):
        sbs.twist_amounts(character, spread, 1.5)


# ---------------------------------------------------------------------------------------------------------- as skins go


def test_a_skin_tells_of_the_joints_that_it_was_given() -> None:
    character, spread = forearm()
    skin = character.twisted_skin(spread)
    plain = character.skin
    assert skin.joint_count == 3
    assert skin.twist is spread
    assert plain.twist is None
    for name in ("joint_indices", "joint_weights", "parents", "joint_positions"):
        found, expected = getattr(skin, name), getattr(plain, name)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
        assert not found.flags.writeable
    assert skin.influences().joint_weights.shape == plain.influences().joint_weights.shape
    assert repr(spread) == "<sbs.Twist 1 bone of 3 joints, 4 frames each>"
    # A frame and the next turn about the bone: only the upper arm with the first two frames is solved.
    assert skin.nontrivial_joint_set_count == 1


def test_without_limbs_a_twist_has_no_bones_and_changes_nothing() -> None:
    character, _ = forearm()
    none = sbs.limb_twist(character, [])
    assert none.bone_count == 0
    assert repr(none) == "<sbs.Twist 0 bones of 3 joints, 4 frames each>"
    assert pickle.loads(pickle.dumps(none)).bone_count == 0
    plain, matrices = character.skin, turned(character, "fore", [1, 0.5, 0], 140)
    expected = plain.deform(matrices)
    frames = np.stack([matrices] * 2)
    for empty in (none, None, sbs.Twist([], [], [], parents=[], joint_count=3)):
        skin = character.twisted_skin(empty)
        np.testing.assert_array_equal(skin.deform(matrices), expected)
        found = skin.deform_vjp(matrices, np.ones_like(expected))
        by_plain = plain.deform_vjp(matrices, np.ones_like(expected))
        np.testing.assert_array_equal(found.skinning_matrices, by_plain.skinning_matrices)
        optimized = character.twisted_skin(empty, optimized=True)
        with_centers = character.optimized_skin(sigma=1.0)
        np.testing.assert_array_equal(optimized.centers, with_centers.centers)
        if empty is None:
            continue
        # What a script does with the twists of any character.
        twists = empty.angles(frames, follow=True)
        assert twists.shape == (2, 0, 2)
        np.testing.assert_array_equal(skin.deform_many(frames, twists=twists)[1], expected)
        by = skin.deform_vjp(matrices, np.ones_like(expected), wanted=("twists", "twist_shares"), twists=twists[0])
        assert by.twists is not None
        assert by.twists.shape == (0, 2)
        assert by.twist_shares is not None
        assert not by.twist_shares.any()
    same = character.with_twist_joints(none)
    assert len(same.skeleton) == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inverse_normals_threads_and_copies(dtype: type) -> None:
    woman = load_sample("woman")
    spread = sbs.limb_twist(woman)
    assert spread is not None
    mesh = replace(woman.mesh, positions=woman.mesh.positions.astype(dtype))
    skin = sbs.Character.from_mesh(mesh, woman.skeleton).twisted_skin(spread)
    matrices = twist(woman).skinning_matrices
    posed, normals = skin.deform(matrices, normals=True)
    again = pickle.loads(pickle.dumps(skin))
    for threads in (1, 2):
        positions, unit = again.deform(matrices, normals=True, threads=threads)
        np.testing.assert_array_equal(positions, posed)
        np.testing.assert_array_equal(unit, normals)
    np.testing.assert_array_equal(skin.deform_many(np.stack([matrices] * 3))[2], posed)
    size = float(np.linalg.norm(np.ptp(woman.mesh.positions, axis=0)))
    atol = (1e-6 if dtype is np.float32 else 1e-12) * size
    np.testing.assert_allclose(skin.inverse_deform(posed, matrices), skin.rest_positions, atol=atol)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-6)


def test_weights_are_updated_as_bound_anew() -> None:
    character, spread = forearm()
    skin = character.twisted_skin(spread)
    changed = np.array([5, 700, 1400, 2000])
    weights = np.array(character.mesh.joint_weights)
    weights[changed] = [0.25, 0.75]
    wide = np.pad(weights[changed], ((0, 0), (0, 1)))
    indices = np.pad(np.tile(np.array([0, 1], np.int32), (4, 1)), ((0, 0), (0, 1)))
    matrices = turned(character, "fore", [1, 0.5, 0], 140)
    anew = sbs.Skin(
        skin.rest_positions,
        skin.joint_indices,
        weights,
        parents=skin.parents,
        joint_positions=skin.joint_positions,
        rest_normals=skin.rest_normals,
        twist=spread,
    )
    for updated in (
        skin.update_weights(indices, wide, vertices=changed),
        skin.update_weights(skin.joint_indices, weights),
    ):
        np.testing.assert_array_equal(updated.deform(matrices), anew.deform(matrices))
        np.testing.assert_array_equal(updated.joint_weights[:, :2], weights)
    bad = np.array([[np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"joint_weights\[0, 0\] = nan"):
        skin.update_weights([[0, 1]], bad, vertices=[7], strict=True)
    with pytest.warns(sbs.WeightWarning, match="1 with NaN"):
        skin.update_weights([[0, 1]], bad, vertices=[7])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_positions_tell_where_along_bones_vertices_are(dtype: type) -> None:
    """Those before blend shapes: a skin of moved vertices is then that which gets them later, edited or not."""
    character, spread = forearm()
    mesh = character.mesh
    rest: np.ndarray = mesh.positions.astype(dtype)
    moved: np.ndarray = (rest + np.random.default_rng(0).normal(scale=0.3, size=rest.shape)).astype(dtype)
    arguments: dict[str, Any] = {"parents": character.skeleton.parents, "twist": spread}
    skin = sbs.Skin(rest, mesh.joint_indices, mesh.joint_weights, **arguments)
    arguments["twist_positions"] = rest
    shaped = sbs.Skin(moved, mesh.joint_indices, mesh.joint_weights, **arguments)
    matrices = turned(character, "fore", [1, 0.5, 0], 140)
    expected = skin.deform(matrices, rest_positions=moved)
    assert (
        np.abs(sbs.Skin(moved, mesh.joint_indices, mesh.joint_weights, twist=spread).deform(matrices) - expected).max()
        > 0.1
    )
    assert shaped.twist_positions is not None
    assert shaped.twist_positions.dtype == dtype
    for same in (shaped, pickle.loads(pickle.dumps(shaped)), shaped.with_normals(None)):
        np.testing.assert_allclose(same.deform(matrices), expected, rtol=0, atol=CLOSE)
    back = shaped.deform(matrices, rest_positions=rest)
    np.testing.assert_allclose(back, skin.deform(matrices), rtol=0, atol=CLOSE)
    by, expected_by = (
        each.deform_vjp(matrices, np.ones_like(expected), rest_positions=positions)
        for each, positions in ((shaped, None), (skin, moved))
    )
    assert by.rest_positions is not None and expected_by.rest_positions is not None
    assert by.joint_weights is not None and expected_by.joint_weights is not None
    np.testing.assert_allclose(by.rest_positions, expected_by.rest_positions, rtol=0, atol=1e-3)
    scale = np.abs(expected_by.joint_weights).max()
    np.testing.assert_allclose(by.joint_weights / scale, expected_by.joint_weights / scale, rtol=0, atol=1e-3)

    changed = np.array([5, 700, 1400, 2000])
    weights = np.array(mesh.joint_weights)
    weights[changed] = [0.25, 0.75]
    anew = sbs.Skin(moved, mesh.joint_indices, weights, **arguments)
    edited = shaped.update_weights(mesh.joint_indices[changed], weights[changed], vertices=changed)
    np.testing.assert_array_equal(edited.deform(matrices), anew.deform(matrices))
    plain = skin.update_weights(mesh.joint_indices[changed], weights[changed], vertices=changed)
    by_call = plain.deform(matrices, rest_positions=moved)
    np.testing.assert_allclose(edited.deform(matrices), by_call, rtol=0, atol=CLOSE)


def test_centers_of_moved_vertices_go_by_their_places_along_bones(tmp_path: Path) -> None:
    """They are those for the influences of the frames, also if a file keeps them."""
    character, spread = forearm()
    mesh = character.mesh
    moved = mesh.positions + np.random.default_rng(0).normal(scale=0.01, size=mesh.positions.shape)
    influences = spread.influences(mesh.positions, mesh.joint_indices, mesh.joint_weights)
    expected = sbs.optimized_centers(moved, mesh.triangles, *influences, sigma=1.0)
    given = (moved, mesh.triangles, mesh.joint_indices, mesh.joint_weights)
    cache = tmp_path / "centers"
    for _ in range(2):
        found = sbs.optimized_centers(*given, twist=spread, twist_positions=mesh.positions, sigma=1.0, cache=cache)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        without = sbs.optimized_centers(*given, twist=spread, sigma=1.0, cache=cache)
        assert np.abs(without - expected).max() > 1e-6
    longer = sbs.limb_twist(character, ["fore"], frames=5)
    assert np.abs(sbs.optimized_centers(*given, twist=longer, sigma=1.0, cache=cache) - without).max() > 1e-6


def test_bad_weights_are_repaired_and_counted_as_without() -> None:
    character, spread = forearm()
    mesh = character.mesh
    weights = np.array(mesh.joint_weights)
    weights[10], weights[20], weights[30], weights[1500] = [np.nan, 1], [0, 0], [-1, 1], [0, np.inf]
    weights[1600] *= 0.5
    with pytest.warns(sbs.WeightWarning) as plain:
        expected = sbs.Skin(mesh.positions, mesh.joint_indices, weights).weight_report
    with pytest.warns(sbs.WeightWarning) as repaired:
        found = sbs.Skin(mesh.positions, mesh.joint_indices, weights, joint_count=3, twist=spread).weight_report
    assert found == expected
    assert str(repaired[0].message) == str(plain[0].message)


def test_bad_input() -> None:
    character, spread = forearm()
    mesh, skin = character.mesh, character.twisted_skin(spread)
    still = np.tile(np.eye(4), (3, 1, 1))
    bad = np.stack([still, still])
    bad[1, 2, 1, 3] = np.inf
    given: dict[str, Any] = {"joint_indices": mesh.joint_indices, "joint_weights": mesh.joint_weights, "twist": spread}
    bone: dict[str, Any] = {"heads": [[0.0, 0, 0]], "tails": [[1.0, 0, 0]], "parents": [0], "joint_count": 3}
    three = {"heads": [[0.0, 0, 0]] * 3, "tails": [[1.0, 0, 0]] * 3, "parents": [0] * 3}
    places = np.zeros((2928, 3))
    calls: list[tuple[Callable[..., object], list[tuple[dict[str, Any], str]]]] = [
        (
            lambda **change: sbs.Skin(mesh.positions, **{**given, **change}),
            [
                ({"joint_count": 4}, "twist is of 3 joints"),
                ({"joint_indices": np.full((2928, 2), 3)}, r"joint_indices\[0, 0\]"),
                ({"parents": [0, 0]}, "parents"),
                ({"twist_positions": places[:3]}, "twist_positions"),
                ({"twist_positions": places * np.nan}, r"twist_positions\[0, 0\] is nan"),
                ({"twist_positions": places, "twist": None}, "twist_positions has no effect"),
            ],
        ),
        (
            lambda **change: sbs.Twist(**{"joints": [1], **bone, **change}),
            [
                ({"joints": []}, "shape"),
                ({"joints": [3]}, r"joints\[0\]"),
                ({"tails": [[0, 0, 0]]}, r"tails\[0\]"),
                ({"parents": [1]}, r"parents\[0\]"),
                ({"parents": [0, 0]}, "shape"),
                ({"frames": 1}, "frames"),
                ({"frames": 2**31}, "frames = 2147483648 is too large"),
                ({"frames": 10**30}, "frames = 10+ is too large"),
                ({"children": [1]}, r"children\[0\] = 1 is the joint of the bone itself"),
                ({"joints": [2, 1, 1], **three}, r"joints\[2\] = 1 has a bone already"),
                ({"heads": [[0, 0, np.nan]]}, r"heads\[0, 2\] is nan"),
                ({"heads": [[0, 0]]}, "heads"),
            ],
        ),
        (
            lambda pose, many=False, on=skin, **more: (on.deform_many if many else on.deform)(pose, **more),
            [
                ({"pose": still[None]}, r"skinning_matrices.*\(1, 3, 4, 4\)"),
                ({"pose": still, "many": True}, r"skinning_matrices.*\(3, 4, 4\)"),
                ({"pose": still[:2]}, "skinning_matrices"),
                ({"pose": still, "twists": np.zeros((2, 2))}, r"twists.*\(2, 2\)"),
                ({"pose": still, "twists": [[0, np.nan]]}, r"twists\[0, 1\] is nan"),
                ({"pose": bad, "many": True}, r"skinning_matrices\[1, 2, 1, 3\] is inf"),
                ({"pose": still, "twists": np.zeros((1, 2)), "on": character.skin}, "twists has no effect"),
            ],
        ),
    ]
    for call, cases in calls:
        for change, message in cases:
            with pytest.raises(ValueError, match=message):
                call(**change)
