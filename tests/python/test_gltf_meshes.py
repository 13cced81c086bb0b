# SPDX-License-Identifier: MIT
"""Primitives become one mesh, and joints a skeleton: normals, influences, hierarchies, several skins, spaces."""

import contextlib
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gltf_reference
import numpy as np
import pytest
from gltf_builder import IDENTITY, Builder, arm, translation
from reference import METHODS

import sbs
from sbs.gltf import FileWarning

# The JSON of one.
Primitive = dict[str, Any]

SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]


def one_joint(*primitive_makers: Callable[[Builder], Primitive]) -> Builder:
    """A file with one joint; each argument makes a primitive from the builder."""
    builder = Builder()
    builder.node(name="root")
    builder.mesh(*[make(builder) for make in primitive_makers])
    builder.skin([0], [IDENTITY])
    builder.node(mesh=0, skin=0)
    return builder


def primitive(positions: Sequence[Sequence[float]] | np.ndarray, **options: Any) -> Callable[[Builder], Primitive]:
    return lambda builder: builder.primitive(
        positions, [[0, 0, 0, 0]] * len(positions), [[1, 0, 0, 0]] * len(positions), **options
    )


def load(builder: Builder, tmp_path: Path, *, strict: bool = False, skin: int | None = None) -> sbs.Character:
    return sbs.load(builder.save(tmp_path / "file.glb"), strict=strict, skin=skin)


def test_primitives_and_meshes_are_joined(tmp_path: Path) -> None:
    builder = arm()
    second = builder.primitive([[9, 9, 9]] * 3, [[1, 0, 0, 0]] * 3, [[1, 0, 0, 0]] * 3, indices=[0, 1, 2])
    third = builder.primitive([[8, 8, 8]] * 3, [[1, 0, 0, 0]] * 3, [[1, 0, 0, 0]] * 3, indices=[2, 1, 0])
    builder.json["meshes"][0]["primitives"].append(second)
    builder.mesh(third)
    builder.node(mesh=1, skin=0)
    mesh = load(builder, tmp_path).mesh
    np.testing.assert_array_equal(mesh.triangles, [[0, 2, 1], [1, 2, 3], [4, 5, 6], [9, 8, 7]])
    np.testing.assert_array_equal(mesh.positions[4:], [[9, 9, 9]] * 3 + [[8, 8, 8]] * 3)
    np.testing.assert_array_equal(mesh.joint_indices[4:, 0], 1)


def test_a_mesh_used_twice_is_read_once(tmp_path: Path) -> None:
    builder = arm()
    builder.node(mesh=0, skin=0, translation=[5, 5, 5])
    assert len(load(builder, tmp_path).mesh.positions) == 4


def test_the_transform_of_the_mesh_node_has_no_meaning(tmp_path: Path) -> None:
    builder = arm()
    builder.json["nodes"][2].update(translation=[5, 5, 5], scale=[3, 3, 3])
    character = load(builder, tmp_path)
    np.testing.assert_array_equal(character.skin.deform(character.rest_matrices), character.mesh.positions)


@pytest.mark.parametrize(
    ("mode", "indices", "triangles"),
    [
        (4, None, [[0, 1, 2]]),
        (5, None, [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4]]),
        (6, None, [[1, 2, 0], [2, 3, 0], [3, 4, 0], [4, 5, 0]]),
        (5, [3, 2, 1, 0], [[3, 2, 1], [2, 0, 1]]),
        (6, [5, 2, 1, 0], [[2, 1, 5], [1, 0, 5]]),
        # Two strips joined by triangles without area; the second begins at an odd place, so it runs the other way.
        (5, [0, 1, 2, 2, 3, 3, 4, 5], [[0, 1, 2], [3, 5, 4]]),
    ],
)
def test_modes(tmp_path: Path, mode: int, indices: list[int] | None, triangles: list[list[int]]) -> None:
    """Triangles of strips and fans as in glTF 2.0, section 3.7.2.1."""
    positions = np.random.default_rng(1).normal(size=(3 if mode == 4 else 6, 3))
    mesh = load(one_joint(primitive(positions, mode=mode, indices=indices)), tmp_path).mesh
    np.testing.assert_array_equal(mesh.triangles, triangles)
    assert mesh.triangles.dtype == np.int32


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_points_and_lines_are_left_out(tmp_path: Path, mode: int) -> None:
    builder = one_joint(primitive(SQUARE, mode=mode), primitive(SQUARE[:3]))
    with pytest.warns(FileWarning, match=r"primitives\[0\] is left out: it has points or lines"):
        mesh = load(builder, tmp_path).mesh
    assert len(mesh.positions) == 3


