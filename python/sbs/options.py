# SPDX-License-Identifier: MIT
"""The types of the options of deformation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

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
    "refuse_idle",
]

Method = Literal["rigid", "linear", "spherical", "dual_quaternion"]
Rotation = Literal["qlerp", "average"]
Center = Literal["joint_set", "weighted", "optimized"]

Floats = NDArray[np.float32 | np.float64]

DAMPING = 1e-8
"""How much rotation centers are pulled to the mean of the vertices, by default."""


class MethodOptions(TypedDict, total=False):
    """A method with its options; also that of the `base` that another is blended with."""

    method: Method
    rotation: Rotation
    center: Center
    damping: float
    rcond: float | None


class BlendOptions(MethodOptions, total=False):
    """One method, or two that are blended."""

    amount: ArrayLike | None
    base: Method | MethodOptions | None


class DeformOptions(BlendOptions, total=False):
    """The options of `Skin.deform` and `Skin.deform_many` that do not change the type of the result."""

    out: Floats | None
    out_normals: Floats | None
    threads: int | None


class InverseOptions(BlendOptions, total=False):
    """The options of `Skin.inverse_deform` that do not change the type of the result."""

    out: Floats | None
    threads: int | None


_DEFAULTS: dict[str, Any] = {"rotation": "qlerp", "center": "joint_set", "damping": DAMPING, "rcond": None}


def refuse_idle(method: str, options: Mapping[str, Any], whose: str = "") -> None:
    """Refuse options of a method that have no effect, unless they have their default.

    Parameters
    ----------
    method : str
    options : mapping
        Some of rotation, center, damping and rcond.
    whose : str, optional
        Prefix for the name of an option in the message.

    Raises
    ------
    ValueError
        If there is such an option.
    """
    given = {name for name, default in _DEFAULTS.items() if options.get(name, default) != default}
    center = options.get("center", _DEFAULTS["center"])
    if method in ("rigid", "linear", "dual_quaternion"):
        for option in sorted(given):
            raise ValueError(f"{whose}{option} has no effect on method={method!r}, but on 'spherical' alone")
    if "rcond" in given and center in ("weighted", "optimized"):
        raise ValueError(f"{whose}rcond has no effect on center={center!r}, but on 'joint_set' alone")
    if "damping" in given and center == "optimized":
        raise ValueError(f"{whose}damping has no effect on center='optimized'")
    if given >= {"damping", "rcond"}:
        raise ValueError(f"{whose}damping has no effect beside rcond, which takes its place")
