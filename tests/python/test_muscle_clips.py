# SPDX-License-Identifier: MIT
"""Muscles over clips and bent joints: distances of the skin, continuity; normals beside those of the surface."""

from __future__ import annotations

import functools

import characters
import numpy as np
import pytest
from numpy.typing import NDArray

import sbs
from pages.muscles import covered_alone, distances
from sbs import muscles, rotations
from sbs.poses import axes, turned


class Body:
    """A character with muscles, and frames of its clips."""

    def __init__(self, name: str) -> None:
        data = characters.load(name)
        with np.load(characters.DATA / f"{name}.npz", allow_pickle=False) as file:
            names = file["joint_names"].tolist()
            # Of one, every fourth vertex alone was kept.
            triangles = file["triangles"] if "triangles" in file else np.array([[0, 1, 2]], np.int32)
        bind_matrices = np.tile(np.eye(4), (len(names), 1, 1))
        bind_matrices[:, :3] = data.bind_matrices
        mesh = sbs.Mesh(
            positions=data.rest_positions.astype(np.float32),
            normals=data.rest_normals,
            triangles=triangles,
            joint_indices=data.joint_indices,
            joint_weights=data.joint_weights / data.joint_weights.sum(axis=1, keepdims=True),
        )
        self.character = sbs.Character.from_mesh(mesh, sbs.Skeleton(data.parents, bind_matrices, names=names))
        self.cover = muscles.bind(self.character, muscles.fit(self.character))
        self.rest = np.tile(np.eye(4), (1, len(names), 1, 1))
        self.poses = np.tile(np.eye(4), (len(list(data.poses())), len(names), 1, 1))
        for row, (clip, frame) in enumerate(data.poses()):
            self.poses[row, :, :3] = data.clips[clip].skinning_matrices(frame)


@functools.cache
def body(name: str) -> Body:
    return Body(name)


PEOPLE = ("woman_makehuman_cmu", "woman_makehuman_default", "arnaud_ozz")


def test_volumes_stay() -> None:
    """The knight, whose rig lacks parts, has a calf as long as it is thick: it meets the limit of its growth."""
    subject = body("knight_kaykit")
    rest, states = subject.cover.measure(subject.rest), subject.cover.measure(subject.poses)
    assert states.limited.any()
    changes = np.where(states.limited, 0, states.volumes / rest.volumes - 1)
    assert np.abs(changes).max() < 1e-6


@pytest.mark.parametrize("name", PEOPLE)
def test_skin_keeps_its_distance(name: str) -> None:
    """Within 1% where one muscle covers with all of its share, whatever the path does.

    Skin that has slid over a tendon keeps its distance from that, not from the belly.
    """
    subject = body(name)
    positions = np.asarray(subject.character.skin.deform_many(subject.poses))
    moved = positions.copy()
    subject.cover.apply(moved, subject.poses)
    alone = covered_alone(subject.cover, positions.shape[1])
    largest_without = 0.0
    for muscle in subject.cover.muscles:
        skin = subject.cover.skin_of(muscle.name)
        kept = skin.vertices[(skin.shares > 1 - 1e-6) & alone[skin.vertices]]
        at_rest, _ = distances(subject.cover, muscle.name, subject.rest[0], subject.character.mesh.positions[kept])
        for matrices, before, after in zip(subject.poses, positions, moved, strict=True):
            found, over_tendon = distances(subject.cover, muscle.name, matrices, after[kept].astype(np.float64))
            assert over_tendon.sum() <= 0.2 * len(kept)
            np.testing.assert_allclose(found[~over_tendon], at_rest[~over_tendon], rtol=0.01, err_msg=muscle.name)
            without, _ = distances(subject.cover, muscle.name, matrices, before[kept].astype(np.float64))
            largest_without = max(largest_without, float(np.abs(without / at_rest - 1).max(initial=0)))
    assert largest_without > 0.5


