# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries in the Weights menu of Weight Paint, and one for all meshes of an armature in the Pose menu."""

from __future__ import annotations

import bpy

from ..settings.typed import Menu


def _draw(menu: Menu, _context: bpy.types.Context) -> None:
    layout = menu.layout
    layout.separator()
    layout.operator("sbs.assign_from_capsules")
    layout.operator("sbs.heat_weights")
    layout.separator()
    layout.operator("sbs.spherical_weights")
    layout.operator("sbs.smooth_weights")
    layout.operator("sbs.mirror_weights")
    layout.operator("sbs.transfer_weights")
    layout.operator("sbs.check_weights")
    layout.separator()
    layout.operator("sbs.subdivide_near_bones")


def _draw_for_all(menu: Menu, _context: bpy.types.Context) -> None:
    menu.layout.separator()
    menu.layout.operator("sbs.spherical_weights")


ENTRIES = (("VIEW3D_MT_paint_weight", _draw), ("VIEW3D_MT_pose", _draw_for_all))
