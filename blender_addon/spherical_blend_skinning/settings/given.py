# SPDX-License-Identifier: GPL-3.0-or-later
"""Data that Blender always has where our code runs, though its types say it may be missing."""

from __future__ import annotations

from typing import TypeVar

import bpy

_Part = TypeVar("_Part")


def scene_of(context: bpy.types.Context) -> bpy.types.Scene:
    return _there(context.scene, "scene")


def view_layer_of(context: bpy.types.Context) -> bpy.types.ViewLayer:
    return _there(context.view_layer, "view layer")


def manager_of(context: bpy.types.Context) -> bpy.types.WindowManager:
    """The window manager of a context; Blender has one in the background, too."""
    return _there(context.window_manager, "window manager")


def pose_of(armature: bpy.types.Object) -> bpy.types.Pose:
    """The pose of an armature object.

    Raises ValueError if there is none yet: Blender makes it when it first evaluates the object.
    """
    if armature.pose is None:
        raise ValueError(f"{armature.name} has no pose before Blender evaluates it in a view layer")
    return armature.pose


def evaluated(view_layer: bpy.types.ViewLayer) -> bpy.types.Depsgraph:
    """The dependency graph of a view layer, after it has been evaluated."""
    view_layer.update()
    return _there(view_layer.depsgraph, "dependency graph")


def _there(part: _Part | None, name: str) -> _Part:
    if part is None:
        raise RuntimeError(f"Blender has no {name} here")
    return part
