# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that the meshes of a character share: the armature object keeps them, and every mesh has a copy.

The copies are what deforms. A mesh that says so keeps settings of its own, as those of files from before do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import bpy

from .typed import owner_of, settings_of

if TYPE_CHECKING:
    from .properties import SBS_PG_object

__all__ = ["SHARED", "changed", "followers", "join", "share", "take"]

#: What is shared, by its names in ``Object.sbs``. Amounts are not: vertex groups are a mesh's own.
SHARED = ("method", "rotation", "center", "blended_bones", "influence_limit")

# Set while settings go from one object to another, which makes them nobody's own.
_copying = False


def followers(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes that share the settings of an armature object."""
    return [item for item in _meshes_of(armature) if settings_of(item).scope == "RIG" and item.library is None]


def changed(settings: SBS_PG_object, name: str) -> None:
    """A shared setting was changed: that of a rig is given to its meshes, that of a mesh is its own from now on."""
    if _copying:
        return
    item = owner_of(settings)
    if item.type == "ARMATURE":
        with _copies():
            for other in followers(item):
                setattr(settings_of(other), name, getattr(settings, name))
    elif settings.scope == "RIG":
        settings.scope = "MESH"


def join(item: bpy.types.Object, armature: bpy.types.Object, center: str) -> None:
    """Give a mesh that is bound the settings of its rig, unless it has some of its own.

    Parameters
    ----------
    item, armature : Object
    center : str
        What the first mesh of a rig turns about, if that was not chosen for it.
    """
    settings = settings_of(item)
    if not settings.is_property_set("scope"):
        chosen = any(settings.is_property_set(name) for name in SHARED)
        settings.scope = "MESH" if chosen or armature.library is not None else "RIG"
    if settings.scope == "RIG":
        if not settings_of(armature).is_property_set("center"):
            _begin(item, armature, center)
        take(item, armature)
    elif not settings.is_property_set("center"):
        # Files from before, in which it is not set, stay with what was the default then: that of the property.
        settings.center = center


def take(item: bpy.types.Object, armature: bpy.types.Object) -> None:
    """Give a mesh the settings of its rig."""
    _copy(armature, item)


def share(source: bpy.types.Object, armature: bpy.types.Object) -> int:
    """Have all meshes of a rig share its settings, or those of one of them; how many these are."""
    if source != armature:
        _copy(source, armature)
    meshes = [item for item in _meshes_of(armature) if item.library is None]
    for item in meshes:
        _copy(armature, item)
        settings_of(item).scope = "RIG"
    return len(meshes)


def _begin(item: bpy.types.Object, armature: bpy.types.Object, center: str) -> None:
    """Have a rig start with the settings of a mesh that is bound to it already, if there is one."""
    present = next((other for other in _meshes_of(armature) if other != item and settings_of(other).bound), None)
    if present is not None:
        _copy(present, armature)
    else:
        settings_of(armature).center = center


def _meshes_of(armature: bpy.types.Object) -> list[bpy.types.Object]:
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
