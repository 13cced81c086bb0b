# SPDX-License-Identifier: GPL-3.0-or-later
"""How the difference from linear blending is drawn. Not saved, so that it changes no file."""

from __future__ import annotations

from typing import cast

import bpy

from ..interface.drawing import redraw
from ..settings.declared import choice, pointer, real
from ..settings.given import manager_of


class SBS_PG_comparison(bpy.types.PropertyGroup):
    """The overlay of bound meshes."""

    shown: str = choice(
        "Compare",
        "How bound meshes are compared with linear blending",
        items=(
            ("NONE", "Off", "Nothing"),
            ("HEAT_MAP", "Heat Map", "How far each vertex is from its place by linear blending"),
            ("GHOST", "Ghost", "The edges of the mesh by linear blending"),
        ),
        update=redraw,
        options={"SKIP_SAVE"},
    )
    largest: float = real(
        "Red From",
        "The distance where the heat map becomes red; 0 for the largest in the pose",
        min=0.0,
        subtype="DISTANCE",
        update=redraw,
        options={"SKIP_SAVE"},
    )


def comparison_of(context: bpy.types.Context) -> SBS_PG_comparison:
    """Session settings."""
    manager = manager_of(context)
    return cast("SBS_PG_comparison", manager.sbs_comparison)  # type: ignore[attr-defined]  # is one of PROPERTIES


CLASSES = (SBS_PG_comparison,)
PROPERTIES = ((bpy.types.WindowManager, "sbs_comparison", pointer(name="Comparison", type=SBS_PG_comparison)),)
