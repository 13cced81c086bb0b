# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Blender's exporters write bound characters with their skins: Armature modifiers replace ours meanwhile.

They do not write the bellies and handles of muscles, nor the surface of a sculpt.

Blender has no handlers for the begin or end of an export. Exporters written in Python, FBX and glTF, get another
``execute`` that wraps their own, so that this works however they are called. Those in C, of which USD writes skins,
cannot be wrapped; `export.operators` calls them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any

import bpy

from ..correctives import sculpt
from ..engine.correctives import linear_shapes
from ..engine.muscles import muscle_list
from ..settings.given import view_layer_of
from ..settings.typed import Menu, Result, persistent
from . import lost_influences

_Execute = Callable[[Any, bpy.types.Context], Result]

# For each class of operators, whether its options ask for skins; if not, it writes the mesh as shown.
_WRITES_SKIN: dict[str, Callable[[Any], bool]] = {
    "EXPORT_SCENE_OT_fbx": lambda operator: "ARMATURE" in operator.object_types,
    "EXPORT_SCENE_OT_gltf": lambda operator: operator.export_skins,
    # Of Blender 3.4.
    **dict.fromkeys(
        ("EXPORT_SCENE_OT_obj", "EXPORT_SCENE_OT_x3d", "EXPORT_MESH_OT_ply", "EXPORT_MESH_OT_stl"), lambda _: False
    ),
}
# Attribute of our function with the wrapped one.
_WRAPPED = "_sbs_wrapped"

_is_on = False


def wrap_all() -> None:
    """Wrap the exporters that are registered and not yet wrapped: they may be enabled after this add-on."""
    for name, writes_skin in _WRITES_SKIN.items():
        operator = getattr(bpy.types, name, None)
        if operator is not None and not hasattr(operator.execute, _WRAPPED):
            operator.execute = _wrapped(operator.execute, writes_skin)


def _wrapped(execute: _Execute, writes_skin: Callable[[Any], bool]) -> _Execute:
    @wraps(execute)
    def execute_with_skins(self: Any, context: bpy.types.Context) -> Result:
        if not _is_on:
            return execute(self, context)
        _refer_to_this_file()
        skins = linear_shapes.armature_modifiers_instead(view_layer_of(context)) if writes_skin(self) else nullcontext()
        with sculpt.aside(), muscle_list.left_out(), skins as written:
            result = execute(self, context)
        for reason in written.left if written is not None else ():
            self.report({"WARNING"}, reason)
        if result == {"FINISHED"} and writes_skin(self) and (lost := lost_influences.describe(self)):
            self.report({"WARNING"}, lost)
        return result

    setattr(execute_with_skins, _WRAPPED, execute)
    return execute_with_skins


def _refer_to_this_file() -> None:
    """Make ``bpy.context`` refer to the scene of this file.

    In Blender 3.4 it keeps the scene in which somebody, Rigify for instance, last read its active collection, also when
    another file is loaded. The glTF exporter sets the scene of a window; then Blender notes in the scene that was kept
    that it has changed, and that is memory of something else by then. Reading the collection anew replaces it.
    """
    _ = bpy.context.layer_collection


def _unwrap_all() -> None:
    for name in _WRITES_SKIN:
        operator = getattr(bpy.types, name, None)
        if operator is not None and hasattr(operator.execute, _WRAPPED):
            execute = getattr(operator.execute, _WRAPPED)
            del operator.execute
            if getattr(operator, "execute", None) is not execute:
                # The class had its own, not an inherited one.
                operator.execute = execute


@persistent
def _file_loaded(*_arguments: object) -> None:
    wrap_all()


def _menu_opened(_menu: Menu, _context: bpy.types.Context) -> None:
    wrap_all()


HANDLERS = (("load_post", _file_loaded),)


def register() -> None:
    global _is_on
    _is_on = True
    wrap_all()
    bpy.types.TOPBAR_MT_file_export.prepend(_menu_opened)


def unregister() -> None:
    global _is_on
    bpy.types.TOPBAR_MT_file_export.remove(_menu_opened)
    _unwrap_all()
    # If another add-on has wrapped our function, it stays inside and does nothing.
    _is_on = False
