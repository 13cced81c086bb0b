# SPDX-License-Identifier: MIT
"""Selections of joints, as numbers, names or flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.names import has_names, joint_numbers

Joints = ArrayLike | Sequence[str | int]


def replace_names(joints: Joints | None, names: Sequence[str] | None, option: str) -> Any:
    """Joints with numbers (N,) in place of names, or as they are given without names.

    Raises
    ------
    ValueError
        If joints are given by names, but without `names`.
    KeyError, TypeError
        As `joint_numbers`.
    """
    if not has_names(joints):
        return joints
    if names is None:
        raise ValueError(f"{option} has names, so names= is needed")
    numbers = {name: joint for joint, name in enumerate(names)}
    # It is a list now.
    return np.array(joint_numbers(joints, numbers, option=option), np.int32)  # type: ignore[arg-type]


def find_number(joint: str | int | None, names: Sequence[str] | None, option: str) -> int | None:
    """The number of a joint that is given by name or number; None for None."""
    return int(replace_names([joint], names, option)[0]) if isinstance(joint, str) else joint


def flag_joints(joints: Joints | None, joint_count: int, names: Sequence[str] | None) -> NDArray[np.bool_]:
    """Which joints (J,) are meant: by their numbers or names (N,), by flags (J,), or all by None."""
    if names is not None and len(names) != joint_count:
        raise ValueError(f"names has length {len(names)}, for {joint_count} joints")
    if joints is None:
        return np.ones(joint_count, bool)
    given = np.asarray(replace_names(joints, names, "joints"))
    if given.dtype == bool:
        if given.shape != (joint_count,):
            raise ValueError(f"joints has shape {given.shape}, expected ({joint_count},) flags")
        return given
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(f"joints must hold integers, names or flags, not {given.dtype}")
    if given.ndim != 1:
        raise ValueError(f"joints has shape {given.shape}, expected (N,)")
    bad = np.flatnonzero((given < 0) | (given >= joint_count))
    if len(bad):
        raise ValueError(f"joints[{bad[0]}] = {given[bad[0]]} is out of range for {joint_count} joints")
    flags = np.zeros(joint_count, bool)
    flags[given.astype(np.intp)] = True
    return flags


def choose_joints(
    joints: Joints | None, names: Sequence[str] | None, option: str = "locked"
) -> NDArray[np.integer] | None:
    """Joints by their numbers, given so, by names or by a mask of all joints; None for None."""
    if joints is None:
        return None
    given = np.asarray(replace_names(joints, names, option))
    if given.dtype == np.bool_:
        if given.ndim != 1:
            raise ValueError(f"{option} has shape {given.shape}, expected (J,) as a mask")
        return np.flatnonzero(given)
    return given.astype(np.int32) if given.size == 0 else given
