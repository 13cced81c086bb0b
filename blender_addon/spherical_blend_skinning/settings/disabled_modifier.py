# SPDX-License-Identifier: GPL-3.0-or-later
"""The disabled Armature modifier of a bound mesh, in whose place ours deforms. It stores which rig moves the mesh.

When a rig is deleted, Blender clears the modifiers that refer to it. A property of ours that referred to it would keep
it in the file, in no collection, where it would go on moving the mesh.
"""

from __future__ import annotations

from typing import cast

import bpy

from .declared import flag, pointer, text
from .kept import OVERRIDABLE
from .typed import PropertyGroupMixin, owner_of


class SBS_PG_armature_modifier(bpy.types.PropertyGroup):
    """The settings of the disabled Armature modifier before it was disabled."""

    name: str = text(override=OVERRIDABLE)
    show_viewport: bool = flag(override=OVERRIDABLE)
    show_render: bool = flag(override=OVERRIDABLE)
    use_vertex_groups: bool = flag(override=OVERRIDABLE)
    use_bone_envelopes: bool = flag(override=OVERRIDABLE)
    # Shown by us while weights are painted, not by the artist.
    shown_to_paint: bool = flag(override=OVERRIDABLE)
    # Its vertex groups are switched on by us, where it is shown in place of our modifier, not by the artist.
    enabled_to_compare: bool = flag(override=OVERRIDABLE)


class Bound(PropertyGroupMixin):
    """Of the settings of an object: whether it is bound, and to what."""

    bound: bool = flag("Bound", "Whether the object has the modifier", override=OVERRIDABLE, options={"HIDDEN"})
    armature_modifier: SBS_PG_armature_modifier = pointer(type=SBS_PG_armature_modifier, override=OVERRIDABLE)

    @property
    def armature(self) -> bpy.types.Object | None:
        """The armature object whose bones deform the mesh, by the vertex groups of their names."""
        modifier = find(owner_of(self))
        return None if modifier is None else modifier.object

    @armature.setter
    def armature(self, value: bpy.types.Object | None) -> None:
        item = owner_of(self)
        modifier = find(item)
        if modifier is None:
            raise ValueError(f"{item.name} is not bound")
        modifier.object = value


def _settings_of(item: bpy.types.Object) -> Bound:
    return cast("Bound", item.sbs)  # type: ignore[attr-defined]  # is added when the add-on is registered


def find(item: bpy.types.Object) -> bpy.types.ArmatureModifier | None:
    """The disabled Armature modifier of an object that is bound or was.

    It is found by its name. If it was renamed, it is the first one that does nothing, or else the only one there is.
    """
    # Most objects of a file have none, and all that are edited are asked.
    found = [cast("bpy.types.ArmatureModifier", modifier) for modifier in item.modifiers if modifier.type == "ARMATURE"]
    if not found:
        return None
    settings = _settings_of(item)
    name = settings.armature_modifier.name
    if not (name or settings.bound):
        return None
    named = (modifier for modifier in found if modifier.name == name)
    return next(named, None) or next(filter(is_idle, found), None) or (found[0] if len(found) == 1 else None)


def stepped_back(item: bpy.types.Object) -> bpy.types.ArmatureModifier | None:
    """The Armature modifier of an object that is bound or was, unless the artist has enabled it again."""
    modifier = find(item)
    is_ours = modifier is not None and (is_idle(modifier) or _settings_of(item).armature_modifier.enabled_to_compare)
    return modifier if is_ours else None


def is_idle(modifier: bpy.types.ArmatureModifier) -> bool:
    """Whether a modifier does nothing even if it is shown."""
    return not (modifier.use_vertex_groups or modifier.use_bone_envelopes)
