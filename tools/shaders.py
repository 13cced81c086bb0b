# SPDX-License-Identifier: MIT
"""Write engines/glsl/spherical.glsl, the one source of all shaders here, in WGSL and into files that have it within.

It translates the contents of that file: functions and structs, a declaration on each line,
and no conditional but ``if``.
``--check`` only says whether the files are as they would be written.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "engines/glsl/spherical.glsl"
WGSL = ROOT / "engines/wgsl/spherical.wgsl"

# Files with the GLSL within, without its comments, between lines with these words.
BEGIN, END = "spherical.glsl begins", "spherical.glsl ends"
THREE, GODOT = ROOT / "engines/three/shader.js", ROOT / "engines/godot/spherical.glsl"

TYPES = {"float": "f32", "vec3": "vec3f", "vec4": "vec4f", "mat3": "mat3x3f", "mat4x3": "mat4x3f"}
FUNCTIONS = {
    **{name: name for name in ("dot", "cross", "normalize", "transpose", "length", "max", "min", "mix", "sqrt", "abs")},
    "inversesqrt": "inverseSqrt",
}
NAME = r"[A-Za-z_]\w*"


class UnknownError(Exception):
    """Something of GLSL that is not translated."""


class Translator:
    """The names of structs and functions that were declared, and lines in WGSL."""

    def __init__(self) -> None:
        self.types, self.functions = dict(TYPES), dict(FUNCTIONS)

    def named(self, name: str, known: dict[str, str]) -> str:
        if name not in known:
            raise UnknownError(name)
        return known[name]

    def expression(self, text: str) -> str:
        if re.search(r"\?|\+\+|--|\bmat\d\((?!0\.0\)|vec|sbs_|\w+\.\w+\[)", text):
            raise UnknownError("?, ++, -- or a matrix that is not made of columns")
        text = re.sub(r"\b(mat\d)\(0\.0\)", r"\1()", text)
        known = self.types | self.functions | {"if": "if"}
        return re.sub(rf"\b({NAME})\(", lambda found: self.named(found[1], known) + "(", text)

    def statement(self, line: str, following: str) -> str:
        """A line of a function's body; the following lines tell whether a variable changes."""
        body = line.lstrip()
        indent = line[: len(line) - len(body)]
        if body in ("", "}", "} else {"):
            return line
        declared = re.fullmatch(rf"({NAME}) ({NAME})( = [^,].*)?;", body)
        if declared is not None and declared[1] != "return":
            kind, name, value = declared.groups()
            if re.search(rf", {NAME} = ", body):
                raise UnknownError("a line with several declarations")
            typed, (scope, _, _) = self.named(kind, self.types), following.partition("\n}\n")
            is_assigned = re.search(rf"^ *{name}(\.{NAME})? [-+*/]?= ", scope, re.MULTILINE)
            head = f"let {name}" if value is not None and not is_assigned else f"var {name}: {typed}"
            return f"{indent}{head}{self.expression(value or '')};"
        if not re.fullmatch(rf"if \(.*\) \{{|(return |{NAME}(\.(?![xyzw]{{2,4}} ){NAME})? [-+*/]?= ).*;", body):
            raise UnknownError("a line of this kind")
        return indent + self.expression(body)

    def function(self, kind: str, name: str, parameters: str) -> str:
        """The head of a function."""
        self.functions[name] = name
        pairs = [part.split(" ") for part in parameters.split(", ")]
        listed = ", ".join(f"{each}: {self.named(given, self.types)}" for given, each in pairs)
        return f"fn {name}({listed}) -> {self.named(kind, self.types)} {{"


def translate(text: str) -> Iterator[str]:
    """The lines of the same in WGSL."""
    translator, where = Translator(), ""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        code, mark, comment = line.partition("//")
        code = code.rstrip()
        gap = " " * (code != "" and mark != "")
        try:
            head = re.fullmatch(rf"({NAME}) ({NAME})\((.*)\) \{{", code)
            struct = re.fullmatch(rf"struct ({NAME}) \{{", code)
            field = re.fullmatch(rf"  ({NAME}) ({NAME});", code)
            if struct is not None and not where:
                translator.types[struct[1]] = struct[1]
                where = "struct"
            elif head is not None and not where:
                code, where = translator.function(*head.groups()), "function"
            elif (code, where) in (("};", "struct"), ("}", "function")):
                code, where = "}", ""
            elif where == "struct" and field is not None:
                code = f"  {field[2]}: {translator.named(field[1], translator.types)},".ljust(18)
            elif where == "function":
                code = translator.statement(code, "\n".join(lines[number:]))
            elif code:
                raise UnknownError("this")
        except UnknownError as unknown:
            raise SystemExit(f"{SOURCE}:{number}: {unknown} is not translated: {line.strip()}") from None
        yield code + gap + mark + comment


def write_wgsl(source: str) -> str:
    licence, rest = source.split("\n//\n", 1)
    _, code = rest.split("\n\n", 1)
    head = f"{licence}\n// Written by tools/shaders.py from engines/glsl/spherical.glsl, which says how to use it.\n\n"
    return head + "\n".join(translate(code)) + "\n"


def without_comments(source: str) -> str:
    lines = (line.partition("//")[0].rstrip() for line in source.splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def with_square_matrices(code: str) -> str:
    """The same by mat4, whose last row is never read, in place of mat4x3; `sbs_columns` makes one of four columns."""
    code = re.sub(r"\[\d\]", r"\g<0>.xyz", code)
    return code.replace("mat4x3(", "sbs_columns(").replace("mat4x3", "mat4")


def without_unused(code: str, others: str) -> str:
    """The code less the functions and structs that neither the rest of it nor the text of `others` uses."""
    for part in re.finditer(r"^\w+ (\w+)[( ].*?^};?\n", code, re.MULTILINE | re.DOTALL):
        rest = code.replace(part[0], "")
        if not re.search(rf"\b{part[1]}\b", rest + others):
            return without_unused(rest, others)
    return code


def put_within(text: str, code: str) -> str:
    """A file's text with the code that it calls between its lines that say so."""
    lines = text.splitlines(keepends=True)
    (begin,) = [i for i, line in enumerate(lines) if BEGIN in line]
    (end,) = [i for i, line in enumerate(lines) if END in line]
    before, after = "".join(lines[: begin + 1]), "".join(lines[end:])
    return before + without_unused(code, before + after) + after


def main() -> int:
    source = SOURCE.read_text(encoding="utf-8")
    texts, code = {WGSL: write_wgsl(source)}, without_comments(source)
    for path, within in ((THREE, code), (GODOT, with_square_matrices(code))):
        texts[path] = put_within(path.read_text(encoding="utf-8"), within)
    is_check = "--check" in sys.argv[1:]
    old = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in old:
        if is_check:
            print(f"{path} differs from {SOURCE}; python tools/shaders.py writes it")
        else:
            path.write_text(texts[path], encoding="utf-8")
    return 1 if is_check and old else 0


if __name__ == "__main__":
    sys.exit(main())
