# SPDX-License-Identifier: MIT
"""``sbs quality``: its output and the files that it writes; how long it takes is told before, and a limit is kept."""

from __future__ import annotations

import csv
import json
import re
from importlib import import_module, resources
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from marks import paints
from PIL import Image
from solids import arm, block

import sbs
from sbs.cli import estimate, main
from sbs.quality import clip
from sbs.support.extras import MissingExtraError

HAND = str(resources.files("sbs.characters") / "data" / "hand.glb")
QUICK = ("--frames", "2", "--rate", "4", "--methods", "LBS,SBS")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["quality", *map(str, arguments)])


def succeed(*arguments: object) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def test_a_table() -> None:
    lines = succeed(HAND, *QUICK).stdout.splitlines()
    rows = [line.split() for line in lines if "fist" in line]
    assert [row[1] for row in rows] == ["LBS", "SBS"]
    assert rows[0][2] == "89.3%"


def test_json_and_nothing_else_on_standard_output(tmp_path: Path) -> None:
    result = succeed(HAND, *QUICK, "--json", "--csv", tmp_path / "all.csv")
    facts = json.loads(result.stdout)
    assert facts["character"]["name"] == "hand"
    assert list(facts["motions"][0]["methods"]) == ["LBS", "SBS"]
    assert "all.csv" in result.stderr
    with (tmp_path / "all.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["LBS", "SBS"]
    stated = facts["motions"][0]["methods"]["LBS"]["volume"]["smallest"]
    assert float(rows[0]["volume_smallest"]) == stated


def test_without_animations_joints_are_bent(tmp_path: Path) -> None:
    path = tmp_path / "arm.glb"
    arm(rings=13, sides=8).save(path)
    facts = json.loads(succeed(path, "--methods", "LBS,DQS", "--json").stdout)
    (motion,) = facts["motions"]
    block().save(tmp_path / "block.glb")
    assert "nothing to bend" in run(tmp_path / "block.glb").output
    assert motion["poses"] == ["fore bent by 90°", "fore bent by 125°", "fore twisted by 170°"]
    jumps = {name: result["pop"]["jump"] for name, result in motion["methods"].items()}
    assert jumps["LBS"] < 1e-6 < 0.1 < jumps["DQS"]


def test_poses_beside_an_animation_and_of_one_joint() -> None:
    joint = "index-finger-phalanx-proximal"
    facts = json.loads(succeed(HAND, *QUICK, "--animation", "fist", "--poses", "--joint", joint, "--json").stdout)
    assert [motion["name"] for motion in facts["motions"]] == ["fist", "made poses"]
    assert all(label.startswith(joint) for label in facts["motions"][1]["poses"])


@paints
def test_pictures_and_curves(tmp_path: Path) -> None:
    pictures, curves = tmp_path / "worst.png", tmp_path / "curves.svg"
    motions = ("--animation", "fist", "--poses", "--joint", "index-finger-phalanx-proximal")
    look = ("--width", 200, "--samples", 1)
    output = succeed(HAND, *QUICK, *motions, *look, "-o", pictures, "--plot", curves).stdout
    assert output.splitlines()[-2:] == [str(curves), str(pictures)]
    with Image.open(pictures) as picture:
        assert picture.width >= 200
        assert picture.height > 2 * 100  # two rows
    assert "<svg" in curves.read_text(encoding="utf-8")
    assert len(list(tmp_path.iterdir())) == 2


# ---------------------------------------------------------------------------------------------------- how long it takes


# The package has the command of this name.
command = import_module("sbs.cli.quality")

FEW = ("--methods", "LBS,SBS", "--frames", "6", "--rate", "20")


def told(*arguments: object) -> tuple[str, str]:
    result = succeed(HAND, *arguments)
    return result.stdout, result.stderr


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return sbs.load(HAND)


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_samples_are_parts(hand: sbs.Character, share: float) -> None:
    motion = clip(hand.animations["fist"], poses=7, rate=30)
    (part,) = estimate.sample_motions([motion], share)
    assert len(part.poses) == len(part.labels) == int(7 * share)
    for label, pose in zip(part.labels, part.poses, strict=True):
        np.testing.assert_array_equal(pose, motion.poses[motion.labels.index(label)])
    for piece, path in zip(part.paths, motion.paths, strict=True):
        first = (len(path) - len(piece)) // 2
        np.testing.assert_array_equal(piece, path[first : first + len(piece)])
        assert len(piece) == int(len(path) * share)


def test_a_limit_is_kept_by_sampling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "estimate_price", lambda *_: estimate.Price(pose=10.0, moment=0.0))
    output, said = told(*FEW, "--time-limit", "30", "--json")
    assert re.search("60 s; 3 of 6 poses.* 30 s", said)
    assert json.loads(output)
    _, said = told(*FEW, "--time-limit", "100")
    assert "60 s" in said


def test_the_estimate_comes_first_where_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe is told how far it is."""
    monkeypatch.setattr(command, "WORTH_AN_ESTIMATE", 6)
    assert told(*FEW)[1].startswith("measuring 1 motion by 2 methods")
    monkeypatch.setattr(command, "WORTH_AN_ESTIMATE", 700)
    assert told(*FEW)[1] == ""
    _, said = told(*FEW, "--animation", "fist", "--poses", "--joint", "wrist", "--joint", "thumb-metacarpal")
    assert said.splitlines() == ["1 of 2: fist", "2 of 2: made poses"]


@pytest.mark.parametrize("option", [("--plot", "a.svg"), ("-o", "a.png")])
def test_what_is_missing_is_told_before_measuring(
    option: tuple[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing(*_: object) -> None:
        raise MissingExtraError("it is not installed")

    measured = count()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "load_extra", missing)
    monkeypatch.setattr(command, "load_mitsuba", missing)
    monkeypatch.setattr(command, "evaluate", lambda *_, **__: next(measured))
    result = run(HAND, *FEW, *option)
    assert result.exit_code == 2
    assert "it is not installed" in result.output
    assert next(measured) == 0
