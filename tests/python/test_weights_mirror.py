# SPDX-License-Identifier: MIT
"""Mirroring weights: joints by name and place, vertices by place or left alone."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surfaces import torn, tube

from sbs import weights

Side = Literal["positive", "negative"]

SWAP = [0, 2, 1]  # a joint in the middle, left, right


def dense(result: weights.Influences | weights.Mirrored, joint_count: int = 3) -> np.ndarray:
    return weights.to_dense(result.joint_indices, result.joint_weights, joint_count)


def bar() -> tuple[np.ndarray, np.ndarray]:
    """A tube from x = -3 to 3."""
    positions, triangles = tube()
    return positions - [3, 0, 0], triangles


def random_weights(count: int, seed: int = 0) -> weights.Influences:
    rng = np.random.default_rng(seed)
    return weights.normalize(*weights.from_dense(rng.random((count, 3)) * (rng.random((count, 3)) < 0.7) + 1e-3))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("arm.L", "arm.R"),
        ("arm.l", "arm.r"),
        ("arm_l", "arm_r"),
        ("arm-L", "arm-R"),
        ("arm L", "arm R"),
        ("L_arm", "R_arm"),
        ("l.arm", "r.arm"),
        ("arm.L.001", "arm.R.001"),
        ("hand_l_finger_1", "hand_r_finger_1"),
        ("LeftArm", "RightArm"),
        ("left_arm", "right_arm"),
        ("LEFT ARM", "RIGHT ARM"),
        ("mixamorig:LeftUpLeg", "mixamorig:RightUpLeg"),
        ("Bip01 L Thigh", "Bip01 R Thigh"),
        ("rig:l_thigh", "rig:r_thigh"),
        ("LHipJoint", "RHipJoint"),
        ("EyeL", "EyeR"),
        ("armLeft", "armRight"),
        ("左足", "右足"),
        ("足_左", "足_右"),
        ("lShldrBend", "rShldrBend"),
        ("Genesis8:lThigh", "Genesis8:rThigh"),
        ("Lf_arm", "Rt_arm"),
        ("arm_lt", "arm_rt"),
        ("armLf", "armRt"),
        ("LfArm", "RtArm"),
        ("handL_jnt", "handR_jnt"),
    ],
)
def test_joints_by_name(left: str, right: str) -> None:
    joints, unmatched = weights.mirror_joints(["root", right, left, "spine"])
    np.testing.assert_array_equal(joints, [0, 2, 1, 3])
    assert len(unmatched) == 0


def test_names_that_only_look_like_a_side() -> None:
    names = ["lower", "ulna", "bright", "skull", "Rib", "Lip", "tail", "collar_l"]
    joints, unmatched = weights.mirror_joints(names)
    np.testing.assert_array_equal(joints, np.arange(8))
    assert 7 in unmatched


def test_joints_by_place_where_names_tell_nothing() -> None:
    positions = np.array([[0, 0, 0], [1, 2, 0], [-1.004, 2, 0], [3, 0, 0], [5, 5, 5]])
    joints, unmatched = weights.mirror_joints(["a", "b", "c", "d", "e"], positions)
    np.testing.assert_array_equal(joints, [0, 2, 1, 3, 4])
    np.testing.assert_array_equal(unmatched, [3, 4])
    joints, unmatched = weights.mirror_joints(["a", "b", "c", "d", "e"], positions, tolerance=1e-3)
    np.testing.assert_array_equal(joints, np.arange(5))
    np.testing.assert_array_equal(unmatched, [1, 2, 3, 4])


def test_a_rig_of_mikumikudance() -> None:
    """Two bones at each place: 左足D moves the mesh where 左足 does in the editor."""
    names = ["センター", "左足", "左足D", "右足", "右足D"]
    positions = [[0, 8, 0], [1, 8, 0], [1, 8, 0], [-1, 8, 0], [-1, 8, 0]]
    joints, unmatched = weights.mirror_joints(names, positions)
    np.testing.assert_array_equal(joints, [0, 3, 4, 1, 2])
    assert len(unmatched) == 0


@pytest.mark.parametrize("seed", range(3))
def test_ties_of_place_go_by_the_rest_of_the_name(seed: int) -> None:
    """Italian, which is not known here: sinistra, destra; rounded, in any order."""
    names = ["anca", "gamba_sx", "gamba_sx_D", "ginocchio_sx", "gamba_dx", "gamba_dx_D", "ginocchio_dx"]
    positions = np.array([[0, 8, 0], *[[1, 8, 0]] * 3, *[[-1, 8, 0]] * 3], float)
    rng = np.random.default_rng(seed)
    positions += rng.uniform(-1e-6, 1e-6, positions.shape)
    order = rng.permutation(7)
    joints, unmatched = weights.mirror_joints([names[number] for number in order], positions[order])
    others = np.array([0, 4, 5, 6, 1, 2, 3])
    np.testing.assert_array_equal(order[joints], others[order])
    assert len(unmatched) == 0


def test_ties_of_place_go_by_the_parent_first() -> None:
    """The names mislead: by these, c would go with e."""
    names = ["hip.L", "hip.R", "x1", "y1", "x1a", "y1a"]
    positions = np.array([[1, 0, 0], [-1, 0, 0], [1, 2, 0], [1, 2, 0], [-1, 2, 0], [-1, 2, 0]])
    for parents, expected in (([-1, -1, 0, -1, -1, 1], [1, 0, 5, 4, 3, 2]), ([-1, -1, 0, 2, 5, 1], [1, 0, 5, 4, 3, 2])):
        joints = weights.mirror_joints(names, positions, parents=parents).joints
        np.testing.assert_array_equal(joints, expected)
    np.testing.assert_array_equal(weights.mirror_joints(names, positions).joints, [1, 0, 4, 5, 2, 3])


@pytest.mark.parametrize("parents", [[-1], [-1, 2], [1, 0], [[-1, 0]]])
def test_wrong_parents(parents: Any) -> None:
    with pytest.raises(ValueError, match="parents"):
        weights.mirror_joints(["a", "b"], np.zeros((2, 3)), parents=parents)


def test_joints_about_another_plane() -> None:
    positions = [[4, 1, 0], [4, 5, 0], [4, 3, 7]]
    joints, unmatched = weights.mirror_joints("abc", positions, axis="y", position=3.0)
    np.testing.assert_array_equal(joints, [1, 0, 2])
    assert len(unmatched) == 0


@pytest.mark.parametrize("source", ["positive", "negative"])
@pytest.mark.parametrize("with_triangles", [True, False])
def test_by_hand(source: Side, with_triangles: bool) -> None:
    positions, triangles = bar()
    given = random_weights(len(positions))
    result = weights.mirror(positions, triangles if with_triangles else [], *given, SWAP, source=source)
    assert len(result.unmatched) == 0
    before, after = dense(given), dense(result)
    sign = 1 if source == "positive" else -1
    images = np.linalg.norm((positions * [-1, 1, 1])[:, None] - positions, axis=2).argmin(axis=1)
    for vertex, x in enumerate(sign * positions[:, 0]):
        if x > 1e-9:
            np.testing.assert_array_equal(after[vertex], before[vertex])
        elif x < -1e-9:
            np.testing.assert_allclose(after[vertex], before[images[vertex]][SWAP], atol=1e-14)
        else:
            np.testing.assert_allclose(after[vertex], (before[vertex] + before[vertex][SWAP]) / 2, atol=1e-14)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(0, 0.02), st.sampled_from(["positive", "negative"]), st.booleans())
def test_twice_is_once(seed: int, asymmetry: float, source: Side, flat: bool) -> None:
    positions, triangles = torn(*bar()) if flat else bar()
    rng = np.random.default_rng(seed)
    _, places = np.unique(positions, axis=0, return_inverse=True)
    positions = positions + asymmetry * rng.normal(size=(places.max() + 1, 3))[places.ravel()]
    indices, values = (rows[places.ravel()] for rows in random_weights(places.max() + 1, seed))
    once = weights.mirror(positions, triangles, indices, values, SWAP, source=source)
    twice = weights.mirror(positions, triangles, *once[:2], SWAP, source=source)
    np.testing.assert_array_equal(dense(twice), dense(once))
    np.testing.assert_array_equal(twice.unmatched, once.unmatched)
    np.testing.assert_allclose(dense(once).sum(axis=1), 1, rtol=1e-14)
    for place in range(places.max() + 1):  # seams stay closed
        rows = dense(once)[places.ravel() == place]
        assert (rows == rows[0]).all()


def test_what_has_no_image_is_reported_and_kept() -> None:
    positions, triangles = bar()
    positions = np.concatenate([positions, [[-3, 5, 0], [-3, 6, 0], [-2, 5, 0]]])
    count = len(positions)
    triangles = np.concatenate([triangles, [[count - 3, count - 2, count - 1]]])
    given = random_weights(count)
    result = weights.mirror(positions, triangles, *given, SWAP)
    np.testing.assert_array_equal(result.unmatched, [count - 3, count - 2, count - 1])
    np.testing.assert_array_equal(dense(result)[-3:], dense(given)[-3:])
    generous = weights.mirror(positions, triangles, *given, SWAP, tolerance=10.0)
    assert len(generous.unmatched) == 0


def test_sides_of_unlike_meshes() -> None:
    """The right side has half as many rings: its vertices fall between those of the left."""
    positions, triangles = bar()
    finer = tube(rings=33, length=3.0)
    count = len(finer[0])
    both = np.concatenate([finer[0], finer[0][:0], positions - [3.0, 0, 0]])
    faces = np.concatenate([finer[1], triangles + count])
    left = np.clip(both[:, 0] / 3, 0, 1)
    given = weights.from_dense(np.stack([1 - left, left, 0 * left], axis=1))
    result = weights.mirror(both, faces, *given, SWAP, tolerance=0.5)
    inside = (both[:, 0] < -0.1) & (both[:, 0] > -3)
    np.testing.assert_allclose(dense(result)[inside, 2], -both[inside, 0] / 3, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": "left"}, "source"),
        ({"axis": 0}, "axis"),
        ({"position": np.nan}, "position"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"counterparts": [0, 2]}, "joint_indices"),
        ({"counterparts": [0, 1, 3]}, r"counterparts\[2\] = 3"),
        ({"counterparts": [1, 2, 0]}, "counterparts"),
        ({"counterparts": [0.0, 2.0, 1.0]}, "counterparts"),
        ({"positions": np.zeros((3, 3))}, "positions"),
        ({"positions": np.full((106, 3), np.nan)}, "finite"),
        ({"triangles": [[0, 1, 999]]}, r"triangles\[0, 2\] = 999"),
    ],
)
def test_bad_input(change: dict[str, Any], message: str) -> None:
    positions, triangles = bar()
    indices, values = random_weights(len(positions))
    given: dict[str, Any] = {"positions": positions, "triangles": triangles, "joint_indices": indices}
    given |= {"joint_weights": values, "counterparts": SWAP}
    with pytest.raises((ValueError, TypeError), match=message):
        weights.mirror(**(given | change))
    for places, told in (([[0, 0, 0]], "positions"), ([[0.0, 0, 0], [0, np.inf, 0]], r"positions\[1\]")):
        with pytest.raises(ValueError, match=told):
            weights.mirror_joints(["a", "b"], places)
