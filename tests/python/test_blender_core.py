# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the Blender add-on that needs no Blender: weights, bendy bones, bindings in any space, and tables."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import characters
import numpy as np
import pytest

import sbs

sys.path.append(str(Path(__file__).resolve().parents[2] / "blender_addon"))

from spherical_blend_skinning.core import bendy_bones, influences, matrices
from spherical_blend_skinning.core.binding import Binding, Given
from spherical_blend_skinning.core.influences import VertexWeights
from spherical_blend_skinning.core.joint_tables import NO_JOINT, joint_tables
from spherical_blend_skinning.core.method import Amount, Method
from spherical_blend_skinning.core.rest import BoundMesh, RestBones

SBS: ModuleType = sbs

# Bindings keep float32 positions; their roundings, of numbers up to ten, add up over two changes of space.
TOLERANCE = 2e-5


def rotation(axis: int, angle: float) -> Any:
    """A matrix (4, 4) that turns about one axis."""
    result = np.eye(4)
    first, second = (axis + 1) % 3, (axis + 2) % 3
    result[[first, second], [first, second]] = np.cos(angle)
    result[first, second], result[second, first] = -np.sin(angle), np.sin(angle)
    return result


def affine(seed: int) -> Any:
    """Some matrix (4, 4) that is far from singular."""
    random = np.random.default_rng(seed)
    result = rotation(0, random.uniform(-3, 3)) @ rotation(1, random.uniform(-3, 3)) @ rotation(2, 1.0)
    result[:3, 3] = random.normal(size=3)
    return result


def row_weights() -> VertexWeights:
    return influences.padded(
        np.array([2, 0, 3, 1], np.int32),
        np.array([1, 0, 2, 0, 3, 2], np.int32),
        np.array([0.25, 0.5, 0.1, 0.2, 0.3, 1.0], np.float32),
    )


def test_padded() -> None:
    weights = row_weights()
    assert weights.groups.tolist() == [[1, 0, -1], [-1, -1, -1], [2, 0, 3], [2, -1, -1]]
    assert weights.weights[0].tolist() == [0.25, 0.5, 0.0]
    assert weights.weights[1].tolist() == [0.0, 0.0, 0.0]
    assert not len(weights.differing(row_weights()))
    empty = np.zeros(0, np.int32)
    assert influences.padded(empty, empty, empty.astype(np.float32)).groups.shape == (0, 1)


def test_influences_are_those_of_bones() -> None:
    joints, weights = influences.influences(row_weights(), np.array([5, -1, 6, 7], np.int32))
    assert np.where(weights > 0, joints, -1).tolist() == [[-1, 5, -1], [-1] * 3, [6, 5, 7], [6, -1, -1]]
    assert weights[0].tolist() == [0.0, 0.5, 0.0]
    _joints, weights = influences.influences(row_weights(), np.array([0, 1], np.int32))  # of groups that are gone
    assert weights[3].tolist() == [0.0, 0.0, 0.0]
    little = influences.padded(np.array([1, 1], np.int32), np.zeros(2, np.int32), np.array([1e-4, 1.1e-4], np.float32))
    _joints, weights = influences.influences(little, np.zeros(1, np.int32))
    assert (weights[:, 0] > 0).tolist() == [False, True]


@pytest.mark.parametrize(
    ("numbers", "places"),
    [
        ([0, 1, 2, 0.5, 1, 1.5], [0, 1, 2]),
        ([2, 0.5, 0, 1], [2, 3, 0]),
        ([0, 2, 1.5], None),
        ([0, 1, 1.5], None),
        ([], None),
    ],
)
def test_first_of_each(numbers: list[float], places: list[int] | None) -> None:
    found = influences.first_occurrences(np.array(numbers, np.float32))
    assert (found if found is None else found.tolist()) == places


