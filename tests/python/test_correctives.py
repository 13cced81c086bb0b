# SPDX-License-Identifier: MIT
"""Correctives of the woman: sculpted knees met by every method, neighbors, weights along a motion, changes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sbs
from sbs import muscles, rotations
from sbs.correctives import Correctives, Shape
from sbs.options import BlendOptions
from sbs.rigging.triangle_mesh import diagonal

Floats = NDArray[np.float64]

METHODS: dict[str, BlendOptions] = {
    "rigid": {"method": "rigid"},
    "LBS": {"method": "linear"},
    "SBS": {},
    "average": {"rotation": "average"},
    "weighted": {"center": "weighted"},
    "optimized": {"center": "optimized"},
    "rcond": {"rcond": 1e-3},
    "DQS": {"method": "dual_quaternion"},
}


@cache
def woman() -> sbs.Character:
    return sbs.samples.load("woman")


@cache
def skin_with_all() -> sbs.Skin:
    """With centers and a twist."""
    return woman().twisted_skin(sbs.limb_twist(woman()), optimized=True)


@cache
def size() -> float:
    return diagonal(woman().mesh.positions)


def pose(**degrees: tuple[float, tuple[float, float, float]]) -> Floats:
    """Skinning matrices of joints that are turned about axes of the bind space, all in a pose of the hips."""
    skeleton = woman().skeleton
    local = np.tile(np.eye(3), (len(skeleton), 1, 1))
    for joint, (angle, axis) in {"Hips": (20.0, (0.0, 1.0, 0.3)), **degrees}.items():
        number = skeleton.index(joint)
        frame = np.asarray(skeleton.bind_matrices[number])[:3, :3]
        local[number] = frame.T @ rotations.matrices_from_axis_angle(axis, angle, degrees=True) @ frame
    return skeleton.skinning_matrices(skeleton.forward(local))


X = (1.0, 0.0, 0.0)
KNEE = pose(LeftLeg=(100.0, X), LeftUpLeg=(-70.0, X), RightArm=(40.0, (0.3, 1.0, 1.0)), RightForeArm=(30.0, X))


def around(joint: str, radius: float = 0.05) -> NDArray[np.intp]:
    """Vertices around a joint, up to a share of the size away."""
    center = woman().skeleton.joint_positions[woman().skeleton.index(joint)]
    return np.flatnonzero(np.linalg.norm(woman().mesh.positions - center, axis=1) < radius * size())


def sculpted(posed: np.ndarray, joint: str, *, seed: int = 3) -> np.ndarray:
    """The mesh in a pose, moved around a joint by up to a hundredth of its size."""
    vertices = around(joint)
    moved = np.array(posed)
    random = np.random.default_rng(seed).uniform(-1, 1, (len(vertices), 3))
    moved[vertices] += (random * 0.01 * size()).astype(posed.dtype)
    return moved


def distance(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.linalg.norm(found.astype(np.float64) - wanted, axis=1).max()) / size()


@pytest.mark.parametrize(
    ("name", "amount"),
    [*((name, None) for name in METHODS), *((name, 0.6) for name in METHODS if name not in ("rigid", "LBS"))],
)
def test_a_sculpt_is_met(name: str, amount: float | None) -> None:
    """By every method, alone and in part, with a spread twist. The rest keeps its bits."""
    skin, options = skin_with_all(), METHODS[name]
    if amount is not None:
        options = {**options, "amount": amount}
    plain = skin.deform(KNEE, **options)
    target = sculpted(plain, "LeftLeg")
    correctives = Correctives(woman().skeleton)
    correctives.add(KNEE, target, joints=["LeftLeg"], name="knee")
    assert correctives.weights(KNEE) == pytest.approx([1.0])
    (solution,) = correctives.solve(skin, **options).values()
    shaped = skin.deform(KNEE, correctives=correctives, **options)
    met = np.setdiff1d(np.arange(len(target)), solution.unreached)
    assert distance(shaped[met], target[met]) < 1.6e-6
    assert solution.error < 1.6e-6
    assert len(solution.unreached) < 0.02 * len(around("LeftLeg"))
    np.testing.assert_array_equal(np.union1d(solution.vertices, solution.unreached), around("LeftLeg"))
    rest = np.setdiff1d(np.arange(len(target)), around("LeftLeg"))
    assert shaped[rest].tobytes() == plain[rest].tobytes()
    assert skin.deform(pose(), correctives=correctives, **options).tobytes() == skin.deform(pose(), **options).tobytes()
    back = skin.inverse_deform(shaped, KNEE, correctives=correctives, return_singular=True, **options)[0]
    assert distance(back[met], skin.rest_positions[met]) < 1e-4


def test_shapes_are_solved_again_for_another_method() -> None:
    """The target is kept, and only sculpted vertices move."""
    skin = skin_with_all()
    target = sculpted(skin.deform(KNEE), "LeftLeg")
    correctives = Correctives(woman().skeleton)
    correctives.add(KNEE, target, joints=["LeftLeg"], name="knee")
    correctives.solve(skin)
    linear = woman().skin
    assert correctives.solve(linear, method="linear")["knee"].error < 1.6e-6
    shaped, plain = linear.deform(KNEE, method="linear", correctives=correctives), linear.deform(KNEE, method="linear")
    vertices = around("LeftLeg")
    assert distance(shaped[vertices], target[vertices]) < 1.6e-6
    rest = np.setdiff1d(np.arange(len(target)), vertices)
    assert shaped[rest].tobytes() == plain[rest].tobytes()


def test_with_muscles() -> None:
    """The muscles' move is undone. No vertex comes nearer to a muscle than its skin is: unreached ones are told."""
    cover = muscles.bind(woman(), muscles.fit(woman()))

    def after(positions: np.ndarray, matrices: np.ndarray) -> np.ndarray:
        cover.apply(positions, matrices)
        return positions

    skin, options = skin_with_all(), BlendOptions(center="optimized", amount=0.6)
    target = sculpted(after(skin.deform(KNEE, **options), KNEE), "LeftLeg")
    correctives = Correctives(woman().skeleton)
    correctives.add(KNEE, target, joints=["LeftLeg"])
    (solution,) = correctives.solve(skin, after=after, **options).values()
    shaped = after(skin.deform(KNEE, correctives=correctives, **options), KNEE)
    met = np.setdiff1d(np.arange(len(target)), solution.unreached)
    assert distance(shaped[met], target[met]) < 1e-4
    assert solution.error < 1e-4
    assert 0 < len(solution.unreached) < 0.2 * len(around("LeftLeg"))


