# SPDX-License-Identifier: MIT
"""Vertices that are their own rotation centers: nothing turns about them, so they are blended linearly."""

import numpy as np
import pytest
from meshes import Precision, SkinArguments

import sbs
from sbs import rotations
from sbs.options import MethodOptions, Rotation

VERTICES, JOINTS = 400, 4
# Of positions of size 1: a few roundings of products.
ROUNDING = {np.float64: 1e-14, np.float32: 1e-6}
SCALES: dict[str, float | np.ndarray] = {"rigid": 1.0, "scaled": 1.3, "sheared": np.array([1.0, 0.6, 1.5])}


def arrays(dtype: Precision) -> SkinArguments:
    """A cloud of vertices, each with one to four influences."""
    generator = np.random.default_rng(2016)
    weights = generator.uniform(0.05, 1, (VERTICES, JOINTS))
    weights[np.arange(JOINTS) >= generator.integers(1, JOINTS + 1, VERTICES)[:, None]] = 0
    return {
        "rest_positions": generator.uniform(-0.5, 0.5, (VERTICES, 3)).astype(dtype),
        "joint_indices": np.tile(np.arange(JOINTS), (VERTICES, 1)),  # few sets: each has vertices of both kinds
        "joint_weights": weights / weights.sum(axis=1, keepdims=True),
        "rest_normals": generator.normal(size=(VERTICES, 3)).astype(dtype),
    }


def skinning_matrices(kind: str) -> np.ndarray:
    generator = np.random.default_rng(1)
    matrices = np.tile(np.eye(4), (JOINTS, 1, 1))
    axes, angles = generator.normal(size=(JOINTS, 3)), generator.uniform(-80, 80, JOINTS)
    matrices[:, :3, :3] = rotations.matrices_from_axis_angle(axes, angles, degrees=True) * SCALES[kind]
    matrices[:, :3, 3] = generator.uniform(-0.3, 0.3, (JOINTS, 3))
    return matrices


def skin_with_centers(dtype: Precision, own: np.ndarray) -> sbs.Skin:
    """A skin in which some vertices are their own centers; the others' are elsewhere."""
    given = arrays(dtype)
    elsewhere = np.random.default_rng(3).uniform(-0.5, 0.5, (VERTICES, 3))
    centers = np.where(own[:, None], given["rest_positions"].astype(np.float64), elsewhere)
    return sbs.Skin(**given, centers=centers, joint_count=JOINTS)


SOME = np.arange(VERTICES) % 3 == 0
NONE = np.zeros(VERTICES, bool)


@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize("rotation", ["qlerp", "average"])
@pytest.mark.parametrize("dtype", ROUNDING)
def test_they_are_blended_linearly(dtype: Precision, rotation: Rotation, kind: str) -> None:
    skin, matrices = skin_with_centers(dtype, SOME), skinning_matrices(kind)
    found = skin.deform(matrices, center="optimized", rotation=rotation, normals=True)
    linear = skin.deform(matrices, method="linear", normals=True)
    for mine, wanted in zip(found, linear, strict=True):
        np.testing.assert_allclose(mine[SOME], wanted[SOME], rtol=0, atol=ROUNDING[dtype])
    assert np.abs(found[0] - linear[0])[~SOME].max() > 0.01, "the others are to be moved by another formula"


@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize("options", [{}, {"center": "weighted"}, {"method": "dual_quaternion"}, {"method": "linear"}])
def test_they_change_nothing_for_others_and_other_formulas(options: MethodOptions, kind: str) -> None:
    matrices = skinning_matrices(kind)
    some, none = (skin_with_centers(np.float32, own) for own in (SOME, NONE))
    for mine, wanted in zip(*(skin.deform(matrices, normals=True, **options) for skin in (some, none)), strict=True):
        np.testing.assert_array_equal(mine, wanted)
    for mine, wanted in zip(
        *(skin.deform(matrices, center="optimized", normals=True) for skin in (some, none)), strict=True
    ):
        np.testing.assert_array_equal(mine[~SOME], wanted[~SOME])


def test_joint_sets_are_what_they_were() -> None:
    some, none = (skin_with_centers(np.float32, own) for own in (SOME, NONE))
    assert some.joint_sets == none.joint_sets
    np.testing.assert_array_equal(some.joint_set_of_vertex, none.joint_set_of_vertex)


@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize("dtype", ROUNDING)
def test_inverse(dtype: Precision, kind: str) -> None:
    skin, matrices = skin_with_centers(dtype, SOME), skinning_matrices(kind)
    posed = skin.deform(matrices, center="optimized")
    found = skin.inverse_deform(posed, matrices, center="optimized")
    # A blend of rotations may flatten space a lot, and its inverse takes the roundings with it.
    np.testing.assert_allclose(found[SOME], skin.rest_positions[SOME], rtol=0, atol=100 * ROUNDING[dtype])


def test_other_weights() -> None:
    """A new skin and an updated one give the same bits."""
    skin, matrices = skin_with_centers(np.float32, SOME), skinning_matrices("rigid")
    vertices = np.arange(0, VERTICES, 7)
    weights = skin.joint_weights.copy()
    weights[vertices] = np.roll(weights[vertices], 1, axis=1)
    updated = skin.update_weights(skin.joint_indices[vertices], weights[vertices], vertices=vertices)
    given = arrays(np.float32)
    given |= {"joint_indices": skin.joint_indices, "joint_weights": weights}
    anew = sbs.Skin(**given, centers=skin.centers, joint_count=JOINTS)
    found, expected = (item.deform(matrices, center="optimized") for item in (updated, anew))
    np.testing.assert_array_equal(found, expected)
