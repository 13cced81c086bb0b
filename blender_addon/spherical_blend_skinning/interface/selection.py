# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that operators work on, and why they cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import bpy

from ..core import library
from ..engine.bake import bake, portable
from ..engine.stack import stack
from ..settings.declared import flag
from ..settings.given import view_layer_of
from ..settings.muscles import is_part
from . import rigged


def meshes(context: bpy.types.Context, all_meshes: bool = False) -> list[bpy.types.Object]:
    """The meshes among the active and the selected objects.

    If there are none, as in Pose Mode, or with `all_meshes`: the meshes of the active armature, or of the active mesh's
    armature.
    """
    items = {item: None for item in (context.object, *context.selected_objects) if item is not None}
    found = [item for item in items if item.type == "MESH" and not is_part(item)]
    armature = rigged.rig_of(context)
    if armature is not None and (all_meshes or not found):
        return rigged.moved_by(armature, view_layer_of(context))
    return found


def our_meshes(context: bpy.types.Context, all_meshes: bool = False) -> list[bpy.types.Object]:
    """The `meshes` that have our modifier, live or portable."""
    return [item for item in meshes(context, all_meshes) if bake.modifier_of(item) is not None]


def live_meshes(context: bpy.types.Context, all_meshes: bool = False) -> list[bpy.types.Object]:
    """The `meshes` that have the modifier of the live engine."""
    return [item for item in meshes(context, all_meshes) if stack.find(item) is not None]


def all_meshes_property() -> bool:
    """The property of operators that the panel of a rig calls."""
    return flag("All Meshes", "All meshes of the armature, selected or not", options={"SKIP_SAVE", "HIDDEN"})


def portable_meshes(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The `meshes` that have the modifier of the portable engine."""
    return [item for item in meshes(context) if portable.find(item) is not None]


def hindrance(context: bpy.types.Context) -> str:
    """Why no mesh can be bound now, whatever is selected; empty if one can."""
    if context.object is not None and context.object.mode == "EDIT":
        return "Leave Edit Mode first"
    return library.problem()


def our_meshes_hindrance(context: bpy.types.Context) -> str:
    """Why nothing can be done with `our_meshes`; empty if it can."""
    return hindrance(context) if our_meshes(context) else "No selected object is deformed by spherical blend skinning"


def linked_reason(item: bpy.types.Object) -> str:
    """Why the modifiers of an object cannot be changed; empty if they can."""
    return f"{item.name} belongs to a library; make a library override of it" if item.library is not None else ""


def do_to_each(
    operator: bpy.types.Operator, items: Iterable[bpy.types.Object], action: Callable[[bpy.types.Object], object]
) -> int:
    """Apply an action to objects whose modifiers can be changed; return to how many.

    The operator reports why others are skipped, and the ValueErrors of the action.
    """
    done = 0
    for item in items:
        try:
            if reason := linked_reason(item):
                raise ValueError(reason)
            action(item)
        except ValueError as error:
            operator.report({"ERROR"}, str(error))
        else:
            done += 1
    return done