def test_neighbors_do_not_add_twice() -> None:
    """A pose where another shape acts gets the missing offsets; two joints that bend alike share theirs."""
    skin = skin_with_all()
    skeleton = woman().skeleton
    both = pose(LeftLeg=(100.0, X), LeftUpLeg=(-50.0, X))
    hip = pose(LeftUpLeg=(-100.0, X))
    correctives = Correctives(skeleton)
    at_hip = sculpted(skin.deform(hip), "LeftUpLeg")
    correctives.add(hip, at_hip, joints=["LeftUpLeg"], name="hip")
    at_knee = sculpted(sculpted(skin.deform(both), "LeftUpLeg", seed=4), "LeftLeg", seed=5)
    correctives.add(both, at_knee, joints=["LeftLeg"], name="knee")
    for solution in correctives.solve(skin).values():
        assert solution.error < 1.6e-6
    assert correctives.weights(both)[0] == pytest.approx(0.5, abs=0.05)
    assert distance(skin.deform(both, correctives=correctives), at_knee) < 1.6e-6
    assert distance(skin.deform(hip, correctives=correctives), at_hip) < 1.6e-6

    alike = Correctives(skeleton)
    for joint in ("LeftLeg", "LeftUpLeg"):
        alike.add(both, at_knee, joints=[joint], name=joint)
    alike.solve(skin)
    assert distance(skin.deform(both, correctives=alike), at_knee) < 1.6e-6
    one, other = (corrective.shape for corrective in alike)
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(one.deltas, other.deltas, atol=1e-6 * size())


def test_several_joints_and_in_betweens() -> None:
    """Joints that bend together have a shape together; poses in one direction fade into each other."""
    skin = woman().skin
    poses = [pose(LeftLeg=(angle, X), LeftUpLeg=(-angle / 2, X)) for angle in (50.0, 100.0)]
    correctives = Correctives(woman().skeleton)
    targets = [sculpted(skin.deform(each), "LeftLeg", seed=seed) for seed, each in enumerate(poses)]
    for each, target in zip(poses, targets, strict=True):
        correctives.add(each, target, joints=["LeftUpLeg", "LeftLeg"])
    assert correctives.names == ("LeftUpLeg 25", "LeftUpLeg 50")
    correctives.solve(skin)
    for each, target in zip(poses, targets, strict=True):
        assert distance(skin.deform(each, correctives=correctives), target) < 1.6e-6
    between = pose(LeftLeg=(75.0, X), LeftUpLeg=(-37.5, X))
    np.testing.assert_allclose(correctives.weights(between), [0.5, 0.5], atol=0.03)
    alone = pose(LeftLeg=(100.0, X))
    assert 0.5 < correctives.weights(alone).sum() < 1


