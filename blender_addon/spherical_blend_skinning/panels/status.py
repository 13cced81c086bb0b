# SPDX-License-Identifier: GPL-3.0-or-later
"""What is bound, or why nothing is."""

from __future__ import annotations

import bpy

from ..engine import live, portable
from ..operators import bind

__all__ = ["draw_live", "draw_portable"]


def draw_live(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw what is known of an object that is bound live."""
    state = live.state_of(item)
    if state is None:
        return
    column = layout.column(align=True)
    if state.binding is None:
        column.label(text=state.problem, icon="ERROR")
        return
    # One count a line: the sidebar is narrow.
    for number, text in enumerate(bind.counts(state)):
        column.label(text=text, icon="BLANK1" if number else "INFO")
    if item.sbs.method == "SPHERICAL" and item.sbs.center == "OPTIMIZED" and state.centers.note:
        column.label(text=state.centers.note, icon="INFO")
    column.label(text=f"{state.milliseconds:.1f} ms a frame", icon="TIME")


def draw_portable(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw what is known of a portable object."""
    armature = portable.armature_of(item)
    column = layout.column(align=True)
    if armature is not None:
        column.label(text=f"Portable, moved by {armature.name}", icon="PACKAGE")
    for problem in portable.problems(item):
        column.label(text=problem, icon="ERROR")
