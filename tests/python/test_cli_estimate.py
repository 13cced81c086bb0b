# SPDX-License-Identifier: MIT
"""`sbs quality` tells how long it takes before it does, keeps to a limit, and fails before it has measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import sbs
from sbs.cli import estimate, main
from sbs.quality import chosen, clip
from sbs.support.extras import MissingExtraError

# The package has the command of this name.
command = import_module("sbs.cli.quality")

HAND = Path(sbs.__file__).parent / "characters" / "data" / "hand.glb"
FEW = ("--methods", "LBS,SBS", "--frames", "6", "--rate", "20")


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return sbs.load(HAND)


def run(*arguments: str) -> tuple[str, str]:
    result = CliRunner().invoke(main, ["quality", str(HAND), *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def test_a_price_by_a_clock_of_ones_own(hand: sbs.Character) -> None:
    """Readings 1, 2, 4, ... s apart: one pose 4 - 2 - (2 - 1), and so on."""
    readings: Iterator[float] = iter([0.0, 1.0, 1.0, 4.0, 4.0, 13.0])
    motion = clip(hand.animations["fist"], poses=6, rate=20)
    cost = estimate.estimate_price(hand, [motion], chosen(["LBS", "optimized"]), clock=lambda: next(readings))
    assert cost == estimate.Price(pose=(3 - 1) / 2 * 2, moment=(9 - 1) / 8 * 2)  # twice: of two methods one was timed
    moments = sum(len(path) for path in motion.paths)
    assert cost.total([motion, motion]) == 2 * (6 * cost.pose + moments * cost.moment)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_samples_are_parts(hand: sbs.Character, share: float) -> None:
    motion = clip(hand.animations["fist"], poses=7, rate=30)
    (part,) = estimate.sample_motions([motion], share)
    assert len(part.poses) == len(part.labels) == max(1, int(7 * share))
    for label, pose in zip(part.labels, part.poses, strict=True):
        np.testing.assert_array_equal(pose, motion.poses[motion.labels.index(label)])
    for piece, path in zip(part.paths, motion.paths, strict=True):
        assert len(piece) == max(4, int(len(path) * share))
        first = (len(path) - len(piece)) // 2
        np.testing.assert_array_equal(piece, path[first : first + len(piece)])


def test_a_limit_is_kept_by_sampling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "estimate_price", lambda *_: estimate.Price(pose=10.0, moment=0.0))
    output, said = run(*FEW, "--time-limit", "30", "--json")
    assert "all would take about 60 s; 3 of 6 poses, and pieces of the paths, about 30 s" in said
    assert json.loads(output)
    _, said = run(*FEW, "--time-limit", "100")
    assert said == "measuring 1 motion by 2 methods: about 60 s\n"


def test_the_estimate_comes_first_where_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "WORTH_AN_ESTIMATE", 6)
    assert run(*FEW)[1].startswith("measuring 1 motion by 2 methods: about ")
    monkeypatch.setattr(command, "WORTH_AN_ESTIMATE", 7)
    assert run(*FEW)[1] == ""


def test_a_pipe_is_told_how_far_it_is() -> None:
    _, said = run(*FEW, "--animation", "fist", "--poses", "--joint", "wrist", "--joint", "thumb-metacarpal")
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
    result = CliRunner().invoke(main, ["quality", str(HAND), *FEW, *option])
    assert result.exit_code == 2
    assert "it is not installed" in result.output
    assert next(measured) == 0
