# SPDX-License-Identifier: MIT
"""Muscles as JSON files. docs/muscles.schema.json is their schema."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..support import json_files
from ..support.files import replacing
from ..support.json_files import is_number, read_entries
from ..support.text import well_formed
from .muscle import Muscle, as_point

__all__ = ["read", "write"]

FORMAT = "sbs-muscles"
VERSION = 1

_DEFAULTS = Muscle("", (), (), 0.0, 0.0)


def write(path: str | os.PathLike[str], muscles: Sequence[Muscle]) -> None:
    """Write muscles to a JSON file, which appears as a whole or not at all.

    Raises
    ------
    ValueError
        If a number is not finite.
    OSError
        If the file can't be written.
    """
    lines = ",\n".join(
        "    " + json.dumps(_entry(muscle), allow_nan=False, ensure_ascii=False, default=float) for muscle in muscles
    )
    text = f'{{\n  "format": "{FORMAT}",\n  "version": {VERSION},\n  "muscles": [\n{lines}\n  ]\n}}\n'
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _entry(muscle: Muscle) -> dict[str, Any]:
    """A muscle, without attributes that have their default."""
    entry: dict[str, Any] = {
        "name": well_formed(muscle.name),
        "path": [
            {"joint": well_formed(joint), "point": list(point)}
            for joint, point in zip(muscle.joints, muscle.points, strict=True)
        ],
        "radius": muscle.radius,
        "reach": muscle.reach,
    }
    for key in _OPTIONAL:
        value = getattr(muscle, key)
        if value != getattr(_DEFAULTS, key):
            entry[key] = list(value) if isinstance(value, tuple) else value
    return entry


def read(path: str | os.PathLike[str]) -> tuple[Muscle, ...]:
    """Read muscles from a JSON file. Numbers are checked when they are bound.

    Raises
    ------
    ValueError
        If it is no such file, of a newer version, or something in it is of a wrong kind. Messages say where.
    OSError
        If it can't be read.
    """
    return json_files.read(path, _content)


def _content(document: Any) -> tuple[Muscle, ...]:
    entries = read_entries(document, kind=FORMAT, newest=VERSION, key="muscles")
    return tuple(_muscle(entry, f"muscles[{index}]") for index, entry in enumerate(entries))


def _muscle(entry: Any, place: str) -> Muscle:
    _check_keys(entry, place, _NEEDED, _OPTIONAL)
    for index, point in enumerate(entry["path"]):
        _check_keys(point, f"{place}.path[{index}]", {"joint": _TEXT, "point": _VECTOR}, {})
    rest: dict[str, Any] = {
        key: tuple(entry[key]) if isinstance(entry[key], list) else entry[key] for key in _OPTIONAL if key in entry
    }
    return Muscle(
        name=well_formed(entry["name"]),
        joints=tuple(point["joint"] for point in entry["path"]),
        points=tuple(as_point(point["point"]) for point in entry["path"]),
        radius=entry["radius"],
        reach=entry["reach"],
        **rest,
    )


class _Kind(NamedTuple):
    """Values of JSON of one kind."""

    words: str
    includes: Callable[[Any], bool]


def _is_list(value: Any, kind: _Kind) -> bool:
    return isinstance(value, list) and all(map(kind.includes, value))


_NUMBER = _Kind("a number", is_number)
_TEXT = _Kind("a string", lambda value: isinstance(value, str))
_SIDE = _Kind('"left", "right" or ""', lambda value: value in ("left", "right", ""))
_POINTS = _Kind("a list of points", lambda value: isinstance(value, list))
_NUMBERS = _Kind("a list of numbers", lambda value: _is_list(value, _NUMBER))
_PAIR = _Kind("a list of 2 numbers", lambda value: _is_list(value, _NUMBER) and len(value) == 2)
_VECTOR = _Kind("a list of 3 numbers", lambda value: _is_list(value, _NUMBER) and len(value) == 3)
_NAMES = _Kind("a list of strings", lambda value: _is_list(value, _TEXT))

_NEEDED = {"name": _TEXT, "path": _POINTS, "radius": _NUMBER, "reach": _NUMBER}
_OPTIONAL = {
    "side": _SIDE,
    "tendons": _PAIR,
    "profile": _NUMBERS,
    "flattening": _NUMBER,
    "thin_direction": _VECTOR,
    "thin_joint": _TEXT,
    "contraction": _NUMBER,
    "most_growth": _NUMBER,
    "covered": _NAMES,
}


def _check_keys(entry: Any, place: str, needed: dict[str, _Kind], allowed: dict[str, _Kind]) -> None:
    """Check that an object has all keys that it needs, none that is unknown, and values of the right kinds."""
    if not isinstance(entry, dict):
        raise ValueError(f"{place} must be an object")
    for key in needed:
        if key not in entry:
            raise ValueError(f"{place} has no {key!r}")
    unknown = entry.keys() - needed.keys() - allowed.keys()
    if unknown:
        raise ValueError(f"{place}: unknown key {min(unknown)!r}")
    for key, kind in {**needed, **allowed}.items():
        if key in entry and not kind.includes(entry[key]):
            raise ValueError(f"{place}: {key!r} must be {kind.words}")
