# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators work on, and how they refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import bpy

from ..core import library
from ..engine import bake, portable, stack
from ..settings.declared import flag
from . import rigged

__all__ = [
    "all_meshes_property",
    "allow",
    "do_to_each",
    "hindrance",
    "linked_reason",
    "live_meshes",
    "meshes",
    "our_meshes",
    "portable_meshes",
    "refuse",
]


def meshes(context: bpy.types.Context, all_meshes: bool = False) -> list[bpy.types.Object]:
    """The active object and all selected ones, of those the meshes.

    If there are none, as in Pose Mode, or if all are asked for: those that the active armature moves, or that of the
    active mesh.
    """
    items = {item: None for item in (context.object, *context.selected_objects) if item is not None}
    found = [item for item in items if item.type == "MESH"]
    armature = rigged.rig_of(context)
    if armature is not None and (all_meshes or not found):
        return rigged.moved_by(armature, context.view_layer)
    return found


def our_meshes(context: bpy.types.Context, all_meshes: bool = False) -> list[bpy.types.Object]:
    """Those of `meshes` that have our modifier, live or portable."""
    return [item for item in meshes(context, all_meshes) if bake.modifier_of(item) is not None]


def live_meshes(context: bpy.types.Context, all_meshes: bool = False) -> list[bpy.types.Object]:
    """Those of `meshes` that have the modifier of the live engine."""
    return [item for item in meshes(context, all_meshes) if stack.find(item) is not None]


def all_meshes_property() -> bool:
    """What operators have that the panel of a rig calls."""
    return flag(
        name="All Meshes",
        description="Those of the armature, whether selected or not",
        options={"SKIP_SAVE", "HIDDEN"},
    )


def portable_meshes(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Those of `meshes` that have the modifier of the portable engine."""
    return [item for item in meshes(context) if portable.find(item) is not None]


def refuse(operator: type[bpy.types.Operator], message: str) -> bool:
    """What poll returns when an operator cannot work; the artist reads why by the button."""
    operator.poll_message_set(message)
    return False


def allow(operator: type[bpy.types.Operator], reason: str) -> bool:
    """What poll returns: True, or False with a reason why the operator cannot work."""
    return not reason or refuse(operator, reason)


def hindrance(context: bpy.types.Context) -> str:
    """Why no mesh can be bound now, whichever is selected; nothing if one can."""
    if context.object is not None and context.object.mode == "EDIT":
        return "Leave Edit Mode first"
    return library.problem()


def linked_reason(item: bpy.types.Object) -> str:
    """Why the modifiers of an object cannot be changed; nothing if they can."""
    return f"{item.name} belongs to a library; make a library override of it" if item.library is not None else ""


def do_to_each(
    operator: bpy.types.Operator, items: Iterable[bpy.types.Object], action: Callable[[bpy.types.Object], object]
) -> int:
    """Do something to objects whose modifiers can be changed, and report why it is not done to others.

    Parameters
    ----------
    operator : Operator
        Which reports.
    items : iterable of Object
    action : callable
        Its ValueErrors are reported.

    Returns
    -------
    int
        To how many it was done.
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
