# SPDX-License-Identifier: MIT
"""The directive `c-header`: a public header as a page, each declaration below the comment that is its manual.

Comments stay as they were typed, for their tables of parameters are typed. Functions, types and macros can be linked to
by name, are in the index, and are found by the search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

INCLUDE = Path(__file__).resolve().parents[2] / "csrc" / "include"
COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
# Lines for compilers, not for readers.
GUARDS = re.compile(r"#ifdef __cplusplus.*?#endif\n", re.DOTALL)
EXPORTS = "#define SBS_API"
NOISE = re.compile(r"^#(include|ifndef|endif|define SBS_\w+_H$).*\n", re.MULTILINE)
TITLE = re.compile(r"/\* -{3,} ([\w ]+?) --")


@dataclass(frozen=True)
class Part:
    """A comment and the declarations that follow it."""

    title: str
    comment: str
    code: str


def blocks(text: str) -> Iterator[str]:
    """What empty lines divide, outside of comments and braces."""
    block = ""
    for line in text.splitlines(keepends=True):
        code = COMMENT.sub("", block)
        if not line.strip() and "/*" not in code and code.count("{") == code.count("}"):
            yield block.strip()
            block = ""
        else:
            block += line
    yield block.strip()


def parts(name: str) -> Iterator[Part]:
    """The parts of a header, the first that about the whole of it."""
    text = GUARDS.sub("", (INCLUDE / name).read_text(encoding="utf-8"))
    text = text.partition("*/\n")[2]  # the licence
    text = NOISE.sub("", text)
    for block in blocks(text):
        if title := TITLE.search(block):
            yield Part(title[1].capitalize(), "", "")
            block = block[title.end() :].partition("*/")[2].strip()
        if block:
            found = COMMENT.match(block)
            comment, code = (found[1], block[found.end() :].strip()) if found else ("", block)
            if EXPORTS not in code:
                yield Part("", untyped(comment), code)


def untyped(comment: str) -> str:
    """A comment without its stars."""
    lines = [re.sub(r"^ \* ?|^ \*$", "", line) for line in comment.splitlines()]
    return "\n".join(lines).strip()


def names(code: str) -> Iterator[tuple[str, str]]:
    """What a piece of code declares: the kind by Sphinx's C domain, and the name."""
    for macro in re.findall(r"^#define (SBS_\w+)", code, re.MULTILINE):
        yield "macro", macro
    for kind, name in re.findall(r"^typedef (struct|enum) (sbs_\w+)", code, re.MULTILINE):
        yield kind, name
    for name in re.findall(r"^typedef \w[^;{]*?\(?\*?(sbs_\w+)\)?\(", code, re.MULTILINE):
        yield "type", name
    for declaration in re.findall(r"^SBS_API ([^;]*);", code, re.MULTILINE):
        yield "function", " ".join(declaration.split())


class Header(SphinxDirective):
    """`.. c-header:: sbs/sbs.h`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the nodes of the header."""
        name = self.arguments[0]
        self.env.note_dependency(str(INCLUDE / name))
        lines: list[str] = []
        for part in parts(name):
            if part.title:
                lines += ["", f".. rubric:: {part.title}", ""]
            for kind, what in names(part.code):
                lines += ["", f".. c:{kind}:: {what}", ""]
            if part.comment:
                lines += ["", ".. code-block:: none", "   :class: manual", "", *indented(part.comment)]
            if part.code:
                lines += ["", ".. code-block:: c", "", *indented(part.code)]
        node = nodes.container()
        self.state.nested_parse(StringList(lines, source=name), 0, node)
        return [node]


def indented(text: str) -> list[str]:
    """The lines of a block."""
    return [f"   {line}".rstrip() for line in text.splitlines()] + [""]


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the directive."""
    app.add_directive("c-header", Header)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
