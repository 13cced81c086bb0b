# SPDX-License-Identifier: MIT
"""Damaged files of every format but glTF: each is read, or refused by an error that names it.

``python tests/fuzz/formats.py --format bvh --count 10000`` cuts and changes small files from a seed; USD and FBX, which
are read in a process of their own, take a second each. ``--together`` reads many of these in one process, which is
begun again when it ends: then a crash is no finding, for it is not the caller's. ``--seed`` and ``--only`` make one
again.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

import sbs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

# Files that one process reads; seconds for each, and bytes that none exceeds.
EACH, PATIENCE, MOST = 500, 60, 1 << 16

HUGE = [
    b"\xff\xff\xff\x7f",
    b"\xff\xff\xff\xff",
    b"\0\0\0\x80",
    b"\0\0\x80\x7f",
    b"\0\0\xc0\x7f",
    b"\0\0\0\0",
    b"\1\0\0\0",
]
WORDS = [
    b"999999999",
    b"-1",
    b"nan",
    b"1e999",
    b"0",
    b"{",
    b"}",
    b"\n",
    b"*",
    b'"',
    b"../../etc/passwd",
    b"@/etc/passwd@",
]


def bvh() -> bytes:
    """A motion of three joints."""
    from test_motion import ARM

    return ARM.encode()


def pmx() -> bytes:
    """A model with spherical deformation."""
    from pmx_builder import elbow

    return elbow(length=4, around=4).to_bytes()


def usda() -> bytes:
    """An asset as text."""
    return (Path(__file__).resolve().parents[1] / "data" / "arm.usda").read_bytes()


def usdc() -> bytes:
    """The same in binary."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arm.usdc")
        sbs.load(Path(__file__).resolve().parents[1] / "data" / "arm.glb").save(path)
        return path.read_bytes()


def fbx() -> bytes:
    """A tube with both kinds of skinning, as text, and a cuff that was bound in another pose."""
    from fbx_builder import cuff, tube

    return tube("Blend", more=cuff(np.eye(4))).encode()


ORIGINALS: dict[str, Callable[[], bytes]] = {maker.__name__: maker for maker in (bvh, pmx, usda, usdc, fbx)}


def cuts(data: bytes) -> list[bytes]:
    """The file cut off at every twentieth."""
    return [data[: len(data) * part // 20] for part in range(20)]


def mutant(data: bytes, seed: int, number: int) -> bytes:
    """The file with bytes, words and pieces changed, left out, doubled or moved."""
    dice = random.Random(f"{seed} {number}")
    changed = bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 4, 16])):
        place = dice.randrange(len(changed) or 1)
        size = dice.choice([1, 4, 4, 16, 200])
        kind = dice.randrange(7)
        if kind == 0:
            changed[place : place + 1] = bytes([dice.randrange(256)])
        elif kind == 1:
            changed[place : place + 4] = dice.choice(HUGE)
        elif kind == 2:
            changed[place:place] = dice.choice(WORDS)
        elif kind == 3:
            del changed[place : place + size]
        elif kind == 4:
            changed[place:place] = changed[place : place + size] * dice.choice([1, 2, 50])
        elif kind == 5:
            other = dice.randrange(len(changed) or 1)
            changed[place : place + size] = changed[other : other + size]
        else:
            numbers = [spot for spot in range(len(changed)) if changed[spot : spot + 1].isdigit()]
            if numbers:
                spot = dice.choice(numbers)
                changed[spot : spot + 1] = dice.choice(WORDS)
    return bytes(changed)


