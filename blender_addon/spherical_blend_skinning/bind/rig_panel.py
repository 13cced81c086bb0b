# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the active armature, also while posing: all meshes that it moves, and one method for them."""

from __future__ import annotations

import bpy

from ..engine.bake import bake, portable
from ..engine.live import registry, states
from ..engine.stack import stack
from ..interface import rigged
from ..interface.words import draw_words
from ..method import panel as method
from ..settings.given import view_layer_of
from ..settings.properties import settings_of
from ..settings.typed import Icon
from . import operators as bind

# More meshes would push the rest of the panel out of view.
_MOST_ROWS = 8


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Draw the meshes of the active armature, and the settings that they share."""
    meshes = rigged.moved_by(armature, view_layer_of(context))
    if not meshes:
        draw_words(layout, "No mesh is moved by this armature. Select one, too, and bind it", "INFO")
        _draw_all(layout, "sbs.bind", "Bind", "ARMATURE_DATA", all_meshes=False)
        return
    bound = [item for item in meshes if bake.modifier_of(item) is not None]
    _draw_meshes(layout, meshes)
    if len(bound) < len(meshes):
        _draw_all(layout, "sbs.bind", "Bind All Meshes", "ARMATURE_DATA")
    if not bound:
        return
    _draw_settings(layout, armature, [item for item in bound if stack.find(item) is not None])
    lacking = [item for item in bound if _lacks(item)]
    if lacking:
        names = ", ".join(item.name for item in lacking[:3]) + (" and others" if len(lacking) > 3 else "")
        draw_words(layout, f"Without weights for all that moves: {names}. Select one for more", "ERROR")
    row = layout.row(align=True)
    _draw_all(row, "sbs.rebind", "Rebind", "FILE_REFRESH")
    _draw_all(row, "sbs.unbind", "Unbind", "X")


def is_shared(context: bpy.types.Context) -> bool:
    """Whether bound meshes share the settings of the active armature."""
    armature = context.object
    return any(
        settings_of(item).armature == armature and settings_of(item).scope == "RIG" for item in registry.bound_objects()
    )


def _draw_meshes(layout: bpy.types.UILayout, meshes: list[bpy.types.Object]) -> None:
    """Draw a line for each mesh: whether it is bound, and whether it is shown deformed."""
    column = layout.box().column(align=True)
    for item in meshes[:_MOST_ROWS]:
        modifier = bake.modifier_of(item)
        row = column.row(align=True)
        if modifier is None:
            row.active = False
            row.label(text=item.name, icon="UNLINKED")
            continue
        row.label(text=item.name, icon="ERROR" if _lacks(item) else "LINKED")
        row.prop(modifier, "show_viewport", text="", emboss=False)
        row.prop(modifier, "show_render", text="", emboss=False)
    if len(meshes) > _MOST_ROWS:
        column.label(text=f"and {len(meshes) - _MOST_ROWS} more", icon="BLANK1")


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


def _draw_all(layout: bpy.types.UILayout, name: str, text: str, icon: Icon, all_meshes: bool = True) -> None:
    layout.operator(name, text=text, icon=icon).all_meshes = all_meshes
