# SPDX-License-Identifier: MIT
"""The reference itself: properties that follow from the formulas, at the precision the other tests rely on."""

import platform
import sys

import numpy as np
import pytest
from reference import (
    METHODS,
    REAL,
    Mesh,
    Pose,
    formula_9,
    length,
    quaternion,
    rotation_and_stretch,
    rotation_matrix,
    transform,
)

from sbs.options import Method

# The other tests allow 1e-12 of the size to the library: the reference must be better by an order of magnitude.
TOLERANCE = 1e-13


def random_pose(seed: int, joint_count: int = 4, *, rigid: bool = True) -> Pose:
    """A cloud of 20 vertices of size 3, all moved by all joints, turned and shifted at random."""
    generator = np.random.default_rng(seed)
    vertices = generator.uniform(-1, 1, (20, 3))
    mesh = Mesh(
        vertices,
        np.tile(np.arange(joint_count), (20, 1)),
        generator.uniform(0.1, 1, (20, joint_count)),
        rest_normals=generator.normal(size=(20, 3)),
    )
    quaternions = generator.normal(size=(joint_count, 4))
    rotations = np.stack([rotation_matrix(q / np.linalg.norm(q)) for q in quaternions])
    if not rigid:
        rotations = rotations * generator.uniform(0.5, 2, (joint_count, 1, 3))
    return Pose(mesh, np.concatenate([rotations, generator.normal(size=(joint_count, 3, 1))], axis=2))


def moved(pose: Pose, matrix: np.ndarray) -> Pose:
    """The same pose after a motion (3, 4) of the whole scene."""
    matrices = []
    for joint in pose.joints:
        shift = transform(matrix, joint.given[:, 3])
        matrices.append(np.column_stack([matrix[:, :3] @ joint.given[:, :3], shift]))
    return Pose(pose.mesh, np.array(matrices))


def test_the_arithmetic_is_extended_where_there_is_such() -> None:
    """Microsoft's compilers have no long double but double, and neither has Apple's for arm64."""
    has_none = sys.platform == "win32" or (sys.platform == "darwin" and platform.machine() == "arm64")
    assert np.finfo(REAL).eps == np.finfo(np.float64).eps if has_none else np.finfo(REAL).eps < 1e-18


@pytest.mark.parametrize("seed", range(5))
def test_blended_matrices_in_formula_9_give_linear_skinning(seed: int) -> None:
    pose = random_pose(seed)
    center = np.array([REAL(3), REAL(-5), REAL(7)])  # any: it cancels
    for vertex, influences in enumerate(pose.mesh.influences):
        matrices = [pose.joints[joint].matrix for joint in influences]
        weights = list(influences.values())
        blended = sum(w * matrix[:, :3] for w, matrix in zip(weights, matrices, strict=True))
        position = formula_9(blended, pose.mesh.rest_positions[vertex], center, weights, matrices)
        assert length(position - pose.position(vertex, "linear")) < TOLERANCE


@pytest.mark.parametrize("rigid", [True, False])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("distance", [0, 10_000])
def test_a_rigid_motion_of_the_scene_commutes(distance: int, method: Method, rigid: bool) -> None:
    pose = random_pose(7, rigid=rigid)
    motion = np.column_stack([rotation_matrix(np.array([0.1, 0.7, -0.3, 0.6])), [distance, -distance, distance / 2]])
    far = moved(pose, motion.astype(REAL))
    # A number of the size of the distance is rounded to eps of it; some ten are added up.
    rounding = 10 * np.finfo(REAL).eps * distance
    for vertex in range(20):
        expected = transform(motion, pose.position(vertex, method))
        assert length(far.position(vertex, method) - expected) < TOLERANCE + rounding
        assert length(far.normal(vertex, method) - motion[:, :3] @ pose.normal(vertex, method)) < TOLERANCE


@pytest.mark.parametrize("method", METHODS)
def test_a_mirrored_scene_is_the_mirror_image(method: Method) -> None:
    pose = random_pose(3, rigid=False)
    mirror = np.diag([-1, 1, 1, 1])[:3].astype(REAL)
    image = moved(pose, mirror)
    for vertex in range(20):
        assert length(image.position(vertex, method) - transform(mirror, pose.position(vertex, method))) < TOLERANCE


def test_two_joints_may_put_their_center_anywhere_on_the_axis() -> None:
    pose = random_pose(11, joint_count=2)
    a, b = (joint.rotation for joint in pose.joints)
    axis = quaternion(a.T @ b)[1:]
    center = pose.center((0, 1))
    for vertex, influences in enumerate(pose.mesh.influences):
        rotation = rotation_matrix(pose.blended_quaternion(vertex))
        matrices = [joint.matrix for joint in pose.joints]
        arguments = list(influences.values()), matrices
        here = formula_9(rotation, pose.mesh.rest_positions[vertex], center, *arguments)
        there = formula_9(rotation, pose.mesh.rest_positions[vertex], center + 5 * axis, *arguments)
        assert length(here - there) < TOLERANCE


@pytest.mark.parametrize("scale", [[1, 1, 1], [2, 0.5, 3], [1, 1e-6, 1], [-1, -2, -3], [1, 1, 0]])
def test_a_matrix_is_rotation_times_stretch(scale: list[float]) -> None:
    turn = rotation_matrix(np.array([0.3, -0.2, 0.9, 0.1])).astype(REAL)
    matrix = turn @ np.diag(scale).astype(REAL)
    rotation, stretch = rotation_and_stretch(matrix)
    np.testing.assert_allclose(rotation.astype(float), turn.astype(float), atol=TOLERANCE)
    np.testing.assert_allclose(stretch.astype(float), np.diag(scale), atol=TOLERANCE)
    np.testing.assert_allclose((rotation @ stretch).astype(float), matrix.astype(float), atol=TOLERANCE)


@pytest.mark.parametrize("largest", range(4))
def test_quaternions_give_back_their_matrix(largest: int) -> None:
    q = np.array([0.2, -0.3, 0.1, 0.25])
    q[largest] = 0.9
    matrix = rotation_matrix(q.astype(REAL))
    np.testing.assert_allclose(rotation_matrix(quaternion(matrix)).astype(float), matrix.astype(float), atol=TOLERANCE)
