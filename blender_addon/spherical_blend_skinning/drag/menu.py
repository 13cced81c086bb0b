# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag Vertex in the Weights menu of Weight Paint, and in the Pose menu."""

from __future__ import annotations

import bpy

from ..settings.typed import Menu

__all__ = ["CLASSES", "register", "unregister"]

CLASSES = ()


def _draw(menu: Menu, _context: bpy.types.Context) -> None:
    menu.layout.separator()
    menu.layout.operator("sbs.drag_vertex", icon="CON_TRACKTO")


def register() -> None:
    bpy.types.VIEW3D_MT_paint_weight.append(_draw)
    bpy.types.VIEW3D_MT_pose.append(_draw)


def unregister() -> None:
    bpy.types.VIEW3D_MT_pose.remove(_draw)
    bpy.types.VIEW3D_MT_paint_weight.remove(_draw)
