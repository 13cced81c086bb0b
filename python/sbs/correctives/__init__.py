# SPDX-License-Identifier: MIT
"""Correctives: shapes that a pose drives, sculpted where a bent joint looks wrong by every method."""

from ..skinning.shapes import Shape, Shapes

__all__ = ["Shape", "Shapes"]


def __dir__() -> list[str]:
    return sorted(__all__)
