# SPDX-License-Identifier: MIT
"""Runs fuzz targets on their corpora, which are archives beside this file."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

USAGE = """\
run.py replay PROGRAM CORPUS.zip              each input once, by a program that was built without libFuzzer
run.py short PROGRAM CORPUS.zip [SECONDS]     from the corpus on, by libFuzzer
run.py long FOLDER [MINUTES] [NAME ...]       all targets in a folder, or some, one after the other; inputs that
                                              are found stay in the folder's corpus/NAME, faults in found/
run.py pack FOLDER                            the corpora of that folder, each as few inputs as reach all, into
                                              the archives
"""

CORPORA = Path(__file__).parent / "corpus"
LONGEST = 600  # bytes of an input
OPTIONS = (f"-max_len={LONGEST}", "-len_control=10", "-timeout=60", "-print_final_stats=1")
MOST = 40_000  # bytes of an archive


def unpack(archive: Path, folder: Path) -> list[str]:
    """Write the inputs of an archive into a folder; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    return sorted(str(path) for path in folder.iterdir())


def replay(program: str, archive: str) -> int:
    """Run each input of an archive once, in a cross build by the emulator that meson names."""
    emulator = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([*emulator, program, *unpack(Path(archive), Path(folder))], check=False).returncode


def short(program: str, archive: str, seconds: str = "5") -> int:
    """Look for faults for some seconds."""
    with tempfile.TemporaryDirectory() as folder:
        unpack(Path(archive), Path(folder))
        # Where it fails, the log has the input in base 64.
        command = [program, *OPTIONS, f"-max_total_time={seconds}", f"-artifact_prefix={folder}/", folder]
        return subprocess.run(command, check=False).returncode


def long(folder: str, minutes: str = "30", *names: str) -> int:
    """Look for faults for so many minutes by each target; one line each of what came out."""
    found = Path(folder) / "found"
    found.mkdir(exist_ok=True)
    failed = 0
    for program in sorted(Path(folder).glob("fuzz_*")):
        name = program.name.removeprefix("fuzz_")
        if not program.is_file() or (names and name not in names):
            continue
        corpus = Path(folder) / "corpus" / name
        unpack(CORPORA / f"{name}.zip", corpus)
        limit = f"-max_total_time={round(60 * float(minutes))}"
        log = found / f"{name}.log"
        with log.open("wb") as output:
            prefix = f"-artifact_prefix={found}/{name}-"
            code = subprocess.run([program, *OPTIONS, limit, prefix, corpus], check=False, stderr=output).returncode
        lines = log.read_text(errors="replace")
        features = re.findall(r"\bft: (\d+)", lines)[-1:]
        runs = re.findall(r"number_of_executed_units: (\d+)", lines)
        print(f"{name}: code {code}, features {features}, executions {runs}, {log}", flush=True)
        failed |= code
    return failed


def pack(folder: str) -> int:
    """Merge each corpus, and write its shortest inputs, MOST bytes, into its archive."""
    for program in sorted(Path(folder).glob("fuzz_*")):
        name = program.name.removeprefix("fuzz_")
        corpus = Path(folder) / "corpus" / name
        if not program.is_file() or not corpus.is_dir():
            continue
        with tempfile.TemporaryDirectory() as merged:
            subprocess.run(
                [program, "-merge=1", f"-max_len={LONGEST}", merged, corpus], check=True, stderr=subprocess.DEVNULL
            )
            inputs = sorted(Path(merged).iterdir(), key=lambda path: (path.stat().st_size, path.name))
            CORPORA.mkdir(exist_ok=True)
            total = 0
            with zipfile.ZipFile(CORPORA / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                for path in inputs:
                    total += path.stat().st_size + 110  # what an archive notes of a file
                    if total > MOST:
                        break
                    # The same bytes whenever it is packed.
                    archive.writestr(zipfile.ZipInfo(path.name[:12]), path.read_bytes())
        print(name, len(inputs), "inputs")
    return 0


if __name__ == "__main__":
    commands: dict[str, Callable[..., int]] = {"replay": replay, "short": short, "long": long, "pack": pack}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(USAGE)
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]))
