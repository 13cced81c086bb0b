# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that the meshes of a character share: the armature object has them, and every mesh has a copy.

Deformation uses the copies. A mesh may have its own settings instead, as in files of earlier versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import bpy

from . import kept, limbs, shared
from .choices import BLENDED_BONES, BONES_PROFILES, CENTERS, METHODS, ROTATIONS, TWIST_PROFILES
from .declared import choice, flag, integer, real
from .disabled_modifier import Bound
from .typed import PropertyGroupMixin, owner_of

_Value = TypeVar("_Value")


def _shared(make: Callable[..., _Value], setting: str, *words: str, **options: Any) -> _Value:
    """A property that the meshes of a rig may share; `setting` is its own name."""

    def update(settings: RigSettings, context: bpy.types.Context) -> None:
        _changed(settings, setting)
        kept.follow(settings, context)
        if setting == "spread_twist":
            _find_limbs(settings)

    return kept.kept(make, *words, update=update, **options)


class _Shared(PropertyGroupMixin):
    """The settings that are shared. Amounts are not: vertex groups belong to one mesh."""

    method: str = _shared(
        choice, "method", "Method", "How the motions of several bones are blended", items=METHODS, default="SPHERICAL"
    )
    rotation: str = _shared(
        choice, "rotation", "Rotation", "How Spherical Blend blends rotations", items=ROTATIONS, default="QLERP"
    )
    center: str = _shared(
        choice, "center", "Pivot", "The point that a vertex turns about", items=CENTERS, default="JOINT_SET"
    )
    blended_bones: str = _shared(
        choice, "blended_bones", "Bones", "Which bones Bones Blending is for", items=BLENDED_BONES, default="ALL"
    )
    bones_profile: str = _shared(
        choice,
        "bones_profile",
        "Bend Curve",
        "How much vertices turn with their bone, from where its bend begins to where it ends",
        items=BONES_PROFILES,
        default="LINEAR",
    )
    zone_scale: float = _shared(
        real,
        "zone_scale",
        "Bend Width",
        "How long bends are, as a factor of what suits the radius of the limb: the longer, the rounder",
        default=1.0,
        min=0.01,
        soft_min=0.5,
        soft_max=2.0,
    )
    influence_limit: int = _shared(
        shared.limit,
        "influence_limit",
        default=0,
        name="Bones per Vertex",
        description="Move each vertex by so many of its bones at most, the heaviest, as game engines do; 0 for all. "
        "Weights stay as they are",
    )
    spread_twist: bool = _shared(
        flag,
        "spread_twist",
        "Spread Twist",
        "Spread the twists of limbs evenly along their bones, as in a forearm. Weights stay as they are",
        # Bones are found when it is switched on, so it cannot be animated.
        options=set(),
    )
    twist_profile: str = _shared(
        choice,
        "twist_profile",
        "Twist Curve",
        "How a twist grows along a bone",
        items=TWIST_PROFILES,
        default="LINEAR",
        options=set(),
    )
    twist_across: float = _shared(
        shared.factor,
        "twist_across",
        "Strength at Joints",
        "How much of the method is used where bones meet, also of a rig without limbs; along limbs all of "
        "it is. The rest is the method of Blend With, which keeps bent joints from bulging. "
        "Smooth twist has 0.35",
        default=0.35,
        options=set(),
    )
    use_flesh: bool = _shared(
        flag,
        "use_flesh",
        "Flesh",
        "Relax the skin in each pose as flesh would be: limbs keep their volume, and creases open. It takes some "
        "20 milliseconds a frame for 13,000 vertices in the viewport, and 50 in renders",
        options=set(),
    )
    flesh_amount: float = _shared(
        shared.factor, "flesh_amount", "Strength", "How far vertices go to where flesh would be", options=set()
    )
    flesh_steps: int = _shared(
        integer,
        "flesh_steps",
        "Steps in Viewport",
        "How exact flesh is in the viewport: 4 for a preview, 8 for playback",
        default=4,
        min=1,
        max=100,
        options=set(),
    )
    flesh_render_steps: int = _shared(
        integer,
        "flesh_render_steps",
        "Steps in Render",
        "How exact flesh is in renders, and when it is baked",
        default=12,
        min=1,
        max=100,
        options=set(),
    )
    twist_follow: bool = _shared(
        flag,
        "twist_follow",
        "Twist Past 180°",
        "Let twists continue from the frame before, so that nothing jumps where a limb turns by more than "
        "half a turn. After a jump to another frame they are at most half a turn, until the limb turns further",
        options=set(),
    )


#: Their names.
SHARED = tuple(_Shared.__annotations__)


