# SPDX-License-Identifier: MIT
"""Choices of joints, as numbers or as flags."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def joint_flags(joints: ArrayLike | None, joint_count: int) -> NDArray[np.bool_]:
    """Which joints (J,) are meant: by their numbers (N,), by flags (J,), or all by None."""
    if joints is None:
        return np.ones(joint_count, bool)
    given = np.asarray(joints)
    if given.dtype == bool:
        if given.shape != (joint_count,):
            raise ValueError(f"joints has shape {given.shape}, expected ({joint_count},) flags")
        return given
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(f"joints must hold integers or flags, not {given.dtype}")
    if given.ndim != 1:
        raise ValueError(f"joints has shape {given.shape}, expected (N,)")
    bad = np.flatnonzero((given < 0) | (given >= joint_count))
    if len(bad):
        raise ValueError(f"joints[{bad[0]}] = {given[bad[0]]} is out of range for {joint_count} joints")
    flags = np.zeros(joint_count, bool)
    flags[given.astype(np.intp)] = True
    return flags
