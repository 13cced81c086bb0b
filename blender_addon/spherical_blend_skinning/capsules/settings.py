# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of an armature for its capsules, and for drawing its bones."""

from __future__ import annotations

import bpy

from ..settings import shared

__all__ = ["CLASSES", "register", "unregister"]


def _redraw(_settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    for area in context.screen.areas if context.screen else ():
        if area.type == "VIEW_3D":
            area.tag_redraw()


def _start_to_follow(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    # So the handler notes the present capsules, and assigns weights when they change.
    settings.id_data.update_tag()


class SBS_PG_capsules(bpy.types.PropertyGroup):
    """How capsules are shown and assigned."""

    show_capsules: bpy.props.BoolProperty(
        name="Show Capsules",
        description="Draw the inner and the outer capsule of every bone over the 3D view",
        update=_redraw,
    )
    show_zones: bpy.props.BoolProperty(
        name="Show Zones",
        description="Draw where along bones Bones Blending bends, with handles for the active bone",
        update=_redraw,
    )
    live: bpy.props.BoolProperty(
        name="Live",
        description="Assign weights anew whenever a radius, an envelope distance or an envelope weight changes",
        update=_start_to_follow,
    )
    falloff: shared.falloff()
    outside: shared.outside()
    limit: shared.limit(4)


CLASSES = (SBS_PG_capsules,)


def register() -> None:
    bpy.types.Armature.sbs = bpy.props.PointerProperty(name="Capsules", type=SBS_PG_capsules)


def unregister() -> None:
    del bpy.types.Armature.sbs