def test_corners_that_make_no_triangles(tmp_path: Path) -> None:
    for mode, count in ((4, 4), (5, 2), (6, 1)):
        with pytest.raises(ValueError, match=rf"primitives\[0\]: {count} corners"):
            load(one_joint(primitive(SQUARE[:count], mode=mode)), tmp_path)
    with pytest.raises(ValueError, match="no triangles"):
        load(one_joint(primitive(SQUARE, mode=1)), tmp_path)


def test_normals(tmp_path: Path) -> None:
    builder = arm()
    assert load(builder, tmp_path).mesh.normals is None
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["NORMAL"] = builder.accessor([[0, 0, 1]] * 4)
    character = load(builder, tmp_path)
    np.testing.assert_array_equal(character.mesh.normals, [[0, 0, 1]] * 4)
    assert character.skin.has_normals


def test_normals_of_some_primitives_only(tmp_path: Path) -> None:
    """The others get the sum of the normals of their triangles by area; worked out by hand.

    A triangle of area 1/2 in the plane z = 0 and one of area 1 in the plane x = 0 share the edge from 0 to 1.
    """
    bent = [[0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, 0, 2], [5, 5, 5]]
    builder = one_joint(
        lambda b: primitive(SQUARE[:3], attributes={"NORMAL": b.accessor([[0, 1, 0]] * 3)})(b),
        primitive(bent, indices=[0, 1, 2, 1, 0, 3]),
    )
    normals = load(builder, tmp_path).mesh.normals
    assert normals is not None
    np.testing.assert_array_equal(normals[:3], [[0, 1, 0]] * 3)
    edge = np.array([-2.0, 0.0, 1.0]) / np.sqrt(5.0)
    np.testing.assert_allclose(normals[3:], [edge, edge, [0, 0, 1], [-1, 0, 0], [0, 0, 0]], atol=1e-7)


def test_texture_coordinates(tmp_path: Path) -> None:
    uvs = [[0, 0], [1, 0], [0.5, 0.25]]
    builder = one_joint(
        lambda b: primitive(SQUARE[:3], attributes={"TEXCOORD_0": b.accessor(uvs)})(b), primitive(SQUARE[:3])
    )
    np.testing.assert_array_equal(load(builder, tmp_path).mesh.uvs, [*uvs, [0, 0], [0, 0], [0, 0]])
    assert load(arm(), tmp_path).mesh.uvs is None


