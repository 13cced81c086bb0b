# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the active armature, also while posing: all meshes that it moves, and one method for them."""

from __future__ import annotations

import bpy

from ..engine.bake import bake, portable
from ..engine.live import states
from ..engine.stack import stack
from ..interface import rigged
from ..interface.words import draw_words
from ..method import panel as method
from ..settings.given import view_layer_of
from ..settings.properties import settings_of
from . import operators as bind
from . import steps


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Draw the next steps of the meshes of the active armature, and the choice of a preset."""
    meshes = rigged.moved_by(armature, view_layer_of(context))
    if not meshes:
        draw_words(layout, "No mesh is moved by this armature. Select one, too, and bind it", "INFO")
        layout.operator("sbs.bind", text="Bind", icon="ARMATURE_DATA")
        return
    found = bound(context, armature)
    if len(found) < len(meshes):
        text = "Bind All Meshes" if len(meshes) > 1 else "Bind"
        layout.operator("sbs.bind", text=text, icon="ARMATURE_DATA").all_meshes = True
    if not found:
        return
    lacking = [item for item in found if _lacks(item)]
    if lacking:
        names = ", ".join(item.name for item in lacking[:3]) + (" and others" if len(lacking) > 3 else "")
        draw_words(layout, f"Without weights for all that moves: {names}. Select one for more", "ERROR")
    _draw_settings(layout, armature, [item for item in found if stack.find(item) is not None])
    steps.draw_next(layout)


def draw_advanced(layout: bpy.types.UILayout, context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Draw each setting that the meshes share."""
    if any(settings_of(item).scope == "RIG" for item in bound(context, armature)):
        method.draw_settings(layout, armature)
    steps.draw_last(layout, all_meshes=True)


def bound(context: bpy.types.Context, armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes of an armature that are bound."""
    return [item for item in rigged.moved_by(armature, view_layer_of(context)) if bake.modifier_of(item) is not None]


def draw_meshes(layout: bpy.types.UILayout, context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Draw a line for each mesh of an armature: whether it is bound, and whether it is shown deformed."""
    column = layout.column(align=True)
    for item in rigged.moved_by(armature, view_layer_of(context)):
        modifier = bake.modifier_of(item)
        row = column.row(align=True)
        if modifier is None:
            row.active = False
            row.label(text=item.name, icon="UNLINKED")
            continue
        row.label(text=item.name, icon="ERROR" if _lacks(item) else "LINKED")
        row.prop(modifier, "show_viewport", text="", emboss=False)
        row.prop(modifier, "show_render", text="", emboss=False)


def _draw_settings(layout: bpy.types.UILayout, armature: bpy.types.Object, live_ones: list[bpy.types.Object]) -> None:
    sharing = [item for item in live_ones if settings_of(item).scope == "RIG"]
    if sharing:
        method.draw_presets(layout, settings_of(armature))
    own = len(live_ones) - len(sharing)
    if own and armature.library is None:
        which = f"{own} of {len(live_ones)} meshes have" if sharing else "The meshes have"
        draw_words(layout, f"{which} settings of their own", "INFO")
        layout.operator("sbs.share_settings", icon="COPYDOWN")


def _lacks(item: bpy.types.Object) -> bool:
    """Whether a bound mesh, or a part of it, is not deformed."""
    if portable.find(item) is not None:
        return bool(portable.problems(item))
    state = states.state_of(item)
    return state is not None and (bool(state.problem) or bool(bind.lack(item, state)))
