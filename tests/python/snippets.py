# SPDX-License-Identifier: MIT
"""Code on pages of the documentation: Python and commands, as a reader would paste them, and their links."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(source: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", source, flags=re.MULTILINE | re.DOTALL)


def commands(source: str) -> list[list[str]]:
    """The arguments of each line that calls ``sbs``."""
    return [shlex.split(line) for line in re.findall(r"^    sbs ([a-z].*?)(?:  +#.*)?$", source, flags=re.MULTILINE)]