def test_several_sets_of_influences(tmp_path: Path) -> None:
    """Nine joints on one vertex, in three sets of different types; another primitive has one set."""
    builder = Builder()
    for number in range(9):
        builder.node(translation=[number, 0, 0])
    weights = np.arange(1, 13) * (np.arange(12) < 9) / 45
    joints = np.array([*range(8, -1, -1), 0, 0, 0])
    weight_bytes = np.round(weights[4:8] * 255).astype(int)
    many = builder.primitive(
        [[1, 2, 3]] * 3,
        [joints[:4]] * 3,
        [weights[:4]] * 3,
        attributes={
            "JOINTS_1": builder.accessor([joints[4:8]] * 3, "H"),
            "WEIGHTS_1": builder.accessor([weight_bytes] * 3, "B", normalized=True),
            "JOINTS_2": builder.accessor([joints[8:]] * 3, "B"),
            "WEIGHTS_2": builder.accessor([weights[8:]] * 3),
        },
    )
    few = builder.primitive(SQUARE[:3], [[8, 0, 0, 0]] * 3, [[1, 0, 0, 0]] * 3)
    builder.mesh(many, few)
    builder.skin(range(9))
    builder.node(mesh=0, skin=0)
    character = load(builder, tmp_path)
    np.testing.assert_array_equal(character.mesh.joint_indices, [joints] * 3 + [[8] + [0] * 11] * 3)
    weights[4:8] = weight_bytes / 255
    weights /= weights.sum()
    np.testing.assert_allclose(character.mesh.joint_weights[:3], [weights] * 3, rtol=1e-7)
    np.testing.assert_array_equal(character.mesh.joint_weights[3:], [[1] + [0] * 11] * 3)
    assert character.skin.max_influences == 9

    # Linear blending: each joint shifts by its number (there are no inverse bind matrices).
    shift = np.sum(joints * weights) / np.sum(weights)
    deformed = character.skin.deform(character.rest_matrices, method="linear")
    np.testing.assert_allclose(deformed[0], [1 + shift, 2, 3], rtol=1e-6)


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ([np.nan, 1, 0, 0], "NaN weights"),
        ([np.inf, 1, 0, 0], "infinite weights"),
        ([-0.5, 1, 0, 0], "negative weights"),
        ([0, 0, 0, 0], "no weights"),
        ([0.9, 0.0, 0.2, 0.2], "do not sum to 1"),
    ],
)
def test_bad_weights_are_passed_on_as_found(tmp_path: Path, row: list[float], kind: str) -> None:
    builder = arm()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["WEIGHTS_0"] = builder.accessor([[1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], row])
    with pytest.warns(sbs.WeightWarning, match=f"1 with {kind}|1 with weights that {kind}"):
        character = load(builder, tmp_path)
    np.testing.assert_array_equal(character.mesh.joint_weights[3], np.array(row, np.float32))
    assert np.isfinite(character.skin.deform(character.rest_matrices)).all()
    with pytest.raises(ValueError, match=r"file\.glb: .*weight"):
        load(builder, tmp_path, strict=True)


def test_a_primitive_without_influences(tmp_path: Path) -> None:
    builder = arm()
    bare = builder.primitive(SQUARE[:3], [[0] * 4] * 3, [[1, 0, 0, 0]] * 3)
    del bare["attributes"]["JOINTS_0"], bare["attributes"]["WEIGHTS_0"]
    builder.json["meshes"][0]["primitives"].append(bare)
    with (
        pytest.warns(FileWarning, match=r"primitives\[1\].attributes: no JOINTS_0"),
        pytest.warns(sbs.WeightWarning, match="3 with no weights"),
    ):
        character = load(builder, tmp_path)
    assert character.skin.unweighted_vertex_count == 3


def test_any_joint_may_have_weight_zero(tmp_path: Path) -> None:
    builder = arm()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["JOINTS_0"] = builder.accessor([[0, 255, 255, 255]] * 2 + [[0, 1, 99, 2]] * 2, "B")
    np.testing.assert_array_equal(load(builder, tmp_path).mesh.joint_indices, [[0, 0, 0, 0]] * 2 + [[0, 1, 0, 0]] * 2)


def test_meshes_without_a_skin_are_left_out(tmp_path: Path) -> None:
    builder = arm()
    builder.mesh(builder.primitive(SQUARE[:3], [[0] * 4] * 3, [[1, 0, 0, 0]] * 3))
    builder.node(mesh=1, name="sword")
    with pytest.warns(FileWarning, match="no skin: sword"):
        assert len(load(builder, tmp_path).mesh.positions) == 4


def test_only_what_is_in_the_scene(tmp_path: Path) -> None:
    builder = arm()
    builder.mesh(builder.primitive(SQUARE[:3], [[0] * 4] * 3, [[1, 0, 0, 0]] * 3))
    hidden = builder.node(mesh=1, skin=0)
    shown = builder.node(children=[2])
    builder.json["scenes"] = [{"nodes": [hidden]}, {"nodes": [0, shown]}]
    assert len(load(builder, tmp_path).mesh.positions) == 3
    builder.json["scene"] = 1
    assert len(load(builder, tmp_path).mesh.positions) == 4


