# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of correctives that nothing drives any more, each with the reason."""

from __future__ import annotations

import bpy

from ..engine.correctives import broken
from ..interface.panels import SidebarPanel
from ..interface.words import draw_words
from ..settings.typed import Panel
from . import sculpt
from .operators import mesh_to_sculpt


class SBS_PT_broken_correctives(SidebarPanel, Panel):
    bl_label = "Broken Correctives"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = mesh_to_sculpt(context)
        return sculpt.present(context) is None and item is not None and bool(broken.find(item))

    def draw(self, context: bpy.types.Context) -> None:
        item = mesh_to_sculpt(context)
        for each in broken.find(item) if item is not None else ():
            column = self.layout.box().column(align=True)
            row = column.row(align=True)
            row.prop(each.key, "name", text="", emboss=False)
            row.operator("sbs.remove_corrective", text="", icon="X").number = each.number
            draw_words(column, each.reason, "ERROR")


CLASSES = (SBS_PT_broken_correctives,)
