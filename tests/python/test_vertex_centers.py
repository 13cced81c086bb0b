# SPDX-License-Identifier: MIT
"""Rotation centers of the vertices' own: weighted ones, found in every pose, and those that are given."""

from __future__ import annotations

import copy
import pickle
from typing import Any, Literal

import numpy as np
import pytest
from meshes import Precision, SkinArguments, skin_arguments, skinning_matrices
from reference import ROTATIONS

import sbs
from sbs import rotations
from sbs.options import MethodOptions, Rotation

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


@pytest.mark.parametrize(
    ("centers", "message"),
    [
        (np.zeros((300, 2)), r"centers .*\(300, 2\)"),
        (np.zeros((299, 3)), r"centers .*\(299, 3\)"),
        (np.full((300, 3), np.nan), r"centers\[0, 0\] is nan"),
        (np.full((300, 3), 1j), "centers"),
    ],
)
def test_bad_centers(centers: np.ndarray, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        with_centers(centers=centers)
    unknown: Any = {"center": "vertex"}
    with pytest.raises(ValueError, match=r"center .*vertex"):
        with_centers().deform(skinning_matrices(6), **unknown)
    with pytest.raises(ValueError, match="'optimized' needs"):
        sbs.Skin(**skin_arguments()).deform_many(skinning_matrices(2, 6), center="optimized")


# ---------------------------------------------------------------------------------- vertices that are their own centers


CLOUD_VERTICES, CLOUD_JOINTS = 400, 4
# Of positions of size 1: a few roundings of products.
PRODUCTS = {np.float64: 1e-14, np.float32: 1e-6}
SCALES: dict[str, float | np.ndarray] = {"rigid": 1.0, "scaled": 1.3, "sheared": np.array([1.0, 0.6, 1.5])}


def cloud(dtype: Precision) -> SkinArguments:
    """A cloud of vertices, each with one to four influences."""
    generator = np.random.default_rng(2016)
    weights = generator.uniform(0.05, 1, (CLOUD_VERTICES, CLOUD_JOINTS))
    weights[np.arange(CLOUD_JOINTS) >= generator.integers(1, CLOUD_JOINTS + 1, CLOUD_VERTICES)[:, None]] = 0
    return {
        "rest_positions": generator.uniform(-0.5, 0.5, (CLOUD_VERTICES, 3)).astype(dtype),
        # few sets: each has vertices of both kinds
        "joint_indices": np.tile(np.arange(CLOUD_JOINTS), (CLOUD_VERTICES, 1)),
        "joint_weights": weights / weights.sum(axis=1, keepdims=True),
        "rest_normals": generator.normal(size=(CLOUD_VERTICES, 3)).astype(dtype),
    }


def cloud_matrices(kind: str) -> np.ndarray:
    generator = np.random.default_rng(1)
    matrices = np.tile(np.eye(4), (CLOUD_JOINTS, 1, 1))
    axes, angles = generator.normal(size=(CLOUD_JOINTS, 3)), generator.uniform(-80, 80, CLOUD_JOINTS)
    matrices[:, :3, :3] = rotations.matrices_from_axis_angle(axes, angles, degrees=True) * SCALES[kind]
    matrices[:, :3, 3] = generator.uniform(-0.3, 0.3, (CLOUD_JOINTS, 3))
    return matrices


def skin_with_centers(dtype: Precision, own: np.ndarray) -> sbs.Skin:
    """A skin in which some vertices are their own centers; the others' are elsewhere."""
    given = cloud(dtype)
    elsewhere = np.random.default_rng(3).uniform(-0.5, 0.5, (CLOUD_VERTICES, 3))
    centers = np.where(own[:, None], given["rest_positions"].astype(np.float64), elsewhere)
    return sbs.Skin(**given, centers=centers, joint_count=CLOUD_JOINTS)


SOME = np.arange(CLOUD_VERTICES) % 3 == 0
NONE = np.zeros(CLOUD_VERTICES, bool)


@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize("rotation", ["qlerp", "average"])
@pytest.mark.parametrize("dtype", PRODUCTS)
def test_they_are_blended_linearly(dtype: Precision, rotation: Rotation, kind: str) -> None:
    skin, matrices = skin_with_centers(dtype, SOME), cloud_matrices(kind)
    found = skin.deform(matrices, center="optimized", rotation=rotation, normals=True)
    linear = skin.deform(matrices, method="linear", normals=True)
    for mine, wanted in zip(found, linear, strict=True):
        np.testing.assert_allclose(mine[SOME], wanted[SOME], rtol=0, atol=PRODUCTS[dtype])
    assert np.abs(found[0] - linear[0])[~SOME].max() > 0.01, "the others are to be moved by another formula"


@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize("options", [{}, {"center": "weighted"}, {"method": "dual_quaternion"}, {"method": "linear"}])
def test_they_change_nothing_for_others_and_other_formulas(options: MethodOptions, kind: str) -> None:
    matrices = cloud_matrices(kind)
    some, none = (skin_with_centers(np.float32, own) for own in (SOME, NONE))
    for mine, wanted in zip(*(skin.deform(matrices, normals=True, **options) for skin in (some, none)), strict=True):
        np.testing.assert_array_equal(mine, wanted)
    for mine, wanted in zip(
        *(skin.deform(matrices, center="optimized", normals=True) for skin in (some, none)), strict=True
    ):
        np.testing.assert_array_equal(mine[~SOME], wanted[~SOME])


@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize("dtype", PRODUCTS)
def test_inverse_about_own_centers(dtype: Precision, kind: str) -> None:
    skin, matrices = skin_with_centers(dtype, SOME), cloud_matrices(kind)
    posed = skin.deform(matrices, center="optimized")
    found = skin.inverse_deform(posed, matrices, center="optimized")
    # A blend of rotations may flatten space a lot, and its inverse takes the roundings with it.
    np.testing.assert_allclose(found[SOME], skin.rest_positions[SOME], rtol=0, atol=100 * PRODUCTS[dtype])


def test_other_weights_about_own_centers() -> None:
    """A new skin and an updated one give the same bits."""
    skin, matrices = skin_with_centers(np.float32, SOME), cloud_matrices("rigid")
    vertices = np.arange(0, CLOUD_VERTICES, 7)
    weights = skin.joint_weights.copy()
    weights[vertices] = np.roll(weights[vertices], 1, axis=1)
    updated = skin.update_weights(skin.joint_indices[vertices], weights[vertices], vertices=vertices)
    given = cloud(np.float32)
    given |= {"joint_indices": skin.joint_indices, "joint_weights": weights}
    anew = sbs.Skin(**given, centers=skin.centers, joint_count=CLOUD_JOINTS)
    found, expected = (item.deform(matrices, center="optimized") for item in (updated, anew))
    np.testing.assert_array_equal(found, expected)


# ------------------------------------------------------------------------------------------------- precision in float32


VERTICES, JOINTS = 40, 6
HALF_ULP = 2.0**-24
"""Half a unit in the last place of 1, in float32."""


def random_matrices(rng: np.random.Generator, about: Literal["any", "one"], size: float) -> np.ndarray:
    """Joints (J, 3, 4) that turn about any axes, or nearly about one, and move by the mesh's size, as float32 is."""
    axes = rng.normal(size=(JOINTS, 3))
    if about == "one":
        axes = np.array([0.3, 0.5, 0.8]) + 10 ** rng.uniform(-4, -0.5) * axes
    turns = rotations.matrices_from_axis_angle(axes, rng.uniform(-3, 3, JOINTS))
    matrices = np.concatenate([turns, size * rng.normal(size=(JOINTS, 3, 1))], axis=2)
    return matrices.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("size", [1.0, 1e6])
@pytest.mark.parametrize("influences", [3, 4, 6])
@pytest.mark.parametrize("about", ["any", "one"])
def test_no_further_off_than_the_header_says(about: Literal["any", "one"], influences: int, size: float) -> None:
    """Whatever the unit, and where the axes of joints nearly agree: 5e-6 of the size, and a unit in the last place."""
    rng = np.random.default_rng(influences)
    for _ in range(60):
        rest = (size * rng.normal(size=(VERTICES, 3))).astype(np.float32)
        indices = np.argsort(rng.random((VERTICES, JOINTS)))[:, :influences]
        given = rng.random((VERTICES, influences)) ** rng.choice([1, 4]) + 1e-3
        given = (given / given.sum(axis=1, keepdims=True)).astype(np.float32)
        matrices = random_matrices(rng, about, size)
        narrow, exact = (sbs.Skin(each, indices, given, joint_count=JOINTS) for each in (rest, rest.astype(float)))
        expected = exact.deform(matrices, center="weighted")
        off = np.linalg.norm(narrow.deform(matrices, center="weighted") - expected, axis=1)
        extent = float(np.linalg.norm(np.ptp(rest, axis=0)))
        assert np.all(off <= 5e-6 * extent + 2 * HALF_ULP * np.abs(expected).max())
