# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel *Muscles* in the sidebar: the list of an armature, and one muscle, with the change of its volume."""

from __future__ import annotations

from typing import Any

import bpy

from ..core.muscles import MuscleState
from ..engine.bake import bake, portable
from ..engine.live import registry, states
from ..engine.muscles import muscle_list
from ..engine.stack import stack
from ..interface import rigged
from ..interface.panels import SidebarPart
from ..interface.words import draw_baked, draw_words, wide
from ..settings.muscles import PARTS, SBS_PG_muscle, is_part
from ..settings.properties import settings_of
from ..settings.typed import Panel


def _covering(armature: bpy.types.Object) -> list[states.State]:
    """The states of the meshes that cover the muscles of an armature in the present pose: of those not baked."""
    found = [states.state_of(item) for item in _bound_to(armature) if not bake.is_baked(item)]
    return [state for state in found if state is not None and state.muscles.cover is not None]


def _bound_to(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes that are bound to an armature."""
    return [item for item in registry.bound_objects() if settings_of(item).armature == armature]


def problem_of(armature: bpy.types.Object, row: int) -> str:
    """Why no mesh covers a muscle, in words; empty if one does, or nothing is known."""
    problems = [state.muscles.problems.get(row, "") for state in _covering(armature)]
    return problems[0] if problems and all(problems) else ""


def state_of(armature: bpy.types.Object, row: int) -> MuscleState | None:
    """A muscle in the present pose."""
    for state in _covering(armature):
        cover = state.muscles.cover
        found = cover.states(state.muscles.activations) if cover is not None and cover.is_posed else {}
        if row in found:
            return found[row]
    return None


class SBS_UL_muscles(bpy.types.UIList):
    """Muscles, and whether they are in use."""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        _icon: Any,
        _active_data: Any,
        _active_property: Any,
        index: Any,
        _flags: Any,
    ) -> None:
        row = layout.row(align=True)
        row.use_property_split = False
        row.prop(item, "use", text="")
        row.prop(item, "name", text="", emboss=False, icon="ERROR" if problem_of(data.id_data, index) else "NONE")

    def filter_items(self, _context: bpy.types.Context, data: Any, propname: str) -> Any:
        wanted = self.filter_name.lower()
        rows = set(muscle_list.present_rows(data.id_data))
        flags = [
            self.bitflag_filter_item if row in rows and wanted in muscle.name.lower() else 0
            for row, muscle in enumerate(getattr(data, propname))
        ]
        return flags, []


class SBS_PT_sidebar_muscles(SidebarPart, Panel):
    bl_label = "Muscles"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return rigged.rig_of(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        armature, active = rigged.rig_of(context), context.object
        if armature is None or active is None:
            return
        settings = settings_of(armature)
        rows = muscle_list.present_rows(armature)
        if active.type == "MESH" and not is_part(active) and rows:
            _draw_mesh(layout, active)
        if not rows:
            layout.operator("sbs.fit_muscles", icon="OUTLINER_OB_ARMATURE")
            layout.operator("sbs.add_muscle", icon="ADD")
            return
        layout.template_list("SBS_UL_muscles", "", settings, "muscles", settings, "muscle_row", rows=5, sort_lock=True)
        buttons = _grid(layout)
        buttons.operator("sbs.add_muscle", text="Add")
        buttons.operator("sbs.remove_muscle", text="Remove")
        buttons.operator("sbs.mirror_muscle", text="Mirror")
        buttons.operator("sbs.fit_muscles", text="Fit All")
        if settings.muscle_row in rows:
            _draw_muscle(layout, armature, settings.muscle_row)


def _grid(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """Two buttons in each row, as more would not show their words."""
    return layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)


def _draw_mesh(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw whether the active mesh covers muscles, or why it cannot."""
    if portable.find(item) is not None:
        draw_words(layout, "A portable mesh covers no muscles", "INFO")
    elif stack.find(item) is None:
        draw_words(layout, "Once it is bound, this mesh covers muscles", "INFO")
    else:
        wide(layout).prop(settings_of(item), "use_muscles", text="Muscles Move This Mesh")
        draw_baked(layout, item)


def _draw_muscle(layout: bpy.types.UILayout, armature: bpy.types.Object, row: int) -> None:
    """Draw a muscle's settings, and its state in the pose."""
    muscle = settings_of(armature).muscles[row]
    _draw_state(layout, armature, row, muscle)
    parts = _grid(layout)
    for part in (*PARTS, "belly"):
        item = muscle_list.present_part(armature, row, part)
        if item is not None:
            text = part.replace("second_", "").title()
            parts.operator("sbs.select_muscle", text=text, depress=item.select_get()).part = part
    if muscle_list.present_part(armature, row, "second_via") is None:
        layout.operator("sbs.add_via_point", icon="CURVE_BEZCURVE")
    column = layout.column()
    activation_row = column.row()
    activation_row.use_property_decorate = True
    activation_row.prop(muscle, "activation", slider=True)
    column.prop(muscle, "radius")
    column.prop(muscle, "reach")
    column.prop(muscle, "profile")
    if muscle.profile == "RADII":
        column.prop(muscle, "radii", slider=True)
    # Their names would not fit beside them.
    tendons = layout.column(align=True)
    tendons.use_property_split = False
    tendons.prop(muscle, "tendon_at_origin")
    tendons.prop(muscle, "tendon_at_insertion")
    column = layout.column(align=True)
    column.use_property_split = False
    column.prop(muscle, "flattening")
    column.prop(muscle, "contraction")
    column.prop(muscle, "most_growth")


def _draw_state(layout: bpy.types.UILayout, armature: bpy.types.Object, row: int, muscle: SBS_PG_muscle) -> None:
    problem = problem_of(armature, row)
    if problem:
        draw_words(layout, problem, "ERROR")
        return
    state = state_of(armature, row)
    if state is None:
        draw_words(layout, _why_unknown(armature) if muscle.use else "Not in use", "INFO")
        return
    column = layout.column(align=True)
    column.label(text=f"Volume kept: {100.0 * state.volume:.1f} %", icon="ERROR" if state.is_limited else "CHECKMARK")
    column.label(text=f"Radius: {100.0 * state.growth:.0f} % of rest", icon="BLANK1")
    if state.is_limited:
        draw_words(column, "It may not grow further (Most Growth)", "BLANK1")


def _why_unknown(armature: bpy.types.Object) -> str:
    """Why nothing is known of a muscle that is in use, in words."""
    baked = [item.name for item in _bound_to(armature) if settings_of(item).use_muscles and bake.is_baked(item)]
    return f"{baked[0]} is baked: what changes here does not show" if baked else "No bound mesh covers it"


CLASSES = (SBS_UL_muscles, SBS_PT_sidebar_muscles)
