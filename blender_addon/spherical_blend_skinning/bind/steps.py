# SPDX-License-Identifier: GPL-3.0-or-later
"""Buttons for the steps after binding, in their order, and for reading the mesh anew or unbinding it."""

from __future__ import annotations

import bpy


def draw_next(layout: bpy.types.UILayout) -> None:
    """Draw the buttons that make bent joints better."""
    column = layout.column(align=True)
    # Beside an icon the longest name would not fit.
    for name in ("spherical_weights", "draft_correctives", "sculpt_corrective"):
        column.operator(f"sbs.{name}")


def draw_last(layout: bpy.types.UILayout, *, is_live: bool = True, all_meshes: bool = False) -> None:
    """Draw the buttons that read a mesh anew and that remove our modifier."""
    row = layout.row(align=True)
    if is_live:
        row.operator("sbs.rebind", icon="FILE_REFRESH").all_meshes = all_meshes
    row.operator("sbs.unbind", icon="X").all_meshes = all_meshes
