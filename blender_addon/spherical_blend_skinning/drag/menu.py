# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag Vertex in the Weights menu of Weight Paint, and in the Pose menu."""

from __future__ import annotations

import bpy

from ..settings.typed import Menu


def _draw(menu: Menu, _context: bpy.types.Context) -> None:
    menu.layout.separator()
    menu.layout.operator("sbs.drag_vertex", icon="CON_TRACKTO")


ENTRIES = (("VIEW3D_MT_paint_weight", _draw), ("VIEW3D_MT_pose", _draw))
