# SPDX-License-Identifier: GPL-3.0-or-later
"""How the difference from linear blending is drawn. Not saved, so that it changes no file."""

from __future__ import annotations

from typing import cast

import bpy

from ..settings import declared
from ..settings.declared import choice, pointer, real

__all__ = ["CLASSES", "register", "unregister"]


def _redraw(_settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


class SBS_PG_comparison(bpy.types.PropertyGroup):
    """What is drawn over bound meshes."""

    shown: str = choice(
        name="Compare",
        description="What is drawn over bound meshes to compare them with linear blending",
        items=(
            ("NONE", "Off", "Nothing"),
            ("HEAT_MAP", "Heat Map", "How far each vertex is from where linear blending would have it"),
            ("GHOST", "Ghost", "The edges of the mesh as linear blending would have it"),
        ),
        update=_redraw,
        options={"SKIP_SAVE"},
    )
    largest: float = real(
        name="Red From",
        description="The distance from which on the heat map is red; 0 for the largest there is in the pose",
        min=0.0,
        subtype="DISTANCE",
        update=_redraw,
        options={"SKIP_SAVE"},
    )


def comparison_of(context: bpy.types.Context) -> SBS_PG_comparison:
    """Those of a session."""
    manager = context.window_manager
    return cast("SBS_PG_comparison", manager.sbs_comparison)  # type: ignore[attr-defined]  # is added by register()


CLASSES = (SBS_PG_comparison,)


def register() -> None:
    declared.add(bpy.types.WindowManager, "sbs_comparison", pointer(name="Comparison", type=SBS_PG_comparison))


def unregister() -> None:
    declared.remove(bpy.types.WindowManager, "sbs_comparison")
