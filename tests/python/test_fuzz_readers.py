# SPDX-License-Identifier: MIT
"""What fuzzing has found worth keeping, and damaged files made anew from a seed; tests/fuzz tells of the long runs."""

import os
import runpy
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))

import mutants  # noqa: E402
import readers  # noqa: E402


@pytest.mark.parametrize("name", readers.TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_inputs_that_were_kept(name: str, tmp_path: Path) -> None:
    inputs = readers.kept(name)
    assert inputs
    for data in inputs:
        readers.TARGETS[name](data, tmp_path)


@pytest.mark.parametrize("name", readers.TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_what_the_corpora_began_with(name: str, tmp_path: Path) -> None:
    for data in readers.seeds()[name]:
        readers.TARGETS[name](data, tmp_path)


@pytest.mark.applies(hasattr(os, "fork"), reason="fuzzing is for Linux")
@pytest.mark.parametrize(("arguments", "last"), [(["--replay"], "inputs"), (["-runs=1"], "fuzzed"), ([], "fuzzed")])
def test_nothing_is_left_behind(tmp_path: Path, arguments: list[str], last: str) -> None:
    """Not even by libFuzzer, which ends the process without a word to Python, or when it is told to end."""
    modules, temporary = tmp_path / "modules", tmp_path / "temporary"
    modules.mkdir()
    temporary.mkdir()
    (modules / "atheris.py").write_text(
        "import contextlib, os, sys, time\n"
        "def instrument_imports(include):\n    return contextlib.nullcontext()\n"
        "def Setup(arguments, target):\n    target(b'1')\n"
        "def Fuzz():\n"
        "    time.sleep(0.5)\n    print('fuzzed', flush=True)\n"
        "    if not sys.argv[1:]:\n        time.sleep(600)\n    os._exit(7)\n"
    )
    path = os.pathsep.join([str(modules), *filter(None, sys.path)])
    environment = os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": path}
    command = [sys.executable, str(FUZZ / "readers.py"), "npy", *arguments]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().split()[-1] == last
        if not arguments:
            process.terminate()
        assert process.stdout.read() == ""  # until all who can write to it have ended
    assert process.returncode == {"--replay": 0, "-runs=1": 7}.get("".join(arguments), 256 - signal.SIGTERM)
    assert list(temporary.iterdir()) == []


def test_importing_them_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ends without a word to Python, as the workers of pytest-xdist do, removes nothing."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    imported = runpy.run_path(str(FUZZ / "readers.py"), run_name="readers")
    assert imported["TARGETS"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.thorough) for first in (500, 1000, 1500))]
)
def test_damaged_files(tmp_path: Path, first: int) -> None:
    """Five hundred each; seeds and numbers of what goes wrong are told."""
    outcomes, findings = mutants.run(20260, range(first, first + 500), mutants.small_files(), tmp_path)
    assert findings == []
    assert outcomes["refused"] > 125
    assert outcomes["read"] > 50
