# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of correctives in the sidebar tab, and a warning where the rest mesh would be sculpted."""

from __future__ import annotations

import bpy

from ..engine.bake import bake
from ..engine.correctives import correctives
from ..interface.panels import SidebarPanel
from ..interface.words import draw_words
from ..settings.typed import Panel
from . import sculpt
from .operators import mesh_to_sculpt


class SBS_PT_correctives(SidebarPanel, Panel):
    bl_label = "Correctives"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return sculpt.present(context) is not None or mesh_to_sculpt(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        now = sculpt.present(context)
        if now is not None:
            _draw_sculpt(layout, now)
            return
        item = mesh_to_sculpt(context)
        if item is None:
            return
        if _is_at_rest_while_posed(item):
            layout.label(text="This is the rest mesh", icon="ERROR")
        layout.operator("sbs.sculpt_corrective", icon="SCULPTMODE_HLT")
        layout.operator("sbs.draft_correctives", icon="OUTLINER_DATA_LATTICE")
        found = correctives.find(item)
        for corrective in found:
            _draw_corrective(layout, corrective)
        if found:
            layout.operator("sbs.solve_correctives", icon="FILE_REFRESH")
        _draw_lost(layout, item)


def _draw_sculpt(layout: bpy.types.UILayout, now: sculpt.Sculpt) -> None:
    layout.label(text=f"{now.item.name} in this pose", icon="SCULPTMODE_HLT")
    row = layout.row(align=True)
    row.operator("sbs.accept_corrective", text="Accept", icon="CHECKMARK")
    row.operator("sbs.cancel_corrective", text="Cancel", icon="X")


def _draw_lost(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw which correctives are not met or not driven any more, and the remedies."""
    outdated = [each.key.name for each in correctives.find_outdated(item)]
    if outdated:
        draw_words(layout, f"Weights have changed below {', '.join(outdated)}: Solve Again", "ERROR")
    undriven = [key.name for key in correctives.find_undriven(item)]
    if undriven:
        draw_words(layout, f"The bone is gone that drove {', '.join(undriven)}", "ERROR")
        layout.operator("sbs.remove_undriven", icon="X")


def _draw_corrective(layout: bpy.types.UILayout, corrective: correctives.Corrective) -> None:
    column = layout.box().column(align=True)
    row = column.row(align=True)
    row.prop(corrective.key, "name", text="", emboss=False)
    row.prop(corrective.key, "mute", text="", icon="CHECKBOX_DEHLT" if corrective.key.mute else "CHECKBOX_HLT")
    row.operator("sbs.remove_corrective", text="", icon="X").number = corrective.number
    row = column.row(align=True)
    row.prop(corrective.key, "value", slider=True, text=f"{corrective.bone}, {corrective.degrees:.0f}°")
    row.operator("sbs.go_to_corrective", text="", icon="ARMATURE_DATA").number = corrective.number
    row.operator("sbs.sculpt_corrective", text="", icon="SCULPTMODE_HLT").number = corrective.number
    row.operator("sbs.mirror_corrective", text="", icon="MOD_MIRROR").number = corrective.number


def _is_at_rest_while_posed(item: bpy.types.Object) -> bool:
    """Whether brushes and tools work on the rest mesh of an object, which is posed."""
    armature = bake.armature_of(item)
    if item.mode not in {"SCULPT", "EDIT"} or armature is None or armature.pose is None:
        return False
    return any(not bone.matrix_basis.is_identity for bone in armature.pose.bones)


def _draw_in_header(header: Panel, context: bpy.types.Context) -> None:
    if sculpt.present(context) is not None:
        row = header.layout.row(align=True)
        row.operator("sbs.accept_corrective", text="Accept", icon="CHECKMARK")
        row.operator("sbs.cancel_corrective", text="", icon="X")
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


CLASSES = (SBS_PT_correctives,)
ENTRIES = (("VIEW3D_HT_header", _draw_in_header),)
