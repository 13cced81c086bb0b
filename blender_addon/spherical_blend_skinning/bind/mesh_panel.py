# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the active mesh."""

from __future__ import annotations

import bpy

from ..engine.bake import bake, portable
from ..engine.stack import stack
from ..interface import owner, rigged
from ..interface.words import draw_baked, draw_words
from ..method import panel as method
from ..settings import disabled_modifier
from ..settings.given import view_layer_of
from . import status, steps


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, item: bpy.types.Object) -> None:
    """Draw the next steps of the active mesh: how to bind it, or once it is bound, how to make it better."""
    modifier = bake.modifier_of(item)
    if modifier is None:
        _draw_unbound(layout, context, item)
        return
    if portable.find(item) is not None:
        status.draw_portable(layout, item)
        column = layout.column(align=True)
        column.operator("sbs.make_portable", text="Update", icon="FILE_REFRESH")
        column.operator("sbs.make_live", icon="PLAY")
    else:
        status.draw_problem(layout, item)
        owner.draw_scope(layout, item)
        method.draw_presets(layout, owner.shown_settings(item))
        steps.draw_next(layout)
    status.draw_second_deformation(layout, item, modifier)
    draw_baked(layout, item)


def draw_advanced(layout: bpy.types.UILayout, _context: bpy.types.Context, item: bpy.types.Object) -> None:
    """Draw each setting of a bound mesh."""
    modifier, is_live = bake.modifier_of(item), stack.find(item) is not None
    if is_live:
        armature_modifier = disabled_modifier.find(item)
        if armature_modifier is not None:
            layout.prop(armature_modifier, "object", text="")
        method.draw_settings(layout, item)
        method.draw_amount(layout, item)
        status.draw_counts(layout, item)
    row = layout.row(align=True)
    row.use_property_split = False
    row.prop(modifier, "show_viewport", text="Viewport", toggle=True)
    row.prop(modifier, "show_render", text="Render", toggle=True)
    steps.draw_last(layout, is_live=is_live)


def _draw_unbound(layout: bpy.types.UILayout, context: bpy.types.Context, item: bpy.types.Object) -> None:
    modifiers = stack.armature_modifiers(item)
    column = layout.column(align=True)
    for modifier in modifiers:
        _draw_bind(column, "KEEP", "Bind" if len(modifiers) == 1 else f"Bind, {modifier.name}", modifier.name)
        if modifier.use_bone_envelopes and not modifier.use_vertex_groups:
            draw_words(column, "It moves by bone envelopes, which become weights by:", "INFO")
            _draw_bind(column, "CAPSULES", "Bind, Capsule Weights", modifier.name)
    if not modifiers:
        _draw_bind(column, "KEEP", "Bind")
        _draw_bind(column, "HEAT", "Bind, Heat Weights")
        _draw_bind(column, "CAPSULES", "Bind, Capsule Weights")
    armature = rigged.rig_of(context)
    if armature is not None:
        others = sum(bake.modifier_of(other) is None for other in rigged.moved_by(armature, view_layer_of(context)))
        if others > 1:
            operator = layout.operator("sbs.bind", text=f"Bind All {others} Meshes", icon="OUTLINER_OB_ARMATURE")
            operator.all_meshes = True


def _draw_bind(layout: bpy.types.UILayout, weights: str, text: str, modifier: str = "") -> None:
    operator = layout.operator("sbs.bind", text=text, icon="ARMATURE_DATA")
    operator.weights, operator.modifier = weights, modifier
