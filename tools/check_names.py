# SPDX-License-Identifier: MIT
"""Check that names follow one scheme: ``python tools/check_names.py``.

In C, what ``sbs/NAME.h`` declares begins with ``sbs_NAME`` or ``SBS_NAME``, or the singular of it; functions that
return defaults begin with ``sbs_default_NAME``. ``sbs.h`` is free but for the names of other headers. C headers and
Python use American spelling.

In no source may a comment have "what" in place of a noun, nor anything be called ``of``.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / "csrc" / "include" / "sbs"
PYTHON = (ROOT / "python" / "sbs", ROOT / "blender_addon" / "spherical_blend_skinning")

BRITISH = re.compile(
    r"neighbour|centre|colour|behaviour|grey|(normal|optim|initial|minim|maxim)is(e|ing|ation)", re.IGNORECASE
)

# "what" with a verb behind it: words in -s are verbs, but for these.
NOUNS = (
    "blocks|bones|buffers|centers|clips|compilers|coordinates|docs|drafts|errors|fans|files|functions|handlers|"
    "its|joints|kernels|keys|lbs|letters|limbs|lists|messages|methods|muscles|mutants|nodes|normals|notebooks|"
    "objects|operators|options|others|pages|people|poses|readers|rings|rows|sbs|shaders|shapes|sums|tasks|"
    "terminals|tests|this|tools|users|values|variables|vertices|views|weights|windows"
)
AUXILIARIES = r"is|are|was|were|has|have|had|does|do|did|can|could|may|might|must|will|would|should"
NOUN_WHAT = re.compile(rf"\bwhat (?:(?:{AUXILIARIES})\b|(?!(?:{NOUNS})\b)[a-z]+s\b)", re.IGNORECASE)


def public_names(header: str) -> set[str]:
    """All names in a header that are its own or come from one that it includes."""
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    code = re.sub(r"\bstruct sbs_\w+ \*", "", code)  # what points to another header's structure declares nothing
    names = set(re.findall(r"\b(?:sbs|SBS)_\w+", code))
    return names.union(re.findall(r"\bSBS_API\b[^;(]*?(\w+)\s*\(", code), re.findall(r"^\} (\w+);", code, re.MULTILINE))


def singular(subject: str) -> str:
    """The pattern of a subject, or of one of them: a muscle is in muscles.h."""
    return f"{subject.removesuffix('s')}s?" if subject.endswith("s") else subject


def check_headers(headers: dict[str, str]) -> Iterator[str]:
    """Names that do not begin as their header does. ``headers`` maps names of files, without ".h", to their text."""
    # A name belongs to the lowest header that has it: sbs.h knows no other, mesh.h knows sbs.h alone.
    names = {subject: public_names(text) for subject, text in headers.items()}
    included = {subject: set(re.findall(r"#include [<\"]sbs/(\w+)\.h", text)) for subject, text in headers.items()}

    def below(subject: str) -> set[str]:
        return included[subject].union(*map(below, included[subject]))

    for subject in sorted(headers):
        own = names[subject].difference(*(names[other] for other in below(subject)))
        for name in sorted(own):
            plain = re.sub("^sbs_default_", "sbs_", name).lower()
            if subject != "sbs" and not re.match(rf"sbs_{singular(subject)}(_|$)", plain):
                yield f"sbs/{subject}.h declares {name}, which does not begin with sbs_{subject}"
            foreign = [other for other in headers if other != "sbs" and re.match(rf"sbs_{other}(_|$)", plain)]
            if subject == "sbs" and foreign:
                yield f"sbs/sbs.h declares {name}, which begins as the names of sbs/{foreign[0]}.h do"
            if BRITISH.search(name):
                yield f"sbs/{subject}.h: {name} is not spelled as other names are"


def python_names(text: str) -> Iterator[tuple[int, str]]:
    """The names that a module gives to something, and their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def check_all() -> Iterator[str]:
    yield from check_headers({path.stem: path.read_text(encoding="utf-8") for path in sorted(HEADERS.glob("*.h"))})
    for folder in PYTHON:
        for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.pyi"))):
            for line, name in python_names(path.read_text(encoding="utf-8")):
                if BRITISH.search(name):
                    yield f"{path.relative_to(ROOT)}:{line}: {name} is not spelled as other names are"


def comments_of_c(text: str) -> Iterator[str]:
    for comment in re.findall(r"/\*.*?\*/|(?://[^\n]*\n\s*)+", text, re.DOTALL):
        yield re.sub(r"\s*\n\s*(?:\*|//)?\s*", " ", comment)


def comments_of_python(text: str) -> Iterator[str]:
    """Comments, and all strings that stand for themselves, such as docstrings."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield " ".join(node.value.value.split())
    for block in re.findall(r"(?:^[^\n\"']*#[^\n]*\n)+", text, re.MULTILINE):
        yield " ".join(re.findall(r"#\s*([^\n]*)\n", block))


def count_whats(comments: Iterator[str]) -> int:
    """How often "what" stands for a noun, before a verb."""
    return sum(len(NOUN_WHAT.findall(comment)) for comment in comments)


def count_ofs(path: Path, text: str) -> int:
    """How often code names something ``of``."""
    if path.suffix == ".py":
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return sum(token.type == tokenize.NAME and token.string == "of" for token in tokens)
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', "", text, flags=re.DOTALL)
    return len(re.findall(r"(?<![#.\w])of\b", code))


def count_all() -> tuple[int, int]:
    """Both counts in all sources that git knows."""
    listed = subprocess.run(["git", "ls-files", "-z"], check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
    whats = ofs = 0
    for path in (ROOT / name for name in listed.split("\0") if name.endswith((".c", ".h", ".inc", ".py"))):
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        whats += count_whats(comments_of_python(text) if path.suffix == ".py" else comments_of_c(text))
        ofs += count_ofs(path, text)
    return whats, ofs


def main() -> None:
    found = list(check_all())
    whats, ofs = count_all()
    if whats or ofs:
        found.append(f"'what' as a noun: {whats} times; `of` as a name: {ofs} times")
    if found:
        sys.exit("\n".join(found))
    print("all names follow the scheme")


if __name__ == "__main__":
    main()
