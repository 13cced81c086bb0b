# SPDX-License-Identifier: MIT
"""The characters that come with the package, by name and as files."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import sbs
from sbs.cli import main


@pytest.mark.parametrize(("name", "size"), [("woman", 13380), ("hand", 1360)])
def test_by_name(name: str, size: int) -> None:
    assert len(sbs.samples.load(name).mesh.positions) == size


def test_an_unknown_name() -> None:
    with pytest.raises(ValueError, match=r"name must be one of \['woman', 'hand'\], not 'dog'"):
        sbs.samples.load("dog")


def test_as_files(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["samples", str(tmp_path / "new")])
    assert result.exit_code == 0, result.output
    assert [Path(line).name for line in result.output.split()] == ["woman.glb", "hand.glb"]
    for name in sbs.samples.NAMES:
        copied = sbs.load(tmp_path / "new" / f"{name}.glb")
        np.testing.assert_array_equal(copied.mesh.positions, sbs.samples.load(name).mesh.positions)
