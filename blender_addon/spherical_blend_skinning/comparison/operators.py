# SPDX-License-Identifier: GPL-3.0-or-later
"""Show linear blending while a key is held."""

from __future__ import annotations

import bpy
import numpy as np

from ..engine.live import methods, registry
from ..interface.action import Action
from ..settings.given import manager_of
from ..settings.typed import Operator, Result
from . import difference

#: The key that switches slots of a render in the Image Editor.
KEY = "J"

# Events with which the artist moves the view.
_NAVIGATION = {
    "MOUSEMOVE",
    "INBETWEEN_MOUSEMOVE",
    "MIDDLEMOUSE",
    "WHEELUPMOUSE",
    "WHEELDOWNMOUSE",
    "TRACKPADPAN",
    "TRACKPADZOOM",
    "LEFT_SHIFT",
    "LEFT_CTRL",
    "LEFT_ALT",
    "RIGHT_SHIFT",
    "RIGHT_CTRL",
    "RIGHT_ALT",
}


def _update(shown: bool) -> None:
    methods.show_linear(shown)
    for item in registry.bound_objects():
        if item.library is None:
            item.update_tag()


class SBS_OT_compare_with_linear(Action, Operator):
    bl_idname = "sbs.compare_with_linear"
    bl_label = "Compare with Linear"
    bl_description = "Show bound meshes by linear blending while the key is held"
    bl_options = set()

    @classmethod
    def hindrance(cls, _context: bpy.types.Context) -> str:
        return "" if registry.bound_objects() else "Bind a mesh first"

    def run(self, _context: bpy.types.Context) -> str:
        """Without a window, report the distances from it."""
        found = [difference.find(item) for item in registry.bound_objects()]
        distances = [float(np.max(one.distances, initial=0.0)) for one in found if one is not None]
        return f"Meshes compared: {len(distances)}, at most {max(distances, default=0.0):.3g} from linear"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        if context.area is None:
            # No view, as when a script invokes it in the background.
            return self.execute(context)
        self._key = event.type
        self._area = context.area
        self._area.header_text_set("Linear blending, for comparison")
        _update(shown=True)
        manager_of(context).modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, _context: bpy.types.Context, event: bpy.types.Event) -> Result:
        if event.type == self._key and event.value == "RELEASE":
            self._end()
            return {"FINISHED"}
        # Block all else, because the mesh that is shown could be saved, baked or applied.
        is_other = event.value == "PRESS" and event.type not in {*_NAVIGATION, self._key}
        if is_other or event.type == "WINDOW_DEACTIVATE":
            self._end()
            return {"FINISHED", "PASS_THROUGH"}
        return {"PASS_THROUGH"}

    def cancel(self, _context: bpy.types.Context) -> None:
        self._end()

    def _end(self) -> None:
        self._area.header_text_set(None)
        _update(shown=False)


CLASSES = (SBS_OT_compare_with_linear,)
KEYS: tuple[object, ...] = (("3D View", SBS_OT_compare_with_linear.bl_idname, KEY, {}, {}),)


def unregister() -> None:
    methods.show_linear(False)
