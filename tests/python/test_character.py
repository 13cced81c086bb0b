# SPDX-License-Identifier: MIT
"""Characters: when their skin is made, where warnings point, and other weights and meshes in them."""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sbs
from sbs import _core, weights
from sbs.characters.character import Mesh
from sbs.rigging.rig import Rig


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return sbs.samples.load("hand")


def mesh(**changes: Any) -> Mesh:
    arguments: dict[str, Any] = {
        "positions": np.eye(3, dtype=np.float32),
        "triangles": np.array([[0, 1, 2]], np.int32),
        "joint_indices": np.array([[0, 1]] * 3, np.int32),
        "joint_weights": np.full((3, 2), 0.5, np.float32),
    }
    return Mesh(**{**arguments, **changes})


def skeleton() -> sbs.Skeleton:
    return sbs.Skeleton([-1, 0], np.stack([np.eye(4)] * 2))


BAD = np.array([[0.5, 0.5], [0.0, 0.0], [1.0, np.nan]], np.float32)


def count_bindings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows with every skin that is made."""
    made: list[int] = []
    core_skin = _core.Skin

    def make(*args: Any, **kwargs: Any) -> Any:
        made.append(1)
        return core_skin(*args, **kwargs)

    monkeypatch.setattr(_core, "Skin", make)
    return made


def test_the_skin_is_made_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = count_bindings(monkeypatch)
    character = sbs.Character.from_mesh(mesh(), skeleton())
    character.save(tmp_path / "character.glb")
    loaded = sbs.load(tmp_path / "character.glb", strict=True)
    assert repr(loaded) == "<sbs.Character 'character', vertices: 3, joints: 2, animations: 0>"
    assert not made
    assert loaded.skin is loaded.skin
    assert len(made) == 1
    np.testing.assert_array_equal(loaded.skin.deform(np.stack([np.eye(4)] * 2)), np.eye(3))


def warning_line(caught: Any) -> str:
    """The source line that the only warning points to."""
    (warning,) = caught
    assert warning.filename == __file__
    line: int = warning.lineno
    return Path(__file__).read_text().splitlines()[line - 1]


def test_weights_are_warned_of_where_the_library_was_called(tmp_path: Path, damaged_hand: Path) -> None:
    with pytest.warns(sbs.WeightWarning, match=r"1 with NaN .*, 1 with no weights") as caught:
        character = sbs.Character.from_mesh(mesh(joint_weights=BAD), skeleton())
    assert "from_mesh" in warning_line(caught)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert character.skin.weight_report.unweighted == 1  # told before
        character.save(tmp_path / "new.glb")
        assert copy.copy(character).skin is character.skin
    with pytest.warns(sbs.WeightWarning, match="2 with no weights") as caught:
        sbs.load(damaged_hand)
    assert "sbs.load" in warning_line(caught)
    with pytest.warns(sbs.WeightWarning) as caught:
        replace(character, name="another")
    assert "replace" in warning_line(caught)
    skin = character.skin
    with pytest.warns(sbs.WeightWarning) as caught:
        sbs.Skin(skin.rest_positions, skin.joint_indices, skin.joint_weights)
    assert "sbs.Skin" in warning_line(caught)
    with pytest.warns(sbs.WeightWarning) as caught:
        skin.update_weights(skin.joint_indices, skin.joint_weights)
    assert "update_weights" in warning_line(caught)


def test_other_warnings_point_to_the_caller_as_well() -> None:
    character = sbs.Character.from_mesh(mesh(), skeleton())
    flat = np.stack([np.diag([1.0, 1.0, 0.0, 1.0])] * 2)
    with pytest.warns(sbs.SingularVertexWarning) as caught:
        character.skin.inverse_deform(np.eye(3), flat, method="linear")
    assert "inverse_deform" in warning_line(caught)
    with pytest.warns(sbs.CenterWarning) as caught:
        sbs.Character.from_mesh(mesh(positions=np.zeros((3, 3), np.float32)), skeleton()).optimized_centers()
    assert "optimized_centers" in warning_line(caught)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"positions": np.full((3, 3), np.inf)}, r"rest_positions\[0, 0\]"),
        ({"joint_indices": np.array([[0, 2]] * 3)}, r"joint_indices\[0, 1\] = 2"),
        ({"normals": np.zeros((2, 3))}, "rest_normals"),
    ],
)
def test_what_a_skin_refuses_is_no_character(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sbs.Character.from_mesh(mesh(**changes), skeleton())


def test_strict(damaged_hand: Path) -> None:
    with pytest.raises(ValueError, match=r"joint_weights\[[12]"):
        sbs.Character.from_mesh(mesh(joint_weights=BAD), skeleton(), strict=True)
    with pytest.raises(ValueError, match=r"damaged\.glb: joint_weights"):
        sbs.load(damaged_hand, strict=True)


def test_pickle() -> None:
    character = sbs.Character.from_mesh(mesh(), skeleton(), name="it")
    for ask in (False, True):
        if ask:
            assert character.skin
        again = pickle.loads(pickle.dumps(character))
        assert again.name == "it"
        assert again.skin.joint_sets == [(0, 1)]


def test_new_weights_keep_the_class() -> None:
    class Painted(sbs.Skin):
        color = "red"

    skin = Painted(np.eye(3), [[0, 1]] * 3, [[0.5, 0.5]] * 3)
    skin.color = "blue"
    for updated in (
        skin.update_weights([[0, 1]] * 3, [[0.25, 0.75]] * 3),
        skin.update_weights([[0, 1]], [[0.25, 0.75]], vertices=[1]),
    ):
        assert type(updated) is Painted
        assert updated.color == "blue"
        assert updated.joint_weights[1, 0] == 0.25
    assert skin.joint_weights[1, 0] == 0.5


# --------------------------------------------------------------------------------------- other weights and other meshes


def test_what_is_saved_is_what_deforms(hand: sbs.Character, tmp_path: Path) -> None:
    new = hand.with_weights(*weights.limit(*hand.skin.influences(), 1))
    new.save(tmp_path / "new.glb")
    matrices = hand.animations[0].skinning_matrices(0.5)
    deformed = new.skin.deform(matrices)
    np.testing.assert_array_equal(sbs.load(tmp_path / "new.glb").skin.deform(matrices), deformed)
    assert np.abs(deformed - hand.skin.deform(matrices)).max() > 1e-3
    assert (new.mesh.joint_indices.dtype, new.mesh.joint_weights.dtype) == (np.dtype(np.int32), np.dtype(np.float32))
    assert new.animations is hand.animations
    assert new.name == hand.name


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


def test_a_vertex_may_lose_its_weights(hand: sbs.Character) -> None:
    with pytest.warns(sbs.WeightWarning, match="1 with no weights") as caught:
        new = hand.with_weights([[0]], [[0.0]], vertices=[3])
    assert caught[0].filename == __file__
    assert new.skin.unweighted_vertex_count == 1


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize(
    ("joints", "shares", "options", "error", "message"),
    [
        ([[0]], [[0.0]], {"vertices": [3], "strict": True}, ValueError, "weight"),
        ([[0]], [[1.0]], {"vertices": [1360]}, IndexError, "1360"),
        ([[0], [0]], [[1.0], [1.0]], {}, ValueError, r"joint_indices has shape \(2, 1\).*1360"),
        ([[25]] * 1360, [[1.0]] * 1360, {}, ValueError, "25"),
        ([[0]], [[1.0]], {"vertices": [0, 1]}, ValueError, r"joint_indices has shape \(1, 1\)"),
        ([[0]], [[1.0, 0.0]], {"vertices": [0]}, ValueError, r"\(1, [12]\).*\(1, [12]\)"),
    ],
)
def test_bad_weights(
    hand: sbs.Character,
    bound: bool,
    joints: Any,
    shares: Any,
    options: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    character = replace(hand)
    if bound:
        assert character.skin
    with pytest.raises(error, match=message):
        character.with_weights(joints, shares, **options)


def test_another_mesh(hand: sbs.Character, tmp_path: Path) -> None:
    assert hand.skin
    raised = hand.with_mesh(replace(hand.mesh, positions=hand.mesh.positions + np.float32(0.5)))
    np.testing.assert_array_equal(raised.skin.rest_positions, hand.mesh.positions + np.float32(0.5))
    raised.save(tmp_path / "raised.glb")
    np.testing.assert_array_equal(sbs.load(tmp_path / "raised.glb").mesh.positions, raised.skin.rest_positions)
    for changes, message in (
        ({"triangles": np.array([[0, 1, 1360]])}, r"triangles\[0, 2\] = 1360"),
        ({"triangles": np.array([0, 1, 2])}, r"triangles has shape \(3,\)"),
        ({"uvs": np.zeros((2, 2))}, r"uvs has shape \(2, 2\)"),
    ):
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
    with pytest.raises(ValueError, match=r"animations\[0\], 'fist'"):
        replace(hand, rig=Rig.from_skeleton(skeleton))
    assert replace(hand, rig=replace(hand.rig)).animations == hand.animations
