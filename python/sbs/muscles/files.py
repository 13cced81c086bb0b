# SPDX-License-Identifier: MIT
"""Muscles as JSON files. docs/muscles.schema.json is their schema."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

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
    """A muscle without what is as by default."""
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
    _check_keys(entry, place, {"name": _is_text, "path": _is_path, "radius": is_number, "reach": is_number}, _OPTIONAL)
    for index, point in enumerate(entry["path"]):
        _check_keys(point, f"{place}.path[{index}]", {"joint": _is_text, "point": _is_vector}, {})
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


def _check_keys(
    entry: Any, place: str, needed: dict[str, Callable[[Any], bool]], allowed: dict[str, Callable[[Any], bool]]
) -> None:
    """Check that an object has what it needs, nothing unknown, and values of the right kinds."""
    if not isinstance(entry, dict):
        raise ValueError(f"{place} must be an object")
    for key in needed:
        if key not in entry:
            raise ValueError(f"{place} has no {key!r}")
    unknown = entry.keys() - needed.keys() - allowed.keys()
    if unknown:
        raise ValueError(f"{place}: unknown key {min(unknown)!r}")
    for key, is_right in {**needed, **allowed}.items():
        if key in entry and not is_right(entry[key]):
            raise ValueError(f"{place}: {key!r} must be {_KINDS[is_right]}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_side(value: Any) -> bool:
    return value in ("left", "right", "")


def _is_path(value: Any) -> bool:
    return isinstance(value, list)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_number, value))


def _is_pair(value: Any) -> bool:
    return _is_list(value) and len(value) == 2


def _is_vector(value: Any) -> bool:
    return _is_list(value) and len(value) == 3


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


_KINDS: dict[Callable[[Any], bool], str] = {
    is_number: "a number",
    _is_text: "a string",
    _is_side: '"left", "right" or ""',
    _is_path: "a list of points",
    _is_list: "a list of numbers",
    _is_pair: "a list of 2 numbers",
    _is_vector: "a list of 3 numbers",
    _is_names: "a list of strings",
}

_OPTIONAL: dict[str, Callable[[Any], bool]] = {
    "side": _is_side,
    "tendons": _is_pair,
    "profile": _is_list,
    "flattening": is_number,
    "thin_direction": _is_vector,
    "thin_joint": _is_text,
    "contraction": is_number,
    "most_growth": is_number,
    "covered": _is_names,
}
