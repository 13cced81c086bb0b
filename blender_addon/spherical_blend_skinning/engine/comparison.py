# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether views show linear blending in place of the chosen method, for comparison. Renders never do."""

from __future__ import annotations

import bpy

from ..core.method import Method

#: The method to compare with: Blender's Armature modifier without Preserve Volume.
LINEAR = Method("linear")

_shows_linear = False


def is_for(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether a dependency graph should show linear blending."""
    return _shows_linear and depsgraph.mode != "RENDER"


def show_linear(shown: bool) -> None:
    """Make views show linear blending, or the chosen method, when objects are next updated."""
    global _shows_linear
    _shows_linear = shown
