# SPDX-License-Identifier: MIT
"""Joints: inverse bind matrices, hierarchies, several skins, and the spaces of a loaded character."""

from pathlib import Path

import numpy as np
import pytest
from gltf_builder import IDENTITY, Builder, arm, translation
from reference import METHODS

import sbs
from sbs.gltf import FileWarning

QUARTER_ABOUT_Z = [0, 0, np.sqrt(0.5), np.sqrt(0.5)]  # x, y, z, w


def load(builder: Builder, tmp_path: Path, *, strict: bool = False, skin: int | None = None) -> sbs.Character:
    return sbs.load(builder.save(tmp_path / "file.glb"), strict=strict, skin=skin)


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


def test_skins_of_another_skeleton_are_left_out(tmp_path: Path) -> None:
    builder = arm()
    with_second_mesh(builder, builder.skin([builder.node(), builder.node()]))
    with pytest.warns(FileWarning, match=r"left out.*: mesh_1 \(skin 1\)"):
        assert len(load(builder, tmp_path).mesh.positions) == 4
    assert len(load(builder, tmp_path, skin=0).mesh.positions) == 4
    assert len(load(builder, tmp_path, skin=1).mesh.positions) == 3


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
    """Refused where the joint carries weight; else it does not matter."""
    builder = arm()
    flat = np.diag([1.0, 1.0, 0.0, 1.0])
    builder.skin([0, 1], [IDENTITY, flat])
    builder.json["nodes"][2]["skin"] = 1
    with pytest.raises(ValueError, match=r"file.glb: skins\[1\].inverseBindMatrices: .*joint 1 is singular"):
        load(builder, tmp_path)
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["WEIGHTS_0"] = builder.accessor([[1, 0, 0, 0]] * 4)
    with pytest.warns(FileWarning, match="singular and not used: 1"):
        character = load(builder, tmp_path)
    np.testing.assert_array_equal(character.skin.deform(character.rest_matrices), character.mesh.positions)
