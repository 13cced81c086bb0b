# SPDX-License-Identifier: MIT
"""Names in files are shown as they are, and do nothing to a terminal or a table."""

import csv
import json
import os
import subprocess
import sys
import unicodedata
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from gltf_builder import arm, translation

import sbs
from sbs.cli import main
from sbs.support.text import plain, well_formed

NASTY = {
    "closing tag": "[/b]",
    "style": "[red]Run[/red]",
    "link": "[link=file:///etc]x[/link]",
    "emoji": ":skull:",
    "escape": "a\x1b[31mb\x1b]0;title\x07",
    "one byte escape": "a\x9b31mb",
    "lines": "run\r\nError: forged\x0b\x85\u2028",
    "nul": "a\0b",
    "bidi": "a\u202egnp.exe\u2066\u2069",
    "invisible": "a\u200bb\ufeffc\U000e0041",
    "formula": "$\\frac{$",
    "surrogate": "a\ud800b",
    "long": "x" * 5000,
}
each = pytest.mark.parametrize("name", NASTY.values(), ids=NASTY)
# Meshes without a skin are kept when a character is saved, and told of when it is loaded again.
meshes_without_skin_are_kept = pytest.mark.filterwarnings("ignore:.*left out, as they have no skin")


def run(*arguments: object, code: int = 0) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    shown = result.output.replace("\n", "")
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")], ascii(shown)
    return result.output


def character(tmp_path: Path, name: str) -> Path:
    """A cube on the arm, all of whose names are this one; a mesh without a skin, so that a warning names it."""
    builder = arm()
    for kind in ("nodes", "meshes"):
        for element in builder.json[kind]:
            element["name"] = name
    half = [0, 0, np.sin(np.pi / 8), np.cos(np.pi / 8)]
    builder.animation((1, "rotation", [0, 1], [[0, 0, 0, 1], half]), name=name)
    builder.node(mesh=0, name=name)  # without a skin: a warning names it
    path = tmp_path / "arm.glb"
    builder.save(path)
    return path


def first_joint(path: Path) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sbs.load(path).skeleton.names[0]


def unwrapped(output: str) -> str:
    return "".join(output.split())


def expected(name: str) -> str:
    return "".join(plain(well_formed(name)).split())


@each
def test_info(tmp_path: Path, name: str) -> None:
    path = character(tmp_path, name)
    told = CliRunner().invoke(main, ["info", str(path), "--json"], catch_exceptions=False).stdout
    assert list(json.loads(told)["animations"]) == [well_formed(name)]
    output = run("info", path)
    assert f"{expected(name)}:1" in unwrapped(output)
    assert "left out" in output


@each
def test_what_a_file_has_where_something_is_not_in_it(tmp_path: Path, name: str) -> None:
    path = character(tmp_path, name)
    for arguments in (
        ("deform", path, "--animation", "?", "-o", tmp_path / "x.obj"),
        ("compare", path, "--joint", "?", "--rotate", "x:10"),
        ("weights", path, "--show", "?", "-o", tmp_path / "x.png"),
        ("quality", path, "--poses", "--joint", "?"),
        ("curvature", path, "--joint", "?"),
    ):
        assert expected(name) in unwrapped(run(*arguments, code=2))


@meshes_without_skin_are_kept
@each
def test_tables_and_checks(tmp_path: Path, name: str) -> None:
    path = character(tmp_path, name)
    joint = first_joint(path)
    table = tmp_path / "table.csv"
    run("quality", path, "--methods", "LBS,SBS", "--frames", "2", "--rate", "4", "--csv", table)
    with table.open(encoding="utf-8", newline="") as file:
        assert well_formed(name) in next(iter(csv.DictReader(file))).values()
    assert expected(joint) in unwrapped(run("curvature", path, "--joint", joint, "--steps", "2"))
    capsules = tmp_path / "capsules.json"
    run("weights", path, "--capsules", "auto", "--capsules-out", capsules)
    run("weights", path, "--capsules", capsules, "-o", tmp_path / "again.glb")
    assert sbs.load(tmp_path / "again.glb").skeleton.names[0] == joint


@pytest.mark.parametrize("name", [NASTY["formula"], NASTY["escape"] + NASTY["surrogate"]])
def test_plots(tmp_path: Path, name: str) -> None:
    path = character(tmp_path, name)
    joint = first_joint(path)
    for arguments in (
        ("curvature", path, "--joint", joint, "--steps", "2", "-o", tmp_path / "a.svg"),
        ("quality", path, "--methods", "LBS", "--frames", "2", "--rate", "4", "--plot", tmp_path / "b.svg"),
    ):
        run(*arguments)


def test_a_name_that_is_no_text_can_be_saved(tmp_path: Path) -> None:
    """From Python, where names come from other programs."""
    binds = np.stack([translation(0, 0, 0), translation(1, 0, 0)])
    mesh = sbs.Mesh(np.eye(3), np.array([[0, 1, 2]]), np.array([[0, 1]] * 3), np.full((3, 2), 0.5))
    made = sbs.Character.from_mesh(mesh, sbs.Skeleton([-1, 0], binds, names=["a\ud800", "b"]), name="\udcff")
    made.save(tmp_path / "made.glb")
    assert sbs.load(tmp_path / "made.glb").skeleton.names == ("a\ufffd", "b")


def test_extensions_that_are_needed(tmp_path: Path) -> None:
    builder = arm()
    builder.json["extensionsRequired"] = ["X\x1b[2J\ud800"]
    assert "x1b[2J" in run("info", builder.save(tmp_path / "arm.glb"), code=2)


@pytest.mark.applies(sys.platform == "linux", reason="names of files are bytes on Linux")
def test_names_of_files(tmp_path: Path) -> None:
    """In a process of its own, with real streams."""
    path = tmp_path / os.fsdecode(b"[b]\x1b[31m\xff.glb")
    character(tmp_path, "run").rename(path)
    commands: list[tuple[list[str | Path], int]] = [
        (["deform", path, "-o", path.with_suffix(".obj")], 0),
        (["deform", path, "-o", path.with_suffix(".x")], 2),
    ]
    for arguments, code in commands:
        result = subprocess.run(
            [sys.executable, "-m", "sbs", *arguments], capture_output=True, check=False, timeout=60, env=os.environ
        )
        assert result.returncode == code, result.stderr
        assert b"Traceback" not in result.stderr
        assert b"\x1b" not in result.stdout + result.stderr


def test_plain() -> None:
    assert plain("Élan vital, 走る, 🦴") == "Élan vital, 走る, 🦴"
    assert plain("\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645") == (
        "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"  # Persian is written with the zero-width non-joiner
    )
    assert plain("a\tb\x1bc\u202e\ud800\x7f\x9b") == r"a\tb\x1bc\u202e\ud800\x7f\x9b"
    assert plain("\U000e0041") == r"\U000e0041"
    assert well_formed("a\ud800b\udc00🦴") == "a\ufffdb\ufffd🦴"
    assert well_formed("\ud83e\uddb4") == "\U0001f9b4"  # two halves of one character