# ----------------------------------------------------------------------------------------------------- joints and skins


QUARTER_ABOUT_Z = [0, 0, np.sqrt(0.5), np.sqrt(0.5)]  # x, y, z, w


def test_rest_pose_that_is_the_bind_pose(tmp_path: Path) -> None:
    character = load(arm(), tmp_path)
    np.testing.assert_array_equal(character.rest_matrices, [IDENTITY, IDENTITY])
    np.testing.assert_array_equal(character.scene_matrix, IDENTITY)
    np.testing.assert_array_equal(character.skin.deform(character.rest_matrices), character.mesh.positions)
    np.testing.assert_array_equal(character.skeleton.joint_positions, [[0, 0, 0], [2, 0, 0]])
    np.testing.assert_array_equal(character.skeleton.parents, [-1, 0])
    assert character.skeleton.names == ("shoulder", "elbow")
    assert character.name == "file"


def test_rest_pose_that_is_not_the_bind_pose(tmp_path: Path) -> None:
    """The elbow is bent by 90 degrees in the file: (3, 0, 0) goes to (3, 0, 0) by the shoulder, to (2, 1, 0) by it."""
    builder = arm()
    builder.json["nodes"][1]["rotation"] = QUARTER_ABOUT_Z
    character = load(builder, tmp_path)
    deformed = character.skin.deform(character.rest_matrices, method="linear")
    np.testing.assert_allclose(deformed, np.array([[0, 0, 0], [0, 1, 0], [2.5, 0.5, 0], [2, 1, 0]]), atol=1e-6)
    np.testing.assert_array_equal(character.scene_matrix, IDENTITY)


def test_no_inverse_bind_matrices(tmp_path: Path) -> None:
    builder = arm()
    del builder.json["skins"][0]["inverseBindMatrices"]
    character = load(builder, tmp_path)
    np.testing.assert_array_equal(character.rest_matrices, [IDENTITY, translation(2, 0, 0)])
    np.testing.assert_array_equal(character.skeleton.bind_matrices, [IDENTITY, IDENTITY])


def test_more_inverse_bind_matrices_than_joints(tmp_path: Path) -> None:
    builder = arm()
    builder.skin([0, 1], [IDENTITY, translation(-2, 0, 0), translation(9, 9, 9)])
    builder.json["nodes"][2]["skin"] = 1
    np.testing.assert_array_equal(load(builder, tmp_path).rest_matrices, [IDENTITY, IDENTITY])


@pytest.mark.damaged
def test_fewer_inverse_bind_matrices_than_joints(tmp_path: Path) -> None:
    """The last joints get the identity, also when the character is written into its file."""
    builder = arm()
    builder.skin([0, 1], [translation(-2, 0, 0)])
    builder.json["nodes"][2]["skin"] = 1
    with pytest.warns(FileWarning, match=r"1 inverse bind matrix for 2 joints"):
        character = load(builder, tmp_path)
    np.testing.assert_array_equal(character.rest_matrices, [IDENTITY, translation(4, 0, 0)])  # -2 and 2 in the file
    moved = character.with_weights([[1]] * 4, [[1.0]] * 4)
    moved.save(tmp_path / "kept.glb")
    with pytest.warns(FileWarning, match=r"1 inverse bind matrix for 2 joints"):
        again = sbs.load(tmp_path / "kept.glb")
    np.testing.assert_array_equal(again.rest_matrices, character.rest_matrices)


