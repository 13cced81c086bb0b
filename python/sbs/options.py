# SPDX-License-Identifier: MIT
"""The options of deformation, as type checkers know them."""

from __future__ import annotations

from typing import Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "BlendOptions",
    "Center",
    "DeformOptions",
    "Floats",
    "InverseOptions",
    "Method",
    "MethodOptions",
    "Rotation",
]

Method = Literal["rigid", "linear", "spherical", "dual_quaternion"]
Rotation = Literal["qlerp", "average"]
Center = Literal["joint_set", "weighted", "optimized"]

Floats = NDArray[np.float32 | np.float64]


class MethodOptions(TypedDict, total=False):
    """By which method: what can be said of the `base` that a method is blended with."""

    method: Method
    rotation: Rotation
    center: Center
    damping: float
    rcond: float | None


class BlendOptions(MethodOptions, total=False):
    """By which method, or by which two."""

    amount: ArrayLike | None
    base: Method | MethodOptions


class DeformOptions(BlendOptions, total=False):
    """The options of `Skin.deform` and `Skin.deform_many` that do not change what kind of result there is."""

    out: Floats | None
    out_normals: Floats | None
    threads: int | None


class InverseOptions(BlendOptions, total=False):
    """The options of `Skin.inverse_deform` that do not change what kind of result there is."""

    out: Floats | None
    threads: int | None
