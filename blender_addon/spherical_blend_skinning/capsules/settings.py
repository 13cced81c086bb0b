# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of an armature for its capsules, and for drawing its bones."""

from __future__ import annotations

from typing import cast

import bpy

from ..interface.drawing import redraw
from ..settings import shared
from ..settings.declared import flag, pointer
from ..settings.typed import block_of


def _start_to_follow(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    # So the handler notes the present capsules, and assigns weights when they change.
    block_of(settings).update_tag()


class SBS_PG_capsules(bpy.types.PropertyGroup):
    """How capsules are shown and assigned."""

    show_capsules: bool = flag(
        "Show Capsules", "Draw the inner and the outer capsule of every bone over the 3D view", update=redraw
    )
    show_zones: bool = flag(
        "Show Bends", "Draw where along bones Bones Blending bends, with handles for the active bone", update=redraw
    )
    live: bool = flag(
        "Assign Automatically",
        "Assign weights anew whenever a radius, an envelope distance or an envelope weight changes. Weights that were "
        "painted are lost, but for locked vertex groups",
        update=_start_to_follow,
    )
    falloff: str = shared.falloff()
    outside: str = shared.outside()
    limit: int = shared.limit(4)


def capsule_settings_of(armature: bpy.types.Armature) -> SBS_PG_capsules:
    """The capsule settings."""
    return cast("SBS_PG_capsules", armature.sbs)  # type: ignore[attr-defined]  # is one of PROPERTIES


CLASSES = (SBS_PG_capsules,)
PROPERTIES = ((bpy.types.Armature, "sbs", pointer(name="Capsules", type=SBS_PG_capsules)),)
