# SPDX-License-Identifier: MIT
"""Names of the files that a command writes, where it writes several: ``{file}`` and ``{mesh}`` in them, or a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from ..rigging.content import unique_names

__all__ = ["FILE", "MESH", "in_folder", "named"]

FILE, MESH = "{file}", "{mesh}"

# Separators of folders, characters that some systems do not allow in names, and characters without a shape.
_UNSAFE = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')


def in_folder(text: str, suffix: str) -> tuple[Path, Path | None]:
    """The name that was given; or if it is a folder, one in it for each file, and the folder, which need not be there.

    A name is one of a folder if it ends in a slash, or if there is a folder of that name.
    """
    if text.endswith(("/", os.sep)) or Path(text).is_dir():
        return Path(text, FILE + suffix), Path(text)
    return Path(text), None


def named(output: Path, file: Path, meshes: Sequence[str]) -> list[Path]:
    """The name for each mesh of a file; one name, if it does not have ``{mesh}``."""
    name = output.name.replace(FILE, file.stem)
    if MESH not in name:
        return [output.with_name(name)]
    safe = unique_names([_UNSAFE.sub("_", mesh).lstrip(".") or "mesh" for mesh in meshes])
    return [output.with_name(name.replace(MESH, mesh)) for mesh in safe]
