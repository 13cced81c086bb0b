# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that the meshes of a character share: the armature object has them, and every mesh has a copy.

Deformation uses the copies. A mesh may have its own settings instead, as in files of earlier versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import bpy

from .typed import owner_of, settings_of, settings_of_pose_bone, twist_of

if TYPE_CHECKING:
    from .properties import SBS_PG_object

__all__ = [
    "SHARED",
    "changed",
    "follow",
    "followers",
    "join",
    "meshes_of",
    "share",
    "spread_begins",
    "take",
    "weights_made",
    "when_spread",
]

#: The shared settings, by their names in ``Object.sbs``. Amounts are not shared: vertex groups belong to one mesh.
SHARED = (
    "method",
    "rotation",
    "center",
    "blended_bones",
    "influence_limit",
    "spread_twist",
    "twist_profile",
    "twist_across",
    "twist_follow",
)

# Set while settings are copied between objects, which is no change by the artist.
_copying = False

# Looks for the limbs of an armature; part of the add-on that is above the settings.
_find_limbs: Callable[[bpy.types.Object], object] | None = None


def when_spread(find_limbs: Callable[[bpy.types.Object], object] | None) -> None:
    """Set what looks for the limbs of an armature when twists of it are first spread; None for nothing."""
    global _find_limbs
    _find_limbs = find_limbs


def spread_begins(settings: SBS_PG_object) -> None:
    """Have limbs found if settings spread twists and their armature's have not been looked for."""
    item = owner_of(settings)
    armature = item if item.type == "ARMATURE" else settings.armature
    if not settings.spread_twist or armature is None or armature.library is not None or _copying:
        return
    if _find_limbs is not None and not settings_of(armature).twist_found:
        _find_limbs(armature)


def weights_made(settings: SBS_PG_object) -> None:
    """Have limbs found by the new weights of a mesh if twists are spread, unless somebody chose other bones."""
    armature = settings.armature
    if not settings.spread_twist or armature is None or armature.library is not None or armature.pose is None:
        return
    bones = armature.pose.bones
    if _find_limbs is not None and all(twist_of(bone) == settings_of_pose_bone(bone).is_limb for bone in bones):
        _find_limbs(armature)


def followers(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes that share the settings of an armature object."""
    return [item for item in meshes_of(armature) if settings_of(item).scope == "RIG" and item.library is None]


def changed(settings: SBS_PG_object, name: str) -> None:
    """Handle a changed setting: that of a rig is copied to its meshes; a mesh has its own settings from now on."""
    if _copying:
        return
    item = owner_of(settings)
    if item.type == "ARMATURE":
        with _copies():
            for other in followers(item):
                setattr(settings_of(other), name, getattr(settings, name))
    elif settings.scope == "RIG":
        settings.scope = "MESH"


def join(item: bpy.types.Object, armature: bpy.types.Object, center: str, spread_twist: bool) -> None:
    """Give a bound mesh the settings of its rig, unless it has its own.

    Parameters
    ----------
    item, armature : Object
    center : str
        The rotation center for the first mesh of a rig, unless the rig has one already.
    spread_twist : bool
        Whether that one spreads twists.
    """
    settings = settings_of(item)
    if not settings.is_property_set("scope"):
        chosen = any(settings.is_property_set(name) for name in SHARED)
        settings.scope = "MESH" if chosen or armature.library is not None else "RIG"
    if settings.scope == "RIG":
        if not settings_of(armature).is_property_set("center"):
            _begin(item, armature, center, spread_twist)
        take(item, armature)
    elif not settings.is_property_set("center"):
        # In files of earlier versions it is not set; they keep the default of that time, which is that of the property.
        settings.center = center
        if not settings.is_property_set("spread_twist"):
            settings.spread_twist = spread_twist


def follow(settings: SBS_PG_object) -> None:
    """Give a mesh that shares the settings of its rig those of the rig that it has now."""
    if settings.scope == "RIG" and settings.armature is not None:
        join(owner_of(settings), settings.armature, settings.center, settings.spread_twist)
    spread_begins(settings)


def take(item: bpy.types.Object, armature: bpy.types.Object) -> None:
    """Give a mesh the settings of its rig."""
    _copy(armature, item)


def share(source: bpy.types.Object, armature: bpy.types.Object) -> int:
    """Make all meshes of a rig share its settings, or those of one of them; return how many meshes there are."""
    if source != armature:
        _copy(source, armature)
    meshes = [item for item in meshes_of(armature) if item.library is None]
    for item in meshes:
        _copy(armature, item)
        settings_of(item).scope = "RIG"
    return len(meshes)


def _begin(item: bpy.types.Object, armature: bpy.types.Object, center: str, spread_twist: bool) -> None:
    """Give a rig the settings of a mesh that is already bound to it, if there is one."""
    present = next((other for other in meshes_of(armature) if other != item and settings_of(other).bound), None)
    if present is not None:
        _copy(present, armature)
    else:
        settings_of(armature).center = center
        if not settings_of(armature).is_property_set("spread_twist"):
            settings_of(armature).spread_twist = spread_twist


def meshes_of(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The mesh objects of the file that an armature object moves."""
    return [item for item in bpy.data.objects if item.type == "MESH" and settings_of(item).armature == armature]


def _copy(source: bpy.types.Object, target: bpy.types.Object) -> None:
    given, taken = settings_of(source), settings_of(target)
    with _copies():
        for name in SHARED:
            value = getattr(given, name)
            if getattr(taken, name) != value or not taken.is_property_set(name):
                setattr(taken, name, value)


@contextmanager
def _copies() -> Iterator[None]:
    global _copying
    _copying = True
    try:
        yield
    finally:
        _copying = False
