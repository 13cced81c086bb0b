# SPDX-License-Identifier: MIT
"""The words that tell how a skin deforms, which shapes that are made for it keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..skinning.options import DEFAULTS, MethodOptions, base_options, method_name
from ..skinning.reports import counted
from ..skinning.skin import Skin

__all__ = ["made_for"]


def made_for(skin: Skin, options: Mapping[str, Any]) -> str:
    """The options of `Skin.deform` that move vertices, and the bones that the skin spreads twists along.

    Amounts of vertices are told by their mean, as tools write and read them in several types.
    """
    told = {"method": method_name(options.get("method", DEFAULTS["method"]))}
    told |= {name: options[name] for name in MethodOptions.__annotations__ if _is_chosen(options, name)}
    text = ", ".join(f"{name}={value!r}" for name, value in told.items())
    amount = options.get("amount")
    if amount is not None:
        text += f", amount={np.mean(amount, dtype=np.float64):.2f}"
    base = base_options(amount, options.get("base"))
    if base != {"method": "linear"}:
        text += f", base={base!r}"
    if skin.twist is not None and skin.twist.bone_count:
        text += f", twist of {counted(skin.twist.bone_count, 'bone')}"
    return text


def _is_chosen(options: Mapping[str, Any], name: str) -> bool:
    return name != "method" and options.get(name, DEFAULTS[name]) != DEFAULTS[name]
