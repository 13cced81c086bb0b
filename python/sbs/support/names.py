# SPDX-License-Identifier: MIT
"""Looking things up by name."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

__all__ = ["has_names", "joint_numbers", "known_name", "nearest_name"]


def joint_numbers(
    joints: Iterable[str | int], number_by_name: Mapping[str, int], *, option: str = "joints"
) -> list[int]:
    """The numbers of joints that are given by names or numbers.

    Parameters
    ----------
    joints : iterable of str or int
    number_by_name : mapping of J str to int
        The number of the joint of each name.
    option : str, optional
        The name of the joints in messages.

    Raises
    ------
    KeyError
        If no joint has such a name.
    ValueError
        If a number is out of range.
    TypeError
        If `joints` is a single name.
    """
    if isinstance(joints, str):
        raise TypeError(f"{option} must be several joints, not {joints!r}")
    numbers = []
    for joint in joints:
        if isinstance(joint, str):
            if joint not in number_by_name:
                raise KeyError(f"no joint is named {joint!r}{nearest_name(joint, number_by_name)}")
            numbers.append(number_by_name[joint])
        else:
            numbers.append(operator.index(joint))
            if not 0 <= numbers[-1] < len(number_by_name):
                raise ValueError(f"joint {joint} is out of range for {len(number_by_name)} joints")
    return numbers


def has_names(joints: Any) -> bool:
    """Whether some of the joints are given by names."""
    if isinstance(joints, np.ndarray):
        return bool(joints.dtype.kind == "U")
    return isinstance(joints, str) or (isinstance(joints, list | tuple) and any(isinstance(j, str) for j in joints))


def known_name(name: str, names: Collection[str], option: str) -> str:
    """The name that is meant. Upper and lower case are alike, and so are spaces, hyphens and underscores.

    Raises
    ------
    ValueError
        If it is none of them.
    """
    for known in names:
        if _plain(known) == _plain(name):
            return known
    raise ValueError(f"{option} must be one of {[*names]}, not {name!r}{nearest_name(name, names)}")


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")


def nearest_name(name: str, names: Collection[str]) -> str:
    """A hint for an error about an unknown name: a name that is spelled similarly, if there is any."""
    in_small_letters = {known.lower(): known for known in names}
    for found in difflib.get_close_matches(name.lower(), in_small_letters, 1):
        return f"; did you mean {in_small_letters[found]!r}?"
    return ""
