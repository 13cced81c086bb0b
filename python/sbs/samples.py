# SPDX-License-Identifier: MIT
"""Characters that come with the package, to try things on.

``"woman"`` is MakeHuman's, of 13,380 vertices and 31 joints, without animations (CC0). ``"hand"`` is from the WebXR
Input Profiles, of 1,360 vertices and 25 joints, with the animation ``"fist"`` (MIT).
"""

from __future__ import annotations

import shutil
from importlib import resources
from importlib.resources.abc import Traversable
from os import PathLike
from pathlib import Path

from .characters.character import Character
from .characters.loading import load as load_file
from .support.names import known_name

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
    return resources.files(__package__) / "demo" / "data" / f"{known_name(name, NAMES, 'name')}.glb"
