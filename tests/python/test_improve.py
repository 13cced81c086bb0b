# SPDX-License-Identifier: MIT
"""One command for engines with linear blending alone: weights, twist joints and correctives in a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from commands import refuse, succeed
from gltf_reference import Scene

import sbs
from sbs.cli import main
from sbs.cli.improve import Improved, improve_character
from sbs.rigging.triangle_mesh import diagonal


@pytest.fixture(scope="module")
def hand() -> Path:
    return Path(sbs.__file__).parent / "characters" / "data" / "hand.glb"


def test_a_program_shows_the_promised_positions(hand: Path, tmp_path: Path) -> None:
    """By the specification of glTF alone, in frames of the clip."""
    character = sbs.load(hand)
    made = improve_character(character, (), 4, 30.0).character
    made.save(tmp_path / "better.glb")
    scene, clip = Scene(tmp_path / "better.glb"), made.animations[0]
    assert made.skin.max_influences <= 4
    assert len(made.mesh.shapes)
    shapes = made.shape_motion(clip)
    for time in np.linspace(0, clip.duration, 4):
        wanted = made.skin.deform(
            clip.skinning_matrices(time), method="linear", rest_positions=shapes.rest_positions(time)
        )
        seen = np.array(scene.deform(scene.animation(clip.name), time))
        # float32 in the file, of positions, deltas and matrices
        np.testing.assert_allclose(seen, wanted, atol=1e-5 * diagonal(character.mesh.positions))


def test_bends_are_better(hand: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(
        main, ["improve", str(hand), "--without", "weights,twist", "--json", "-o", str(tmp_path / "a.glb")]
    )
    assert result.exit_code == 0, result.output
    before, after = (row for row in json.loads(result.stdout) if row["motion"] == "made bends")
    assert after["surface energy"] < before["surface energy"]
    assert len(sbs.load(tmp_path / "a.glb").skeleton) == len(sbs.load(hand).skeleton)


def test_a_result_that_is_worse_is_told(hand: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a mesh that is torn to pieces in all poses after."""
    monkeypatch.setattr(Improved, "deform", lambda made, *_: np.asarray(made.character.mesh.positions[::-1], float))
    output = tmp_path / "a.glb"
    result = CliRunner().invoke(main, ["improve", str(hand), "--without", "weights,twist", "-o", str(output)])
    assert "worse than before in 'fist', 'made bends', 'made twists'" in result.stderr


def test_parts_left_out(hand: Path, tmp_path: Path) -> None:
    succeed("improve", hand, "--without", "correctives,weights", "-o", tmp_path / "a.glb")
    made = sbs.load(tmp_path / "a.glb")
    assert not made.mesh.shapes


@pytest.mark.parametrize(
    "options",
    [
        ["--without", "weights,twist,correctives"],
        ["--without", "bones"],
        ["--without", "weights,twist", "--influences", "4"],
        ["--without", "twist,correctives", "--rate", "10"],
        ["--width", "300"],
    ],
)
def test_options_without_effect_are_refused(hand: Path, tmp_path: Path, options: list[str]) -> None:
    refuse("improve", hand, *options, "-o", tmp_path / "a.glb")
    assert not (tmp_path / "a.glb").exists()
