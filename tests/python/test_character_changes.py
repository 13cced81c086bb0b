# SPDX-License-Identifier: MIT
"""Characters with other weights and other meshes: a saved file deforms alike."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sbs
from sbs import weights
from sbs.rigging.rig import Rig


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    with resources.as_file(resources.files("sbs.characters") / "data" / "hand.glb") as path:
        return sbs.load(path)


def other_weights(character: sbs.Character) -> weights.Influences:
    return weights.limit(*character.skin.influences(), 1)


def test_what_is_saved_is_what_deforms(hand: sbs.Character, tmp_path: Path) -> None:
    new = hand.with_weights(*other_weights(hand))
    new.save(tmp_path / "new.glb")
    matrices = hand.animations[0].skinning_matrices(0.5)
    deformed = new.skin.deform(matrices)
    np.testing.assert_array_equal(sbs.load(tmp_path / "new.glb").skin.deform(matrices), deformed)
    assert np.abs(deformed - hand.skin.deform(matrices)).max() > 1e-3
    assert new.animations is hand.animations
    assert new.name == hand.name


def test_weights_become_those_of_the_mesh_s_type(hand: sbs.Character) -> None:
    new = hand.with_weights([[1]] * 1360, [[1]] * 1360)
    assert new.mesh.joint_indices.dtype == np.int32
    assert new.mesh.joint_weights.dtype == np.float32


@pytest.mark.parametrize("bound", [False, True])
def test_some_vertices(hand: sbs.Character, bound: bool) -> None:
    character = replace(hand)
    if bound:
        assert character.skin
    vertices = np.array([7, 1000, 7])
    new = character.with_weights([[3, 1], [2, 0], [5, 6]], [[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]], vertices=vertices)
    assert ("skin" in vars(new)) == bound  # the stroke of a brush need not bind all anew
    dense = weights.to_dense(hand.mesh.joint_indices, hand.mesh.joint_weights, 25)
    dense[[7, 1000]] = 0
    dense[7, [5, 6]], dense[1000, 2] = (0.25, 0.75), 1
    np.testing.assert_array_equal(weights.to_dense(new.mesh.joint_indices, new.mesh.joint_weights, 25), dense)
    np.testing.assert_array_equal(weights.to_dense(new.skin.joint_indices, new.skin.joint_weights, 25), dense)
    matrices = hand.animations[0].skinning_matrices(0.5)
    anew = sbs.Character.from_mesh(new.mesh, hand.skeleton)
    np.testing.assert_array_equal(new.skin.deform(matrices), anew.skin.deform(matrices))


@pytest.mark.parametrize("bound", [False, True])
def test_the_scene_follows_the_weights(bound: bool) -> None:
    """The scene is that of the root which has most of the weight."""
    mesh = sbs.Mesh(np.eye(3), np.array([[0, 1, 2]], np.int32), np.array([[0], [0], [0]], np.int32), np.ones((3, 1)))
    character = sbs.Character.from_mesh(mesh, sbs.Skeleton([-1, -1], np.stack([np.eye(4)] * 2)))
    moved = character.rig.local_matrices.copy()
    moved[1, :3, 3] = 1, 2, 3
    character = replace(character, rig=replace(character.rig, local_matrices=moved))
    np.testing.assert_array_equal(character.scene_matrix, np.eye(4))
    if bound:
        assert character.skin
    new = character.with_weights([[1]] * 3, [[1.0]] * 3, vertices=[0, 1, 2])
    np.testing.assert_array_equal(new.scene_matrix[:3, 3], [1, 2, 3])


def test_bad_weights(hand: sbs.Character) -> None:
    with pytest.warns(sbs.WeightWarning, match="1 with no weights") as caught:
        new = hand.with_weights([[0]], [[0.0]], vertices=[3])
    assert caught[0].filename == __file__
    assert new.skin.unweighted_vertex_count == 1
    with pytest.raises(ValueError, match="weight"):
        hand.with_weights([[0]], [[0.0]], vertices=[3], strict=True)
    with pytest.raises(IndexError, match="1360"):
        hand.with_weights([[0]], [[1.0]], vertices=[1360])
    with pytest.raises(ValueError, match=r"joint_indices has shape \(2, 1\).*1360"):
        hand.with_weights([[0], [0]], [[1.0], [1.0]])
    with pytest.raises(ValueError, match="25"):
        hand.with_weights([[25]] * 1360, [[1.0]] * 1360)


@pytest.mark.parametrize("bound", [False, True])
def test_rows_that_do_not_fit_the_vertices(hand: sbs.Character, bound: bool) -> None:
    character = replace(hand)
    if bound:
        assert character.skin
    with pytest.raises(ValueError, match=r"joint_indices has shape \(1, 1\), expected \(2, K\)"):
        character.with_weights([[0]], [[1.0]], vertices=[0, 1])
    with pytest.raises(ValueError, match=r"joint_weights has shape \(1, 2\).*\(1, 1\)|\(1, 1\).*\(1, 2\)"):
        character.with_weights([[0]], [[1.0, 0.0]], vertices=[0])


def test_another_mesh(hand: sbs.Character, tmp_path: Path) -> None:
    assert hand.skin
    raised = hand.with_mesh(replace(hand.mesh, positions=hand.mesh.positions + np.float32(0.5)))
    np.testing.assert_array_equal(raised.skin.rest_positions, hand.mesh.positions + np.float32(0.5))
    raised.save(tmp_path / "raised.glb")
    np.testing.assert_array_equal(sbs.load(tmp_path / "raised.glb").mesh.positions, raised.skin.rest_positions)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"triangles": np.array([[0, 1, 1360]])}, r"triangles\[0, 2\] = 1360 is out of range for 1360 vertices"),
        ({"triangles": np.array([0, 1, 2])}, r"triangles has shape \(3,\), expected \(T, 3\)"),
        ({"uvs": np.zeros((2, 2))}, r"uvs has shape \(2, 2\), expected \(1360, 2\)"),
    ],
)
def test_a_mesh_whose_parts_disagree(hand: sbs.Character, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hand.with_mesh(replace(hand.mesh, **changes))


def test_parts_that_disagree(hand: sbs.Character) -> None:
    skeleton = hand.skeleton
    fewer = sbs.Skeleton([-1], np.eye(4)[None])
    with pytest.raises(ValueError, match="skeleton has 1 joint, rig 25"):
        replace(hand, skeleton=fewer, mesh=replace(hand.mesh, joint_indices=0 * hand.mesh.joint_indices))
    moved = skeleton.bind_matrices.copy()
    moved[4, 0, 3] += 1
    with pytest.raises(ValueError, match=f"bind matrix of joint {skeleton.names[4]!r} .* rig"):
        replace(hand, skeleton=sbs.Skeleton(skeleton.parents, moved, skeleton.names))
    flat = np.where(np.arange(25) == 0, -1, 0)
    with pytest.raises(ValueError, match=r"parent of joint .* rig"):
        replace(hand, skeleton=sbs.Skeleton(flat, skeleton.bind_matrices, skeleton.names))
    with pytest.raises(ValueError, match=r"animations\[0\], 'fist', moves another rig"):
        replace(hand, rig=Rig.from_skeleton(skeleton))
    assert replace(hand, rig=replace(hand.rig)).animations == hand.animations
