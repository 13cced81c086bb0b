# SPDX-License-Identifier: MIT
"""Characters: when their skin is made, which weights are warned of, and where warnings point."""

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
from sbs import _core
from sbs.characters.character import Mesh


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
    with pytest.warns(sbs.WeightWarning, match="of 3 vertices: 1 with NaN .*, 1 with no weights") as caught:
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
    with pytest.raises(ValueError, match=r"joint_weights\[2, 1\] = nan|joint_weights.*vertex 1|joint_weights\[1\]"):
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


class Painted(sbs.Skin):
    """A skin that knows more than its kind does."""

    color = "red"


def test_new_weights_keep_the_class() -> None:
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
