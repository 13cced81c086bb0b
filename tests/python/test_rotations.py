# SPDX-License-Identifier: MIT
"""Rotations, held against SciPy's and against themselves.

Tolerances: entries of a matrix and components of a quaternion are sums of a few products of numbers up to 1, so some 10
roundings of double, 1e-14 with room. Angles near gimbal lock are not that good; matrices made of them are.
"""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sbs import rotations

TAIT_BRYAN = ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]
PROPER = ["XYX", "XZX", "YXY", "YZY", "ZXZ", "ZYZ"]
SEQUENCES = [*TAIT_BRYAN, *PROPER, *map(str.lower, TAIT_BRYAN), *map(str.lower, PROPER)]
TOLERANCE = 1e-14

angles = st.floats(-10.0, 10.0)
right_angles = st.sampled_from(np.radians([-180.0, -90.0, 0.0, 90.0, 180.0]).tolist())
components = st.floats(-1e3, 1e3).filter(lambda value: value == 0.0 or abs(value) > 1e-3)


def quarter_turn(axis: int) -> np.ndarray:
    """By 90 degrees, from the next axis to the one after it, written out."""
    matrix = np.zeros((3, 3))
    matrix[axis, axis] = matrix[(axis + 2) % 3, (axis + 1) % 3] = 1.0
    matrix[(axis + 1) % 3, (axis + 2) % 3] = -1.0
    return matrix


def as_scipy(quaternions: np.ndarray) -> Rotation:
    return Rotation.from_quat(np.roll(quaternions, -1, axis=-1))  # SciPy has w last


# -------------------------------------------------------------------------------------------------------------- Euler


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_quarter_turns_by_hand(sequence: str) -> None:
    factors = [quarter_turn("xyz".index(letter)) for letter in sequence.lower()]
    if sequence.islower():
        factors.reverse()
    matrices = rotations.matrices_from_euler([90.0, 90.0, 90.0], sequence, degrees=True)
    np.testing.assert_allclose(matrices, factors[0] @ factors[1] @ factors[2], atol=TOLERANCE)


@pytest.mark.parametrize("sequence", SEQUENCES)
@settings(max_examples=25)
@given(st.tuples(angles | right_angles, angles | right_angles, angles | right_angles))
def test_euler_gives_the_matrix_back(sequence: str, triple: tuple[float, float, float]) -> None:
    """Also in gimbal lock, and next to it."""
    matrix = rotations.matrices_from_euler(triple, sequence)
    again = rotations.euler_from_matrices(matrix, sequence)
    np.testing.assert_allclose(rotations.matrices_from_euler(again, sequence), matrix, atol=TOLERANCE)
    low, high = (-np.pi / 2, np.pi / 2) if sequence.upper() in TAIT_BRYAN else (0.0, np.pi)
    assert low <= again[1] <= high
    assert np.all(np.abs(again) <= np.pi)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_against_scipy(sequence: str) -> None:
    """Away from gimbal lock, where the angles are unique."""
    middle = np.pi / 2 if sequence.upper() in PROPER else 0.0
    low, high = [-3.1, middle - 1.5, -3.1], [3.1, middle + 1.5, 3.1]
    triples = np.random.default_rng(2).uniform(low, high, (1000, 3))
    matrices = Rotation.from_euler(sequence, triples).as_matrix()
    np.testing.assert_allclose(rotations.matrices_from_euler(triples, sequence), matrices, atol=TOLERANCE)
    # within 0.07 of the lock a rounding of the matrix counts up to 14 times
    np.testing.assert_allclose(rotations.euler_from_matrices(matrices, sequence), triples, atol=1e-13)
    expected = Rotation.from_matrix(matrices).as_euler(sequence, degrees=True)
    actual = rotations.euler_from_matrices(matrices, sequence, degrees=True)
    np.testing.assert_allclose(actual, expected, atol=1e-11)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_gimbal_lock_puts_one_angle_to_zero(sequence: str) -> None:
    locked = 90.0 if sequence.upper() in TAIT_BRYAN else 180.0
    matrix = rotations.matrices_from_euler([20.0, locked, 30.0], sequence, degrees=True)
    first, second, third = rotations.euler_from_matrices(matrix, sequence, degrees=True)
    assert second == pytest.approx(locked)
    assert (first if sequence.isupper() else third) == 0.0


@pytest.mark.parametrize("sequence", ["", "XY", "XYZX", "XYy", "XxZ", "XXY", "XYY", "xyZ", "ABC", "X Z"])
def test_unknown_sequences(sequence: str) -> None:
    with pytest.raises(ValueError, match=f"sequence must be three of X, Y, Z or three of x, y, z.*, not {sequence!r}"):
        rotations.matrices_from_euler([0.0, 0.0, 0.0], sequence)
    with pytest.raises(ValueError, match="sequence must be"):
        rotations.euler_from_matrices(np.eye(3), sequence)


# -------------------------------------------------------------------------------------------------------- quaternions