def endure(kind: str, data: bytes, folder: Path) -> str:
    """Reads a file; anything but an error in words, or a character that deforms, is an AssertionError or worse."""
    path = folder / f"mutant.{kind}"
    path.write_bytes(data)
    before = {place.name for place in folder.iterdir()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if kind == "bvh":
                motion = sbs.load_motion(path)
                assert motion.rotations.shape == (len(motion.times), len(motion.names), 3, 3)
            else:
                character = sbs.load(path)
                if np.isfinite(character.rest_matrices).all():
                    character.skin.deform(character.rest_matrices, **character.options)
        except ValueError as error:
            assert str(path) in str(error), error
            return "refused"
        finally:
            assert {place.name for place in folder.iterdir()} == before
    return "read"


def run(kind: str, files: Iterator[tuple[str, bytes]], folder: Path) -> tuple[Counter[str], list[str]]:
    """How many were read and refused, and what is wrong, a line for each."""
    outcomes: Counter[str] = Counter()
    findings = []
    for name, data in files:
        try:
            outcomes[endure(kind, data, folder)] += 1
        except Exception as error:  # whatever it is, it is a finding
            findings.append(f"--format {kind} {name}: {type(error).__name__}: {str(error)[:300]}")
    return outcomes, findings


def _reader(kind: str, waiting: Connection) -> None:
    """Read files of the names that are sent, as the process of a reader does, and send back what came of each."""
    from sbs.formats import apart, fbx, scene, usd
    from sbs.rigging.content import FileError, Wanted

    module = fbx if kind == "fbx" else usd
    for name, *_ in module.NEEDS:
        importlib.import_module(name)
    while True:
        path = waiting.recv()
        apart._limit(apart._MEMORY)
        apart.allow(MOST)
        try:
            content = scene.to_content(path, scene.Scene.from_bytes(module.scene(path, Wanted()).to_bytes()))
            character = sbs.Character("", content.surface.as_mesh(), content.skeleton, content.rig, content.animations)
            character.skin.deform(character.rest_matrices)
            outcome = "read"
        except (FileError, ValueError):
            outcome = "refused"
        except MemoryError:
            outcome = "refused for memory"
        except Exception as error:  # whatever it is, it is a finding
            outcome = f"{type(error).__name__}: {str(error)[:300]}"
        waiting.send(outcome)


def run_together(kind: str, files: Iterator[tuple[str, bytes]], folder: Path) -> tuple[Counter[str], list[str]]:
    """As `run`, of formats that are read in processes of their own, many in each."""
    outcomes: Counter[str] = Counter()
    findings = []
    context = multiprocessing.get_context("spawn")
    process: Any = None
    for number, (name, data) in enumerate(files):
        path = folder / f"mutant{number}.{kind}"  # libraries keep what they have read by its name
        path.write_bytes(data)
        if process is None or number % EACH == 0:
            if process is not None:
                process.kill()
                process.join()
            ours, theirs = context.Pipe()
            process = context.Process(target=_reader, args=(kind, theirs), daemon=True)
            process.start()
            theirs.close()
        try:
            ours.send(path)
            if not ours.poll(PATIENCE):
                process.kill()
                raise TimeoutError(f"not read within {PATIENCE} s")
            outcome = ours.recv()
        except (EOFError, ConnectionError):
            process.join()
            outcome = f"ended by {-process.exitcode}"
            process = None
        except TimeoutError as error:
            process.join()
            outcome, process = str(error), None
        path.unlink()
        outcomes[outcome.split(":")[0]] += 1
        if not outcome.startswith(("read", "refused", "ended by")):
            findings.append(f"--format {kind} {name}: {outcome}")
    if process is not None:
        process.kill()
        process.join()
    return outcomes, findings


def files(kind: str, seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """The cut files, then mutants."""
    data = ORIGINALS[kind]()
    for number, cut in enumerate(cuts(data)):
        yield f"cut {number}", cut
    for number in range(count):
        yield f"--seed {seed} --only {number}", mutant(data, seed, number)


def main() -> None:
    """Read damaged files, and end with status 1 if one was neither read nor refused."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--format", choices=list(ORIGINALS), required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--together", action="store_true", help="many in one process of the reader")
    parser.add_argument("--only", type=int, help="only the mutant of this number, whose error is raised")
    options = parser.parse_args()
    if options.together and options.format not in ("usda", "usdc", "fbx"):
        parser.error("--together is for formats that are read in a process of their own")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.only is not None:
            data = mutant(ORIGINALS[options.format](), options.seed, options.only)
            Path(f"mutant.{options.format}").write_bytes(data)
            print(endure(options.format, data, folder))
            return
        read = run_together if options.together else run
        outcomes, findings = read(options.format, files(options.format, options.seed, options.count), folder)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))
    import resource  # which Windows lacks, where the tests have the rest of this

    peaks = [resource.getrusage(who).ru_maxrss >> 10 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"at most {peaks[0]} MB here, {peaks[1]} MB in processes of readers")
    print("\n".join(findings) or "no finding")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
