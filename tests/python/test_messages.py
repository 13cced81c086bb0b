# SPDX-License-Identifier: MIT
"""Messages name the file, the argument or the option at fault, and the way out."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import sbs
from sbs.cli import main

HAND = Path(sbs.__file__).parent / "characters" / "data" / "hand.glb"


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return sbs.load(HAND)


def test_optimized_centers_name_who_makes_them(hand: sbs.Character) -> None:
    with pytest.raises(ValueError, match=r"center='optimized' needs a skin .* Character\.optimized_skin\(\)"):
        hand.skin.deform(hand.rest_matrices, center="optimized")


def test_warnings_of_files_name_them_and_the_caller(damaged_hand: Path) -> None:
    with pytest.warns(sbs.WeightWarning, match=r"damaged\.glb: ") as caught:
        character = sbs.load(damaged_hand)
    assert caught[0].filename == __file__
    with pytest.warns(sbs.WeightWarning) as caught:
        replace(character, name="of no file")
    assert "damaged" not in str(caught[0].message)
    assert caught[0].filename == __file__
    result = CliRunner().invoke(main, ["info", str(damaged_hand)])
    assert f"Warning: {damaged_hand}: " in result.output


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("walk.bvh", "HIERARCHY\nROOT Hips\n{\n}\n", "holds a motion without a mesh, which sbs.load_motion reads"),
        ("walk.glb", "HIERARCHY\nROOT Hips\n{\n}\n", "holds a motion without a mesh"),
        ("hero.max", "of another program", r"of no format that characters are read from \(\.glb, \.gltf"),
    ],
)
def test_files_that_are_no_characters(name: str, content: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=rf"{name}: .*{reason}"):
        sbs.load(tmp_path / name)


def test_the_version_without_an_installation(tmp_path: Path) -> None:
    """As it is in a checkout, or copied into another program."""
    shutil.copytree(Path(sbs.__file__).parent, tmp_path / "sbs", ignore=shutil.ignore_patterns("data", "__pycache__"))
    code = (
        "import importlib.metadata, sys\n"
        "importlib.metadata.distribution = importlib.metadata.version = None\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from sbs.cli import main\n"
        "main(['--version'], prog_name='sbs')\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert shown.stdout == f"sbs, version {sbs.__version__}\n"
