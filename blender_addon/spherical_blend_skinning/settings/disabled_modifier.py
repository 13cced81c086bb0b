# SPDX-License-Identifier: GPL-3.0-or-later
"""The disabled Armature modifier of a bound mesh, in whose place ours deforms; it says by which rig.

Blender clears what a modifier refers to when that is deleted. A property that refers to an object is a user of it, so
that the rig would stay in the file, in no collection, and go on moving the mesh.
"""

from __future__ import annotations

from typing import cast

import bpy

from .typed import settings_of

__all__ = ["find", "is_idle", "stepped_back"]


def find(item: bpy.types.Object) -> bpy.types.ArmatureModifier | None:
    """The Armature modifier of an object that is bound or was: the one with its name, or if that was renamed, another.

    One that does nothing is taken before the only one there is.
    """
    # Most objects of a file have none, and all that are edited are asked.
    found = [cast("bpy.types.ArmatureModifier", modifier) for modifier in item.modifiers if modifier.type == "ARMATURE"]
    if not found:
        return None
    settings = settings_of(item)
    name = settings.armature_modifier.name
    if not (name or settings.bound):
        return None
    named = (modifier for modifier in found if modifier.name == name)
    return next(named, None) or next(filter(is_idle, found), None) or (found[0] if len(found) == 1 else None)


def stepped_back(item: bpy.types.Object) -> bpy.types.ArmatureModifier | None:
    """The Armature modifier of an object that is bound or was, unless the artist has enabled it again."""
    modifier = find(item)
    is_ours = modifier is not None and (is_idle(modifier) or settings_of(item).armature_modifier.enabled_to_compare)
    return modifier if is_ours else None


def is_idle(modifier: bpy.types.ArmatureModifier) -> bool:
    """Whether a modifier does nothing even if it is shown."""
    return not (modifier.use_vertex_groups or modifier.use_bone_envelopes)
