# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences and long names in the sidebar."""

from __future__ import annotations

import textwrap

import bpy

from ..engine.bake import bake
from ..settings.typed import Icon

# About how many letters fit in a line of the sidebar, at its default width, in a box with an icon.
_LINE = 22


def draw_words(layout: bpy.types.UILayout, text: str, icon: Icon) -> None:
    """Draw a sentence in lines that fit in the sidebar."""
    column = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(text, _LINE)):
        column.label(text=line, icon="BLANK1" if number else icon)


def wide(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """A row for a field whose name would not fit beside it."""
    row = layout.row()
    row.use_property_split = False
    return row


def draw_baked(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw that an object shows its bake, if it does."""
    if bake.is_baked(item):
        draw_words(layout, "Baked: to change it, delete the bake and press Viewport", "FILE_CACHE")
