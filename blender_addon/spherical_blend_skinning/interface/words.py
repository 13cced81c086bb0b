# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences in the sidebar."""

from __future__ import annotations

import textwrap

import bpy

from ..settings.typed import Icon

__all__ = ["draw_words"]

# About as many letters as the sidebar has in a line, at its default width, beside an icon and in a box.
_LINE = 22


def draw_words(layout: bpy.types.UILayout, text: str, icon: Icon) -> None:
    """Draw a sentence in lines that fit into the sidebar."""
    column = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(text, _LINE)):
        column.label(text=line, icon="BLANK1" if number else icon)