@pytest.mark.parametrize(
    ("curved", "wanted"),
    [
        ({}, [[0, 0.25, 0.25, 0, 0.5], [1, 0, 0, 0, 0], [0, 0, 0, 0.8, 0.2]]),
        # Along a curve the vertices are where that says.
        (
            {0: lambda _points: np.array([0.5, 3.0, 2.25])},
            [[0.25, 0.25, 0, 0, 0.5], [0, 0, 0, 1, 0], [0, 0, 0.6, 0.2, 0.2]],
        ),
    ],
)
def test_segments_share_a_vertex_by_its_place_along_the_bone(curved: dict[int, Any], wanted: list[list[float]]) -> None:
    # One bone of three segments along y from 0 to 6, and one that does not bend.
    joints, weights = bendy_bones.split_segments(
        np.array([[0.0, 3.0, 1.0], [5.0, -1.0, 0.0], [0.0, 6.5, 0.0]]),
        np.array([[0, 1], [0, 1], [0, 1]], np.int32),
        np.array([[0.5, 0.5], [1.0, 0.0], [0.8, 0.2]], np.float32),
        inverse_rests=np.tile(np.eye(4), (2, 1, 1)),
        lengths=np.array([6.0, 1.0]),
        segments=np.array([3, 1], np.int32),
        curved=curved,
    )
    dense = np.zeros((3, 5))
    np.add.at(dense, (np.arange(3)[:, None], joints), weights)
    assert np.abs(dense - wanted).max() < 1e-7


def test_similarities_and_inverses() -> None:
    turned = affine(1)
    for scales, expected in (((2.0, -2.0, 2.0), True), ((2.0, 2.0, 2.01), False), ((0.0, 0.0, 0.0), False)):
        assert matrices.is_similarity(turned @ np.diag([*scales, 1.0])) == expected
    stack = np.stack([affine(seed) @ np.diag([1.0, 2.0, 3.0, 1.0]) for seed in range(3)])
    assert np.abs(matrices.inverse(stack) @ stack - np.eye(4)).max() < 1e-12
    assert np.isfinite(matrices.inverse(np.diag([1.0, 0.0, 1.0, 1.0]))).all()


def make_binding(to_rig: Any, limit: int = 0) -> Binding:
    random = np.random.default_rng(3)
    count = 60
    groups = np.array([random.choice(4, 3, replace=False) for _ in range(count)], np.int32)
    surface = BoundMesh(
        random.normal(size=(count, 3)).astype(np.float32),
        VertexWeights(groups, random.uniform(0.1, 1.0, (count, 3)).astype(np.float32)),
        ("A", "B", "not a bone", "C"),
    )
    rig = RestBones(
        names=("C", "stiff", "A", "B"),
        deforms=np.array([True, False, True, True]),
        rests=np.stack([affine(seed) for seed in range(4)]),
        lengths=np.ones(4),
        segments=np.ones(4, np.int32),
        parents=np.array([-1, 0, 0, 2], np.int32),
        marked=np.zeros(4, bool),
        zones=np.full((4, 2), np.nan),
    )
    return Binding(SBS, Given(rig, surface, to_rig, limit))


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_a_limit_does_not_depend_on_the_order_of_groups(order: list[int]) -> None:
    plain = make_binding(np.eye(4))
    weights = VertexWeights(np.array([[0, 1, 3]] * 60, np.int32)[:, order], np.full((60, 3), 0.25, np.float32))
    surface = BoundMesh(plain.surface.positions, weights, plain.surface.groups)
    limited = Binding(SBS, Given(plain.rig, surface, np.eye(4), 2))
    # Of the bones 2, 3 and 0, the joints 1, 2 and 0, the two of the lowest numbers.
    assert limited.skin.joint_sets == [(0, 1)]


