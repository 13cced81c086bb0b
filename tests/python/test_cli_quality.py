# SPDX-License-Identifier: MIT
"""``sbs quality``: its output and the files that it writes."""

from __future__ import annotations

import csv
import json
from importlib import resources
from pathlib import Path

from click.testing import CliRunner, Result
from marks import paints
from PIL import Image
from solids import arm, block

from sbs.cli import main

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


def test_a_character_with_nothing_to_bend_is_explained_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "block.glb"
    block().save(path)
    result = run(path)
    assert result.exit_code == 2
    assert "there is nothing to bend" in result.output
