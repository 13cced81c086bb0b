# SPDX-License-Identifier: GPL-3.0-or-later
"""When the disabled Armature modifier of a bound mesh is shown, and deforms.

It is shown while weights are painted. If the artist hides our modifier and shows this one, to compare both, it deforms
the mesh linearly. Otherwise its vertex groups stay off, because with them Blender evaluates the mesh twice even if the
modifier is hidden. A modifier has one setting of vertex groups for the viewport and for renders, so we switch it when
a render begins and ends.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ...settings import disabled_modifier
from ...settings.properties import settings_of
from . import bake

_in_render = False


def adjust(items: Iterable[bpy.types.Object]) -> None:
    """Show disabled Armature modifiers while weights are painted; let them deform where ours are hidden."""
    for item in items:
        if item.type == "MESH" and item.library is None:
            _adjust(item)


def set_in_render(in_render: bool) -> None:
    """Set whether visibility in renders counts from now on, or in the viewport."""
    global _in_render
    _in_render = in_render
    adjust(bpy.data.objects)


def _adjust(item: bpy.types.Object) -> None:
    modifier = disabled_modifier.find(item)
    if modifier is None:
        return
    kept = settings_of(item).armature_modifier
    if disabled_modifier.is_idle(modifier) or kept.enabled_to_compare:
        _show_in_weight_paint(item, modifier)
    shown = "show_render" if _in_render else "show_viewport"
    is_alone = getattr(modifier, shown) and _is_hidden(bake.modifier_of(item), shown) and not bake.is_baked(item)
    if kept.enabled_to_compare and not is_alone:
        modifier.use_vertex_groups = kept.enabled_to_compare = False
    elif is_alone and disabled_modifier.is_idle(modifier):
        modifier.use_vertex_groups = kept.enabled_to_compare = True


def _is_hidden(own: bpy.types.NodesModifier | None, shown: str) -> bool:
    return own is not None and not getattr(own, shown)


def _show_in_weight_paint(item: bpy.types.Object, modifier: bpy.types.ArmatureModifier) -> None:
    """Show it while weights are painted, because Auto Normalize requires it. If the artist shows it, it stays shown."""
    kept = settings_of(item).armature_modifier
    painting = item.mode == "WEIGHT_PAINT"
    if painting and not (kept.shown_to_paint or modifier.show_viewport):
        modifier.show_viewport = kept.shown_to_paint = True
    elif kept.shown_to_paint and not painting:
        modifier.show_viewport = kept.shown_to_paint = False
