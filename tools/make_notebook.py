# SPDX-License-Identifier: MIT
"""Make docs/tutorial.ipynb of docs/tutorial.md: ``python tools/make_notebook.py``. Tests see that it has been done."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE, NOTEBOOK = ROOT / "docs" / "tutorial.md", ROOT / "docs" / "tutorial.ipynb"

# A block of Python, or lines that call a command.
_CODE = re.compile(r"^```python\n(?P<python>.*?)^```\n|(?P<commands>(?:^    sbs [^\n]*\n)+)", re.MULTILINE | re.DOTALL)
# Directions to the notebook, or its licence.
_OF_THE_PAGE = re.compile(r"^<!--.*?-->\n| \[tutorial\.ipynb\].*?notebook\.", re.MULTILINE)


def cells(page: str) -> list[dict[str, Any]]:
    """The cells of a page: its text, its Python, and its commands after exclamation marks."""
    found: list[dict[str, Any]] = []

    def add(kind: str, source: str) -> None:
        text = source.strip("\n")
        if text:
            cell = {"cell_type": kind, "id": f"cell-{len(found)}", "metadata": {}, "source": text.splitlines(True)}
            found.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))

    place = 0
    text = _OF_THE_PAGE.sub("", page)
    for match in _CODE.finditer(text):
        add("markdown", text[place : match.start()])
        commands = match["commands"] or ""
        add("code", match["python"] or re.sub(r"^    ", "!", commands, flags=re.MULTILINE))
        place = match.end()
    add("markdown", text[place:])
    return found


def notebook(page: str) -> str:
    """The notebook of a page, as JSON."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": cells(page), "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
