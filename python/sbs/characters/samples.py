# SPDX-License-Identifier: MIT
"""`sbs.samples`: the characters in `data`, which come with the package."""

from __future__ import annotations

import shutil
from importlib import resources
from importlib.resources.abc import Traversable
from os import PathLike
from pathlib import Path

from ..support.names import known_name
from .character import Character
from .loading import load as load_file

__all__ = ["NAMES", "copy", "load"]

NAMES = ("woman", "hand")


def load(name: str = "woman") -> Character:
    """One of the characters, as `sbs.load` reads its file.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Returns
    -------
    Character

    Raises
    ------
    ValueError
        If there is no sample of that name.

    Examples
    --------
    >>> import sbs
    >>> sbs.samples.load("hand")
    <sbs.Character 'hand', vertices: 1360, joints: 25, animations: 1>
    """
    with resources.as_file(_file(name)) as path:
        return load_file(path)


def copy(folder: str | PathLike[str] = ".") -> list[Path]:
    """Write the files of all characters, ``woman.glb`` and ``hand.glb``, to a folder.

    Parameters
    ----------
    folder : path
        Made if it is not there. Files of these names in it are replaced.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    copies = []
    for name in NAMES:
        with resources.as_file(_file(name)) as path:
            copies.append(Path(shutil.copyfile(path, target / f"{name}.glb")))
    return copies


def _file(name: str) -> Traversable:
    return resources.files(__package__) / "data" / f"{known_name(name, NAMES, 'name')}.glb"
