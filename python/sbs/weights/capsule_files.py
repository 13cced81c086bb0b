# SPDX-License-Identifier: MIT
"""Capsules as JSON files. docs/capsules.schema.json is their schema."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ..support import json_files
from ..support.files import replacing
from ..support.json_files import is_number, read_entries
from ..support.text import well_formed

if TYPE_CHECKING:
    from .capsules import Capsules

__all__ = ["FORMAT", "VERSION", "read", "write"]

FORMAT = "sbs-capsules"
VERSION = 2
# The version of files without fall-offs, which older readers understand, too.
_VERSION_BEFORE_FALLOFFS = 1

# The keys of a capsule with numbers, and how many.
_VECTORS = {"head": 3, "tail": 3, "inner_radii": 2, "outer_radii": 2}
_OPTIONAL = {"name", "multiplier", "enabled", "falloff"}


def write(capsules: Capsules, path: str | os.PathLike[str]) -> None:
    """Write a file of the lowest version that is enough; see `Capsules.to_json`."""
    count = len(capsules)
    falloffs = capsules.falloffs or (None,) * count
    version = _VERSION_BEFORE_FALLOFFS if capsules.falloffs is None else VERSION
    entries: list[dict[str, Any]] = [
        {
            **({} if capsules.names is None else {"name": well_formed(capsules.names[joint])}),
            "head": list(map(float, capsules.heads[joint])),
            "tail": list(map(float, capsules.tails[joint])),
            "inner_radii": list(map(float, capsules.inner_radii[joint])),
            "outer_radii": list(map(float, capsules.outer_radii[joint])),
            "multiplier": float(capsules.multipliers[joint]),
            "enabled": bool(capsules.enabled[joint]),
            **({} if falloffs[joint] is None else {"falloff": falloffs[joint]}),
        }
        for joint in range(count)
    ]
    lines = ",\n".join("    " + json.dumps(entry, allow_nan=False, ensure_ascii=False) for entry in entries)
    text = f'{{\n  "format": "{FORMAT}",\n  "version": {version},\n  "capsules": [\n{lines}\n  ]\n}}\n'
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the arguments of `Capsules` from a file of this version or an older one; see `Capsules.from_json`."""
    return json_files.read(path, _read_content)


def _read_content(document: Any) -> dict[str, Any]:
    entries = read_entries(document, kind=FORMAT, newest=VERSION, key="capsules")
    for index, entry in enumerate(entries):
        _check_entry(entry, f"capsules[{index}]", document["version"])
    names = [entry.get("name") for entry in entries]
    named = sum(name is not None for name in names)
    if 0 < named < len(names):
        raise ValueError(f"capsules[{names.index(None)}] has no name, but others have")
    return {
        "heads": [entry["head"] for entry in entries],
        "tails": [entry["tail"] for entry in entries],
        "inner_radii": [entry["inner_radii"] for entry in entries],
        "outer_radii": [entry["outer_radii"] for entry in entries],
        "multipliers": [float(entry.get("multiplier", 1.0)) for entry in entries],
        "enabled": [entry.get("enabled", True) for entry in entries],
        "names": list(map(well_formed, names)) if named else None,
        "falloffs": [entry.get("falloff") for entry in entries],
    }


def _check_entry(entry: Any, place: str, version: int) -> None:
    if not isinstance(entry, dict):
        raise ValueError(f"{place} must be an object")
    for key, count in _VECTORS.items():
        if key not in entry:
            raise ValueError(f"{place} has no {key!r}")
        numbers = entry[key]
        if not isinstance(numbers, list) or len(numbers) != count or not all(map(is_number, numbers)):
            raise ValueError(f"{place}: {key!r} must be a list of {count} numbers")
    unknown = entry.keys() - _VECTORS.keys() - _OPTIONAL
    if version == _VERSION_BEFORE_FALLOFFS:
        unknown |= entry.keys() & {"falloff"}
    if unknown:
        raise ValueError(f"{place}: unknown key {min(unknown)!r}")
    if not is_number(entry.get("multiplier", 1.0)):
        raise ValueError(f"{place}: 'multiplier' must be a number")
    if not isinstance(entry.get("enabled", True), bool):
        raise ValueError(f"{place}: 'enabled' must be true or false")
    for key in ("name", "falloff"):
        if not isinstance(entry.get(key, ""), str):
            raise ValueError(f"{place}: {key!r} must be a string")
