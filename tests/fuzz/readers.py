# SPDX-License-Identifier: MIT
"""Fuzzing of all that reads files, by Atheris: ``python tests/fuzz/readers.py TARGET [options of libFuzzer] [CORPUS]``.

A reader may refuse bytes by the errors that its documentation names; anything else is a finding. ``--replay`` runs
the inputs in the folder corpus, and needs no Atheris; ``--unpack FOLDER`` writes them to a folder to begin with, and
``--keep FOLDER`` keeps a folder.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import struct
import sys
import tempfile
import unicodedata
import warnings
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np

try:
    import atheris

    instrumented: AbstractContextManager[object] = atheris.instrument_imports(include=["sbs"])
except ImportError:
    atheris = None
    instrumented = nullcontext()

with instrumented:
    from sbs.characters.loading import load
    from sbs.cli.numbers import read_npy
    from sbs.formats.gltf import container, reader  # noqa: F401 (a late import would not be seen)
    from sbs.skinning import centers_files
    from sbs.support.text import plain, well_formed
    from sbs.weights import Capsules

KEY = bytes(32)


def written(data: bytes, path: Path) -> Path:
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    return path


def glb(data: bytes, folder: Path) -> None:
    """A file as it is: container, text and numbers."""
    path = written(data, folder / "fuzz.glb")
    try:
        character = load(path)
    except ValueError as error:
        assert str(path) in str(error), error
        return
    if np.isfinite(character.rest_matrices).all():
        character.skin.deform(character.rest_matrices)
    character.save(folder / "copy.glb")


def gltf(data: bytes, folder: Path) -> None:
    """The text alone; bytes after its first NUL are the binary chunk, so that mutations find the structure."""
    text, _, binary = data.partition(b"\0")
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    if binary:
        binary += bytes(-len(binary) % 4)
        chunks += struct.pack("<I4s", len(binary), b"BIN\0") + binary
    glb(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks, folder)


def capsules(data: bytes, folder: Path) -> None:
    """JSON files of capsules: read, written and read again."""
    path = written(data, folder / "fuzz.json")
    try:
        found = Capsules.from_json(path)
    except ValueError as error:
        assert str(path) in str(error), error
        return
    copy = folder / "copy.json"
    found.to_json(copy)
    assert len(Capsules.from_json(copy)) == len(found)


def centers(data: bytes, folder: Path) -> None:
    """Files that keep centers; the key is one of zeros."""
    path = written(data, folder / "fuzz.centers")
    vertex_count = max(0, (len(data) - centers_files.HEADER) // 24)
    try:
        found = centers_files.read(path, KEY, vertex_count)
    except ValueError as error:
        assert str(path) in str(error), error
        return
    assert found is None or (found.shape == (vertex_count, 3) and np.isfinite(found).all())


def npy(data: bytes, folder: Path) -> None:
    """Numbers of the command line."""
    try:
        assert read_npy(written(data, folder / "fuzz.npy")).dtype.kind in "biuf"
    except ValueError:
        return


def uri(data: bytes, folder: Path) -> None:
    """Where the bytes of buffers are said to be: nothing outside of the folder is ever read."""
    inside = folder / "inside"
    if not inside.exists():
        inside.mkdir()
        (inside / "buffer.bin").write_bytes(b"inside")
        (folder / "secret.bin").write_bytes(b"secret")
    name = data.decode("utf-8", "replace")
    try:
        found = container.read_uri(inside / "a.gltf", name, "buffers[0]", {})
    except ValueError as error:
        assert "a.gltf" in str(error), error
        return
    assert name.startswith("data:") or found == b"inside", name


def text(data: bytes, _: Path) -> None:
    """Names."""
    name = data.decode("utf-16-le", "surrogatepass") if len(data) % 2 == 0 else data.decode("latin-1")
    well_formed(name).encode()
    acting = {unicodedata.category(character) for character in plain(name) if character not in "\u200c\u200d"}
    assert not acting & {"Cc", "Cf", "Cs", "Zl", "Zp"}, acting


TARGETS: dict[str, Callable[[bytes, Path], None]] = {
    target.__name__: target for target in (glb, gltf, capsules, centers, npy, uri, text)
}


def seeds() -> dict[str, list[bytes]]:
    """Good input of every reader, small: what the corpus began with."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
    from test_gltf_bad_files import moving_arm

    arm = moving_arm()
    content = json.dumps({**arm.json, "buffers": [{"byteLength": len(arm.data)}]}).encode()
    pair = {"head": [0, 0, 0], "tail": [1, 0, 0], "inner_radii": [0.1, 0.2], "outer_radii": [0.3, 0.4]}
    two = [{**pair, "name": "a", "multiplier": 2, "enabled": False}, {**pair, "name": "b"}]
    numbers = np.arange(6, dtype="<f8").tobytes()
    amounts = io.BytesIO()
    np.save(amounts, np.linspace(0, 1, 5))
    return {
        "glb": [arm.glb()],
        "gltf": [content + b"\0" + bytes(arm.data), content],
        "capsules": [
            json.dumps({"format": "sbs-capsules", "version": 1, "capsules": entries}).encode()
            for entries in (two, [pair])
        ],
        "centers": [centers_files.header_of(KEY, numbers) + numbers, centers_files.MAGIC],
        "npy": [amounts.getvalue()],
        "uri": [b"buffer.bin", b"data:application/octet-stream;base64,AAAA", b"../secret.bin", b"%2e%2e/secret.bin"],
        "text": ["a\u202eb\ud800".encode("utf-16-le", "surrogatepass"), b"[/b]\x1b"],
    }


