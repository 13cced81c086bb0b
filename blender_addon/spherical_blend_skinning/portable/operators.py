# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Portable, and back to the live engine."""

from __future__ import annotations

import bpy

from ..bind import operators as bind
from ..engine import live, portable, stack
from ..interface.selection import allow, do_to_each, hindrance, linked_reason, meshes, portable_meshes, refuse
from ..settings import preferences
from ..settings.typed import Operator, Result

__all__ = ["CLASSES", "make_portable"]


def make_portable(context: bpy.types.Context, item: bpy.types.Object) -> portable.Counts:
    """Make an object portable that is bound, is portable but outdated, or only has an armature.

    Raises
    ------
    ValueError
        If that is impossible; the object is then bound live, or unchanged.
    """
    if reason := linked_reason(item):
        raise ValueError(reason)
    if portable.find(item) is not None:
        portable.make_live(item)
    elif stack.find(item) is None:
        armature = stack.find_armature(item, [])
        if armature is None:
            raise ValueError(f"{item.name} has no armature: bind it to one first")
        bind.bind(context, item, armature, center=preferences.center_of_new(context, is_portable=True))
    return portable.make_portable(item, context.evaluated_depsgraph_get())


class SBS_OT_make_portable(Operator):
    bl_idname = "sbs.make_portable"
    bl_label = "Make Portable"
    bl_description = (
        "Have geometry nodes do the skinning, so that the file moves and renders where the add-on is not installed. "
        "Weights and names of bones are taken as they are now"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if bpy.app.version < portable.MINIMUM_VERSION:
            return refuse(cls, "Nodes can read bones from Blender 5.1 on; bake in this one")
        return allow(cls, hindrance(context) if meshes(context) else "Select a mesh with an armature")

    def execute(self, context: bpy.types.Context) -> Result:
        def make_one(item: bpy.types.Object) -> None:
            counts = make_portable(context, item)
            self.report(
                {"INFO"},
                f"{item.name} is portable: {counts.vertices} vertices, {counts.bones} bones, "
                f"{counts.joint_sets} joint sets, {counts.nodes} nodes",
            )

        return {"FINISHED"} if do_to_each(self, meshes(context), make_one) else {"CANCELLED"}


class SBS_OT_make_live(Operator):
    bl_idname = "sbs.make_live"
    bl_label = "Make Live"
    bl_description = "Let the add-on do the skinning again, which follows edits of weights and bones"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return allow(cls, hindrance(context) if portable_meshes(context) else "No selected object is portable")

    def execute(self, context: bpy.types.Context) -> Result:
        def make_one(item: bpy.types.Object) -> None:
            portable.make_live(item)
            state = live.update(item, context.evaluated_depsgraph_get())
            if state is not None and state.problem:
                self.report({"WARNING"}, f"{item.name}: {state.problem}")

        done = do_to_each(self, portable_meshes(context), make_one)
        if done:
            self.report({"INFO"}, f"{done} object{'s are' if done != 1 else ' is'} live")
        return {"FINISHED"} if done else {"CANCELLED"}


CLASSES = (SBS_OT_make_portable, SBS_OT_make_live)
