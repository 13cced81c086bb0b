# SPDX-License-Identifier: MIT
"""docs/quality.md: its numbers are those of the script, and what it shows, runs."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sbs
from pages import losses, quality, scenes
from pages.tables import replace_tables
from sbs.cli import main
from sbs.quality import METHODS, Gauge
from sbs.quality.measures import tears
from sbs.quality.surface import make_surface

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "quality.md").read_text(encoding="utf-8")
NUMBERS = json.loads((DOCS / "quality.json").read_text(encoding="utf-8"))
SCENES = NUMBERS["scenes"]


def test_the_page_is_what_the_script_makes_of_the_numbers(tmp_path: Path) -> None:
    for name in ("quality.md", "quality.json"):
        shutil.copy(DOCS / name, tmp_path)
    quality.write(docs=tmp_path)
    assert (tmp_path / "quality.md").read_text(encoding="utf-8") == TEXT


@pytest.mark.parametrize("name", [pytest.param("bent knee", marks=pytest.mark.thorough), "tube"])
def test_the_numbers_are_measured_again(name: str) -> None:
    """Up to what float32 leaves of a crease on another machine: its coordinates have 6e-8 of the size, edges 1e-3."""
    _, facts = losses.measured(scenes.OWN[name]())
    (documented,) = (scene for scene in SCENES if scene["name"] == name)
    for method, result in documented["methods"].items():
        for measure in ("volume", "limb_volume", "area", "thickness", "tear", "surface_energy", "bending"):
            assert facts["methods"][method][measure] == pytest.approx(result[measure], rel=2e-3, abs=1e-4)
        # Whether a triangle crosses may change with a rounding.
        assert facts["methods"][method]["crossing"]["area"] == pytest.approx(result["crossing"]["area"], rel=0.1)
    if name == "tube":  # weighted centers do not tear where joint sets meet
        torn = {method: result["tear"]["largest"] for method, result in facts["methods"].items()}
        assert torn["weighted"] < 1.1 * torn["LBS"]
        assert torn["SBS"] > 10 * torn["LBS"]


@pytest.mark.parametrize("name", ["Fox.glb", "Rat.glb"])
def test_tears_in_motion_are_measured_again(name: str) -> None:
    """At other moments than the frames of the clips, so not to the same digits."""
    character = sbs.load(Path(__file__).parents[1] / "data" / name)
    mesh = character.mesh
    surface = make_surface(mesh.positions, mesh.triangles, mesh.joint_indices, mesh.joint_weights)
    largest = {
        method: max(
            tears(surface, character.skin.deform(matrices, **METHODS[method].options)[surface.kept].astype(float)).max()
            for animation in character.animations
            for matrices in map(animation.skinning_matrices, np.linspace(0, animation.duration, 12))
        )
        for method in ("LBS", "DQS", "weighted")
    }
    assert largest["weighted"] <= 1.1 * largest["LBS"]
    assert largest["weighted"] <= 1.01 * largest["DQS"]  # which keeps the radius without any center


def test_losses_by_hand() -> None:
    result = {
        "volume": {"smallest": 0.9, "largest": 1.3},
        "limb_volume": {"smallest": 0.6, "largest": 1.1},
        "thickness": {"smallest": 0.1, "low": 0.2, "high": 1.5, "largest": 2},
        "area": {"smallest": 0.1, "low": 0.25, "high": 8, "largest": 9},
        "tear": {"high": 1.25, "largest": 3},
        "pop": {"high": 0, "largest": 0.1, "jump": None},
    }
    scene = {"name": "a", "methods": {"LBS": result}}
    expected = [0.3, 0.4, 0.8, 0.5, 2, 3, 1.25]
    assert list(losses.mean_losses([scene])["LBS"].values()) == pytest.approx(expected)
    assert losses.most_torn([scene]) == {"LBS": 1}
    assert losses.largest_jump([scene], through_half_a_turn=False) == {"LBS": 0}


def shrunk() -> tuple[dict[str, Any], dict[str, Any]]:
    """A method that lets a limb shrink and does nothing else, and what LBS does where it does not."""
    kept = {
        "volume": {"smallest": 1, "largest": 1},
        "limb_volume": {"smallest": 1, "largest": 1},
        "thickness": {"low": 1, "high": 1},
        "area": {"low": 1, "high": 1},
        "tear": {"high": 0, "largest": 0},
    }
    return kept | {"thickness": {"low": 0.5, "high": 0.6}, "area": {"low": 0.25, "high": 0.5}}, kept


def test_to_shrink_gains_nothing() -> None:
    """What is thinner everywhere has no negative bulge that would make up for it, nor negative stretching."""
    found = losses.losses_of(shrunk()[0])
    assert found["bulge"] == found["stretched"] == 0
    assert found["thinner"] == 0.5
    assert found["squashed"] == 2
    assert min(found.values()) == 0


def test_where_linear_blending_loses_nothing_shares_are_of_the_floor() -> None:
    """Else the smallest loss, or a rounding, would be infinitely many times as much."""
    lost, kept = shrunk()
    found = {"LBS": losses.losses_of(kept), "other": losses.losses_of(lost)}
    total = losses.totals(found)
    assert total == {"LBS": 0, "other": pytest.approx((0.5 / 0.1 + 2 / 0.2) / 7)}
    tiny = {"LBS": found["LBS"] | {"tear": 1e-17}, "other": found["LBS"] | {"tear": 1e-3}}
    assert losses.totals(tiny)["other"] == pytest.approx(0.005 / 7)


def test_what_vanishes_is_a_finite_loss() -> None:
    gone = shrunk()[0] | {"area": {"low": 0.0, "high": 1.0}}
    assert losses.losses_of(gone)["squashed"] == pytest.approx(np.log2(1000))


def test_energies_by_hand() -> None:
    """Sizes of a tube doubled: 4 + 4 + 1/4 + 1/4 - 4, no bend, and 7 of its volume won."""
    character = scenes.tube(rings=20, sides=8).character
    energies = losses.energies_of(Gauge(character), 2 * character.mesh.positions)
    assert energies == pytest.approx((4.5, 0, 7), abs=1e-9)


def test_energy_shares_by_hand() -> None:
    def kinds(**methods: tuple[float, float, float]) -> dict[str, Any]:
        return {
            "bends": {
                "poses": 1,
                "methods": {name: dict(zip(losses.ENERGIES, values, strict=True)) for name, values in methods.items()},
            }
        }

    one = {"name": "one", "kinds": kinds(LBS=(1, 100, 0.1), SBS=(0.5, 200, 0.1))}
    other = {"name": "other", "kinds": kinds(LBS=(0.005, 0.5, 0.0), SBS=(0.001, 0.1, 0.016))}
    none = {"name": "none", "kinds": {}}
    shares = losses.energy_shares([one, other, none], "bends")
    assert shares == {"LBS": {"one": 1, "other": 1}, "SBS": {"one": pytest.approx(1), "other": pytest.approx(2)}}


def test_limbs_are_bent_and_twisted_and_clips_looked_at() -> None:
    character = scenes.twisted_arm().character
    still = np.tile(np.eye(4), (5, len(character.skeleton), 1, 1))
    kinds = losses.made_and_moving(character, [still])
    assert len(kinds["bends"]) == 2 * len(kinds["twists"]) > 10
    assert len(kinds["clips"]) == losses.CLIP_POSES
    # Of limbs: both parts of two arms and two legs, each in a pose of its own, as among all.
    limb_twists = kinds[losses.TWISTS_OF_LIMBS]
    assert [sum(np.array_equal(pose, other) for other in kinds["twists"]) for pose in limb_twists] == [1] * 8
    assert list(losses.made_and_moving(character, [])) == ["bends", "twists", "twists of limbs"]
    tube = scenes.tube(rings=20, sides=8).character
    spine = sbs.Skeleton(tube.skeleton.parents, tube.skeleton.bind_matrices, ["hips", "spine", "chest", "head"])
    trunk = sbs.Character.from_mesh(tube.mesh, spine)
    assert list(losses.made_and_moving(trunk, [])) == ["bends", "twists"]


def test_a_page_without_markers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "quality.md").write_text("nothing")
    with pytest.raises(ValueError, match="the table tears"):
        replace_tables(tmp_path / "quality.md", {"tears": ""})


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resources.as_file(resources.files("sbs.demo") / "data" / "hand.glb") as hand:
        shutil.copy(hand, tmp_path / "character.glb")
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(example, {})  # what a reader would paste
    assert output.getvalue() == "92.8%\n"


def test_the_commands_are_understood() -> None:
    """Their options exist; what they do is tested elsewhere."""
    commands = re.findall(r"^    sbs (quality .*?)(?:  +#.*)?$", TEXT, flags=re.MULTILINE)
    assert len(commands) >= 6
    options = {option for parameter in main.commands["quality"].params for option in parameter.opts}
    assert {word for command in commands for word in command.split() if word.startswith("-")} <= options
