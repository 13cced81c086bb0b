# SPDX-License-Identifier: MIT
"""Readers that run in a process of their own, since the libraries that they call may crash on damaged files.

``python -m sbs.formats.apart MODULE FILE WANTED RESULT`` is that process: RESULT gets a `Scene` or an error's text.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from ..rigging.content import FileError, Wanted
from ..support.extras import load
from .scene import Scene

__all__ = ["allow", "read_apart"]

_REFUSED, _NO_MEMORY = 3, 4

# Seconds.
_PATIENCE = 600

# Bytes of memory: at first, of which the libraries take two thirds; for each byte of a file; and for each of its parts,
# many of which may be compressed to a few bytes. A skinned mesh of USD takes 7 kB beside its numbers.
_MEMORY = 384 << 20
_GROWTH = 64
_GROWTH_EACH = 8 << 10

# Each further thread would take memory of its own, on machines of many cores more than the reader.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def read_apart(module: str, path: Path, wanted: Wanted) -> Scene:
    """The scene that ``scene(path, wanted)`` of a module returns in another process.

    Raises
    ------
    FileError
        If it is refused, if the library crashes on it, or if it takes more memory than a file of its size can need.
    OSError
        If the file cannot be read.
    """
    with path.open("rb"):  # who may not read it hears so from here
        pass
    environment = os.environ | _ONE_THREAD | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryDirectory(prefix="sbs-") as folder:
        result = Path(folder, "scene.npz")
        arguments = [module, str(path.absolute()), json.dumps([wanted.skin, wanted.meshes]), str(result)]
        try:
            process = subprocess.run(
                [sys.executable, "-P", "-m", "sbs.formats.apart", *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PATIENCE,
            )
        except subprocess.TimeoutExpired:
            raise FileError(f"{path}: not read within {_PATIENCE} s") from None
        written = result.read_bytes() if result.exists() else b""
    status = process.returncode
    if status == 0:
        try:
            return Scene.from_bytes(written)
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise FileError(f"{path}: damaged: its reader handed over nothing that makes sense") from error
    if status == _REFUSED:
        raise FileError(f"{path}: {written.decode('utf-8', 'replace')}")
    said = process.stderr.decode("utf-8", "replace").strip().splitlines()
    if status == _NO_MEMORY or any("bad_alloc" in line for line in said):
        raise FileError(f"{path}: asks for more memory than a file of its size can need")
    how = signal.Signals(-status).name if -status in signal.valid_signals() else f"status {status}"
    raise FileError(f"{path}: damaged: its reader ended by {how}{': ' + said[-1][:200] if said and status > 0 else ''}")


def _limit(most: int) -> None:
    """Lets the process take no more memory than that, where the system knows such a limit."""
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def allow(size: int, parts: int = 0) -> None:
    """Lets a reader take as much more memory as that many bytes of files, and parts in them, can need."""
    try:
        import resource
    except ImportError:
        return
    now = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if now != resource.RLIM_INFINITY:
        _limit(now + _GROWTH * size + _GROWTH_EACH * parts)


def main() -> None:
    """Read one file."""
    module, name, wanted, result = sys.argv[1:]
    skin, meshes = json.loads(wanted)
    path = Path(name)
    reader = importlib.import_module(module)
    load(*reader.NEEDS)
    _limit(_MEMORY)
    allow(path.stat().st_size)
    try:
        Path(result).write_bytes(reader.scene(path, Wanted(skin, tuple(meshes))).to_bytes())
    except FileError as error:
        Path(result).write_text(str(error), encoding="utf-8", errors="replace")
        status = _REFUSED
    except MemoryError:
        status = _NO_MEMORY
    else:
        status = 0
    sys.stdout.flush()
    os._exit(status)  # libraries that have read a damaged file may crash when they tidy up


if __name__ == "__main__":
    main()
