# SPDX-License-Identifier: MIT
"""Muscles of the woman: placed, measured in motion, and covered by her skin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sbs
from sbs import muscles, rotations
from sbs.rigging.joint_names import body_parts

Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def woman() -> sbs.Character:
    return sbs.samples.load("woman")


@pytest.fixture(scope="module")
def placed(woman: sbs.Character) -> tuple[muscles.Muscle, ...]:
    return muscles.fit(woman)


@pytest.fixture(scope="module")
def cover(woman: sbs.Character, placed: tuple[muscles.Muscle, ...]) -> muscles.MuscleCover:
    return muscles.bind(woman, placed)


def turned(character: sbs.Character, joint: str, axis: list[float], degrees: float) -> Floats:
    """Skinning matrices of a joint that is turned about an axis of the bind space."""
    skeleton = character.skeleton
    number = skeleton.index(joint)
    frame = np.asarray(skeleton.bind_matrices[number])[:3, :3]
    local = np.tile(np.eye(3), (len(skeleton), 1, 1))
    local[number] = frame.T @ rotations.matrices_from_axis_angle(axis, degrees, degrees=True) @ frame
    return skeleton.skinning_matrices(skeleton.forward(local))


def random_poses(character: sbs.Character, count: int, degrees: float = 40.0) -> Floats:
    """Skinning matrices of poses in which every joint is turned by about so much."""
    vectors = np.random.default_rng(22).normal(0, np.radians(degrees) / 2, (count, len(character.skeleton), 3))
    return character.skeleton.skinning_matrices(character.skeleton.forward(rotation_vectors=vectors))


def test_nine_on_each_side(placed: tuple[muscles.Muscle, ...]) -> None:
    kinds = {muscle.name.rpartition(" ")[0] for muscle in placed}
    assert len(kinds) == 9
    assert {muscle.name for muscle in placed} == {f"{kind} {side}" for kind in kinds for side in ("left", "right")}


def test_both_sides_are_alike(placed: tuple[muscles.Muscle, ...]) -> None:
    by_name = {muscle.name: muscle for muscle in placed}
    for muscle in placed:
        if muscle.side == "left":
            other = by_name[muscle.name.replace("left", "right")]
            # The mesh is of one shape on both sides to its own rounding of places.
            assert muscle.radius == pytest.approx(other.radius, rel=1e-2)
            mirrored = np.array(other.points) * (-1, 1, 1)
            np.testing.assert_allclose(muscle.points, mirrored, atol=0.02)


def test_volumes_stay(woman: sbs.Character, cover: muscles.MuscleCover) -> None:
    rest = cover.measure(np.tile(np.eye(4), (len(woman.skeleton), 1, 1)))
    states = cover.measure(random_poses(woman, 300))
    assert states.volumes.shape == (300, 18)
    kept = np.where(states.limited, rest.volumes, states.volumes)
    np.testing.assert_allclose(kept, np.broadcast_to(rest.volumes, kept.shape), rtol=1e-12)
    assert states.limited.mean() < 0.01
    tense = cover.measure(random_poses(woman, 300), np.linspace(0, 1, 18))
    np.testing.assert_allclose(
        tense.volumes[~tense.limited], np.broadcast_to(rest.volumes, kept.shape)[~tense.limited], rtol=1e-12
    )


def test_the_volume_is_that_of_the_surface(woman: sbs.Character, cover: muscles.MuscleCover) -> None:
    matrices = turned(woman, "LeftForeArm", [0, 1, 0], -80)
    volumes = cover.measure(matrices).volumes
    for number in range(9):
        points, triangles = cover.surface(number, matrices, rings=200, sides=200)
        a, b, c = (points[triangles[:, corner]] - points.mean(axis=0) for corner in range(3))
        inside = np.einsum("tx,tx->t", a, np.cross(b, c)).sum() / 6
        # Of polygons with 200 sides, whose area is 1.6e-4 less than the circle's; spindles are closed.
        assert inside == pytest.approx(volumes[number], rel=5e-4)


def test_biceps_swells_and_triceps_thins(woman: sbs.Character, cover: muscles.MuscleCover) -> None:
    names = [muscle.name for muscle in cover.muscles]
    growths = np.array(
        [cover.measure(turned(woman, "LeftForeArm", [0, 1, 0], -degrees)).growths for degrees in (0, 30, 60, 90)]
    )
    assert (np.diff(growths[:, names.index("biceps left")]) > 0.01).all()
    assert growths[-1, names.index("biceps right")] == pytest.approx(1)
    assert growths[1, names.index("triceps left")] < 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_moves_at_rest(woman: sbs.Character, placed: tuple[muscles.Muscle, ...], dtype: type) -> None:
    assert woman.mesh.normals is not None
    mesh = replace(woman.mesh, positions=woman.mesh.positions.astype(dtype), normals=woman.mesh.normals.astype(dtype))
    character = woman.with_mesh(mesh)
    cover = muscles.bind(character, placed)
    for matrices in (np.tile(np.eye(4), (len(woman.skeleton), 1, 1)), turned(character, "Hips", [0, 1, 0], 0.0)):
        positions, normals = character.skin.deform(matrices, normals=True)
        moved, turned_normals = positions.copy(), normals.copy()
        cover.apply(moved, matrices, normals=turned_normals)
        assert moved.tobytes() == positions.tobytes()
        assert turned_normals.tobytes() == normals.tobytes()


def test_frames_threads_and_activations(woman: sbs.Character, cover: muscles.MuscleCover) -> None:
    poses = random_poses(woman, 4)
    activations = np.random.default_rng(3).random((4, len(cover)))
    together = woman.skin.deform_many(poses)
    cover.apply(together, poses, activations=activations, threads=2)
    for frame, acting in enumerate(activations):
        alone = woman.skin.deform(poses[frame])
        cover.apply(alone, poses[frame], activations=acting, threads=1)
        np.testing.assert_array_equal(alone, together[frame])


def test_a_character_in_other_units_has_muscles_of_its_size(woman: sbs.Character, cover: muscles.MuscleCover) -> None:
    """As where a scene is in meters, and the mesh in centimeters; each frame may have another size."""
    poses = random_poses(woman, 3)
    sizes = np.array([0.01, 1.0, 70.0])[:, None, None]
    scaled = np.array(poses)
    scaled[:, :, :3] *= sizes[..., None]
    bare = np.array(woman.skin.deform_many(poses), np.float64)
    covered, larger = bare.copy(), bare * sizes
    cover.apply(covered, poses)
    cover.apply(larger, scaled)
    # Feet are found in single precision, of places of up to 10.
    np.testing.assert_allclose(larger / sizes, covered, rtol=0, atol=2e-6)
    single = bare[0] * 0.01
    cover.apply(single, scaled[0])
    np.testing.assert_array_equal(single, larger[0])
    moved = np.any(covered != bare, axis=2)
    np.testing.assert_array_equal(larger[~moved], (bare * sizes)[~moved])
    scaled_states, pose_states = cover.measure(scaled), cover.measure(poses)
    np.testing.assert_allclose(scaled_states.lengths, pose_states.lengths, rtol=1e-9)
    np.testing.assert_allclose(scaled_states.growths, pose_states.growths, rtol=1e-9)
    np.testing.assert_allclose(scaled_states.volumes, pose_states.volumes, rtol=1e-9)
    np.testing.assert_array_equal(scaled_states.limited, pose_states.limited)
    surface, _ = cover.surface("biceps left", scaled)
    np.testing.assert_allclose(surface / sizes, cover.surface("biceps left", poses)[0], rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="positions"):
        cover.apply(larger[:2].copy(), scaled)


def test_tension_swells(woman: sbs.Character, cover: muscles.MuscleCover) -> None:
    rest = np.tile(np.eye(4), (len(woman.skeleton), 1, 1))
    names = [muscle.name for muscle in cover.muscles]
    activations = np.zeros(len(cover))
    activations[names.index("calf right")] = 1
    positions = woman.skin.deform(rest)
    tense = positions.copy()
    cover.apply(tense, rest, activations=activations)
    moved = np.flatnonzero((tense != positions).any(axis=1))
    assert np.isin(moved, cover.skin_of("calf right").vertices).all()
    assert len(moved) > 50
    assert woman.mesh.normals is not None
    outward = np.einsum("vx,vx->v", (tense - positions)[moved], woman.mesh.normals[moved])
    assert np.median(outward) > 0


BAD: list[tuple[dict[str, Any], str]] = [
    ({"points": ((0.0, 1.0, 0.0),) * 2, "joints": ("LeftArm",) * 2}, "points"),
    ({"joints": ("LeftArm", "LeftArm", "LeftForArm")}, "'LeftForArm'; did you mean 'Left"),
    ({"radius": 10.0}, r"radius .*vertex \d+"),
    ({"radius": 0.0}, "radius"),
    ({"reach": np.nan}, "reach"),
    ({"tendons": (0.6, 0.5)}, "tendons"),
    ({"flattening": 0.5}, "flattening"),
    ({"flattening": 2.0}, "thin_direction"),
    ({"contraction": 1.0}, "contraction"),
    ({"profile": (0.5,)}, "profile"),
    ({"profile": (0.5, 2.0)}, r"profile\[1\]"),
    ({"points": ((0.0, 0.0, 0.0),)}, "1 points, but 3 joints"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_bad_muscles(
    woman: sbs.Character, placed: tuple[muscles.Muscle, ...], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises((ValueError, KeyError), match=f"muscle 'biceps left': .*{message}"):
        muscles.bind(woman, [placed[1], replace(placed[0], **changes)])


def test_bad_arguments(woman: sbs.Character, placed: tuple[muscles.Muscle, ...], cover: muscles.MuscleCover) -> None:
    rest = np.tile(np.eye(4), (len(woman.skeleton), 1, 1))
    positions = woman.skin.deform(rest)
    too_much = np.where(np.arange(18) == 2, 1.5, 0)
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: muscles.bind(woman, [placed[0], placed[0]]), "'biceps left'"),
        (lambda: muscles.bind(woman, []), "muscles"),
        (lambda: cover.apply(positions[:-1], rest), "positions"),
        (lambda: cover.apply(positions, rest[:-1]), "skinning_matrices"),
        (lambda: cover.apply(positions, rest, activations=np.zeros(3)), "activations"),
        (lambda: cover.apply(positions, rest, activations=too_much), r"activations\[2\]"),
        (lambda: cover.skin_of("bicep left"), "'bicep left'; did you mean 'biceps left'"),
        (lambda: cover.skin_of(18), "muscle 18"),
        (lambda: muscles.fit(sbs.samples.load("hand")), "'hips', 'chest', 'neck'"),
        (lambda: muscles.fit(woman, joints={"elbow": "LeftForeArm"}), "'elbow'"),
        (lambda: muscles.fit(woman, joints={"left forearm": "Elbow"}), "'Elbow'"),
    ]
    for call, message in cases:
        with pytest.raises((ValueError, KeyError, IndexError), match=message):
            call()


def test_joints_may_be_told(woman: sbs.Character, placed: tuple[muscles.Muscle, ...]) -> None:
    assert muscles.fit(woman, joints={"left forearm": "LeftForeArm"}) == placed


# What the woman's joints are called in rigs of others: central ones, and those of the left side.
CONVENTIONS = {
    "Rigify": (
        {"Hips": "DEF-spine", "LowerBack": "DEF-spine.001", "Spine": "DEF-spine.002", "Spine1": "DEF-spine.003"}
        | {"Neck": "DEF-spine.004", "Neck1": "DEF-spine.005", "Head": "DEF-spine.006"},
        {"HipJoint": "DEF-pelvis.L", "Shoulder": "DEF-shoulder.L", "Arm": "DEF-upper_arm.L", "ForeArm": "DEF-forearm.L"}
        | {"Hand": "DEF-hand.L", "UpLeg": "DEF-thigh.L", "Leg": "DEF-shin.L", "Foot": "DEF-foot.L"}
        | {"ToeBase": "DEF-toe.L"},
    ),
    "MakeHuman": (
        {"Hips": "root", "LowerBack": "spine05", "Spine": "spine03", "Spine1": "spine01"}
        | {"Neck": "neck01", "Neck1": "neck02", "Head": "head"},
        {"HipJoint": "pelvis.L", "Shoulder": "clavicle.L", "Arm": "upperarm01.L", "ForeArm": "lowerarm01.L"}
        | {"Hand": "wrist.L", "UpLeg": "upperleg01.L", "Leg": "lowerleg01.L", "Foot": "foot.L", "ToeBase": "toe1-1.L"},
    ),
    "Mixamo": (
        {"Hips": "mixamorig:Hips", "LowerBack": "mixamorig:Spine", "Spine": "mixamorig:Spine1"}
        | {"Spine1": "mixamorig:Spine2", "Neck": "mixamorig:Neck", "Neck1": "mixamorig:Neck1"}
        | {"Head": "mixamorig:Head"},
        {"Shoulder": "mixamorig:LeftShoulder", "Arm": "mixamorig:LeftArm", "ForeArm": "mixamorig:LeftForeArm"}
        | {"Hand": "mixamorig:LeftHand", "UpLeg": "mixamorig:LeftUpLeg", "Leg": "mixamorig:LeftLeg"}
        | {"Foot": "mixamorig:LeftFoot", "ToeBase": "mixamorig:LeftToeBase"},
    ),
}


def renamed(woman: sbs.Character, central: dict[str, str], left: dict[str, str]) -> sbs.Character:
    """The woman with joints of other names; those that have none are numbered."""
    names = []
    for number, name in enumerate(woman.skeleton.names):
        part = name.removeprefix("Left").removeprefix("Right")
        part = part[1:] if part.endswith("HipJoint") else part
        other = central.get(name, left.get(part, f"Bone.{number:03}"))
        if name.startswith("R"):
            other = other.replace("Left", "Right").removesuffix(".L") + (".R" if other.endswith(".L") else "")
        names.append(other)
    skeleton = sbs.Skeleton(woman.skeleton.parents, woman.skeleton.bind_matrices, names)
    return sbs.Character.from_mesh(woman.mesh, skeleton)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_names_of_other_rigs(woman: sbs.Character, placed: tuple[muscles.Muscle, ...], convention: str) -> None:
    other = renamed(woman, *CONVENTIONS[convention])
    for muscle, expected in zip(muscles.fit(other), placed, strict=True):
        assert other.skeleton.indices(muscle.joints) == woman.skeleton.indices(expected.joints)
        assert muscle.points == expected.points and muscle.radius == expected.radius


def test_bones_that_deform_go_before_controls(woman: sbs.Character) -> None:
    """A generated rig of Rigify has several bones for each part."""
    names = list(renamed(woman, *CONVENTIONS["Rigify"]).skeleton.names)
    for control in ("root", "torso", "hips", "chest", "neck", "head", "hand_ik.L", "ORG-forearm.L", "forearm.L"):
        names.insert(0, control)
    found = body_parts(names)
    assert {part: names[number] for part, number in found.items()}.items() >= {
        "hips": "DEF-spine",
        "chest": "DEF-spine.003",
        "neck": "DEF-spine.004",
        "head": "DEF-spine.006",
        "left forearm": "DEF-forearm.L",
    }.items()