def test_joints_in_any_order(tmp_path: Path) -> None:
    """Children before parents, and a joint that carries no weight."""
    builder = arm()
    builder.json["nodes"][1]["children"] = [builder.node(name="hand", translation=[1, 0, 0])]
    builder.skin([3, 1, 0], [translation(-3, 0, 0), translation(-2, 0, 0), IDENTITY])
    builder.json["nodes"][2]["skin"] = 1
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["JOINTS_0"] = builder.accessor([[2, 0, 0, 0]] * 2 + [[2, 1, 0, 0]] * 2, "B")
    character = load(builder, tmp_path)
    assert character.skeleton.names == ("hand", "elbow", "shoulder")
    np.testing.assert_array_equal(character.skeleton.parents, [1, 2, -1])
    np.testing.assert_array_equal(character.skeleton.joint_positions, [[3, 0, 0], [2, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(character.rest_matrices, [IDENTITY] * 3)


def test_nodes_between_and_above_joints_are_folded(tmp_path: Path) -> None:
    """The elbow hangs on a helper node on the shoulder, the shoulder on an armature that is moved and turned."""
    builder = arm()
    nodes = builder.json["nodes"]
    helper = builder.node(translation=[0.5, 0, 0], children=[1])
    nodes[0]["children"] = [helper]
    nodes[1]["translation"] = [1.5, 0, 0]
    builder.node(name="armature", translation=[0, 0, 7], rotation=QUARTER_ABOUT_Z, children=[0])
    character = load(builder, tmp_path)
    np.testing.assert_array_equal(character.skeleton.parents, [-1, 0])
    turned = translation(0, 0, 7)
    turned[:2, :2] = [[0, -1], [1, 0]]
    np.testing.assert_allclose(character.rest_matrices, [IDENTITY] * 2, atol=1e-15)
    np.testing.assert_allclose(character.mesh.positions[3], turned[:3] @ [3, 1, 0, 1], atol=1e-6)
    np.testing.assert_allclose(character.skeleton.bind_matrices[0], turned, atol=1e-15)
    deformed = character.skin.deform(character.rest_matrices)
    np.testing.assert_allclose(deformed[3], [-1, 3, 7], atol=1e-6)


def test_nodes_with_a_matrix(tmp_path: Path) -> None:
    """Files store matrices column by column."""
    builder = arm()
    builder.json["nodes"][0]["matrix"] = [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1]
    character = load(builder, tmp_path)
    deformed = character.skin.deform(character.rest_matrices)
    np.testing.assert_allclose(deformed[3], [4, 9, 7], atol=1e-6)


@pytest.mark.parametrize("length", [1e-200, 3.0, 1e200])
def test_quaternions_are_normalized(tmp_path: Path, length: float) -> None:
    builder = arm()
    builder.json["nodes"][0]["rotation"] = [0, 0, length, length]
    character = load(builder, tmp_path)
    np.testing.assert_allclose(np.linalg.det(character.rest_matrices[:, :3, :3]), 1, rtol=1e-14)


def scaled_arm(scale: float, inverse_bind_scale: float = 1.0) -> Builder:
    """The arm under an armature node that scales; bind matrices of the armature's space, or scaled in turn."""
    builder = arm()
    builder.node(name="armature", scale=[scale] * 3, children=[0])
    binds = np.array([IDENTITY, translation(-2, 0, 0)])
    binds[:, :3] *= inverse_bind_scale
    # The elbow's node stays 2 units of the armature away from the shoulder's.
    binds[1, 0, 3] = -2.0
    builder.skin([0, 1], binds)
    builder.json["nodes"][2]["skin"] = 1
    return builder


@pytest.mark.parametrize("scale", [100.0, 39.5492])
def test_scale_of_the_nodes_is_folded_into_the_mesh(tmp_path: Path, scale: float) -> None:
    character = load(scaled_arm(scale), tmp_path)
    linear = character.rest_matrices[:, :3, :3]
    np.testing.assert_allclose(linear, [np.eye(3)] * 2, atol=1e-14)
    unscaled = np.array([[0, 0, 0], [0, 1, 0], [3, 0, 0], [3, 1, 0]])
    np.testing.assert_allclose(character.mesh.positions, scale * unscaled, rtol=1e-7)
    np.testing.assert_allclose(character.skeleton.joint_positions, np.array([[0, 0, 0], [2 * scale, 0, 0]]), rtol=1e-14)
    np.testing.assert_allclose(np.linalg.det(character.skeleton.bind_matrices[:, :3, :3]), 1, rtol=1e-14)
    for method in METHODS:
        deformed = character.skin.deform(character.rest_matrices, method=method)
        np.testing.assert_allclose(deformed, scale * unscaled, rtol=1e-6, atol=1e-6 * scale)
    assert character.skin.pose_report(character.rest_matrices).nonrigid_joints == 0


def test_scale_shared_by_nodes_and_inverse_bind_matrices(tmp_path: Path) -> None:
    """The armature scales by 40, the inverse bind matrices by 2.5: skinning matrices by 100."""
    character = load(scaled_arm(40.0, 2.5), tmp_path)
    np.testing.assert_allclose(character.rest_matrices, [IDENTITY] * 2, atol=1e-12)
    np.testing.assert_allclose(character.mesh.positions[3], [300, 100, 0], rtol=1e-6)
    np.testing.assert_allclose(character.skeleton.joint_positions[1], [80, 0, 0], rtol=1e-6)


def test_scale_of_some_joints_stays(tmp_path: Path) -> None:
    """The elbow alone is scaled: v = (3, 1, 0) goes to itself by the shoulder, to (2 + 1.5, 1.5, 0) by the elbow."""
    builder = arm()
    builder.json["nodes"][1]["scale"] = [1.5] * 3
    character = load(builder, tmp_path)
    deformed = character.skin.deform(character.rest_matrices, method="linear")
    np.testing.assert_allclose(deformed[3], [3.25, 1.25, 0], rtol=1e-6)


def test_scale_of_joints_that_stretch_below_a_root_of_other_units(tmp_path: Path) -> None:
    """As in rigs of Rigify, of centimeters, one bone stretches by 2 %: mesh, rest pose and clips are in meters."""
    builder = scaled_arm(0.01)
    builder.json["nodes"][1]["scale"] = [1.02, 0.99, 0.99]
    root = builder.node(name="root", children=[3], translation=[5, 0, 0])
    builder.skin([0, 1, root], [IDENTITY, translation(-2, 0, 0), IDENTITY])
    builder.json["nodes"][2]["skin"] = 2
    character = load(builder, tmp_path)
    np.testing.assert_allclose(np.ptp(character.mesh.positions, axis=0), [0.03, 0.01, 0], rtol=0.01)
    np.testing.assert_allclose(character.mesh.positions[0], [5, 0, 0], atol=1e-3)  # the stretch
    np.testing.assert_allclose(character.scene_matrix, np.eye(4), atol=1e-12)
    stretched = (2 + 1.02 * 1, 0.99, 0)  # vertex 3 by the elbow
    expected = 0.01 * np.array([[0, 0, 0], [0, 1, 0], [3.01, 0, 0], np.mean([stretched, (3, 1, 0)], axis=0)])
    deformed = character.skin.deform(character.rest_matrices, method="linear")
    np.testing.assert_allclose(deformed - [5, 0, 0], expected, atol=1e-6)  # float32


def test_scale_of_joints_without_weight_does_not_count(tmp_path: Path) -> None:
    builder = scaled_arm(100.0)
    extra = builder.node(scale=[0.001, 1, 1])
    builder.skin([0, 1, extra], [IDENTITY, translation(-2, 0, 0), IDENTITY])
    builder.json["nodes"][2]["skin"] = 2
    character = load(builder, tmp_path)
    np.testing.assert_allclose(character.mesh.positions[3], [300, 100, 0])


def test_mirrored_character(tmp_path: Path) -> None:
    """Its triangles are turned around, so that they stay counter-clockwise seen from outside."""
    builder = arm()
    builder.node(scale=[-10, 10, 10], children=[0])
    character = load(builder, tmp_path)
    np.testing.assert_allclose(character.mesh.positions[3], [-30, 10, 0], rtol=1e-6)
    np.testing.assert_array_equal(character.mesh.triangles, [[1, 2, 0], [3, 2, 1]])
    np.testing.assert_allclose(character.rest_matrices, [IDENTITY] * 2, atol=1e-14)


def test_posing_by_the_skeleton(tmp_path: Path) -> None:
    """The elbow turns by 90 degrees about z; the scene is twice as large, turned, and 7 away. The mesh is in it."""
    builder = arm()
    builder.node(translation=[0, 0, 7], rotation=QUARTER_ABOUT_Z, scale=[2, 2, 2], children=[0])
    character = load(builder, tmp_path)
    turn = sbs.rotations.matrices_from_euler([[0, 0, 0], [0, 0, 90]], "XYZ", degrees=True)
    skeleton = character.skeleton
    by_skeleton = character.skin.deform(skeleton.skinning_matrices(skeleton.forward(turn)), method="linear")
    np.testing.assert_allclose(by_skeleton[2], [-1, 5, 7], atol=1e-6)
    in_scene = character.skin.deform(character.skinning_matrices(turn), method="linear")
    np.testing.assert_allclose(in_scene[2], [-1, 5, 7], atol=1e-6)
    halves = np.sqrt(0.5)
    by_quaternion = character.skinning_matrices(quaternions=[[1, 0, 0, 0], [halves, 0, 0, halves]])
    np.testing.assert_allclose(by_quaternion, character.skinning_matrices(turn), atol=1e-15)


def with_second_mesh(builder: Builder, skin: int, vertex_count: int = 3) -> Builder:
    primitive = builder.primitive(
        [[3, 1, 0]] * vertex_count,
        [[0, 1, 0, 0]] * vertex_count,
        [[0.25, 0.75, 0, 0]] * vertex_count,
        indices=[0, 1, 2],
    )
    builder.node(mesh=builder.mesh(primitive), skin=skin)
    return builder


def test_skins_with_the_same_joints_are_one(tmp_path: Path) -> None:
    """Also where they name the joints in another order."""
    builder = arm()
    with_second_mesh(builder, builder.skin([1, 0], [translation(-2, 0, 0), IDENTITY]))
    mesh = load(builder, tmp_path).mesh
    assert len(mesh.positions) == 7
    np.testing.assert_array_equal(mesh.joint_indices[4, :2], [1, 0])


def test_skins_whose_bind_spaces_differ_by_one_matrix_are_one(tmp_path: Path) -> None:
    """The second mesh was bound when it lay 5 up and turned: its vertices come to where the first one lies."""
    builder = arm()
    moved = translation(0, 5, 0)
    moved[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    with_second_mesh(builder, builder.skin([0, 1], [moved, translation(-2, 0, 0) @ moved]))
    attributes = builder.json["meshes"][1]["primitives"][0]["attributes"]
    attributes["NORMAL"] = builder.accessor([[1, 0, 0]] * 3)
    mesh = load(builder, tmp_path).mesh
    np.testing.assert_allclose(mesh.positions[4:], [[-1, 8, 0]] * 3, atol=1e-6)
    assert mesh.normals is not None
    np.testing.assert_allclose(mesh.normals[4:], [[0, 1, 0]] * 3, atol=1e-6)


def test_the_skin_with_the_most_vertices_is_read(tmp_path: Path) -> None:
    builder = arm()
    with_second_mesh(builder, builder.skin([builder.node(), builder.node()]), vertex_count=5)
    with pytest.warns(FileWarning, match=r"left out.*: body \(skin 0\)"):
        assert len(load(builder, tmp_path).mesh.positions) == 5


def test_no_such_skin(tmp_path: Path) -> None:
    builder = arm()
    builder.skin([0])
    for skin in (-1, 1, 2):
        with pytest.raises(ValueError, match=f"skin {skin}"):
            load(builder, tmp_path, skin=skin)


def test_names_are_made_different(tmp_path: Path) -> None:
    builder = Builder()
    for name in ("bone", "bone", None, "bone_2", "bone"):
        builder.node(**({"name": name} if name else {}))
    builder.mesh(builder.primitive([[0, 0, 0]] * 3, [[0] * 4] * 3, [[1, 0, 0, 0]] * 3))
    builder.skin(range(5))
    builder.node(mesh=0, skin=0)
    assert load(builder, tmp_path).skeleton.names == ("bone", "bone_3", "joint_2", "bone_2", "bone_4")


def test_singular_inverse_bind_matrix(tmp_path: Path) -> None:
    """Where the joint carries weight, linear blending is as glTF has it, but for a millionth; else it is not used."""
    builder = arm()
    flat = np.diag([1.0, 0.0, 1.0, 1.0])
    flat[0, 3] = -2.0
    builder.json["skins"].clear()
    builder.skin([0, 1], [IDENTITY, flat])
    builder.animation((1, "rotation", [0, 1], [[0, 0, 0, 1], [0, 0, 0.6, 0.8]]))
    with pytest.warns(FileWarning, match="singular, which only linear blending takes: joints 1"):
        hero = load(builder, tmp_path)
    matrices, scene = hero.animations[0].skinning_matrices(1.0), gltf_reference.Scene(tmp_path / "file.glb")
    found = hero.skin.deform(matrices, method="linear")
    np.testing.assert_allclose(found, scene.deform(scene.json["animations"][0], 1.0), atol=5e-6)
    assert np.isfinite(hero.skin.deform(matrices)).all()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["WEIGHTS_0"] = builder.accessor([[1, 0, 0, 0]] * 4)
    with pytest.warns(FileWarning, match="singular and not used: 1"):
        character = load(builder, tmp_path)
    np.testing.assert_array_equal(character.skin.deform(character.rest_matrices), character.mesh.positions)


def alone(builder: Builder) -> None:
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["JOINTS_1"] = attributes["JOINTS_0"]


def joints_as_floats(builder: Builder) -> None:
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["JOINTS_0"] = builder.accessor([[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]])


def joint_twice(builder: Builder) -> None:
    builder.json["skins"][0]["joints"] = [0, 1, 1]
    builder.json["skins"][0]["inverseBindMatrices"] = builder.accessor(
        np.array([IDENTITY, translation(-2, 0, 0), translation(-2, 0, 0)]).transpose(0, 2, 1).reshape(-1, 16)
    )


def weights_without_targets(builder: Builder) -> None:
    builder.json["meshes"][0]["weights"] = [0.5]


def last_row(builder: Builder) -> None:
    matrices = np.array([IDENTITY, translation(-2, 0, 0)])
    matrices[:, 3] += [2e-5, 0, 0, -2e-5]
    builder.json["skins"][0]["inverseBindMatrices"] = builder.accessor(matrices.transpose(0, 2, 1).reshape(-1, 16))


def extensions(builder: Builder) -> None:
    builder.json["extensionsRequired"] = ["KHR_node_visibility", "VRMC_vrm", "EXT_mesh_gpu_instancing", "MSFT_lod"]


@pytest.mark.damaged
@pytest.mark.parametrize(
    ("change", "remark"),
    [
        (alone, "JOINTS_1 is left out"),
        (joints_as_floats, "integers as floats"),
        (joint_twice, "a joint already"),
        (weights_without_targets, None),
        (last_row, None),
        (extensions, None),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_breaches_with_one_meaning_are_read(tmp_path: Path, change: Any, remark: str | None) -> None:
    builder = arm()
    expected = sbs.load(builder.save(tmp_path / "good.glb"))
    change(builder)
    with pytest.warns(UserWarning, match=remark) if remark else contextlib.nullcontext():
        found = sbs.load(builder.save(tmp_path / "bad.glb"))
    np.testing.assert_array_equal(found.mesh.positions, expected.mesh.positions)
    np.testing.assert_array_equal(found.mesh.joint_weights, expected.mesh.joint_weights)
    np.testing.assert_array_equal(found.mesh.joint_indices, expected.mesh.joint_indices)
    assert found.skeleton.names[:2] == expected.skeleton.names
    found.save(tmp_path / "saved.glb")


def test_uneven_scales_above_joints_are_told(tmp_path: Path) -> None:
    """Of an armature that is scaled and applies to the mesh; an even one changes nothing, up to rounding."""
    for scale, told in (([1.0, 2.0, 1.0], 1), ([2.0, 2.0, 2.00001], 0)):
        builder = arm()
        builder.node(name="armature", children=[0], scale=scale)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sbs.load(builder.save(tmp_path / "arm.glb"))
        assert [str(each.message).partition(" has")[0][-10:] for each in caught] == ["'armature'"] * told
