# SPDX-License-Identifier: MIT
"""``-`` in place of files: from a pipe and into one, JSON alone on the standard output."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from commands import refuse, run, succeed
from marks import paints

import sbs

HAND = Path(sbs.__file__).parent / "characters" / "data" / "hand.glb"
WOMAN = HAND.with_name("woman.glb")


def piped(*arguments: object) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def test_a_character_from_a_pipe(tmp_path: Path) -> None:
    content = HAND.read_bytes()
    assert json.loads(succeed("info", "-", "--json", stdin=content))["vertices"] == 1360
    succeed("deform", "-", "--animation", "fist", "-o", tmp_path / "a.npy", stdin=content)
    succeed("deform", HAND, "--animation", "fist", "-o", tmp_path / "b.npy")
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()


def test_other_files_from_a_pipe(tmp_path: Path) -> None:
    placed = piped("muscles", WOMAN, "-o", "-")
    assert "biceps" in placed.stderr  # the table
    muscles = placed.stdout_bytes
    for name, source, content in (("a.npy", "-", muscles), ("b.npy", "fit", None)):
        succeed("deform", WOMAN, "--muscles", source, "-o", tmp_path / name, stdin=content)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    output = tmp_path / "a.npy"
    assert "standard input: of no format that motions" in refuse("deform", HAND, "--motion", "-", "-o", output)
    assert "the standard input is one file" in refuse("deform", "-", "--motion", "-", "-o", output)
    assert "the standard input is one file" in refuse("deform", "-", "-", "-o", tmp_path)


@pytest.mark.parametrize("content", [b"no character", HAND.read_bytes()[:100]])
def test_what_is_wrong_with_a_pipe_is_said_of_the_pipe(content: bytes) -> None:
    result = run("info", "-", stdin=content)
    assert result.exit_code == 2
    assert re.match(r"Error: standard input: ", result.output)
    assert "sbs-" not in result.output  # the folder of the file that stands for it
    assert run("convert", "-", "-o", "-", stdin=content).stdout_bytes == b""


@pytest.mark.parametrize(
    "command",
    [
        ("convert", HAND),
        ("deform", HAND, "--animation", "fist"),
        ("deform", HAND, "--animation", "fist", "--frames", "0:3"),
        ("weights", HAND, "--limit", "2"),
    ],
    ids=str,
)
def test_a_pipe_gets_what_a_file_gets(tmp_path: Path, command: tuple[object, ...]) -> None:
    piece = piped(*command, "-o", "-")
    succeed(*command, "-o", tmp_path / "file.glb")
    assert piece.stdout_bytes == (tmp_path / "file.glb").read_bytes()
    assert piece.stderr.startswith("standard output: ")


@paints
def test_a_picture_into_a_pipe() -> None:
    picture = piped("weights", HAND, "--show", "wrist", "--width", "200", "--samples", "1", "-o", "-")
    assert picture.stdout_bytes.startswith(b"\x89PNG")


def test_the_check_of_weights_as_json(tmp_path: Path, damaged_hand: Path) -> None:
    told = json.loads(piped("weights", HAND, "--heat", "--check", "--json").stdout)  # the report of heat is elsewhere
    assert told["ok"]
    assert told["defects"] == {}
    assert sum(told["vertices_by_influences"].values()) == 1360
    result = run("weights", damaged_hand, "--check", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["defects"]["unweighted"] == [3, 7]
    assert "--json needs --check" in refuse("weights", HAND, "--limit", "2", "-o", tmp_path / "a.glb", "--json")


def test_fitted_linear_blending_as_json(tmp_path: Path) -> None:
    output = tmp_path / "linear.glb"
    told = json.loads(piped("linear", HAND, "--joints", "2", "--rate", "5", "-o", output, "--json").stdout)
    assert told["helper_joints"] == 2
    assert told["max_influences"] == np.count_nonzero(sbs.load(output).skin.influences()[1], axis=1).max()
    assert {"name", "fitted", "frames", "before", "mean", "most"} == set(told["errors"][0])
    assert "1 helper joints" in succeed("linear", HAND, "--joints", "1", "--rate", "5", "--twist", "none", "-o", output)