def corpus(name: str) -> Path:
    """The archive that keeps the inputs of a target."""
    return Path(__file__).parent / "corpus" / f"readers_{name}.zip"


def kept(name: str) -> list[bytes]:
    """The inputs that are kept of a target."""
    with zipfile.ZipFile(corpus(name)) as archive:
        return [archive.read(entry) for entry in sorted(archive.namelist())]


def keep(name: str, inputs: list[bytes]) -> None:
    """Keep inputs of a target, by the same bytes of archive for the same inputs."""
    with zipfile.ZipFile(corpus(name), "w", zipfile.ZIP_DEFLATED) as archive:
        for data in sorted(set(inputs)):
            archive.writestr(zipfile.ZipInfo(hashlib.sha1(data).hexdigest()), data, zipfile.ZIP_DEFLATED)


def main() -> None:
    """Fuzz one target, or replay its corpus."""
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(
            f"usage: readers.py {'|'.join(TARGETS)} --replay | --unpack FOLDER | --keep FOLDER |\n"
            "       [-runs=N] [-max_total_time=SECONDS] [FOLDER]"
        )
    name = sys.argv.pop(1)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="sbs-fuzz-") as folder:
        run(name, Path(folder))


def run(name: str, folder: Path) -> None:
    """Do what the command line asks for; `folder` is for the files of the target."""
    target = TARGETS[name]
    match sys.argv[1:]:
        case ["--replay"]:
            inputs = kept(name)
            for data in inputs:
                target(data, folder)
            print(f"{name}: {len(inputs)} inputs")
        case ["--unpack", output]:
            Path(output).mkdir(parents=True, exist_ok=True)
            for data in kept(name):
                (Path(output) / hashlib.sha1(data).hexdigest()).write_bytes(data)
        case ["--keep", found]:
            keep(name, [path.read_bytes() for path in Path(found).iterdir()])
        case _ if atheris is None:
            sys.exit("pip install atheris; --replay needs none")
        case _:
            child = os.fork()  # libFuzzer ends a process before it could remove anything
            if child == 0:
                atheris.Setup(sys.argv, lambda data: target(data, folder))
                atheris.Fuzz()
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda number, _: os.kill(child, number))
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main()
