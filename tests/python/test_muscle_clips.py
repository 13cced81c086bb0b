# SPDX-License-Identifier: MIT
"""Muscles of real characters over their clips, and over bent joints: volumes, distances of the skin, continuity."""

from __future__ import annotations

import functools

import characters
import numpy as np
import pytest

import sbs
from pages.muscles import covered_alone, distances
from sbs import muscles
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
