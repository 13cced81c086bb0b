# SPDX-License-Identifier: MIT
"""Rotation centers of the vertices' own: weighted ones, found in every pose, and those that are given."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import characters
import numpy as np
import pytest
from meshes import Precision, skin_arguments, skinning_matrices
from reference import ROTATIONS

import sbs
from sbs import rotations
from sbs.options import MethodOptions, Rotation
from sbs.quality.measures import tears
from sbs.quality.surface import make_surface

DTYPES = [np.float64, np.float32]
# Of positions of size 1: a few roundings of products, and what solving for a center in float32 costs (tolerances.py).
ROUNDING = {np.float64: 1e-13, np.float32: 2e-6}

RINGS, AROUND = 200, 24


def tube(joint_rotations: dict[int, tuple[list[float], float]]) -> tuple[sbs.Skin, np.ndarray, float]:
    """A tube of radius 0.3 about 4 joints, bent: its skin, the skinning matrices and the distance of its rings.

    The weights are smooth: of three joints at most, (1 - distance / 1.3) squared, over their sum.
    """
    joints = np.arange(4.0)
    x, angle = np.meshgrid(np.linspace(0, 3.5, RINGS), np.linspace(0, 2 * np.pi, AROUND, False), indexing="ij")
    rest = np.stack([x, 0.3 * np.cos(angle), 0.3 * np.sin(angle)], axis=-1).reshape(-1, 3)
    weights = np.maximum(0, 1 - np.abs(rest[:, :1] - joints) / 1.3) ** 2
    order = np.argsort(-weights, axis=1)[:, :3]
    assert (np.sort(weights, axis=1)[:, 0] == 0).all()
    bind = np.tile(np.eye(4), (4, 1, 1))
    bind[:, 0, 3] = joints
    skeleton = sbs.Skeleton([-1, 0, 1, 2], bind)
    local = np.tile(np.eye(3), (4, 1, 1))
    for joint, (axis, degrees) in joint_rotations.items():
        local[joint] = rotations.matrices_from_axis_angle(axis, degrees, degrees=True)
    skin = sbs.Skin(
        rest,
        order,
        np.take_along_axis(weights / weights.sum(axis=1, keepdims=True), order, 1),
        parents=skeleton.parents,
        joint_positions=skeleton.joint_positions,
    )
    return skin, skeleton.skinning_matrices(skeleton.forward(local)), 3.5 / (RINGS - 1)


def largest_second_difference(positions: np.ndarray, step: float) -> float:
    """Between rings, in lengths of the edges along the tube."""
    rings = positions.reshape(RINGS, AROUND, 3)
    return float(np.linalg.norm(rings[2:] - 2 * rings[1:-1] + rings[:-2], axis=2).max() / step)


def test_a_tube_does_not_tear() -> None:
    skin, matrices, step = tube({1: ([0, 0, 1], 90), 2: ([0, 1, 0], 45), 3: ([0, 1, 1], 30)})
    assert skin.max_influences == 3
    methods: dict[str, MethodOptions] = {
        "linear": {"method": "linear"},
        "joint sets": {},
        "weighted": {"center": "weighted"},
        "weighted, average": {"center": "weighted", "rotation": "average"},
    }
    largest = {
        name: largest_second_difference(skin.deform(matrices, **options), step) for name, options in methods.items()
    }
    assert largest["joint sets"] > 2.5, "the bend does not show what it is there for"
    assert largest["linear"] == pytest.approx(0.13, abs=0.01)
    assert largest["weighted"] < largest["linear"]
    assert largest["weighted, average"] < 1.1 * largest["linear"]


@pytest.mark.parametrize("name", characters.NAMES[:-1])  # of the last, every fourth vertex is there, and no triangle
def test_characters_tear_no_more_than_without_centers(name: str) -> None:
    """Dual quaternions keep the radius of a twist as SBS does, and have no centers that could jump.

    Linear blending is no measure here: where weights change a lot from vertex to vertex, as on coarse meshes, what it
    takes from a twist by cutting across is larger than anything that a center does.
    """
    character = characters.load(name)
    with np.load(characters.DATA / f"{name}.npz") as file:
        triangles = file["triangles"]
    surface = make_surface(character.rest_positions, triangles, character.joint_indices, character.joint_weights)
    skin = sbs.Skin(
        character.rest_positions.astype(np.float64),
        character.joint_indices,
        character.joint_weights.astype(np.float64),
        parents=character.parents,
        joint_positions=character.joint_positions,
    )
    compared: list[MethodOptions] = [{"center": "weighted"}, {"method": "dual_quaternion"}]
    for clip, frame in character.poses():
        matrices = character.clips[clip].skinning_matrices(frame)
        weighted, without = (
            np.square(tears(surface, skin.deform(matrices, **options)[surface.kept].astype(float)))
            for options in compared
        )
        # Seen: 1.008 of the largest, 1.007 of all; 1e-12 is for poses at rest.
        assert weighted.max() <= 1.1**2 * without.max() + 1e-12
        assert weighted.mean() <= 1.02**2 * without.mean() + 1e-12


@pytest.mark.parametrize("rotation", ["qlerp", "average"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_heaviest_joint_may_change(dtype: Precision, rotation: Rotation) -> None:
    """Places, computed relative to the heaviest joint, do not depend on which joint it is."""
    generator = np.random.default_rng(1)
    matrices = skinning_matrices(3)
    matrices[:, :3, :3] = rotations.matrices_from_axis_angle(generator.normal(size=(3, 3)), [20, 70, 40], degrees=True)
    rest = np.repeat(generator.uniform(-1, 1, (20, 3)), 3, axis=0).astype(dtype)
    joints = np.tile([0, 1, 2], (60, 1))
    weights = np.tile([[0.4 + 1e-7, 0.4, 0.2], [0.4, 0.4 + 1e-7, 0.2], [0.4, 0.4, 0.2]], (20, 1)).astype(dtype)
    skin = sbs.Skin(rest, joints, weights / weights.sum(axis=1, keepdims=True, dtype=dtype))
    places = skin.deform(matrices, center="weighted", rotation=rotation).reshape(20, 3, 3)
    np.testing.assert_allclose(places, places[:, :1].repeat(3, 1), rtol=0, atol=ROUNDING[dtype] + 1e-6)


@pytest.mark.parametrize("rotation", ["qlerp", "average"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("others", [1, 2, 3])
def test_an_influence_that_fades_out_takes_nothing_with_it(others: int, dtype: Precision, rotation: Rotation) -> None:
    generator = np.random.default_rng(others)
    matrices = skinning_matrices(others + 2)
    matrices[:, :3, :3] = rotations.matrices_from_axis_angle(
        generator.normal(size=(others + 2, 3)), generator.uniform(10, 80, others + 2), degrees=True
    )
    rest = generator.uniform(-1, 1, (50, 3)).astype(dtype)
    heavy = generator.dirichlet(np.full(others + 1, 3.0), 50)
    without = sbs.Skin(rest, np.tile(np.arange(others + 1), (50, 1)), heavy.astype(dtype), joint_count=others + 2)
    expected = without.deform(matrices, center="weighted", rotation=rotation)
    for light in (1e-3, 1e-6, 1e-12, 1e-30):
        weights = np.c_[heavy * (1 - light), np.full(50, light)].astype(dtype)
        skin = sbs.Skin(rest, np.tile(np.arange(others + 2), (50, 1)), weights)
        positions = skin.deform(matrices, center="weighted", rotation=rotation)
        # The joints are up to some 5 apart in what they make of a vertex, and so is how fast it moves with a weight.
        np.testing.assert_allclose(positions, expected, rtol=0, atol=10 * light + ROUNDING[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("light", [1e-10, 1e-20, 1e-30, 1e-37])
def test_influences_that_are_hardly_there(light: float, dtype: Precision) -> None:
    """With a single joint that counts, products of the weights of the others are too small for float32."""
    matrices = skinning_matrices(3)
    rest = np.random.default_rng(1).uniform(-1, 1, (50, 3)).astype(dtype)
    skin = sbs.Skin(rest, np.tile([0, 1, 2], (50, 1)), np.tile([1, light, light / 2], (50, 1)).astype(dtype))
    expected = rest @ matrices[0, :3, :3].T + matrices[0, :3, 3]
    positions = skin.deform(matrices, center="weighted")
    # The joints are up to some 5 apart in what they make of a vertex.
    np.testing.assert_allclose(positions, expected, rtol=0, atol=10 * light + ROUNDING[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_joint_between_two_is_the_center_of_their_set(dtype: Precision) -> None:
    arguments = skin_arguments(200, 4, 2, dtype)
    child = np.random.default_rng(0).integers(1, 4, 200)
    arguments["joint_indices"] = np.stack([child - 1, child], axis=1).astype(np.int32)
    skeleton = sbs.Skeleton(arguments["parents"], np.stack([translation(p) for p in arguments["joint_positions"]]))
    local = rotations.matrices_from_axis_angle(
        np.random.default_rng(1).normal(size=(4, 3)), [20, 80, 120, 50], degrees=True
    )
    matrices = skeleton.skinning_matrices(skeleton.forward(local))
    skin = sbs.Skin(**arguments, centers=arguments["joint_positions"][child])
    assert skin.pose_report(matrices).solves == 0
    for rotation in ROTATIONS:
        np.testing.assert_allclose(
            skin.deform(matrices, center="optimized", rotation=rotation),
            skin.deform(matrices, rotation=rotation),
            rtol=0,
            atol=10 * ROUNDING[dtype] / 2,  # the mesh is of size 10
        )


def translation(vector: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = vector
    return matrix


def test_a_center_moves_as_linear_blending_moves_it() -> None:
    arguments = skin_arguments(60, 5, 4)
    skin = sbs.Skin(**arguments, centers=arguments["rest_positions"])
    matrices = skinning_matrices(5)
    np.testing.assert_allclose(
        skin.deform(matrices, center="optimized"), skin.deform(matrices, method="linear"), rtol=0, atol=1e-13
    )


# ---------------------------------------------------------------------------------------------- centers that are given


def with_centers(dtype: Precision = np.float64, **changes: np.ndarray) -> sbs.Skin:
    centers = np.random.default_rng(9).normal(size=(300, 3))
    arguments: dict[str, Any] = {**skin_arguments(300, 6, 3, dtype, normals=True), "centers": centers, **changes}
    return sbs.Skin(**arguments)


@pytest.mark.parametrize("dtype", DTYPES)
def test_centers_stay_with_their_vertices(dtype: Precision) -> None:
    skin, matrices = with_centers(dtype), skinning_matrices(6)
    expected = skin.deform(matrices, center="optimized").tobytes()
    changed = np.arange(0, 300, 7)
    joints, weights = skin.joint_indices[changed][:, ::-1], np.full((len(changed), 3), 1 / 3, dtype)
    updated = skin.update_weights(joints, weights, vertices=changed)
    all_joints, all_weights = skin.joint_indices.copy(), skin.joint_weights.copy()
    all_joints[changed], all_weights[changed] = joints, weights
    anew = with_centers(dtype, joint_indices=all_joints, joint_weights=all_weights)
    assert updated.has_centers
    assert updated.deform(matrices, center="optimized").tobytes() == anew.deform(matrices, center="optimized").tobytes()
    for same in (
        copy.copy(skin),
        pickle.loads(pickle.dumps(skin)),
        skin.update_weights(skin.joint_indices, skin.joint_weights),
    ):
        assert same.deform(matrices, center="optimized").tobytes() == expected


def test_centers_are_kept_and_shown() -> None:
    skin = with_centers()
    assert skin.has_centers
    assert skin.centers is not None
    assert skin.centers.shape == (300, 3)
    assert not skin.centers.flags.writeable
    plain = sbs.Skin(**skin_arguments())
    assert not plain.has_centers
    assert plain.centers is None


@pytest.mark.parametrize(
    ("centers", "error", "message"),
    [
        (np.zeros((300, 2)), ValueError, r"centers .*\(300, 2\)"),
        (np.zeros((299, 3)), ValueError, r"centers .*\(299, 3\)"),
        (np.full((300, 3), np.nan), ValueError, r"centers\[0, 0\] is nan"),
        (np.full((300, 3), 1j), TypeError, "centers"),
    ],
)
def test_bad_centers(centers: np.ndarray, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        with_centers(centers=centers)


def test_centers_that_are_missing() -> None:
    skin = sbs.Skin(**skin_arguments())
    with pytest.raises(ValueError, match="center='optimized' needs a skin with centers"):
        skin.deform(skinning_matrices(6), center="optimized")
    with pytest.raises(ValueError, match="center='optimized' needs a skin with centers"):
        skin.deform_many(skinning_matrices(2, 6), center="optimized")


@pytest.mark.parametrize(("option", "word"), [("rotation", "slerp"), ("center", "vertex")])
def test_unknown_options(option: str, word: str) -> None:
    with pytest.raises(ValueError, match=f"{option} must be .*{word}"):
        unknown: dict[str, Any] = {option: word}
        with_centers().deform(skinning_matrices(6), **unknown)