def _take_settings(settings: RigSettings, context: bpy.types.Context) -> None:
    """Give a mesh that shares the settings of its rig those of its rig."""
    follow(settings)
    kept.follow(settings, context)


class RigSettings(Bound, _Shared):
    """Of the settings of an object: those that a rig has for its meshes, and whether a mesh shares them."""

    scope: str = kept.kept(
        choice,
        "Settings",
        "Whose settings these are",
        items=(
            ("RIG", "All Meshes", "Shared by all meshes of the armature, except those with their own settings"),
            ("MESH", "This Mesh", "Only of this mesh"),
        ),
        # The value for files of earlier versions.
        default="MESH",
        update=_take_settings,
    )


def _settings_of(item: bpy.types.Object) -> RigSettings:
    return cast("RigSettings", item.sbs)  # type: ignore[attr-defined]  # is added when the add-on is registered


# Set while settings are copied between objects, which is no change by the artist.
_copying = False


def _changed(settings: RigSettings, name: str) -> None:
    """Handle a changed setting: that of a rig is copied to its meshes; a mesh has its own settings from now on."""
    if _copying:
        return
    item = owner_of(settings)
    if item.type == "ARMATURE":
        with _copies():
            for other in followers(item):
                setattr(_settings_of(other), name, getattr(settings, name))
    elif settings.scope == "RIG":
        settings.scope = "MESH"


def _find_limbs(settings: RigSettings) -> None:
    """Have limbs found if settings spread twists and those of their armature have not been looked for."""
    item = owner_of(settings)
    armature = item if item.type == "ARMATURE" else settings.armature
    if settings.spread_twist and armature is not None and not _copying:
        limbs.find_first(armature)


def weights_made(item: bpy.types.Object) -> None:
    """Have limbs found by the new weights of a mesh if twists are spread, unless somebody chose other bones."""
    settings = _settings_of(item)
    armature = settings.armature
    if settings.spread_twist and armature is not None and limbs.are_as_found(armature):
        limbs.find(armature)


def meshes_of(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The mesh objects of the file that an armature object moves."""
    return [item for item in bpy.data.objects if item.type == "MESH" and _settings_of(item).armature == armature]


def followers(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes that share the settings of an armature object."""
    return [item for item in meshes_of(armature) if _settings_of(item).scope == "RIG" and item.library is None]


def join(item: bpy.types.Object, armature: bpy.types.Object, center: str, spread_twist: bool) -> None:
    """Give a bound mesh the settings of its rig, unless it has its own.

    Center and spread twist are for the first mesh of a rig, unless the rig has them already.
    """
    settings = _settings_of(item)
    if not settings.is_property_set("scope"):
        chosen = any(settings.is_property_set(name) for name in SHARED)
        settings.scope = "MESH" if chosen or armature.library is not None else "RIG"
    if settings.scope == "RIG":
        if not _settings_of(armature).is_property_set("center"):
            _begin(item, armature, center, spread_twist)
        _copy(armature, item)
    elif not settings.is_property_set("center"):
        # In files of earlier versions it is not set; they keep the default of that time, which is that of the property.
        settings.center = center
        if not settings.is_property_set("spread_twist"):
            settings.spread_twist = spread_twist


def follow(settings: RigSettings) -> None:
    """Give a mesh that shares the settings of its rig those of the rig that it has now."""
    if settings.scope == "RIG" and settings.armature is not None:
        join(owner_of(settings), settings.armature, settings.center, settings.spread_twist)
    _find_limbs(settings)


def share(source: bpy.types.Object, armature: bpy.types.Object) -> int:
    """Make all meshes of a rig share its settings, or those of one of them; return how many meshes there are."""
    if source != armature:
        _copy(source, armature)
    meshes = [item for item in meshes_of(armature) if item.library is None]
    for item in meshes:
        _copy(armature, item)
        _settings_of(item).scope = "RIG"
    return len(meshes)


def _begin(item: bpy.types.Object, armature: bpy.types.Object, center: str, spread_twist: bool) -> None:
    """Give a rig the settings of a mesh that is already bound to it, if there is one."""
    present = next((other for other in meshes_of(armature) if other != item and _settings_of(other).bound), None)
    if present is not None:
        _copy(present, armature)
    else:
        _settings_of(armature).center = center
        if not _settings_of(armature).is_property_set("spread_twist"):
            _settings_of(armature).spread_twist = spread_twist


def _copy(source: bpy.types.Object, target: bpy.types.Object) -> None:
    """Give an object the shared settings of another one."""
    given, taken = _settings_of(source), _settings_of(target)
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
