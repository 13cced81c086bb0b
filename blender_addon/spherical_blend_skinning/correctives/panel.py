# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of correctives, the two ways to end a sculpt, and a warning where the rest mesh would be sculpted."""

from __future__ import annotations

from typing import Any

import bpy

from ..engine.bake import bake
from ..engine.correctives import correctives
from ..interface.panels import SidebarPanel, SidebarPart
from ..interface.words import draw_words
from ..settings.properties import settings_of
from ..settings.typed import Panel, mesh_of
from . import sculpt
from .operators import mesh_to_sculpt


class SBS_PT_sculpt(SidebarPanel, Panel):
    bl_label = "Sculpt Corrective"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return sculpt.present(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        _draw_ends(self.layout)


def _draw_ends(layout: bpy.types.UILayout) -> None:
    """Draw the two ways to end a sculpt."""
    row = layout.row(align=True)
    row.operator("sbs.accept_corrective", text="Accept", icon="CHECKMARK")
    row.operator("sbs.cancel_corrective", text="Cancel", icon="X")


class SBS_UL_correctives(bpy.types.UIList):
    """Correctives, and whether each is on."""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _data: Any,
        item: Any,
        _icon: Any,
        _active_data: Any,
        _active_property: Any,
        _index: Any,
        _flags: Any,
    ) -> None:
        row = layout.row(align=True)
        row.prop(item, "mute", text="", icon="CHECKBOX_DEHLT" if item.mute else "CHECKBOX_HLT", emboss=False)
        row.prop(item, "name", text="", emboss=False)

    def filter_items(self, context: bpy.types.Context, data: Any, propname: str) -> Any:
        item = mesh_to_sculpt(context)
        shown = {each.key.name for each in correctives.find(item)} if item is not None else set()
        wanted = self.filter_name.lower()
        flags = [
            self.bitflag_filter_item if key.name in shown and wanted in key.name.lower() else 0
            for key in getattr(data, propname)
        ]
        return flags, []


class SBS_PT_correctives(SidebarPart, Panel):
    bl_label = "Correctives"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = mesh_to_sculpt(context)
        return item is not None and bool(correctives.find(item))

    def draw(self, context: bpy.types.Context) -> None:
        layout, item = self.layout, mesh_to_sculpt(context)
        keys = mesh_of(item).shape_keys if item is not None else None
        if item is None or keys is None:
            return
        outdated = [each.key.name for each in correctives.find_outdated(item)]
        if outdated:
            draw_words(layout, f"Weights have changed below {', '.join(outdated)}: Solve Again", "ERROR")
        settings, found = settings_of(item), correctives.find(item)
        layout.template_list(
            "SBS_UL_correctives", "", keys, "key_blocks", settings, "corrective_row", rows=4, sort_lock=True
        )
        row = settings.corrective_row
        chosen = [each for each in found if keys.key_blocks.find(each.key.name) == row]
        _draw_corrective(layout, (chosen or found)[0])
        layout.operator("sbs.solve_correctives", icon="FILE_REFRESH")


def _draw_corrective(layout: bpy.types.UILayout, corrective: correctives.Corrective) -> None:
    draw_words(layout, f"{corrective.bone}, {corrective.degrees:.0f}°", "BONE_DATA")
    column = layout.column(align=True)
    column.prop(corrective.key, "value", slider=True)
    for names in (("go_to", "Go to Pose"), ("sculpt", "Edit")), (("mirror", "Mirror"), ("remove", "Remove")):
        row = column.row(align=True)
        for name, text in names:
            row.operator(f"sbs.{name}_corrective", text=text).number = corrective.number


def _is_at_rest_while_posed(item: bpy.types.Object) -> bool:
    """Whether brushes and tools work on the rest mesh of an object, which is posed."""
    armature = bake.armature_of(item)
    if item.mode not in {"SCULPT", "EDIT"} or armature is None or armature.pose is None:
        return False
    return any(not bone.matrix_basis.is_identity for bone in armature.pose.bones)


def _draw_in_header(header: Panel, context: bpy.types.Context) -> None:
    if sculpt.present(context) is not None:
        _draw_ends(header.layout)
        return
    item = context.object
    if item is None or item.type != "MESH":
        return
    if bake.modifier_of(item) is not None and _is_at_rest_while_posed(item):
        row = header.layout.row(align=True)
        row.alert = True
        row.label(text="The rest mesh is edited", icon="ERROR")
        if item.mode == "SCULPT":
            row.operator("sbs.sculpt_corrective")


CLASSES = (SBS_UL_correctives, SBS_PT_sculpt, SBS_PT_correctives)
ENTRIES = (("VIEW3D_HT_header", _draw_in_header),)
