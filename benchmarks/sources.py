# SPDX-License-Identifier: MIT
"""Which code was measured: a digest of the code of frames, which comments and line breaks do not change."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from . import ROOT

FOLDERS = ("kernels", "pose", "deform")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def digest(root: Path = ROOT) -> str:
    """The digest of the sources of frames below `root`; it needs no repository."""
    found = hashlib.sha256()
    for folder in FOLDERS:
        for path in sorted((root / "csrc" / folder).iterdir()):
            if path.suffix in (".c", ".h", ".inc"):
                code = " ".join(COMMENT.sub(" ", path.read_text(encoding="utf-8")).split())
                found.update(f"{folder}/{path.name}\0{code}\0".encode())
    return found.hexdigest()[:16]
