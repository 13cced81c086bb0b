# SPDX-License-Identifier: MIT
"""The JSON files of this package: a format, a version, and a list of entries."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

__all__ = ["is_number", "read", "read_entries"]

T = TypeVar("T")


def read(path: str | os.PathLike[str], content: Callable[[Any], T]) -> T:
    """The result of a function of the document in a file.

    Raises
    ------
    ValueError
        If it is no JSON, or the function raises one; the message begins with the name of the file.
    OSError
        If the file can't be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        return content(json.loads(text, parse_constant=_refuse, parse_int=_integer))
    except RecursionError:
        raise ValueError(f"{os.fspath(path)}: nested too deeply") from None
    except ValueError as error:  # includes errors of decoding JSON
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _integer(digits: str) -> int | float:
    """An integer, or a float in place of one that is too large for NumPy."""
    return int(digits) if len(digits) < 16 else float(digits)


def read_entries(document: Any, *, kind: str, newest: int, key: str, others: tuple[str, ...] = ()) -> list[Any]:
    """The list under `key`, such as "capsules", of a document whose format and version are known.

    Raises
    ------
    ValueError
        If it is another format, of a version above `newest`, has unknown keys, or no entries.
    """
    if not isinstance(document, dict) or document.get("format") != kind:
        raise ValueError(f'no file of {key}: "format" is not "{kind}"')
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f'"version" must be an integer from 1 on, not {version!r}')
    if version > newest:
        raise ValueError(f"comes from a newer version: {version}, and this reads up to {newest}")
    unknown = document.keys() - {"format", "version", key, *others}
    if unknown:
        raise ValueError(f"unknown key {min(unknown)!r}")
    entries = document.get(key)
    if not isinstance(entries, list) or not entries:
        raise ValueError(f'"{key}" must be a list of at least one {key.removesuffix("s")}')
    return entries


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
