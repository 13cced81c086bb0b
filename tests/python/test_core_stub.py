# SPDX-License-Identifier: MIT
"""The stub of the extension says what the extension does: parameters, defaults, and the words of options."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import sbs
from sbs import _core, options
from sbs.mesh import subdivision
from sbs.weights import brush, capsules

STUB = ast.parse((Path(sbs.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))
Definition = ast.FunctionDef | ast.ClassDef


def definitions(body: list[ast.stmt], within: str = "") -> dict[str, list[ast.FunctionDef]]:
    """Functions and methods by their names, each with its overloads."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            found |= definitions(statement.body, f"{statement.name}.")
        elif isinstance(statement, ast.FunctionDef):
            found.setdefault(within + statement.name, []).append(statement)
    return found


def is_property(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(decorator) == "property" for decorator in function.decorator_list)


FUNCTIONS = definitions(STUB.body)
CALLED = [name for name, overloads in FUNCTIONS.items() if not is_property(overloads[0])]


def runtime(name: str) -> Any:
    found: Any = _core
    for part in name.removesuffix(".__new__").split("."):
        found = getattr(found, part)
    return found


def parameters_of(function: ast.FunctionDef) -> dict[str, tuple[str, str | None]]:
    """The kind of each parameter, and its default as it is written."""
    arguments = function.args
    found: dict[str, tuple[str, str | None]] = {}
    placed = [(argument, "positional only") for argument in arguments.posonlyargs]
    placed += [(argument, "positional or keyword") for argument in arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(placed) - len(arguments.defaults))
    for (argument, kind), default in zip(placed, [*defaults, *arguments.defaults], strict=True):
        found[argument.arg] = kind, ast.unparse(default) if default else None
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found[argument.arg] = "keyword only", ast.unparse(default) if default else None
    return {parameter: rest for parameter, rest in found.items() if parameter not in ("self", "cls")}


@pytest.mark.parametrize("name", CALLED)
def test_parameters(name: str) -> None:
    wanted = {
        parameter.name: (parameter.kind.description.replace("-only", " only"), parameter.default)
        for parameter in inspect.signature(runtime(name)).parameters.values()
        if parameter.name != "self"
    }
    defaults: dict[str, set[str]] = {}
    for overload in FUNCTIONS[name]:
        found = parameters_of(overload)
        assert list(found) == list(wanted)
        for parameter, (kind, default) in found.items():
            assert kind == wanted[parameter][0], parameter
            defaults.setdefault(parameter, set()).update([default] if default else [])
    for parameter, (_, value) in wanted.items():
        written = set() if value is inspect.Parameter.empty else {value}
        assert {ast.literal_eval(default) for default in defaults[parameter]} == written, parameter


def test_nothing_is_missing() -> None:
    """In the module, and in its classes; names that begin with _ are of type checkers alone."""
    classes = [statement for statement in STUB.body if isinstance(statement, ast.ClassDef)]
    for place, body in [("", STUB.body), *((found.name, found.body) for found in classes)]:
        if place.startswith("_"):
            continue
        said = {statement.name for statement in body if isinstance(statement, Definition)}
        said |= {s.target.id for s in body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
        there = vars(runtime(place) if place else _core)
        assert {name for name in said if name[0] != "_"} == {name for name in there if name[0] != "_"}, place


POINTS, FACES, ONE, ALL = np.eye(3), np.array([[0, 1, 2]]), np.zeros((3, 1), int), np.ones((3, 1))
CAPSULES = np.zeros((1, 3)), np.ones((1, 3)), np.ones((1, 2)), np.ones((1, 2)), None, None, None


def deform(**words: Any) -> object:
    return _core.Skin(POINTS, ONE, ALL).deform(np.eye(4)[None], amount=np.full(3, 0.5), **words)


def stroke(**words: Any) -> object:
    return _core.Brush(POINTS, FACES, ONE, ALL).stroke(POINTS, 0, radius=1, **words)


def weigh(**words: Any) -> object:
    return _core.capsule_weights(POINTS, *CAPSULES, **words)


def subdivide(**words: Any) -> object:
    return _core.subdivide(POINTS, FACES, np.arange(3), np.array([True]), **words)


@pytest.mark.parametrize(
    ("call", "option", "words"),
    [
        (deform, "method", options.MethodName),
        (deform, "rotation", options.Rotation),
        (deform, "center", options.Center),
        (deform, "base", options.MethodName),
        (stroke, "mode", brush.Mode),
        (stroke, "falloff", brush.Falloff),
        (stroke, "distance", brush.Distance),
        (stroke, "mirror", brush.Axis),
        (weigh, "falloff", capsules.Falloff),
        (weigh, "outside", capsules.Outside),
        (subdivide, "scheme", subdivision.Scheme),
    ],
)
def test_words(call: Callable[..., object], option: str, words: object) -> None:
    """Those that a type allows are those that an error lists."""
    with pytest.raises(ValueError, match=f"{option} must be one of") as caught:
        call(**{option: "nonsense"})
    (listed,) = re.findall(r"\[.*\]", str(caught.value))
    assert set(ast.literal_eval(listed)) == set(get_args(words))


def test_classes_that_nothing_derives_from() -> None:
    """Those without the flag Py_TPFLAGS_BASETYPE, for whom the stub has ``final``."""
    classes = {found.name: found for found in STUB.body if isinstance(found, ast.ClassDef) and found.name[0] != "_"}
    final = {name for name, found in classes.items() if any(ast.unparse(d) == "final" for d in found.decorator_list)}
    assert final == {name for name in classes if not runtime(name).__flags__ & 1 << 10}
