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
WITHIN = [ROOT / "engines/three/shader.js"]

TYPES = {
    "float": "f32",
    **{f"vec{n}": f"vec{n}f" for n in (2, 3, 4)},
    **{f"mat{n}": f"mat{n}x{n}f" for n in (2, 3, 4)},
    **{f"mat{m}x{n}": f"mat{m}x{n}f" for m in (2, 3, 4) for n in (2, 3, 4)},
}
SAME_FUNCTIONS = {"dot", "cross", "normalize", "transpose", "length", "max", "min", "mix", "sqrt", "abs"}
OTHER_FUNCTIONS = {"inversesqrt": "inverseSqrt"}
NAME = r"[A-Za-z_]\w*"


class UnknownError(Exception):
    """Something of GLSL that is not translated."""


def translate_type(name: str, structs: set[str]) -> str:
    if name in structs:
        return name
    if name not in TYPES:
        raise UnknownError(f"the type {name}")
    return TYPES[name]


def translate_expression(text: str, functions: set[str], structs: set[str]) -> str:
    if "?" in text or "++" in text or "--" in text:
        raise UnknownError("?, ++ or --")
    if re.search(r"\bmat\d\((?!0\.0\)|vec|sbs_|\w+\.\w+\[)", text):
        raise UnknownError("a matrix that is not made of columns")
    text = re.sub(r"\b(mat\d)\(0\.0\)", r"\1()", text)

    def call(found: re.Match[str]) -> str:
        name = found[1]
        if name in TYPES or name in structs:
            return translate_type(name, structs) + "("
        if name in OTHER_FUNCTIONS:
            return OTHER_FUNCTIONS[name] + "("
        if name not in functions and name not in SAME_FUNCTIONS and name != "if":
            raise UnknownError(f"the function {name}")
        return name + "("

    return re.sub(rf"\b({NAME})\(", call, text)


def is_assigned(name: str, following: str) -> bool:
    """Whether a variable changes in the following lines, up to the end of the function."""
    body, _, _ = following.partition("\n}\n")
    return re.search(rf"^ *{name}(\.{NAME})? [-+*/]?= ", body, re.MULTILINE) is not None


def translate_line(line: str, following: str, functions: set[str], structs: set[str]) -> str:
    """A line of a function's body."""
    indent, body = re.fullmatch(r"( *)(.*)", line).groups()  # type: ignore[union-attr] # matches anything
    if body in ("", "}", "} else {"):
        return line
    if re.fullmatch(r"if \(.*\) \{", body):
        return indent + translate_expression(body, functions, structs)
    declared = re.fullmatch(rf"({NAME}) ({NAME})( = [^,].*)?;", body)
    if declared is not None and declared[1] != "return":
        name, value = declared[2], declared[3]
        if re.search(rf", {NAME} = ", body):
            raise UnknownError("a line with several declarations")
        kind = translate_type(declared[1], structs)
        if value is not None and not is_assigned(name, following):
            return f"{indent}let {name}{translate_expression(value, functions, structs)};"
        return f"{indent}var {name}: {kind}{translate_expression(value or '', functions, structs)};"
    if re.fullmatch(rf"(return |{NAME}(\.{NAME})? [-+*/]?= ).*;", body):
        assigned = re.match(rf"{NAME}\.([xyzw]{{2,4}}) ", body)
        if assigned is not None:
            raise UnknownError("an assignment to several components")
        return indent + translate_expression(body, functions, structs)
    raise UnknownError("a line of this kind")


def translate(text: str) -> Iterator[str]:
    """The lines of the same in WGSL."""
    structs: set[str] = set()
    functions: set[str] = set()
    where = ""
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
                structs.add(struct[1])
                where = "struct"
            elif head is not None and not where:
                functions.add(head[2])
                where = "function"
                parameters = [part.split(" ") for part in head[3].split(", ")]
                listed = ", ".join(f"{name}: {translate_type(kind, structs)}" for kind, name in parameters)
                code = f"fn {head[2]}({listed}) -> {translate_type(head[1], structs)} {{"
            elif code == "};" and where == "struct":
                where, code = "", "}"
            elif code == "}" and where == "function":
                where = ""
            elif where == "struct" and field is not None:
                code = f"  {field[2]}: {translate_type(field[1], structs)},".ljust(18)
            elif where == "function":
                code = translate_line(code, "\n".join(lines[number:]), functions, structs)
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


def without_unused(code: str, others: str) -> str:
    """The functions that others call, and the functions that these call."""
    for function in re.finditer(r"^\w+ (\w+)\(.*?^}\n", code, re.MULTILINE | re.DOTALL):
        rest = code.replace(function[0], "")
        if f"{function[1]}(" not in rest + others:
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
    texts = {WGSL: write_wgsl(source)}
    for path in WITHIN:
        texts[path] = put_within(path.read_text(encoding="utf-8"), without_comments(source))
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
