# SPDX-License-Identifier: MIT
"""Animations: interpolation worked out by hand, clamping, nodes that move joints and others."""

from pathlib import Path

import numpy as np
import pytest
from gltf_builder import Builder, arm, translation

import sbs

HALF = np.sqrt(0.5)
IDENTITY = [0, 0, 0, 1]  # x, y, z, w, as in files
QUARTER_ABOUT_Z = [0, 0, HALF, HALF]


def load(builder: Builder, tmp_path: Path) -> sbs.Character:
    return sbs.load(builder.save(tmp_path / "file.glb"))


def elbow_at(builder: Builder, tmp_path: Path, times: list[float]) -> np.ndarray:
    """Where the elbow's skinning matrix puts the origin of its joint."""
    (animation,) = load(builder, tmp_path).animations
    return animation.skinning_matrices(times)[..., 1, :, :] @ [2, 0, 0, 1]


def rotation_angle(matrices: np.ndarray) -> np.ndarray:
    """Angle about z in degrees."""
    degrees: np.ndarray = np.degrees(np.arctan2(matrices[..., 1, 0], matrices[..., 0, 0]))
    return degrees


def test_linear_translation_and_clamping(tmp_path: Path) -> None:
    builder = arm()
    builder.animation((1, "translation", [1.0, 2.0, 4.0], [[2, 0, 0], [3, 0, 0], [3, 4, 0]]))
    times = [-1.0, 0.0, 1.0, 1.25, 2.0, 3.0, 4.0, 99.0]
    expected = np.array([[2, 0], [2, 0], [2, 0], [2.25, 0], [3, 0], [3, 2], [3, 4], [3, 4]])
    np.testing.assert_allclose(elbow_at(builder, tmp_path, times)[:, :2], expected, atol=1e-15)


def test_step(tmp_path: Path) -> None:
    """A value holds until the next key, which then holds at once."""
    builder = arm()
    builder.animation((1, "translation", [0.0, 1.0, 2.0], [[2, 0, 0], [3, 0, 0], [4, 0, 0]]), interpolation="STEP")
    times = [0.0, 0.999, 1.0, 1.999, 2.0, 9.0]
    np.testing.assert_array_equal(elbow_at(builder, tmp_path, times)[:, 0], [2, 2, 3, 3, 4, 4])


def test_cubic_spline(tmp_path: Path) -> None:
    """The key values, tangents times the length of the piece, and the middle by Hermite's formula.

    From 2 to 4 in 2 seconds, out-tangent 1 and in-tangent -3 a second: at the middle (2 + 4) / 2 + 2 (1 + 3) / 8 = 4.
    """
    builder = arm()
    keys = [[9, 9, 9], [2, 0, 0], [1, 0, 0], [-3, 0, 0], [4, 0, 0], [9, 9, 9]]
    builder.animation((1, "translation", [1.0, 3.0], keys), interpolation="CUBICSPLINE")
    np.testing.assert_allclose(
        elbow_at(builder, tmp_path, [0.0, 1.0, 2.0, 3.0, 4.0])[:, 0], [2, 2, 4, 4, 4], atol=1e-14
    )
    # Near the ends the slopes are the tangents.
    start, end = elbow_at(builder, tmp_path, [1.0 + 1e-6, 3.0 - 1e-6])[:, 0]
    assert (start - 2) / 1e-6 == pytest.approx(1, abs=1e-5)
    assert (4 - end) / 1e-6 == pytest.approx(-3, abs=1e-5)


def test_cubic_spline_rotation_is_normalized(tmp_path: Path) -> None:
    """With no tangents the middle is the mean of the two quaternions, which normalized is half the angle."""
    builder = arm()
    nothing = [0, 0, 0, 0]
    keys = [nothing, IDENTITY, nothing, nothing, QUARTER_ABOUT_Z, nothing]
    builder.animation((1, "rotation", [0.0, 1.0], keys), interpolation="CUBICSPLINE")
    matrices = load(builder, tmp_path).animations[0].skinning_matrices([0.0, 0.5, 1.0])[:, 1]
    np.testing.assert_allclose(rotation_angle(matrices), [0, 45, 90], atol=1e-5)
    np.testing.assert_allclose(np.linalg.det(matrices[:, :3, :3]), 1, rtol=1e-14)