def by_the_library(binding: Binding, pose: Any, to_rig: Any, method: str) -> Any:
    """The same in armature space and double, with the bones of the groups written out."""
    surface = binding.surface
    points = matrices.transform_points(to_rig, surface.positions.astype(np.float64))
    group_bones = np.array([2, 3, 0, 0])
    weights = np.where(surface.weights.groups == 2, 0.0, surface.weights.weights)
    skin = SBS.Skin(points.astype(np.float64), group_bones[surface.weights.groups], weights, joint_count=4)
    moved = skin.deform(pose @ np.linalg.inv(binding.rig.rests), method=method)
    inverse = np.linalg.inv(to_rig)
    return moved @ inverse[:3, :3].T + inverse[:3, 3]


@pytest.mark.filterwarnings("ignore::sbs.WeightWarning")
@pytest.mark.parametrize("method", ["spherical", "linear", "dual_quaternion"])
@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (2.0, 2.0, -2.0), (1.0, 2.0, 0.5)])
def test_binding(method: str, scale: tuple[float, float, float]) -> None:
    to_rig = affine(9) @ np.diag([*scale, 1.0])
    binding = make_binding(to_rig)
    assert binding.rig.names[1] == "stiff"
    assert binding.bones.tolist() == [0, 2, 3]
    pose = np.stack([affine(seed + 20) for seed in range(4)])
    found = binding.space.to_mesh(binding.deform(binding.skinning_matrices(pose, to_rig), Method(method)))
    assert np.abs(found - by_the_library(binding, pose, to_rig, method)).max() < TOLERANCE


@pytest.mark.filterwarnings("ignore::sbs.WeightWarning")
def test_a_binding_fits_wherever_the_mesh_only_moves() -> None:
    binding = make_binding(np.eye(4))
    surface = binding.surface
    elsewhere = BoundMesh(surface.positions + np.float32(1.0), surface.weights, surface.groups)
    edited = binding.rebound(Given(binding.rig, elsewhere, np.eye(4)))
    found = edited.deform(edited.skinning_matrices(edited.rig.rests, np.eye(4)), Method())
    assert np.abs(found - elsewhere.positions).max() < TOLERANCE
    moved = affine(4) @ np.diag([3.0, 3.0, 3.0, 1.0])
    assert binding.rebound(Given(binding.rig, binding.surface, moved)) is binding
    pose = np.stack([affine(seed + 20) for seed in range(4)])
    found = binding.deform(binding.skinning_matrices(pose, moved), Method())
    assert np.abs(found - by_the_library(binding, pose, moved, "spherical")).max() < TOLERANCE
    stretched = np.diag([1.0, 1.0, 2.0, 1.0])
    anew = binding.rebound(Given(binding.rig, binding.surface, stretched))
    found = anew.space.to_mesh(anew.deform(anew.skinning_matrices(pose, stretched), Method()))
    assert np.abs(found - by_the_library(binding, pose, stretched, "spherical")).max() < TOLERANCE


def test_amount() -> None:
    binding = make_binding(np.eye(4))
    pose = np.stack([affine(seed + 20) for seed in range(4)])
    skinning_matrices = binding.skinning_matrices(pose, np.eye(4))
    shares = np.linspace(0.0, 1.0, len(binding.surface.positions)).astype(np.float32)
    ours = binding.deform(skinning_matrices, Method())
    for method, others in (
        ("none", binding.surface.positions),
        ("linear", binding.deform(skinning_matrices, Method("linear"))),
    ):
        found = binding.deform(skinning_matrices, Method(), Amount(shares, method))
        assert np.abs(found - (others + shares[:, None] * (ours - others))).max() < TOLERANCE


def test_what_can_not_be_bound() -> None:
    """A curved bone needs to know where vertices are along it."""
    binding = make_binding(np.eye(4))
    nothing = VertexWeights(np.zeros((0, 1), np.int32), np.zeros((0, 1), np.float32))
    stiff = replace(binding.rig, deforms=np.zeros(4, bool))
    curves = {0: np.tile(np.eye(4), (3, 1, 1))}
    curved = replace(binding.rig, segments=np.array([2, 1, 1, 1], np.int32), curves=curves)
    for rig, surface, message in (
        (binding.rig, BoundMesh(np.zeros((0, 3), np.float32), nothing, ()), "no vertices"),
        (stiff, binding.surface, "no bone"),
        (curved, binding.surface, "bone C .*`along`"),
    ):
        with pytest.raises(ValueError, match=message):
            Binding(SBS, Given(rig, surface, np.eye(4)))


