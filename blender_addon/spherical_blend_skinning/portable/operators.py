# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Portable, by nodes or where these cannot do it by a bake, and back to the live engine."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import bpy

from ..bake.operators import BakingMixin, folder
from ..bind import operators as bind
from ..engine.bake import bake, portable
from ..engine.live import live
from ..engine.stack import stack
from ..interface.action import Action
from ..interface.selection import do_to_each, hindrance, linked_reason, meshes, portable_meshes
from ..settings import preferences
from ..settings.typed import Operator, Result


def make_portable(context: bpy.types.Context, item: bpy.types.Object) -> portable.Counts:
    """Make an object portable that is bound, is portable but outdated, or only has an armature.

    Raises ValueError if that is impossible; the object is then bound live, or unchanged, and NotPortable if it has to
    be baked.
    """
    if reason := linked_reason(item):
        raise ValueError(reason)
    if bake.is_baked(item):
        if not bake.has_cache(item):
            raise ValueError(f"{item.name} is baked to shape keys, which need no add-on")
        raise portable.NotPortable(item, "it was baked before", "delete its bake and show its modifier")
    if portable.find(item) is not None:
        portable.make_live(item)
    elif stack.find(item) is None:
        armature = stack.find_armature(item, [])
        if armature is None:
            raise ValueError(f"{item.name} has no armature: bind it to one first")
        bind.bind(context, item, armature, center=preferences.default_center(context, is_portable=True))
    return portable.make_portable(item, context.evaluated_depsgraph_get())


class SBS_OT_make_portable(BakingMixin, Operator):
    bl_idname = "sbs.make_portable"
    bl_label = "Make Portable"
    bl_description = (
        "For computers without this add-on: have geometry nodes do the skinning, so that the file moves and renders "
        "there, too. Weights are taken as they are now. Meshes for which nodes cannot do it are baked to point "
        "caches, in the frames of the scene"
    )

    directory: str = folder()

    _portable: tuple[str, ...] = ()
    _reasons: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        if bpy.app.version < portable.MINIMUM_VERSION:
            return "Nodes can read bones from Blender 5.1 on; bake in this one"
        return hindrance(context) if meshes(context) else "Select a mesh with an armature"

    def execute(self, context: bpy.types.Context) -> Result:
        made: list[str] = []
        left: dict[bpy.types.Object, portable.NotPortable] = {}

        def make_one(item: bpy.types.Object) -> None:
            try:
                counts = make_portable(context, item)
            except portable.NotPortable as error:
                left[item] = error
                self.report({"INFO"}, str(error))
                return
            made.append(item.name)
            self.report(
                {"INFO"},
                f"{item.name} is portable: {counts.vertices} vertices, {counts.bones} bones, "
                f"{counts.joint_sets} combinations of bones, {counts.nodes} nodes",
            )

        do_to_each(self, meshes(context), make_one)
        self._portable = tuple(made)
        self._reasons = {item.name: error.reason for item, error in left.items()}
        if left:
            return self.start(context, list(left), "POINT_CACHE", self.directory)
        return {"FINISHED"} if made else {"CANCELLED"}

    def finished(self, baking: bake.Bake) -> None:
        first, last = baking.frames[0], baking.frames[-1]
        self.report({"WARNING"}, f"{self._said()}. Baked, frames {first} to {last}: {self._reasons_said()}")

    def cancelled(self, message: str) -> Result:
        why = message or "baking was cancelled"
        self.report({"ERROR"} if message else {"WARNING"}, f"{self._said()}. Not baked: {self._reasons_said()}. {why}")
        return {"FINISHED"} if self._portable else {"CANCELLED"}

    def _said(self) -> str:
        return f"Portable: {', '.join(self._portable) or 'none'}"

    def _reasons_said(self) -> str:
        return "; ".join(f"{name}, as {reason}" for name, reason in self._reasons.items())


class SBS_OT_make_live(Action, Operator):
    bl_idname = "sbs.make_live"
    bl_label = "Use Add-on Again"
    bl_description = "Let the add-on do the skinning in place of nodes: it follows edits of weights and bones"

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return hindrance(context) if portable_meshes(context) else "No selected object is portable"

    def run(self, context: bpy.types.Context) -> str | None:
        def make_one(item: bpy.types.Object) -> None:
            portable.make_live(item)
            state = live.update(item, context.evaluated_depsgraph_get())
            if state is not None and state.problem:
                self.report({"WARNING"}, f"{item.name}: {state.problem}")

        done = do_to_each(self, portable_meshes(context), make_one)
        return f"{done} object{'s are' if done != 1 else ' is'} live" if done else None


CLASSES = (SBS_OT_make_portable, SBS_OT_make_live)
