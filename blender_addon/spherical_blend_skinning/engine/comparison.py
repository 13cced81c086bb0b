# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether views show linear blending in place of what is chosen, for comparison. Renders never do."""

from __future__ import annotations

import bpy

from ..core.binding import Method

__all__ = ["LINEAR", "is_for", "show_linear"]

#: What is compared with: Blender's Armature modifier without Preserve Volume.
LINEAR = Method("linear")

_shows_linear = False


def is_for(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether a dependency graph is to show linear blending."""
    return _shows_linear and depsgraph.mode != "RENDER"


def show_linear(shown: bool) -> None:
    """Have views show linear blending, or what is chosen, once objects are updated."""
    global _shows_linear
    _shows_linear = shown
