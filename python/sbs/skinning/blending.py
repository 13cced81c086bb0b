# SPDX-License-Identifier: MIT
"""Two methods, blended by amounts: the core blends with linear blending alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..support.vectors import unit
from .options import DEFAULTS, AnyFloats, Floats, MethodOptions, base_options, method_name, vertex_amounts

__all__ = ["blend", "other_base"]


def other_base(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """The options of a `base` that the core does not blend with, or None.

    Raises
    ------
    ValueError, TypeError
        If it is wrong.
    """
    base = base_options(options.get("amount"), options.get("base"))
    methods = {base["method"], method_name(options.get("method", DEFAULTS["method"]))}
    is_of_core = len(methods) == 2 and "linear" in methods and "rigid" not in methods
    return None if options.get("amount") is None or is_of_core else base


def blend(
    deform: Callable[..., Any], options: Mapping[str, Any], base: Mapping[str, Any], vertex_count: int, normals: bool
) -> AnyFloats | tuple[AnyFloats, AnyFloats]:
    """Positions, and normals if they are wanted, by so much of a method, the rest being a base.

    Parameters
    ----------
    deform : callable
        Takes options of `Skin.deform`.
    options : mapping
        Of the call.
    base : mapping
        The method and options of the base.
    """
    shared = {name: value for name, value in options.items() if name not in ("amount", "base", "out", "out_normals")}
    beside = {name: value for name, value in shared.items() if name not in MethodOptions.__annotations__}
    amount = np.asarray(vertex_amounts(options["amount"], vertex_count), np.float64)
    if amount.shape != (vertex_count,):
        raise ValueError(f"amount must have shape ({vertex_count},), not {amount.shape}")
    if not ((amount >= 0.0) & (amount <= 1.0)).all():
        raise ValueError("amount must be between 0 and 1")
    ours, others = deform(**shared, normals=normals), deform(**beside, **base, normals=normals)
    if not normals:
        return _mixed(ours, others, amount, options.get("out"))
    result = _given(unit(_mixed(ours[1], others[1], amount, None)), options.get("out_normals"))
    return _mixed(ours[0], others[0], amount, options.get("out")), result


def _mixed(ours: AnyFloats, others: AnyFloats, amount: Floats, out: Floats | None) -> AnyFloats:
    part = amount.astype(ours.dtype)[:, None]
    return _given((1 - part) * others + part * ours, out)


def _given(result: AnyFloats, out: Floats | None) -> AnyFloats:
    """The result, in an array that was given for it."""
    if out is None:
        return result
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an ndarray, not {type(out)!r}")
    if out.shape != result.shape or out.dtype != result.dtype or not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError(f"out must be writeable, C-contiguous and {result.dtype} of shape {result.shape}")
    out[...] = result
    return out
