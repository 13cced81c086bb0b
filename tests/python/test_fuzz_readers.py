# SPDX-License-Identifier: MIT
"""What fuzzing has found worth keeping, and damaged files made anew from a seed; tests/fuzz tells of the long runs."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))

import mutants  # noqa: E402
import readers  # noqa: E402


@pytest.mark.damaged
@pytest.mark.parametrize("name", readers.TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_inputs_that_were_kept_and_those_that_corpora_began_with(name: str, tmp_path: Path) -> None:
    inputs = readers.kept(name)
    assert inputs
    for data in [*inputs, *readers.seeds()[name]]:
        readers.TARGETS[name](data, tmp_path)


@pytest.mark.damaged
@pytest.mark.parametrize(
    ("kind", "first", "count"),
    [
        ("glb", 0, 500),
        *(pytest.param("glb", first, 500, marks=pytest.mark.thorough) for first in (500, 1000, 1500)),
        ("bvh", 0, 500),
        ("pmx", 0, 500),
    ],
)
def test_damaged_files(tmp_path: Path, kind: str, first: int, count: int) -> None:
    """Seeds and numbers of findings are told."""
    outcomes, findings = mutants.run(kind, mutants.mutants(kind, 20260, range(first, first + count)), tmp_path)
    assert findings == []
    assert outcomes["refused"] > 100
    assert outcomes["read"] > 10
    cut, findings = mutants.run(kind, mutants.cuts(kind), tmp_path)
    assert findings == []
    assert cut["refused"] > 10


@pytest.mark.parametrize(("kind", "module"), [("usda", "pxr"), ("usdc", "pxr"), ("fbx", "ufbx")])
def test_damaged_files_that_are_read_in_a_process_of_their_own(tmp_path: Path, kind: str, module: str) -> None:
    """A few, as each takes about a second."""
    pytest.importorskip(module)
    files = [*itertools.islice(mutants.cuts(kind), 0, None, 6), *mutants.mutants(kind, 1, [2])]
    outcomes, findings = mutants.run(kind, files, tmp_path)
    assert findings == []
    assert sum(outcomes.values()) == len(files)