# ------------------------------------------------------------------------------------------------- tables of joint sets


@pytest.mark.filterwarnings("ignore::sbs.WeightWarning")
def test_tables_by_hand() -> None:
    positions = np.array([[0, 0, 0], [2, 0, 0], [0, 4, 0], [1, 1, 1], [3, 3, 3]], np.float32)
    indices = [[2, 0, 1], [0, 2, 0], [1, 1, 0], [0, 0, 0], [2, 0, 0]]
    weights = [[0.25, 0.75, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [1.5, 0.5, 0.0]]
    skin = sbs.Skin(positions, indices, weights)
    tables = joint_tables(skin, positions)
    # The sets: none of vertex 3, {0, 2} of vertices 0, 1 and 4, {1} of vertex 2.
    assert tables.slot_joints.tolist() == [NO_JOINT, 0, 2, 1]
    assert tables.slot_sets.tolist() == [0, 1, 1, 2]
    assert tables.set_starts.tolist() == [0, 1, 3] and tables.set_sizes.tolist() == [1, 2, 1]
    np.testing.assert_allclose(tables.centroids, np.array([[1, 1, 1], [5 / 3, 1, 1], [0, 4, 0]]), rtol=1e-7)
    # Equal weights: the joint of the lowest number is the pivot.
    assert tables.group_pivots.tolist() == [0, 1, 2, 3] and tables.group_sets.tolist() == [0, 1, 1, 2]
    assert tables.vertex_groups.tolist() == [1, 1, 3, 0, 2]
    assert tables.vertex_weights.tolist() == [[0.25], [0.5], [0.0], [0.0], [0.25]]
    # The other slot of the groups of {0, 2}, then only pivots.
    assert tables.other_slots(3).tolist() == [[0, 0, 0], [2, 1, 1], [1, 2, 2], [3, 3, 3]]


@pytest.mark.filterwarnings("ignore::sbs.WeightWarning")
@pytest.mark.parametrize("name", characters.NAMES)
def test_tables_give_the_weights_back(name: str) -> None:
    character = characters.load(name)
    skin = sbs.Skin(character.rest_positions, character.joint_indices, character.joint_weights)
    tables = joint_tables(skin, character.rest_positions)
    wanted = np.zeros((skin.vertex_count, skin.joint_count))
    rows = np.arange(skin.vertex_count)[:, None]
    np.add.at(wanted, (rows, character.joint_indices), character.joint_weights.astype(np.float64))
    wanted /= wanted.sum(axis=1, keepdims=True)

    found = np.zeros_like(wanted)
    other_slots = tables.other_slots(tables.vertex_weights.shape[1])
    for vertex, group in enumerate(tables.vertex_groups):
        pivot, joint_set = tables.group_pivots[group], tables.group_sets[group]
        first, size = tables.set_starts[joint_set], tables.set_sizes[joint_set]
        others = [slot for slot in range(first, first + size) if slot != pivot]
        weights = tables.vertex_weights[vertex].astype(np.float64)
        found[vertex, tables.slot_joints[others]] = weights[: size - 1]
        found[vertex, tables.slot_joints[pivot]] = 1.0 - weights.sum()
        assert not weights[size - 1 :].any()
        assert other_slots[group].tolist() == others + [pivot] * (len(weights) - len(others))
        assert tables.slot_joints[pivot] == wanted[vertex].argmax()
    # Each weight is rounded to float32.
    np.testing.assert_allclose(found, wanted, atol=2e-7)