@pytest.mark.parametrize("name", PEOPLE)
def test_no_skin_is_inside(name: str) -> None:
    """All that a muscle covers by more than a hundredth, others or not, to the steps of Newton's method."""
    subject = body(name)
    moved = np.asarray(subject.character.skin.deform_many(subject.poses))
    subject.cover.apply(moved, subject.poses)
    for muscle in subject.cover.muscles:
        skin = subject.cover.skin_of(muscle.name)
        shown = skin.vertices[skin.shares > 0.01]
        for matrices, after in zip(subject.poses, moved, strict=True):
            found, _ = distances(subject.cover, muscle.name, matrices, after[shown].astype(np.float64))
            assert found.min() > -5e-3 * muscle.radius, muscle.name


@pytest.mark.parametrize("joint", ["LeftForeArm", "LeftArm", "LeftUpLeg", "LeftLeg"])
@pytest.mark.parametrize("about", ["across", "along"])
def test_small_turns_move_skin_a_little(joint: str, about: str) -> None:
    """Poses 0.1 degree apart: no vertex moves more than ten times what the joint's own turn moves its bone."""
    subject = body("woman_makehuman_cmu")
    skeleton = subject.character.skeleton
    axis = axes(skeleton, skeleton.index(joint))[about == "along"]
    bone = skeleton.index(joint)
    child = skeleton.parents.tolist().index(bone)
    length = np.linalg.norm(skeleton.joint_positions[child] - skeleton.joint_positions[bone])
    angles = np.concatenate([np.arange(-60, 125, 2.5)[:, None] + (0, 0.1)])
    local = np.stack([turned(skeleton, joint, tuple(axis), angle) for angle in angles.ravel()])
    matrices = np.asarray(subject.character.skinning_matrices(local))
    before = np.asarray(subject.character.skin.deform_many(matrices))
    after = before.copy()
    subject.cover.apply(after, matrices)
    by_muscles = (after - before).reshape(len(angles), 2, -1, 3)
    moved = np.linalg.norm(by_muscles[:, 1] - by_muscles[:, 0], axis=2)
    assert moved.max() <= 10 * np.radians(0.1) * length
    assert moved.max() > 0


def test_ends_of_bellies_leave_no_dents() -> None:
    """Above a bent knee the skin goes inward by less than half of the muscle's radius, though its belly gives way."""
    subject = body("woman_makehuman_cmu")
    skeleton = subject.character.skeleton
    across, _ = axes(skeleton, skeleton.index("LeftLeg"))
    matrices = subject.character.skinning_matrices(turned(skeleton, "LeftLeg", tuple(across), 80))
    positions, normals = subject.character.skin.deform(matrices, normals=True)
    moved = positions.copy()
    subject.cover.apply(moved, matrices, activations=np.ones(len(subject.cover)))
    outward = np.einsum("vx,vx->v", moved - positions, normals)
    (quadriceps,) = (each for each in subject.cover.muscles if each.name == "quadriceps left")
    inward = outward[subject.cover.skin_of(quadriceps.name).vertices].min()
    assert -0.5 * quadriceps.radius < inward < 0


# -------------------------------------------------------------------------------------------------------------- normals


Floats = NDArray[np.float64]

RINGS, SIDES = 360, 180


def grid_normals(positions: Floats) -> Floats:
    """Of a surface (rings, sides, 3) that is closed around: by differences from point to point, of second order."""
    along = np.gradient(positions, axis=0, edge_order=2)
    around = np.roll(positions, -1, axis=1) - np.roll(positions, 1, axis=1)
    across = np.cross(around, along)
    return np.asarray(across / np.linalg.norm(across, axis=2, keepdims=True))


def angles(normals: Floats, others: Floats) -> Floats:
    return np.asarray(np.degrees(np.arccos(np.clip((normals * others).sum(axis=1), -1, 1))))


