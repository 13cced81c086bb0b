# SPDX-License-Identifier: MIT
"""What fuzzing has found worth keeping, and damaged files made anew from a seed; tests/fuzz tells of the long runs."""

import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))

import mutants  # noqa: E402
import readers  # noqa: E402


@pytest.mark.parametrize("name", readers.TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_inputs_that_were_kept(name: str) -> None:
    inputs = readers.kept(name)
    assert inputs
    for data in inputs:
        readers.TARGETS[name](data)


@pytest.mark.parametrize("name", readers.TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_what_the_corpora_began_with(name: str) -> None:
    for data in readers.seeds()[name]:
        readers.TARGETS[name](data)


def test_damaged_files(tmp_path: Path) -> None:
    """Two thousand; seeds and numbers of what goes wrong are told."""
    outcomes, findings = mutants.run(20260, range(2000), mutants.small_files(), tmp_path)
    assert findings == []
    assert outcomes["refused"] > 500
    assert outcomes["read"] > 200
