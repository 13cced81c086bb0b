# SPDX-License-Identifier: MIT
"""Files that are read in a process of their own, read by one process that stays: to start one takes a second."""

from __future__ import annotations

import importlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from sbs.formats.scene import Scene
from sbs.rigging.content import FileError, Wanted


def found_in(module: str, path: Path, wanted: Wanted) -> bytes | str:
    """The scene in a file, by the reader of this name, or the error."""
    try:
        scene: Scene = importlib.import_module(module).scene(path, wanted)
        return scene.to_bytes()
    except FileError as error:
        return str(error)


class OneReader:
    """What `sbs.formats.apart.read_apart` does, but for the limit of memory and for what a library may do to it."""

    def __init__(self, process: ProcessPoolExecutor) -> None:
        self.process = process

    def __call__(self, module: str, path: Path, wanted: Wanted) -> Scene:
        found = self.process.submit(found_in, module, path.absolute(), wanted).result()
        if isinstance(found, str):
            raise FileError(f"{path}: {found}")
        return Scene.from_bytes(found)
