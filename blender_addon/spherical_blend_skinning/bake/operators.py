# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake deformed vertices to point caches or shape keys, with progress that the artist sees and can cancel."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ..correctives import sculpt
from ..engine.bake import bake
from ..interface.action import Action
from ..interface.selection import our_meshes, our_meshes_hindrance
from ..settings.declared import choice, flag, integer, text
from ..settings.given import manager_of, scene_of
from ..settings.typed import Operator, Result


def folder() -> str:
    """The property of an operator for where files go."""
    return text(
        "Folder",
        "Where PC2 files go",
        default="//sbs_cache",
        subtype="DIR_PATH",
        # Without this option Blender warns of "//"; up to 4.4 there is no such option.
        options={"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set(),
    )


def make_bake(
    context: bpy.types.Context, items: list[bpy.types.Object], target: str, frames: range, folder: str
) -> bake.Bake:
    """A bake to ``"POINT_CACHE"`` or ``"SHAPE_KEYS"``; a ValueError says why that cannot be."""
    if target == "SHAPE_KEYS":
        return bake.ShapeKeyBake(context, items, frames)
    return bake.PointCacheBake(context, items, frames, folder)


class BakingMixin(Action):
    """An operator that bakes, frame after frame, while it shows its progress."""

    _run: tuple[bake.Bake, Iterator[int]] | None = None
    _timer: bpy.types.Timer | None = None

    def finished(self, baking: bake.Bake) -> None:
        """Report the bake."""
        count = len(baking.items)
        self.report({"INFO"}, f"Baked {len(baking.frames)} frames of {count} object{'s' if count != 1 else ''}")

    def cancelled(self, message: str) -> Result:
        """Report why nothing was baked, without a message that the artist did not want it; return the result."""
        self.report({"ERROR"} if message else {"WARNING"}, message or "Baking was cancelled; nothing changed")
        return {"CANCELLED"}

    def start(
        self,
        context: bpy.types.Context,
        items: list[bpy.types.Object],
        target: str,
        folder: str,
        ends: tuple[int, int] | None = None,
        step: int = 1,
    ) -> Result:
        """Bake objects, in frames from the first to the last of `ends` or of the scene; what `execute` returns."""
        scene = scene_of(context)
        first, last = (scene.frame_start, scene.frame_end) if ends is None else ends
        try:
            baking = make_bake(context, items, target, bake.frame_range(first, last, step), folder)
            baking.__enter__()
        except (ValueError, OSError) as error:
            return self.cancelled(str(error))
        self._run = baking, iter(baking)
        manager_of(context).progress_begin(0, len(baking.frames))
        # Blender crashes if what it repeats, as its panel of the last operation does, goes on after it has returned.
        if bpy.app.background or self.options.is_repeat or self.options.is_repeat_last:
            while (result := self._advance(context)) == {"RUNNING_MODAL"}:
                continue
            return result
        self._timer = manager_of(context).event_timer_add(0.0, window=context.window)
        manager_of(context).modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        if event.type == "ESC":
            self._end(context)
            return self.cancelled("")
        if event.type == "TIMER":
            return self._advance(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        self._end(context)

    def _advance(self, context: bpy.types.Context) -> Result:
        """Bake the next frame, or finish."""
        if self._run is None:
            return {"CANCELLED"}
        baking, steps = self._run
        try:
            frame = next(steps, None)
            if frame is not None:
                self._show(context, baking.frames, frame)
                return {"RUNNING_MODAL"}
            baking.finish()
        except Exception as error:
            self._end(context)
            if not isinstance(error, (ValueError, OSError)):
                raise
            return self.cancelled(str(error))
        self._end(context)
        self.finished(baking)
        return {"FINISHED"}

    @staticmethod
    def _show(context: bpy.types.Context, frames: range, frame: int) -> None:
        manager_of(context).progress_update(frames.index(frame) + 1)
        if context.workspace is not None:
            context.workspace.status_text_set(f"Baking frame {frame} of {frames[-1]}; Esc cancels")

    def _end(self, context: bpy.types.Context) -> None:
        """Restore everything but baked frames."""
        if self._run is not None:
            self._run[0].__exit__(None, None, None)
            self._run = None
        manager_of(context).progress_end()
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        if self._timer is not None:
            manager_of(context).event_timer_remove(self._timer)
            self._timer = None


class SBS_OT_bake(BakingMixin, Operator):
    bl_idname = "sbs.bake"
    bl_label = "Bake Spherical Blend Skinning"
    bl_description = (
        "Write what spherical blend skinning makes of the selected meshes to point caches or shape keys, for render "
        "farms and other programs"
    )

    target: str = choice(
        "To",
        "Where vertices are written",
        items=(
            ("POINT_CACHE", "Point Cache", "A PC2 file for each object, with a Mesh Cache modifier that reads it"),
            ("SHAPE_KEYS", "Shape Keys", "A shape key for each frame, for formats without point caches"),
        ),
        default="POINT_CACHE",
    )
    use_scene_range: bool = flag("Frames of the Scene", "Bake the frame range of the scene", default=True)
    frame_start: int = integer("Start", "First frame to bake", default=1)
    frame_end: int = integer("End", "Last frame to bake", default=250)
    frame_step: int = integer("Step", "Bake every n-th frame; frames between are interpolated", default=1, min=1)
    directory: str = folder()

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return sculpt.hindrance() or our_meshes_hindrance(context)

    def draw(self, _context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "target")
        layout.prop(self, "use_scene_range")
        column = layout.column(align=True)
        column.active = not self.use_scene_range
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")
        layout.prop(self, "frame_step")
        if self.target == "POINT_CACHE":
            layout.prop(self, "directory")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Result:
        self.frame_start, self.frame_end = scene_of(context).frame_start, scene_of(context).frame_end
        return {*manager_of(context).invoke_props_dialog(self)}

    def execute(self, context: bpy.types.Context) -> Result:
        frames = None if self.use_scene_range else (self.frame_start, self.frame_end)
        return self.start(context, our_meshes(context), self.target, self.directory, frames, self.frame_step)


CLASSES = (SBS_OT_bake,)
