# SPDX-License-Identifier: MIT
"""Tangents: what deformation does to short arrows on the mesh, with the handedness of the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from gltf_builder import Builder, arm
from gltf_reference import opened, view

import sbs
from sbs.cli import main
from sbs.tangents import deformed_tangents, moved_tangents

NORMALS = np.array([[0, 0, 1]] * 4)
TANGENTS = np.array([[1, 0, 0, 1], [0, 1, 0, -1], [0.6, 0.8, 0, 1], [0, 1, 0, -1]])


def painted() -> Builder:
    """An arm with a normal map, whose frames are left-handed at two vertices."""
    builder = arm()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["NORMAL"] = builder.accessor(NORMALS)
    attributes["TANGENT"] = builder.accessor(TANGENTS)
    return builder


def load(builder: Builder, tmp_path: Path) -> sbs.Character:
    return sbs.load(builder.save(tmp_path / "arm.glb"))


def bent(character: sbs.Character, axis: tuple[float, float, float], degrees: float) -> np.ndarray:
    turns = np.zeros((2, 3))
    turns[1] = np.radians(degrees) * np.array(axis)
    return character.skinning_matrices(rotation_vectors=turns)


@pytest.mark.parametrize("method", ["linear", "spherical", "dual_quaternion", "rigid"])
@pytest.mark.parametrize(("axis", "degrees"), [((0, 0, 1), 70), ((0, 1, 0), -50)])
def test_short_arrows_move_so(
    tmp_path: Path, method: sbs.Method, axis: tuple[float, float, float], degrees: float
) -> None:
    """A mesh in double precision, of which a copy is moved a little along its tangents."""
    character = load(painted(), tmp_path)
    mesh = character.mesh
    assert mesh.tangents is not None
    assert mesh.normals is not None
    rest = mesh.positions.astype(np.float64)
    doubled = np.concatenate([rest, rest + 1e-6 * mesh.tangents[:, :3].astype(np.float64)])
    skin = sbs.Skin(
        doubled,
        np.tile(mesh.joint_indices, (2, 1)),
        np.tile(mesh.joint_weights, (2, 1)),
        parents=character.skeleton.parents,
        joint_positions=character.skeleton.joint_positions,
        rest_normals=np.tile(mesh.normals, (2, 1)),
    )
    matrices = bent(character, axis, degrees)
    positions, normals = skin.deform(matrices, normals=True, method=method)
    arrows = (positions[4:] - positions[:4]) / 1e-6
    arrows -= np.sum(arrows * normals[:4], axis=1, keepdims=True) * normals[:4]
    arrows /= np.linalg.norm(arrows, axis=1, keepdims=True)
    found = deformed_tangents(skin, np.tile(mesh.tangents, (2, 1)), matrices, normals, method=method)[:4]
    np.testing.assert_allclose(found[:, :3], arrows, rtol=0, atol=1e-8)  # differences of 1e-6, in double
    np.testing.assert_array_equal(found[:, 3], [1, -1, 1, -1])


def test_a_mirror_changes_the_handedness(tmp_path: Path) -> None:
    character = load(painted(), tmp_path)
    assert character.mesh.tangents is not None
    matrices = np.tile(np.diag([-1.0, 1, 1, 1]), (2, 1, 1))
    _, normals = character.skin.deform(matrices, normals=True)
    found = deformed_tangents(character.skin, character.mesh.tangents, matrices, normals)
    expected = TANGENTS * [-1, 1, 1, -1]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(moved_tangents(TANGENTS, matrices[0, :3, :3]), expected)


def test_the_command_writes_them(tmp_path: Path) -> None:
    """The pose that turns all by 90 degrees about z."""
    load(painted(), tmp_path)
    arguments = ["--joint", "shoulder", "--rotate", "z:90", "-o", str(tmp_path / "pose.glb")]
    result = CliRunner().invoke(main, ["deform", str(tmp_path / "arm.glb"), *arguments])
    assert result.exit_code == 0, result.output
    content, data = opened(tmp_path / "pose.glb")
    accessor = content["accessors"][content["meshes"][0]["primitives"][0]["attributes"]["TANGENT"]]
    stored = np.frombuffer(view(content, data, accessor["bufferView"]), "<f4").reshape(-1, 4)
    expected = np.array([[0, 1, 0, 1], [-1, 0, 0, -1], [-0.8, 0.6, 0, 1], [-1, 0, 0, -1]])
    np.testing.assert_allclose(stored, expected, atol=1e-6)


@pytest.mark.parametrize("keeps_source", [True, False])
def test_saved_and_read_again(tmp_path: Path, keeps_source: bool) -> None:
    character = load(painted(), tmp_path)
    assert character.mesh.tangents is not None
    tangents = character.mesh.tangents * [-1, -1, -1, 1]
    flipped = character.with_mesh(replace(character.mesh, tangents=tangents))
    (flipped if keeps_source else replace(flipped, source=None)).save(tmp_path / "copy.glb")
    again = sbs.load(tmp_path / "copy.glb").mesh.tangents
    assert again is not None
    np.testing.assert_allclose(again, tangents, atol=1e-7)


def test_mistakes(tmp_path: Path) -> None:
    character = load(painted(), tmp_path)
    with pytest.raises(ValueError, match=r"tangents has shape \(4, 3\), expected \(4, 4\)"):
        replace(character.mesh, tangents=np.zeros((4, 3)))
    with pytest.raises(ValueError, match=r"normals has shape \(3, 3\), expected \(4, 3\)"):
        deformed_tangents(character.skin, TANGENTS, character.rest_matrices, NORMALS[:3])
    builder = painted()
    builder.json["meshes"][0]["primitives"][0]["attributes"]["TANGENT"] = builder.accessor(TANGENTS[:3])
    with pytest.raises(ValueError, match="3 elements for 4 vertices"):
        load(builder, tmp_path)
