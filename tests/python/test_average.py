# SPDX-License-Identifier: MIT
"""The spherical average of rotations: what it is of two, where it is of more, and near 180 degrees."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from meshes import Precision

import sbs
from sbs import rotations
from sbs.options import Center

DTYPES: list[Precision] = [np.float64, np.float32]
CENTERS = ["joint_set", "weighted"]

# Entries of rotation matrices: some ten operations in a row on numbers of up to 1, and in float32 the last step of the
# iteration, whose square remains.
ROUNDING = {np.float64: 1e-14, np.float32: 2e-6}


def blended(quaternions: np.ndarray, weights: np.ndarray, dtype: Precision, center: Center = "joint_set") -> np.ndarray:
    """(V, 3, 3): how vertices of these weights (V, K) are rotated, read from the normals of three at each place."""
    joints, count = len(quaternions), len(weights)
    matrices = np.tile(np.eye(4), (joints, 1, 1))
    matrices[:, :3, :3] = rotations.matrices_from_quaternions(quaternions)
    skin = sbs.Skin(
        np.linspace(0, 1, 3 * count)[:, None].repeat(3, axis=1).astype(dtype),
        np.tile(np.arange(joints), (3 * count, 1)),
        np.repeat(weights, 3, axis=0).astype(dtype),
        rest_normals=np.tile(np.eye(3, dtype=dtype), (count, 1)),
    )
    _, normals = skin.deform(matrices, normals=True, rotation="average", center=center)
    return np.swapaxes(normals.reshape(count, 3, 3), 1, 2)


def random_quaternions(generator: np.random.Generator, count: int, spread: float) -> np.ndarray:
    """Unit quaternions (count, 4) of turns by up to `spread` radians about any axes, from a common one on."""
    axes = generator.normal(size=(count, 3))
    half = generator.uniform(0.1, 0.5, count)[:, None] * spread
    turns = np.concatenate([np.cos(half), np.sin(half) * axes / np.linalg.norm(axes, axis=1, keepdims=True)], axis=1)
    common = generator.normal(size=4)
    return np.array([product(turn, common / np.linalg.norm(common)) for turn in turns])


def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    both: np.ndarray = np.r_[p[0] * q[0] - p[1:] @ q[1:], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])]
    return both


def logarithm(q: np.ndarray) -> np.ndarray:
    sine = np.linalg.norm(q[1:])
    return q[1:] * (np.arctan2(sine, q[0]) / sine if sine else 1)


def residual(matrix: np.ndarray, quaternions: np.ndarray, weights: np.ndarray) -> float:
    """|sum w_i log(q* q_i)|, signs as the heaviest quaternion has them, at the rotation of a matrix."""
    signed = quaternions * np.where(quaternions @ quaternions[np.argmax(weights)] < 0, -1, 1)[:, None]
    q = rotations.quaternions_from_matrices(matrix.astype(np.float64))
    if q @ (weights @ signed) < 0:
        q = -q
    inverse = q * [1, -1, -1, -1]
    return float(np.linalg.norm(sum(w * logarithm(product(inverse, p)) for w, p in zip(weights, signed, strict=True))))


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("degrees", [0, 1e-6, 30, 90, 170, 179.999, 180])
def test_of_two_it_is_slerp(degrees: float, dtype: Precision, center: Center) -> None:
    """A joint turns about z, the other rests: a weight of w turns by w times the angle."""
    weights = np.array([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])
    rest = np.array([[2, 0, 1], [0, 1, -3], [1, 1, 0], [-1, 0.5, 2], [3, 0, 0], [0.25, -2, 5]], dtype)
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, :3, :3] = rotations.matrices_from_axis_angle([0, 0, 1], degrees, degrees=True)
    skin = sbs.Skin(
        rest,
        np.tile([0, 1], (6, 1)),
        np.stack([1 - weights, weights], axis=1).astype(dtype),
        parents=[-1, 0],
        joint_positions=np.zeros((2, 3)),
    )
    turned = skin.deform(matrices, rotation="average", center=center).astype(np.float64)
    angles = np.radians(degrees) * weights
    if degrees == 180:  # either way round is as short, but one for all
        angles *= np.sign(turned[3] @ np.cross([0, 0, 1], rest[3]))
    cosine, sine = np.cos(angles), np.sin(angles)
    expected = np.stack([cosine * rest[:, 0] - sine * rest[:, 1], sine * rest[:, 0] + cosine * rest[:, 1], rest[:, 2]])
    # A weighted center is a little off the axis: its damping moves a vertex by up to 1e-6 / 8 of its distance.
    damping = 1e-6 if center == "weighted" else 0
    np.testing.assert_allclose(turned, expected.T, rtol=0, atol=5 * ROUNDING[dtype] + damping)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("joints", [3, 4, 5, 9])
@pytest.mark.parametrize("spread", [1e-3, 0.5, 2.0, 3.1])
def test_of_more_their_logarithms_cancel(joints: int, spread: float, dtype: Precision) -> None:
    generator = np.random.default_rng(joints)
    quaternions = random_quaternions(generator, joints, spread)
    weights = generator.dirichlet(np.ones(joints), 50).astype(dtype)
    for matrix, row in zip(blended(quaternions, weights, dtype), weights.astype(np.float64), strict=True):
        assert residual(matrix, quaternions, row / row.sum()) < ROUNDING[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("degrees", [None, 100, 150, 179])
def test_quaternions_far_apart(degrees: float | None, dtype: Precision) -> None:
    """Half turns about three axes are at right angles on the sphere; turns to both sides of the heaviest beyond."""
    quaternions = np.eye(4)
    weights = np.array([[0.4, 0.3, 0.2, 0.1], [0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.1, 0.1], [0.5, 0.5, 0, 0]], dtype)
    if degrees is not None:
        cosine, sine = np.cos(np.radians(degrees) / 2), np.sin(np.radians(degrees) / 2)
        quaternions = np.array([[1, 0, 0, 0], [cosine, sine, 0, 0], [cosine, -sine, 0.1, 0]])
        quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
        assert quaternions[1] @ quaternions[2] < 0
        weights = np.array([[0.4, 0.3, 0.3], [0.5, 0.49, 0.01], [0.5, 0.01, 0.49], [0.34, 0.33, 0.33]], dtype)
    for matrix, row in zip(blended(quaternions, weights, dtype), weights.astype(np.float64), strict=True):
        assert residual(matrix, quaternions, row / row.sum()) < ROUNDING[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_vertex_does_not_depend_on_its_neighbors(dtype: Precision) -> None:
    """Lanes of a vector iterate together: one that converges at once beside one that takes its time, and without it."""
    quaternions = random_quaternions(np.random.default_rng(4), 4, 3.0)
    easy, hard = np.array([[0.97, 0.01, 0.01, 0.01]]), np.array([[0.4, 0.2, 0.2, 0.2]])
    together = blended(quaternions, np.concatenate([easy, hard] * 8), dtype)
    assert together[0].tobytes() == blended(quaternions, easy, dtype)[0].tobytes()
    assert together[1].tobytes() == blended(quaternions, hard, dtype)[0].tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_influence_that_fades_out_takes_nothing_with_it(dtype: Precision) -> None:
    quaternions = random_quaternions(np.random.default_rng(6), 4, 2.5)
    rotate = partial(blended, dtype=dtype)
    without = rotate(quaternions[:3], np.array([[0.5, 0.3, 0.2]]))
    light = rotate(quaternions, np.array([[0.5, 0.3, 0.2 - 1e-9, 1e-9]]))
    np.testing.assert_allclose(light, without, rtol=0, atol=ROUNDING[dtype] + 1e-8)
