# SPDX-License-Identifier: MIT
"""Shapes as the skin takes them: against skins that are bound with the shapes; bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from meshes import Precision, skin_arguments, skinning_matrices

import sbs
from sbs.correctives import Shapes
from sbs.options import Method

VERTICES, JOINTS = 200, 6
RNG = np.random.default_rng(8)
CHANGED = np.arange(0, VERTICES, 5)
DELTAS = RNG.normal(scale=0.1, size=(len(CHANGED), 3))
METHODS: tuple[Method, ...] = ("rigid", "linear", "spherical", "dual_quaternion")
MATRICES = skinning_matrices(3, JOINTS)


def make(dtype: Precision, *, normals: bool = False) -> tuple[sbs.Skin, Shapes]:
    skin = sbs.Skin(**skin_arguments(VERTICES, JOINTS, 3, dtype, normals=normals))
    return skin, Shapes(skin, [(CHANGED, DELTAS), ([], np.empty((0, 3))), (CHANGED[:3], DELTAS[:3])])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_they_are_other_rest_positions(dtype: Precision) -> None:
    skin, shapes = make(dtype)
    weights = np.array([[0.75, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, -1.0]])
    assert len(shapes) == 3
    for method in METHODS:
        many = skin.deform_many(MATRICES, method=method, shapes=shapes, shape_weights=weights)
        for frame, matrices in enumerate(MATRICES):
            rest = skin.rest_positions.astype(np.float64)
            rest[CHANGED] += weights[frame, 0] * DELTAS
            rest[CHANGED[:3]] += weights[frame, 2] * DELTAS[:3]
            expected = skin.deform(matrices, method=method, rest_positions=rest)
            # centers of joint sets are damped towards other centroids, which moves them by 1e-6
            np.testing.assert_allclose(many[frame], expected, atol=2e-5 if dtype == np.float32 else 2e-6)
            one = skin.deform(matrices, method=method, shapes=shapes, shape_weights=weights[frame])
            assert one.tobytes() == many[frame].tobytes()
            back = skin.inverse_deform(one, matrices, method=method, shapes=shapes, shape_weights=weights[frame])
            np.testing.assert_allclose(back, skin.rest_positions, atol=1e-4 if dtype == np.float32 else 1e-9)


def test_a_vertex_without_a_shape_keeps_its_bits() -> None:
    skin, shapes = make(np.float32, normals=True)
    rest = np.setdiff1d(np.arange(VERTICES), CHANGED)
    plain = skin.deform(MATRICES[0], normals=True)
    shaped = skin.deform(MATRICES[0], normals=True, shapes=shapes, shape_weights=[1.0, 1.0, 1.0])
    for ours, theirs in zip(shaped, plain, strict=True):
        assert ours[rest].tobytes() == theirs[rest].tobytes()
    assert not np.array_equal(shaped[0], plain[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_they_are_added_to_other_rest_positions(dtype: Precision) -> None:
    """As blend shapes of a pose make them: as those of a skin that is made with these, but for its centroids."""
    skin, shapes = make(dtype, normals=True)
    rest = (skin.rest_positions + RNG.normal(scale=0.3, size=skin.rest_positions.shape)).astype(dtype)
    given: dict[str, Any] = {**skin_arguments(VERTICES, JOINTS, 3, dtype, normals=True), "rest_positions": rest}
    anew = sbs.Skin(**given)
    same = Shapes(anew, [(CHANGED, DELTAS), ([], np.empty((0, 3))), (CHANGED[:3], DELTAS[:3])])
    weights = [0.75, 2.0, 0.5]
    for method in METHODS:
        for ours, theirs in zip(
            skin.deform(
                MATRICES[0], method=method, normals=True, rest_positions=rest, shapes=shapes, shape_weights=weights
            ),
            anew.deform(MATRICES[0], method=method, normals=True, shapes=same, shape_weights=weights),
            strict=True,
        ):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-6)


def test_threads_share_what_shapes_add() -> None:
    """Of a mesh whose blocks are several chunks of work, in which all vertices move."""
    woman, random = sbs.samples.load("woman"), np.random.default_rng(5)
    vertices = np.arange(woman.skin.vertex_count)
    chosen = [random.permutation(vertices)[:count] for count in (7000, 9000, 11000)]
    given = [(each, random.normal(size=(len(each), 3)).astype(np.float32)) for each in chosen]
    shaped = Shapes(woman.skin, given)
    pose = woman.skinning_matrices(np.full((len(woman.skeleton), 3), 0.2))
    weights = [0.5, -0.25, 1.0]
    one, many = (woman.skin.deform(pose, shapes=shaped, shape_weights=weights, threads=each) for each in (1, 4))
    np.testing.assert_array_equal(one, many)
    moved = woman.skin.rest_positions.astype(np.float64)
    for (each, deltas), weight in zip(given, weights, strict=True):
        moved[each] += weight * deltas
    expected = woman.skin.deform(pose, rest_positions=moved.astype(np.float32))
    # Numbers are below 30, and each sum is rounded a few times in float32.
    np.testing.assert_allclose(one, expected, atol=2e-5)


def test_normals() -> None:
    skin = sbs.Skin([[0.0, 0.0, 0.0]], [[0]], [[1.0]], rest_normals=[[0.0, 0.0, 2.0]])
    shapes = Shapes(skin, [([0], [[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]]), ([0], [[1.0, 0.0, 0.0]])])
    positions, normals = skin.deform(np.eye(4)[None], normals=True, shapes=shapes, shape_weights=[1.0, 3.0])
    np.testing.assert_allclose(positions, [[3.0, 0.0, 0.0]])
    np.testing.assert_allclose(normals, np.array([[1.0, 0.0, 1.0]]) / np.sqrt(2))


@pytest.mark.parametrize("twisted", [False, True])
@pytest.mark.parametrize(
    "options", [{"method": "linear"}, {}, {"center": "weighted"}, {"method": "DQS"}, {"amount": 0.4}], ids=str
)
def test_gradients_are_differences(options: dict[str, Any], twisted: bool) -> None:
    """By weights, deltas, rest positions and normals; a twist knows where vertices are without shapes."""
    given = skin_arguments(VERTICES, JOINTS, 3, np.float64, normals=True)
    twist = None
    if twisted:
        twist = sbs.Twist([1], [[0.0, 0, 0]], [[1.0, 2.0, 3.0]], parents=[0], joint_count=JOINTS)
    random = np.random.default_rng(3)
    turns = random.normal(scale=0.2, size=(len(CHANGED), 3))
    by_positions, by_normals = random.normal(size=(2, VERTICES, 3))
    weights = np.array([0.7, -0.4])
    step = 1e-6

    def loss(
        *, weights: np.ndarray = weights, deltas: np.ndarray = DELTAS, turns: np.ndarray = turns, **changes: np.ndarray
    ) -> float:
        arguments: dict[str, Any] = {**given, **changes}
        skin = sbs.Skin(**arguments, twist=twist)
        shapes = Shapes(skin, [(CHANGED, deltas, turns), (CHANGED[:5], DELTAS[:5])])
        positions, normals = skin.deform(MATRICES[0], normals=True, shapes=shapes, shape_weights=weights, **options)
        return float((positions * by_positions).sum() + (normals * by_normals).sum())

    def difference(name: str, value: np.ndarray, direction: np.ndarray) -> float:
        above, below = ({name: value + sign * step * direction} for sign in (1, -1))
        return (loss(**above) - loss(**below)) / (2 * step)

    skin = sbs.Skin(**given, twist=twist)
    found = skin.deform_vjp(
        MATRICES[0],
        by_positions,
        by_normals,
        wanted=("rest_positions", "rest_normals", "shape_weights", "shaped_positions", "shaped_normals"),
        shapes=Shapes(skin, [(CHANGED, DELTAS, turns), (CHANGED[:5], DELTAS[:5])]),
        shape_weights=weights,
        **options,
    )
    assert found.shaped_positions is not None
    assert found.shaped_normals is not None
    gradients = {
        "weights": (weights, found.shape_weights),
        "deltas": (DELTAS, weights[0] * found.shaped_positions[CHANGED]),
        "turns": (turns, weights[0] * found.shaped_normals[CHANGED]),
        "rest_positions": (given["rest_positions"], found.rest_positions),
        "rest_normals": (given["rest_normals"], found.rest_normals),
    }
    for name, (value, gradient) in gradients.items():
        direction = random.normal(size=value.shape)
        assert gradient is not None
        assert (gradient * direction).sum() == pytest.approx(difference(name, value, direction), rel=1e-5, abs=1e-5)


def test_what_is_not_differentiated() -> None:
    skin, shapes = make(np.float64)
    with pytest.raises(ValueError, match="wanted: 'shape_weights' needs shapes or correctives"):
        skin.deform_vjp(MATRICES[0], np.ones((VERTICES, 3)), wanted=("shape_weights",))
    given: dict[str, Any] = {"shapes": shapes, "shape_weights": np.ones(3)}
    found = skin.deform_vjp(MATRICES[0], np.ones((VERTICES, 3)), **given)
    assert found.shape_weights is None
    moved = skin.deform_vjp(MATRICES[0], np.ones((VERTICES, 3)), rest_positions=skin.rest_positions, **given)
    assert moved.joint_weights is not None and found.joint_weights is not None
    np.testing.assert_allclose(moved.joint_weights, found.joint_weights, rtol=0, atol=1e-13)


def test_what_cannot_be_used() -> None:
    (skin, shapes), (other, _) = make(np.float64), make(np.float64)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"shape_weights": None}, "shapes needs shape_weights"),
        ({"shapes": None}, "shape_weights has no effect"),
        ({"shape_weights": [1.0]}, "shape_weights"),
        ({"shape_weights": [0.0, np.nan, 0.0]}, r"shape_weights\[1\] is nan"),
    ]
    for options, message in cases:
        given: dict[str, Any] = {"shapes": shapes, "shape_weights": np.zeros(3), **options}
        with pytest.raises(ValueError, match=message):
            skin.deform(MATRICES[0], **given)
    with pytest.raises(ValueError, match="shapes are of another skin"):
        other.deform(MATRICES[0], shapes=shapes, shape_weights=np.zeros(3))
    with pytest.raises(TypeError, match="shapes"):
        skin._core.deform(MATRICES[0], shapes=1, shape_weights=np.zeros(3))  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ValueError, match=r"shape_weights\[2, 1\] is inf"):
        skin.deform_many(MATRICES, shapes=shapes, shape_weights=np.diag([0.0, 0.0, np.inf])[:, [0, 2, 1]])


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([], "shapes is empty: there must be at least one shape"),
        ([([VERTICES], np.zeros((1, 3)))], r"vertices\[0\] = 200 is out of range for 200 vertices"),
        ([([0], np.zeros((2, 3)))], r"shapes\[0\]: deltas has shape \(2, 3\), expected \(1, 3\) for its vertices"),
        ([([0], np.full((1, 3), np.inf))], r"deltas\[0, 0\] is inf"),
        ([([0], np.zeros((1, 3)), np.zeros((1, 3)))], "normal_deltas needs a skin that was made with rest_normals"),
    ],
)
def test_what_is_no_shape(shapes: Any, message: str) -> None:
    skin, _ = make(np.float64)
    with pytest.raises(ValueError, match=message):
        Shapes(skin, shapes)