def limb() -> sbs.Character:
    """A limb from x = -5 to 5 with a joint in the middle; beside its axis, oval, and thicker at one end."""
    x, angle = np.linspace(-5, 5, RINGS)[:, None], 2 * np.pi * np.arange(SIDES) / SIDES
    radius = 1.7 + 0.05 * x
    rest = np.stack(
        np.broadcast_arrays(x, radius * np.cos(angle) + 0.25, 0.9 * radius * np.sin(angle) + 0.1 * np.cos(0.4 * x)), -1
    )
    ring, side = np.meshgrid(np.arange(RINGS - 1), np.arange(SIDES), indexing="ij")
    here, beside = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
    triangles = np.concatenate(
        [np.stack([here, beside, here + SIDES], -1), np.stack([beside, beside + SIDES, here + SIDES], -1)]
    )
    share = np.broadcast_to(0.5 + 0.5 * np.tanh(x / 2), (RINGS, SIDES)).ravel()
    bind = np.tile(np.eye(4), (2, 1, 1))
    bind[0, 0, 3] = -5
    mesh = sbs.Mesh(
        positions=rest.reshape(-1, 3).astype(np.float32),
        triangles=triangles.reshape(-1, 3).astype(np.int32),
        joint_indices=np.tile(np.array([0, 1], np.int32), (RINGS * SIDES, 1)),
        joint_weights=np.stack([1 - share, share], -1),
        normals=grid_normals(rest).reshape(-1, 3).astype(np.float32),
    )
    return sbs.Character.from_mesh(mesh, sbs.Skeleton([-1, 0], bind, names=["upper", "lower"]))


@pytest.mark.parametrize("flattening", [1.0, 1.3])
@pytest.mark.parametrize("profile", [(), (0.3, 0.7, 1.0, 0.8, 0.3)], ids=["spindle", "profile"])
@pytest.mark.parametrize(("bend", "activation"), [(0.0, 1.0), (40.0, 0.0), (40.0, 1.0), (-40.0, 0.5)])
def test_normals_are_those_of_the_surface(
    profile: tuple[float, ...], flattening: float, bend: float, activation: float
) -> None:
    """In degrees, where skin moves: most of the error of normals that are left as they are goes.

    Skin of a bent limb is stretched and slides along the muscle, while the slopes of shares and distances on it are
    those at bind: so some remains.
    """
    character = limb()
    muscle = muscles.Muscle(
        name="one",
        joints=("upper", "upper", "lower"),
        points=((-4.5, 0.0, 0.0), (0.0, 0.3, 0.3), (4.5, 0.0, 0.0)),
        radius=0.9,
        reach=3.0,
        tendons=(0.05, 0.05),
        contraction=0.4,
        profile=profile,
        flattening=flattening,
        thin_direction=(0.0, 1.0, 0.2),
    )
    cover = muscles.bind(character, [muscle])
    local = np.stack([np.eye(3), rotations.matrices_from_axis_angle([0, 0, 1], bend, degrees=True)])
    matrices = character.skinning_matrices(local)
    before = np.asarray(character.skin.deform(matrices), np.float64)
    after, normals = before.copy(), grid_normals(before.reshape(RINGS, SIDES, 3)).reshape(-1, 3)
    left = normals.copy()
    cover.apply(after, matrices, normals=normals, activations=[activation])
    truth = grid_normals(after.reshape(RINGS, SIDES, 3)).reshape(-1, 3)
    moved = np.linalg.norm(after - before, axis=1) > 0
    found, kept = angles(normals, truth)[moved], angles(left, truth)[moved]
    assert len(found) > 50_000
    assert kept.mean() > 5
    assert found.mean() < (1 if bend == 0 else 3.5)
    assert found.mean() < 0.25 * kept.mean()
    assert np.percentile(found, 90) < 8
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-6)
    others = np.delete(np.arange(len(normals)), cover.skin_of(0).vertices)
    np.testing.assert_array_equal(normals[others], left[others])