@given(st.tuples(components, components, components, components).filter(any))
def test_matrices_from_quaternions_against_scipy(numbers: tuple[float, ...]) -> None:
    quaternion = np.array(numbers)
    matrix = rotations.matrices_from_quaternions(quaternion)
    np.testing.assert_allclose(matrix, as_scipy(quaternion).as_matrix(), atol=TOLERANCE)
    np.testing.assert_array_equal(rotations.matrices_from_quaternions(-quaternion), matrix)
    for scale in (1e-200, 1e200):
        np.testing.assert_allclose(rotations.matrices_from_quaternions(scale * quaternion), matrix, atol=TOLERANCE)


@given(st.tuples(components, components, components, components).filter(any))
def test_quaternions_from_matrices_give_the_quaternion_back(quaternion: tuple[float, ...]) -> None:
    unit = np.array(quaternion) / np.linalg.norm(quaternion)
    actual = rotations.quaternions_from_matrices(as_scipy(unit).as_matrix())
    assert actual[0] >= 0.0
    assert np.linalg.norm(actual) == pytest.approx(1.0, abs=TOLERANCE)
    np.testing.assert_allclose(actual * np.sign(actual @ unit), unit, atol=TOLERANCE)


def test_half_turns() -> None:
    """Where w is 0, and where two or three components are equally large."""
    axes = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, -1], [1, -1, 1]]) / 1.0
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    matrices = 2.0 * axes[:, :, None] * axes[:, None, :] - np.eye(3)
    quaternions = rotations.quaternions_from_matrices(matrices)
    np.testing.assert_allclose(quaternions[:, 0], 0.0, atol=TOLERANCE)
    np.testing.assert_allclose(np.abs(np.sum(quaternions[:, 1:] * axes, axis=1)), 1.0, atol=TOLERANCE)
    np.testing.assert_allclose(rotations.matrices_from_quaternions(quaternions), matrices, atol=TOLERANCE)


# ----------------------------------------------------------------------------------------------------- axis and angle


@given(st.tuples(components, components, components).filter(any), angles)
def test_axis_angle_against_scipy(axis: tuple[float, ...], angle: float) -> None:
    expected = Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis)).as_matrix()
    np.testing.assert_allclose(rotations.matrices_from_axis_angle(axis, angle), expected, atol=TOLERANCE)
    by_degrees = rotations.matrices_from_axis_angle(axis, np.degrees(angle), degrees=True)
    np.testing.assert_allclose(by_degrees, expected, atol=TOLERANCE)


def test_axes_and_angles_broadcast() -> None:
    angles = np.linspace(-2.0, 2.0, 5)
    matrices = rotations.matrices_from_axis_angle([0.0, 0.0, 2.0], angles)
    np.testing.assert_allclose(
        matrices, rotations.matrices_from_euler(angles[:, None] * [0, 0, 1], "XYZ"), atol=TOLERANCE
    )
    axes = np.eye(3)[:, None, :]
    assert rotations.matrices_from_axis_angle(axes, angles).shape == (3, 5, 3, 3)
    assert rotations.matrices_from_axis_angle(np.eye(3), 0.5).shape == (3, 3, 3)


# ------------------------------------------------------------------------------------------------------------- stacks


def test_stacks_are_their_elements() -> None:
    triples = np.random.default_rng(3).normal(size=(4, 2, 3))
    for sequence in ("XYZ", "zxz"):
        matrices = rotations.matrices_from_euler(triples, sequence)
        quaternions = rotations.quaternions_from_matrices(matrices)
        again = rotations.euler_from_matrices(matrices, sequence)
        assert (matrices.shape, quaternions.shape, again.shape) == ((4, 2, 3, 3), (4, 2, 4), (4, 2, 3))
        for index in np.ndindex(4, 2):
            np.testing.assert_array_equal(matrices[index], rotations.matrices_from_euler(triples[index], sequence))
            np.testing.assert_array_equal(quaternions[index], rotations.quaternions_from_matrices(matrices[index]))
            np.testing.assert_array_equal(again[index], rotations.euler_from_matrices(matrices[index], sequence))


def test_bad_input() -> None:
    spoilt = [[[1.0, 0.0, 0.0, 0.0], [0.0, np.nan, 0.0, 0.0]]]
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: rotations.matrices_from_euler([1.0, 2.0], "XYZ"), r"angles.*\(2,\)"),
        (lambda: rotations.euler_from_matrices(np.eye(4), "XYZ"), r"matrices.*\(4, 4\)"),
        (lambda: rotations.quaternions_from_matrices(np.zeros(3)), r"matrices.*\(3,\)"),
        (lambda: rotations.matrices_from_quaternions([1, 0, 0]), r"quaternions.*\(3,\)"),
        (lambda: rotations.matrices_from_quaternions([0, 0, 0, 0]), "quaternions"),
        (lambda: rotations.matrices_from_quaternions(spoilt), r"quaternions\[0, 1\]"),
        (lambda: rotations.matrices_from_axis_angle([[1, 0, 0], [0, 0, 0]], 1.0), r"axes\[1\]"),
        (lambda: rotations.matrices_from_axis_angle([1, 0], 1.0), r"axes.*\(2,\)"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()
