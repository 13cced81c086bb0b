# SPDX-License-Identifier: MIT
"""Write python/sbs/_core.pyi from the signatures of the extension, and the types in its docstrings.

Both come from the contracts in csrc/extension. ``--check`` only says whether the file is as it would be written.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STUB = Path(__file__).resolve().parent.parent / "python" / "sbs" / "_core.pyi"

# Names without a contract: functions that users call as they are, and the exception.
HEAD = """\
# SPDX-License-Identifier: MIT
# Written by tools/core_stub.py from the contracts in csrc/extension.
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

_Floats = NDArray[np.float32 | np.float64]

version: str

class _BuildInfo(TypedDict):
    version: str
    instruction_set: str
    instruction_sets: list[str]
    lapack: str

class LinAlgError(RuntimeError): ...

def build_info() -> _BuildInfo: ...
def set_threads(threads: int | None, /) -> None: ...
def get_threads() -> int: ...
"""
BY_HAND = {"version", "LinAlgError", "build_info", "set_threads", "get_threads"}

# Words of docstrings before a shape, and the type of such an array as a result.
ARRAYS = {
    "reals": "_Floats",
    "float64": "NDArray[np.float64]",
    "float32": "NDArray[np.float32]",
    "int32": "NDArray[np.int32]",
    "intp": "NDArray[np.intp]",
    "bool": "NDArray[np.bool_]",
    "output": "_Floats",
}


def read_type(text: str, *, is_result: bool) -> tuple[str, str]:
    """The type for type checkers of a type in a docstring, and its shape, if it has one."""
    text, none, _ = text.partition(", or None")
    optional = " | None" if none else ""
    array = re.fullmatch(r"(\w+) (\(.*\))", text)
    if array is not None:
        word, shape = array.groups()
        shown = ARRAYS[word] if is_result or word == "output" else "ArrayLike"
        return shown + optional, shape + (" bool" if word == "bool" and not is_result else "")
    if text.startswith("{"):
        return f"Literal[{text[1:-1]}]".replace("'", '"') + optional, ""
    return text.replace("'", '"') + optional, ""


def read_sections(doc: str) -> tuple[dict[str, str], list[str]]:
    """The types of the parameters, and the lines about the results."""
    _, _, rest = doc.partition("Parameters\n----------\n")
    parameters, _, results = (rest or doc).partition("Returns\n-------\n")
    named = dict(line.split(" : ", 1) for line in parameters.splitlines() if " : " in line)
    return named, results.strip().splitlines()


def split(text: str) -> list[str]:
    """The types within an outermost ``tuple[...]``; or the type itself."""
    if not (text.startswith("tuple[") and text.endswith("]")):
        return [text]
    parts, depth = [""], 0
    for character in text[len("tuple[") : -1]:
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def write_result(lines: list[str], indent: str) -> str:
    """The end of a declaration, behind the parameters."""
    arrays = [read_type(line.split(" : ", 1)[1], is_result=True) for line in lines if " : " in line]
    told = [line.replace("'", '"') for line in lines if " : " not in line]
    if not lines:
        return "None: ..."
    if told:
        parts, shapes = split(told[0]), []
        whole = told[0]
    else:
        parts, shapes = [kind for kind, _ in arrays], [shape for _, shape in arrays]
        whole = parts[0] if len(parts) == 1 else f"tuple[{', '.join(parts)}]"
    comment = f"  # {', '.join(shapes)}" if shapes else ""
    if len(f"{indent}) -> {whole}: ...{comment}") <= 120:
        return f"{whole}: ...{comment}"
    commented = [f"  # {shape}" for shape in shapes] or [""] * len(parts)
    rows = "".join(f"{indent}    {part},{shape}\n" for part, shape in zip(parts, commented, strict=True))
    return f"tuple[\n{rows}{indent}]: ..."


def write_function(name: str, function: Any, doc: str, first: str | None, indent: str, result: str | None) -> str:
    types, results = read_sections(doc)
    lines = [f"{first},"] if first is not None else []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in ("self", "$self"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*," not in lines:
            lines.append("*,")
        kind, shape = read_type(types[parameter.name], is_result=False)
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}".replace("'", '"')
        lines.append(f"{parameter.name}: {kind}{default}," + (f"  # {shape}" if shape else ""))
    returned = f"{result}: ..." if result is not None else write_result(results, indent)
    if lines in ([], ["self,"]):
        return f"{indent}def {name}({lines[0][:-1] if lines else ''}) -> {returned}\n"
    inner = "".join(f"{indent}    {line}\n" for line in lines)
    return f"{indent}def {name}(\n{inner}{indent}) -> {returned}\n"


def write_class(name: str, found: type) -> Iterator[str]:
    yield f"\n@final\nclass {name}:\n"
    yield write_function("__new__", found, found.__doc__ or "", "cls", "    ", name)
    for member, value in vars(found).items():
        doc = getattr(value, "__doc__", None) or ""
        if inspect.isgetsetdescriptor(value):
            kind, shape = read_type(doc.split(":")[0], is_result=True)
            yield f"    @property\n    def {member}(self) -> {kind}: ...{f'  # {shape}' if shape else ''}\n"
        elif inspect.ismethoddescriptor(value) and not member.startswith("__"):
            yield write_function(member, value, doc, "self", "    ", None)


def write() -> str:
    """The text of the stub."""
    from sbs import _core

    members = {name: found for name, found in vars(_core).items() if name[0] != "_" and name not in BY_HAND}
    functions = {name: found for name, found in members.items() if not isinstance(found, type)}
    classes = {name: found for name, found in members.items() if isinstance(found, type)}
    text = HEAD
    for name, function in functions.items():
        text += write_function(name, function, function.__doc__ or "", None, "", None)
    for name, found in classes.items():
        text += "".join(write_class(name, found))
    return text


def main() -> int:
    text = write()
    if "--check" not in sys.argv[1:]:
        STUB.write_text(text, encoding="utf-8")
    elif STUB.read_text(encoding="utf-8") != text:
        print(f"{STUB} differs from the extension; python tools/core_stub.py writes it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
