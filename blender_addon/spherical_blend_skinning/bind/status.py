# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of an object: counts or the problem, and which weights are missing."""

from __future__ import annotations

import bpy

from ..engine.bake import portable
from ..engine.live import states
from ..engine.stack import stack
from ..interface.words import draw_words
from ..settings.properties import settings_of
from ..settings.typed import Icon
from . import operators as bind


def draw_problem(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw why an object that is bound live does not move, or not as well as it could."""
    state = states.state_of(item)
    if state is None:
        return
    if state.binding is None:
        draw_words(layout, state.problem, "ERROR")
        return
    _draw_weights_missing(layout, bind.lack(item, state))
    if settings_of(item).method == "SPHERICAL" and settings_of(item).center == "OPTIMIZED" and state.centers.note:
        draw_words(layout, state.centers.note, "INFO")


def draw_counts(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw the counts of an object that is bound live, and the time that it takes."""
    state = states.state_of(item)
    if state is None or state.binding is None:
        return
    column = layout.column(align=True)
    # One count per line, because the sidebar is narrow.
    for number, text in enumerate(bind.counts(state.binding)):
        draw_words(column, text, "BLANK1" if number else "INFO")
    column.label(text=f"{state.milliseconds:.1f} ms a frame", icon="TIME")


def draw_portable(layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
    """Draw the status of a portable object."""
    armature = portable.armature_of(item)
    column = layout.column(align=True)
    if armature is not None:
        draw_words(column, f"Portable, moved by {armature.name}", "PACKAGE")
    for problem in portable.problems(item):
        draw_words(column, problem, "ERROR")


def _draw_weights_missing(layout: bpy.types.UILayout, missing: str) -> None:
    """Draw which weights are missing, if any, and ways to make them."""
    if not missing:
        return
    box = layout.box()
    draw_words(box, missing, "ERROR")
    column = box.column(align=True)
    ways: tuple[tuple[str, Icon, str], ...] = (
        ("HEAT", "LIGHT_SUN", "Heat Weights"),
        ("CAPSULES", "META_CAPSULE", "Capsule Weights"),
    )
    for kind, icon, text in ways:
        column.operator("sbs.automatic_weights", text=text, icon=icon).weights = kind


def draw_second_deformation(
    layout: bpy.types.UILayout, item: bpy.types.Object, modifier: bpy.types.NodesModifier
) -> None:
    """Draw which Armature modifiers deform the mesh in addition to our modifier."""
    for other in stack.deforming_too(item, modifier):
        draw_words(layout, f"{other.name} deforms it as well: hide that, or unbind", "ERROR")