def test_nothing_jumps() -> None:
    """Along 1,000 steps of 0.14 degrees, no second difference is beyond 3 times that without, no step 10 times."""
    skin, options = skin_with_all(), BlendOptions(amount=0.5)
    correctives = Correctives(woman().skeleton)
    bent = [pose(LeftLeg=(angle, X)) for angle in (60.0, 120.0)]
    vertices = around("LeftLeg")
    for angle, each in zip((60.0, 120.0), bent, strict=True):
        target = np.array(skin.deform(each, **options))
        target[vertices] += 1e-4 * angle * size() * np.sin(np.arange(len(vertices)))[:, None]
        correctives.add(each, target, joints=["LeftLeg"], vertices=vertices)
    correctives.solve(skin, **options)
    steps = np.linspace(0, 1, 1001)
    matrices = np.stack(
        [pose(LeftLeg=(140 * t, X), LeftUpLeg=(-90 * np.sin(3 * t), X), LeftFoot=(30 * t, X)) for t in steps]
    )
    found = [
        np.concatenate(
            [
                skin.deform_many(part, correctives=each, **options)[:, vertices].astype(np.float64)
                for part in np.array_split(matrices, 20)
            ]
        )
        for each in (None, correctives)
    ]
    for order, most in ((2, 3.0), (1, 10.0)):
        plain, shaped = (float(np.linalg.norm(np.diff(each, order, axis=0), axis=-1).max()) for each in found)
        assert shaped < most * plain


def test_normals_follow() -> None:
    """Those of a shape are those of its surface: a plane that turns rigidly gets a bump."""
    x, y = (each.reshape(-1) for each in np.meshgrid(np.arange(9.0), np.arange(9.0)))
    rest = np.stack([x, y, np.zeros(81)], axis=1)
    corners = np.flatnonzero((x < 8) & (y < 8))
    triangles = np.concatenate(
        [np.stack([corners, corners + 1, corners + 10], 1), np.stack([corners, corners + 10, corners + 9], 1)]
    )
    skeleton = sbs.Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)), ["root", "child"])
    skin = sbs.Skin(
        rest, np.ones((81, 1), int), np.ones((81, 1)), rest_normals=np.tile([0.0, 0.0, 1.0], (81, 1)), joint_count=2
    )
    turn = rotations.matrices_from_axis_angle([1.0, 0.0, 0.0], 1.0)
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, :3, :3] = turn
    bump = rest + np.stack([np.zeros(81), np.zeros(81), np.maximum(0, 1 - np.hypot(x - 4, y - 4) / 3)], axis=1)
    correctives = Correctives(skeleton)
    correctives.add(matrices, bump @ turn.T, joints=["child"], part="both")
    correctives.solve(skin, triangles=triangles)
    a, b, c = (bump[triangles[:, corner]] for corner in range(3))
    expected = np.zeros((81, 3))
    np.add.at(expected, triangles, np.cross(b - a, c - a)[:, None])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    normals = skin.deform(matrices, normals=True, correctives=correctives)[1]
    np.testing.assert_allclose(normals, expected @ turn.T, atol=1e-3)  # less is dropped
    assert skin.deform(matrices, correctives=correctives).shape == (81, 3)


def test_a_vertex_that_nothing_can_move_is_told_and_left() -> None:
    """Half a turn by linear blending crushes a vertex between two joints to their axis."""
    skeleton = sbs.Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)), ["root", "child"])
    skin = sbs.Skin([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [3.0, 0, 0]], [[0, 1]] * 3, [[0.5, 0.5], [0.0, 1.0], [0.0, 1.0]])
    matrices = np.stack([np.eye(4), np.diag([1.0, -1.0, -1.0, 1.0])])
    correctives = Correctives(skeleton)
    target = skin.deform(matrices, method="linear")
    target[:, 1] += 0.5
    correctives.add(matrices, target, joints=["child"], name="half", part="both")
    with pytest.warns(sbs.SingularVertexWarning, match="1 of 3 vertices"):
        solution = correctives.solve(skin, method="linear")["half"]
    assert solution.unreached.tolist() == [0]
    assert solution.vertices.tolist() == [1, 2]
    assert solution.error < 1e-12


