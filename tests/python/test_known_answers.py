# SPDX-License-Identifier: MIT
"""Results that can be worked out by hand."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from meshes import Precision
from numpy.typing import ArrayLike

import sbs
from sbs.options import Method

# A few roundings of double in numbers of about 1.
EXACT = 1e-15

DTYPES = [np.float64, np.float32]
METHODS = ["rigid", "linear", "spherical", "dual_quaternion"]
ROTATING_METHODS: list[Method] = ["spherical", "dual_quaternion"]
BLENDING_METHODS = ["linear", *ROTATING_METHODS]


def rotation_about_x(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def rotation_about_z(angle: float, center: ArrayLike = (0, 0, 0)) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    matrix = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    matrix[:3, 3] = np.asarray(center) - matrix[:3, :3] @ np.asarray(center)
    return matrix


def translation(*shift: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = shift
    return matrix


def two_joints(
    positions: Sequence[Sequence[float]] | np.ndarray,
    second_weights: ArrayLike,
    dtype: Precision = np.float64,
    **keywords: Any,
) -> sbs.Skin:
    """Bind vertices to joints 0 and 1, with the given weights of joint 1."""
    second = np.broadcast_to(np.asarray(second_weights, dtype=float), len(positions))
    weights = np.stack([1 - second, second], axis=1)
    return sbs.Skin(np.asarray(positions, dtype=dtype), [[0, 1]] * len(positions), weights, **keywords)


@pytest.mark.parametrize("dtype", DTYPES)
def test_linear_blending_divides_the_segment(dtype: Precision) -> None:
    # The upper arm moves (4, 1) by (-1, 0) to (3, 1); the forearm turns it by 90 degrees to (-1, 4) and moves it on to
    # (5, 1). At weights 0.8 and 0.2 that gives 0.8 (3, 1) + 0.2 (5, 1) = (3.4, 1).
    upper_arm = translation(-1, 0, 0)
    forearm = translation(6, -3, 0) @ np.array([[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    skin = two_joints([[4, 1, 0]] * 3, [0, 1, 0.2], dtype)
    deformed = skin.deform(np.stack([upper_arm, forearm]), method="linear")
    np.testing.assert_allclose(deformed[:2], [[3, 1, 0], [5, 1, 0]], atol=EXACT)
    np.testing.assert_allclose(deformed[2], [3.4, 1, 0], atol=4 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trivial", [False, True])
def test_a_twist_by_180_degrees_collapses_linearly_and_keeps_its_radius_spherically(
    dtype: Precision, trivial: bool
) -> None:
    # A sleeve of radius 2 around the x axis, half of which turns by half a turn. Which way round the other half follows
    # is open at 180 degrees; the radius is not.
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    sleeve = np.stack([np.linspace(-1, 1, 12), 2 * np.cos(angles), 2 * np.sin(angles)], axis=1)
    skeleton = {"parents": [-1, 0], "joint_positions": [[0, 0, 0], [0.5, 0, 0]]} if trivial else {}
    skin = two_joints(sleeve, 0.5, dtype, **skeleton)
    matrices = np.stack([np.eye(4), rotation_about_x(np.pi)])
    tolerance = 8 * float(np.finfo(dtype).eps)

    linear = skin.deform(matrices, method="linear")
    np.testing.assert_allclose(linear[:, 1:], 0, atol=tolerance)
    for method in ROTATING_METHODS:
        deformed = skin.deform(matrices, method=method)
        np.testing.assert_allclose(np.linalg.norm(deformed[:, 1:], axis=1), 2, atol=tolerance)
    np.testing.assert_allclose(deformed[:, 0], sleeve[:, 0], atol=tolerance)


@pytest.mark.parametrize("method", ROTATING_METHODS)
def test_a_twist_by_90_degrees_is_halved_at_equal_weights(method: Method) -> None:
    # At equal weights QLERP halves an angle exactly, as SLERP does.
    skin = two_joints([[3, 1, 0]], 0.5, rest_normals=[[0, 2, 0]])
    matrices = np.stack([np.eye(4), rotation_about_x(np.pi / 2)])
    position, normal = skin.deform(matrices, method=method, normals=True)
    half = math.sqrt(0.5)
    np.testing.assert_allclose(position, [[3, half, half]], atol=EXACT)
    np.testing.assert_allclose(normal, [[0, half, half]], atol=EXACT)


def test_an_elbow_runs_along_a_circular_arc_around_the_joint() -> None:
    # Figure 1 of the paper: an elbow at (2, 0, 0), bent by 120 degrees; the vertex 1 above it runs on a circle around
    # it. At weight 1/2 it has turned by 60 degrees, from (0, 1) to (-sin 60, cos 60).
    elbow = np.array([2.0, 0, 0])
    skin = two_joints([[2, 1, 0]] * 9, np.linspace(0, 1, 9), parents=[-1, 0], joint_positions=[[0, 0, 0], elbow])
    matrices = np.stack([np.eye(4), rotation_about_z(np.radians(120), elbow)])
    deformed = skin.deform(matrices)
    np.testing.assert_allclose(np.linalg.norm(deformed - elbow, axis=1), 1, atol=4 * EXACT)
    np.testing.assert_allclose(deformed[4], [2 - math.sin(np.pi / 3), math.cos(np.pi / 3), 0], atol=4 * EXACT)
    np.testing.assert_array_equal(skin.rotation_centers(matrices)[skin.joint_sets.index((0, 1))], elbow)
    assert skin.pose_report(matrices).solves == 0


def test_the_center_is_where_two_axes_meet() -> None:
    # Three joints that turn about different axes through (1, 2, 3): all leave that point where it is.
    center = np.array([1.0, 2, 3])
    axes = [rotation_about_x(0.7), rotation_about_z(-1.1), rotation_about_x(-0.4) @ rotation_about_z(0.9)]
    matrices = np.stack([translation(*center) @ turn @ translation(*-center) for turn in axes])
    skin = sbs.Skin([[0.0, 0, 0], [1.0, 1, 1]], [[0, 1, 2]] * 2, [[0.2, 0.3, 0.5]] * 2)
    # Damping of 1e-8 pulls the center by about that share from (1, 2, 3) towards the vertices' mean, 3.4 away.
    np.testing.assert_allclose(skin.rotation_centers(matrices), [center], atol=1e-7)
    np.testing.assert_allclose(skin.rotation_centers(matrices, damping=1e-14), [center], atol=1e-12)
    np.testing.assert_allclose(skin.rotation_centers(matrices, rcond=1e-3), [center], atol=1e-14)
    assert skin.pose_report(matrices).solves == 1


def test_an_undetermined_center_is_the_mean_of_the_vertices() -> None:
    # No relative rotation: every point is moved alike.
    skin = two_joints([[0, 0, 0], [2, 4, 6]], 0.5)
    matrices = np.stack([translation(1, 0, 0), translation(0, 1, 0)])
    for rcond in (None, 1e-3):
        np.testing.assert_array_equal(skin.rotation_centers(matrices, rcond=rcond), [[1, 2, 3]])
        found = skin.deform(matrices, rcond=rcond)
        np.testing.assert_allclose(found, np.array([[0.5, 0.5, 0], [2.5, 4.5, 6]]), atol=EXACT)


@pytest.mark.parametrize("method", BLENDING_METHODS)
def test_translations_are_blended_linearly(method: Method) -> None:
    skin = two_joints([[1, 2, 3]], 0.25)
    deformed = skin.deform(np.stack([translation(0, 0, 0), translation(4, -8, 2)]), method=method)
    np.testing.assert_allclose(deformed, [[2, 0, 3.5]], atol=EXACT)


@pytest.mark.parametrize("method", BLENDING_METHODS)
def test_uniform_scales_are_blended_linearly(method: Method) -> None:
    # Scales of 1 and 3 about the origin, at weights 1/2: 2.
    skin = two_joints([[1, 2, 3]], 0.5, rest_normals=[[0, 3, 4]])
    matrices = np.stack([np.eye(4), np.diag([3.0, 3, 3, 1])])
    position, normal = skin.deform(matrices, method=method, normals=True)
    np.testing.assert_allclose(position, [[2, 4, 6]], atol=2 * EXACT)
    np.testing.assert_allclose(normal, [[0, 0.6, 0.8]], atol=EXACT)
    assert skin.pose_report(matrices).nonrigid_joints == 1


@pytest.mark.parametrize("method", METHODS)
def test_normals_are_scaled_inversely(method: Method) -> None:
    # The plane x + y = const, stretched to twice its size along x: x / 2 + y = const.
    skin = sbs.Skin([[1.0, 1, 0]], [[0]], [[1.0]], rest_normals=[[5.0, 5, 0]])
    _, normal = skin.deform(np.diag([2.0, 1, 1, 1])[None], method=method, normals=True)
    np.testing.assert_allclose(normal, [[0.5 / math.sqrt(1.25), 1 / math.sqrt(1.25), 0]], atol=EXACT)


@pytest.mark.parametrize("method", METHODS)
def test_a_joint_that_is_scaled_flat_keeps_the_normals_that_it_can(method: Method) -> None:
    # Everything is pressed into the plane z = 0, whose normal is z: the adjugate of diag(1, 1, 0) is diag(0, 0, 1).
    skin = sbs.Skin([[1.0, 2, 3]], [[0]], [[1.0]], rest_normals=[[1.0, 2, 2]])
    position, normal = skin.deform(np.diag([1.0, 1, 0, 1])[None], method=method, normals=True)
    np.testing.assert_allclose(position, [[1, 2, 0]], atol=EXACT)
    np.testing.assert_allclose(normal, [[0, 0, 1]], atol=EXACT)


@pytest.mark.parametrize("method", METHODS)
def test_a_joint_that_is_scaled_to_nothing_moves_its_vertices_to_one_point(method: Method) -> None:
    skin = sbs.Skin([[1.0, 2, 3], [4.0, 5, 6]], [[0], [0]], [[1.0], [1.0]])
    matrix = np.zeros((1, 4, 4))
    matrix[0, :, 3] = [7, 8, 9, 1]
    np.testing.assert_allclose(skin.deform(matrix, method=method), [[7, 8, 9]] * 2, atol=8 * EXACT)


@pytest.mark.parametrize("method", METHODS)
def test_a_mirrored_character_is_the_mirror_image(method: Method) -> None:
    skin = two_joints([[1, 2, 3]], 0.25, rest_normals=[[0, 0, 1]])
    matrices = np.stack([rotation_about_x(0.5), translation(1, 0, 0) @ rotation_about_z(0.8)])
    mirror = np.diag([-1.0, 1, 1, 1])
    position, normal = skin.deform(matrices, method=method, normals=True)
    image_position, image_normal = skin.deform(mirror @ matrices, method=method, normals=True)
    np.testing.assert_allclose(image_position, position * [-1, 1, 1], atol=4 * EXACT)
    np.testing.assert_allclose(image_normal, normal * [-1, 1, 1], atol=4 * EXACT)


def test_the_rigid_method_follows_the_heaviest_joint() -> None:
    # Of joints that weigh the same, the one of the lowest index.
    skin = sbs.Skin([[1.0, 0, 0]] * 3, [[0, 1], [0, 1], [1, 0]], [[0.6, 0.4], [0.4, 0.6], [0.5, 0.5]])
    deformed = skin.deform(np.stack([np.eye(4), translation(0, 5, 0)]), method="rigid")
    np.testing.assert_array_equal(deformed, [[1, 0, 0], [1, 5, 0], [1, 0, 0]])


def test_signs_follow_the_heaviest_joint() -> None:
    # Joints turned by 0, 120 and 240 degrees about x, that is -120 from the first: from joint 0, joint 1 lies 120
    # degrees ahead and joint 2 as far behind, so that equal weights of theirs cancel. From joint 1, joint 0 lies 120
    # behind and joint 2 120 ahead: the vertex turns by 120.
    skin = sbs.Skin([[0.0, 1, 0]] * 2, [[0, 1, 2]] * 2, [[0.4, 0.3, 0.3], [0.3, 0.4, 0.3]])
    matrices = np.stack([rotation_about_x(np.radians(angle)) for angle in (0, 120, 240)])
    for method in ROTATING_METHODS:
        deformed = skin.deform(matrices, method=method)
        expected = [[0, math.cos(np.radians(angle)), math.sin(np.radians(angle))] for angle in (0, 120)]
        np.testing.assert_allclose(deformed, expected, atol=4 * EXACT)


def test_qlerp_leaves_slerp_by_at_most_0_1423_rad() -> None:
    # Section 4.1: worst where the quaternions are orthogonal, so for a relative rotation of 180 degrees (a little less
    # here, so that the sign is clear), at t = 1/2 -+ sqrt(1/pi - 1/4) = 0.2386, 0.7614. There QLERP has turned by
    # 2 atan(t / (1 - t)), SLERP by pi t: 0.14223 rad apart.
    t = np.linspace(0, 1, 100_001)
    turn = np.pi - 1e-9
    skin = two_joints(np.tile([0.0, 1, 0], (len(t), 1)), t)
    deformed = skin.deform(np.stack([np.eye(4), rotation_about_x(turn)]))
    difference = np.arctan2(deformed[:, 2], deformed[:, 1]) - turn * t

    assert 0.1422 < np.abs(difference).max() <= 0.1423
    assert abs(t[np.argmin(difference)] - 0.2386) < 1e-4
    assert abs(t[np.argmax(difference)] - 0.7614) < 1e-4
    closed_form = 2 * np.arctan2(t * math.sin(turn / 2), 1 - t + t * math.cos(turn / 2)) - turn * t
    np.testing.assert_allclose(difference, closed_form, atol=1e-12)  # atan2 near pi: a few eps of pi