@pytest.mark.parametrize("sign", [1, -1])
def test_linear_rotation_is_slerp_the_short_way(tmp_path: Path, sign: int) -> None:
    """A quarter of the time is a quarter of the angle, whichever sign the quaternion has."""
    builder = arm()
    builder.animation((1, "rotation", [0.0, 4.0], [IDENTITY, [0, 0, sign * HALF, sign * HALF]]))
    matrices = load(builder, tmp_path).animations[0].skinning_matrices([0.0, 1.0, 2.0, 3.0, 4.0])[:, 1]
    np.testing.assert_allclose(rotation_angle(matrices), [0, 22.5, 45, 67.5, 90], atol=1e-5)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 3.0])
def test_linear_rotation_by_small_and_large_angles(tmp_path: Path, angle: float) -> None:
    builder = arm()
    end = [0, 0, np.sin(angle / 2), np.cos(angle / 2)]
    builder.animation((1, "rotation", [0.0, 1.0], [IDENTITY, end]))
    matrix = load(builder, tmp_path).animations[0].skinning_matrices(0.25)[1]
    # Quaternions are stored as float32: their angle is good to some 1e-7.
    assert np.arctan2(matrix[1, 0], matrix[0, 0]) == pytest.approx(angle / 4, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("code", "largest"), [("b", 127), ("h", 32767)])
def test_normalized_integer_rotations(tmp_path: Path, code: str, largest: int) -> None:
    builder = arm()
    stored = np.round(np.array([IDENTITY, QUARTER_ABOUT_Z]) * largest).astype(int)
    builder.animation((1, "rotation", [0.0, 1.0], builder.accessor(stored, code, normalized=True)))
    matrices = load(builder, tmp_path).animations[0].skinning_matrices([0.0, 0.5, 1.0])[:, 1]
    np.testing.assert_allclose(rotation_angle(matrices), [0, 45, 90], atol=1e-12)


def test_what_is_not_animated_keeps_the_pose_of_the_file(tmp_path: Path) -> None:
    """Channels of one property leave the others of their node, and other nodes."""
    builder = arm()
    builder.json["nodes"][0].update(translation=[0, 0, 5], scale=[2, 2, 2])
    builder.animation((0, "rotation", [0.0], [QUARTER_ABOUT_Z]))
    character = load(builder, tmp_path)
    # The mesh is in the scene: (2, 0, 0) is at (4, 0, 5) there.
    moved = character.animations[0].skinning_matrices(0.0)[1] @ [4, 0, 5, 1]
    np.testing.assert_allclose(moved, [0, 4, 5, 1], atol=1e-6)


def test_nodes_above_and_between_joints_move_them(tmp_path: Path) -> None:
    builder = arm()
    helper = builder.node(children=[1])
    builder.json["nodes"][0]["children"] = [helper]
    armature = builder.node(children=[0])
    builder.animation(
        (armature, "translation", [0.0, 1.0], [[0, 0, 0], [0, 0, 1]]),
        (helper, "translation", [0.0, 1.0], [[0, 0, 0], [0, 1, 0]]),
    )
    matrices = load(builder, tmp_path).animations[0].skinning_matrices(0.5)
    np.testing.assert_allclose(matrices, [translation(0, 0, 0.5), translation(0, 0.5, 0.5)], atol=1e-15)


def test_channels_with_times_of_their_own(tmp_path: Path) -> None:
    builder = arm()
    builder.animation(
        (0, "translation", [0.0, 1.0], [[0, 0, 0], [1, 0, 0]]),
        (1, "translation", [0.0, 4.0], [[2, 0, 0], [2, 4, 0]]),
        (1, "rotation", [2.0], [IDENTITY]),
    )
    (animation,) = load(builder, tmp_path).animations
    assert animation.duration == 4.0
    np.testing.assert_allclose(animation.skinning_matrices(2.0)[1], translation(1, 2, 0), atol=1e-15)


