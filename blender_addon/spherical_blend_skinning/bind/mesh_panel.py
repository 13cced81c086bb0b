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
from . import status


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, item: bpy.types.Object) -> None:
    """Draw the settings of the active mesh, or how to bind it."""
    modifier = bake.modifier_of(item)
    if modifier is None:
        _draw_unbound(layout, context, item)
        return
    is_portable = portable.find(item) is not None
    if is_portable:
        status.draw_portable(layout, item)
    else:
        armature_modifier = disabled_modifier.find(item)
        if armature_modifier is not None:
            layout.prop(armature_modifier, "object", text="")
        owner.draw_scope(layout, item)
        method.draw_presets(layout, owner.shown_settings(item))
        method.draw_amount(layout, item)
        status.draw_live(layout, item)

    status.draw_second_deformation(layout, item, modifier)
    draw_baked(layout, item)
    row = layout.row(align=True)
    row.use_property_split = False
    row.prop(modifier, "show_viewport", text="Viewport", toggle=True)
    row.prop(modifier, "show_render", text="Render", toggle=True)
    _draw_actions(layout, is_portable)


def _draw_actions(layout: bpy.types.UILayout, is_portable: bool) -> None:
    column = layout.column(align=True)
    if is_portable:
        column.operator("sbs.make_portable", text="Update", icon="FILE_REFRESH")
        column.operator("sbs.make_live", icon="PLAY")
    else:
        column.operator("sbs.make_portable", icon="PACKAGE")
    column.operator("sbs.bake", text="Bake...", icon="FILE_CACHE")
    row = column.row(align=True)
    if not is_portable:
        row.operator("sbs.rebind", icon="FILE_REFRESH")
    row.operator("sbs.unbind", icon="X")


def _draw_unbound(layout: bpy.types.UILayout, context: bpy.types.Context, item: bpy.types.Object) -> None:
    modifiers = stack.armature_modifiers(item)
    column = layout.column(align=True)
    for modifier in modifiers:
        operator = column.operator("sbs.bind", text=f"Replace {modifier.name}", icon="ARMATURE_DATA")
        operator.modifier = modifier.name
        if modifier.use_bone_envelopes and not modifier.use_vertex_groups:
            draw_words(column, "It moves by bone envelopes, which become weights by:", "INFO")
            _draw_bind(column, "CAPSULES", "Replace, Capsules", modifier.name)
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