# ------------------------------------------------------------------------------------------------------------- changes


def made() -> Correctives:
    correctives = Correctives(woman().skeleton)
    bent = pose(LeftLeg=(100.0, X))
    correctives.add(bent, woman().skin.deform(bent), joints=["LeftLeg"], name="one")
    shape = (np.array([4, 2]), np.array([[0.0, 0.0, 1.0], [0.0, 1e-3, 0.0]]))
    correctives.add_shape(shape, [[0.0, 0.5, 0.0]], joints="RightArm", name="other")
    return correctives


def test_names() -> None:
    correctives = made()
    correctives.rename("one", "knee")
    assert correctives.names == ("knee", "other")
    assert correctives["knee"] is correctives[0]
    copy = correctives.copy()
    copy.remove("knee")
    assert (len(copy), len(correctives), "knee" in copy, "knee" in correctives) == (1, 2, False, True)
    assert "knee" in repr(correctives["knee"])
    assert "knee, other" in repr(correctives)
    copy.remove("other")
    assert copy.weights(KNEE).shape == (0,)
    assert copy.solve(woman().skin) == {}
    assert woman().skin.deform(KNEE, correctives=copy).tobytes() == woman().skin.deform(KNEE).tobytes()
    with pytest.raises(KeyError, match="no corrective is named 'kneee'; did you mean 'knee'"):
        correctives["kneee"]
    with pytest.raises(ValueError, match="there is a corrective 'other'"):
        correctives.rename("knee", "other")


def test_given_shapes_stay_as_they_are() -> None:
    correctives = made()
    assert [*correctives.solve(woman().skin)] == ["one"]
    shape = correctives["other"].shape
    assert shape is not None
    assert shape.vertices.tolist() == [4, 2]
    correctives.prune(0.5 * 1e-3 / size(), woman().skin)
    assert len(correctives["other"].shape or Shape(np.empty(0), np.empty(0)).vertices) >= 1
    correctives.prune(2e-3 / size(), woman().skin)
    pruned = correctives["other"].shape
    assert pruned is not None
    assert pruned.vertices.tolist() == [4]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"name": "one"}, ValueError, "there is a corrective 'one'"),
        ({"joints": ["nobody"]}, KeyError, "nobody"),
        ({"joints": []}, ValueError, "joints is empty"),
        ({"part": "bend"}, ValueError, "part must be one of"),
        (
            {"name": "again", "skinning_matrices": pose(LeftLeg=(100.05, X))},
            ValueError,
            "the pose of 'again': it is too",
        ),
        ({"skinning_matrices": pose()}, ValueError, "too near the rest pose"),
        (
            {"skinning_matrices": pose()[:5]},
            ValueError,
            r"skinning_matrices has shape \(5, 4, 4\), expected \(31, 4, 4\)",
        ),
        ({"skinning_matrices": np.eye(4)}, ValueError, r"skinning_matrices has shape \(4, 4\)"),
        ({"posed": np.zeros((4, 2))}, ValueError, r"posed has shape \(4, 2\), expected \(V, 3\)"),
        ({"posed": np.full((4, 3), np.nan)}, ValueError, r"posed\[0\] is not finite"),
        ({"posed": np.full((4, 3), "a")}, TypeError, "posed must be real numbers"),
        ({"vertices": [20_000]}, IndexError, "out of bounds"),
    ],
)
def test_what_cannot_be_added(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    correctives = made()
    bent = pose(LeftLeg=(60.0, X))
    given: dict[str, Any] = {
        "skinning_matrices": bent,
        "posed": woman().mesh.positions,
        "joints": ["LeftLeg"],
        **changes,
    }
    with pytest.raises(error, match=message):
        correctives.add(**{**given, **changes})
    assert correctives.names == ("one", "other")


def test_what_cannot_be_solved() -> None:
    correctives = made()
    other = sbs.Skin(np.zeros((3, 3)), [[0]] * 3, [[1.0]] * 3, joint_count=31)
    with pytest.raises(ValueError, match="a target has 13380 vertices, the skin 3"):
        correctives.solve(other)
    with pytest.raises(ValueError, match="twists has no effect on correctives"):
        correctives.solve(skin_with_all(), twists=np.zeros((8, 2)))
    with pytest.raises(ValueError, match="tolerance must be at least 0"):
        correctives.solve(woman().skin, tolerance=-1.0)
    with pytest.raises(ValueError, match="give one or the other"):
        woman().skin.deform(KNEE, correctives=correctives, shape_weights=[1.0])