def test_shapes(tmp_path: Path) -> None:
    builder = arm()
    builder.animation((1, "rotation", [0.0, 1.0], [IDENTITY, QUARTER_ABOUT_Z]), name="bend")
    (animation,) = load(builder, tmp_path).animations
    assert repr(animation) == "<sbs.Animation 'bend', 1 s>"
    many = animation.skinning_matrices(np.linspace(0, 1, 5))
    assert many.shape == (5, 2, 4, 4)
    assert many.dtype == np.float64
    np.testing.assert_array_equal(animation.skinning_matrices(0.25), many[1])
    assert animation.skinning_matrices([]).shape == (0, 2, 4, 4)
    for times in ([[0.0]], np.nan, [0, np.inf]):
        with pytest.raises(ValueError, match="times"):
            animation.skinning_matrices(times)


def test_what_moves_no_joint_is_left_out(tmp_path: Path) -> None:
    """Animations of other nodes, of morph weights, and without a node."""
    builder = arm()
    other = builder.node()
    builder.animation((other, "translation", [0.0], [[1, 1, 1]]))
    builder.animation((2, "weights", [0.0], builder.accessor([0.5])))
    builder.animation((0, "translation", [0.0], [[1, 1, 1]]))
    del builder.json["animations"][2]["channels"][0]["target"]["node"]
    assert load(builder, tmp_path).animations == ()


def test_equal_times(tmp_path: Path) -> None:
    """Two keys at one time are a jump."""
    builder = arm()
    builder.animation((1, "translation", [0.0, 1.0, 1.0, 2.0], [[0, 0, 0], [1, 0, 0], [5, 0, 0], [6, 0, 0]]))
    np.testing.assert_allclose(elbow_at(builder, tmp_path, [0.5, 1.0, 1.5])[:, 0], [0.5, 5, 5.5], atol=1e-15)


@pytest.mark.parametrize(
    ("path", "times", "values", "interpolation", "message"),
    [
        ("translation", [0.0, 1.0], [[0, 0, 0]], None, "1 values"),
        ("translation", [0.0, 1.0], [[0, 0, 0]] * 2, "CUBICSPLINE", "2 values"),
        ("translation", [1.0, 0.0], [[0, 0, 0]] * 2, None, "time 1"),
        ("translation", [0.0, np.nan], [[0, 0, 0]] * 2, None, "element 1"),
        ("translation", [0.0], [[0, np.inf, 0]], None, "element 0"),
        ("translation", [0.0], [[0, 0, 0, 1]], None, "VEC3"),
        ("translation", [0.0], [[0, 0, 0]], "BEZIER", "'BEZIER'"),
        ("rotation", [0.0, 1.0], [IDENTITY, [0, 0, 0, 0]], None, "key 1"),
    ],
)
def test_bad_samplers(
    tmp_path: Path, path: str, times: list[float], values: list[list[float]], interpolation: str | None, message: str
) -> None:
    builder = arm()
    builder.animation((0, path, times, values), interpolation=interpolation)
    with pytest.raises(ValueError, match=rf"file\.glb: (accessors|animations)\[\d+\].*{message}"):
        load(builder, tmp_path)


def test_a_node_with_a_matrix_is_animated_where_it_is_translation_rotation_and_scale(tmp_path: Path) -> None:
    """The other properties stay as in the matrix."""
    matrix = np.diag([2.0, 2.0, 2.0, 1.0])
    matrix[:3, 3] = [0, 0, 3]
    builder = arm()
    builder.json["nodes"][0]["matrix"] = matrix.T.ravel().tolist()
    builder.animation((0, "translation", [0.0], [[1, 1, 1]]))
    character = load(builder, tmp_path)
    moved = character.skin.deform(character.animations[0].skinning_matrices(0.0), method="linear")
    np.testing.assert_allclose(moved[:2], [[1, 1, 1], [1, 3, 1]], atol=1e-12)
    matrix[0, 1] = 1.0
    builder.json["nodes"][0]["matrix"] = matrix.T.ravel().tolist()
    with pytest.raises(ValueError, match=r"channels\[0\].target.node"):
        load(builder, tmp_path)
