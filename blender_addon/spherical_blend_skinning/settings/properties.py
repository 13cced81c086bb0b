# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of an object: how it is deformed, and the settings of its Armature modifier before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import bpy

from . import declared, disabled_modifier, presets, shared
from . import rig as rig_settings
from .choices import AS_OTHERS, BLENDED_BONES, CAPSULE_FALLOFFS, CENTERS, METHODS, ROTATIONS, TWIST_PROFILES
from .declared import Group, choice, flag, group, integer, pointer, real, text
from .muscles import SBS_PG_muscle
from .typed import block_of, owner_of

__all__ = ["BONE_AMOUNT", "BONE_TWIST", "CLASSES", "register", "unregister"]

#: The property of pose bones with the amount of the method that they get. It is not in a property group of ours,
#: because then the amounts of all bones could not be read at once.
BONE_AMOUNT = "sbs_amount"
#: The property of pose bones that says whether twists are spread along them; for the same reason.
BONE_TWIST = "sbs_twist"

_OVERRIDABLE: set[Literal["LIBRARY_OVERRIDABLE"]] = {"LIBRARY_OVERRIDABLE"}

_Value = TypeVar("_Value")


def _changed(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    # The tag makes the handlers update the object.
    block_of(settings).update_tag()


def _shared(name: str) -> Callable[[SBS_PG_object, bpy.types.Context], None]:
    """The update function of a setting that the meshes of a rig may share."""

    def changed(settings: SBS_PG_object, context: bpy.types.Context) -> None:
        rig_settings.changed(settings, name)
        _changed(settings, context)

    return changed


def _kept(make: Callable[..., _Value], *, update: Any = _changed, **options: Any) -> _Value:
    """A property of data-blocks that library overrides may change, and whose changes update objects."""
    return make(update=update, override=_OVERRIDABLE, **options)


def _shared_choice(setting: str, name: str, description: str, items: Any, default: str) -> str:
    """An enumeration that the meshes of a rig may share; `setting` is the name of the property."""
    return _kept(
        choice,
        name=name,
        description=description,
        items=items,
        default=default,
        update=_shared(setting),
    )


def _spread(settings: SBS_PG_object, context: bpy.types.Context) -> None:
    """Begin or cease to spread twists."""
    _shared("spread_twist")(settings, context)
    rig_settings.spread_begins(settings)


def _take_settings(settings: SBS_PG_object, context: bpy.types.Context) -> None:
    """Give a mesh that shares the settings of its rig those of its rig."""
    rig_settings.follow(settings)
    _changed(settings, context)


class SBS_PG_armature_modifier(bpy.types.PropertyGroup):
    """The settings of the disabled Armature modifier before it was disabled."""

    name: str = text(override=_OVERRIDABLE)
    show_viewport: bool = flag(override=_OVERRIDABLE)
    show_render: bool = flag(override=_OVERRIDABLE)
    use_vertex_groups: bool = flag(override=_OVERRIDABLE)
    use_bone_envelopes: bool = flag(override=_OVERRIDABLE)
    # Shown by us while weights are painted, not by the artist.
    shown_to_paint: bool = flag(override=_OVERRIDABLE)
    # Its vertex groups are switched on by us, where it is shown in place of our modifier, not by the artist.
    enabled_to_compare: bool = flag(override=_OVERRIDABLE)


class SBS_PG_object(bpy.types.PropertyGroup):
    """How a mesh is deformed; on an armature object, the settings that its meshes share."""

    bound: bool = flag(
        name="Bound", description="Whether the object has the modifier", override=_OVERRIDABLE, options={"HIDDEN"}
    )
    scope: str = _kept(
        choice,
        name="Settings",
        description="Whose settings these are",
        items=(
            ("RIG", "All Meshes", "Shared by all meshes of the armature, except those with their own settings"),
            ("MESH", "This Mesh", "Only of this mesh"),
        ),
        # The value for files of earlier versions.
        default="MESH",
        update=_take_settings,
    )
    preset: str = choice(
        name="Preset",
        description="Method, rotation, center and limit at once",
        items=presets.ITEMS,
        get=presets.of,
        set=presets.use,
    )
    method: str = _shared_choice(
        "method", "Method", "How the motions of several bones are blended", METHODS, "SPHERICAL"
    )
    rotation: str = _shared_choice("rotation", "Rotation", "How Spherical Blend blends rotations", ROTATIONS, "QLERP")
    center: str = _shared_choice("center", "Center", "What Spherical Blend turns vertices about", CENTERS, "JOINT_SET")
    blended_bones: str = _shared_choice(
        "blended_bones", "Bones", "Which bones Bones Blending is for", BLENDED_BONES, "ALL"
    )
    influence_limit: int = _kept(
        shared.limit,
        default=0,
        description="The most bones that move a vertex, the heaviest are kept; 0 for all",
        update=_shared("influence_limit"),
    )
    spread_twist: bool = _kept(
        flag,
        name="Spread Twist",
        description="Spread the twists of limbs evenly along their bones, as in a forearm. Weights stay as they are",
        # Bones are found when it is switched on, so it cannot be animated.
        options=set(),
        update=_spread,
    )
    twist_profile: str = _kept(
        choice,
        name="Profile",
        description="How a twist grows along a bone",
        items=TWIST_PROFILES,
        default="LINEAR",
        options=set(),
        update=_shared("twist_profile"),
    )
    twist_across: float = _kept(
        shared.factor,
        name="At Joints",
        description="How much of the method is used where bones meet, while twists are spread; along limbs all of it "
        "is. The rest is the method chosen for elsewhere, which keeps bent joints from bulging",
        default=0.35,
        options=set(),
        update=_shared("twist_across"),
    )
    twist_follow: bool = _kept(
        flag,
        name="Beyond Half a Turn",
        description="Let twists continue from the frame before, so that nothing jumps where a limb turns by more than "
        "half a turn. After a jump to another frame they are at most half a turn, until the limb turns further",
        options=set(),
        update=_shared("twist_follow"),
    )
    twist_found: bool = flag(
        name="Limbs Found",
        description="Whether the limbs of this armature have been looked for",
        override=_OVERRIDABLE,
        options={"HIDDEN"},
    )
    twist_row: int = integer(
        name="Bone", description="The bone whose reason is shown", override=_OVERRIDABLE, options=set()
    )
    twist_all_bones: bool = flag(
        name="All Bones",
        description="Show all bones that deform, not only limbs: any of them can be ticked",
        override=_OVERRIDABLE,
        options=set(),
    )
    amount: float = _kept(
        shared.factor,
        name="Amount",
        description="How much of the method is used; the rest is the method chosen for elsewhere",
    )
    amount_group: str = _kept(
        text,
        name="Vertex Group",
        description="Vertex group with the amount of the method for each vertex; if empty, all vertices get it",
    )
    amount_invert: bool = _kept(flag, name="Invert", description="Invert the vertex group")
    amount_method: str = _kept(
        choice,
        name="Elsewhere",
        description="The method of a vertex where the amount is less than one",
        items=(("NONE", "Undeformed", "It stays where it is"), *METHODS),
        default="LINEAR",
    )
    use_muscles: bool = _kept(
        flag, name="Muscles", description="Whether this mesh covers the muscles of its armature", default=True
    )
    muscles: Group[SBS_PG_muscle] = group(
        SBS_PG_muscle, name="Muscles", override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
    )
    muscle_row: int = integer(name="Muscle", description="The muscle that is shown", options=set())
    armature_modifier: SBS_PG_armature_modifier = pointer(type=SBS_PG_armature_modifier, override=_OVERRIDABLE)

    @property
    def armature(self) -> bpy.types.Object | None:
        """The armature object whose bones deform the mesh, by the vertex groups of their names."""
        modifier = disabled_modifier.find(owner_of(self))
        return None if modifier is None else modifier.object

    @armature.setter
    def armature(self, value: bpy.types.Object | None) -> None:
        item = owner_of(self)
        modifier = disabled_modifier.find(item)
        if modifier is None:
            raise ValueError(f"{item.name} is not bound")
        modifier.object = value


def _zone_changed(bone: SBS_PG_bone, context: bpy.types.Context) -> None:
    # Start and end must differ in float32, because their difference is a divisor.
    least = 1e-3 * max(abs(bone.t_min), abs(bone.t_max), 1e-3)
    if bone.t_max < bone.t_min + least:
        bone.t_max = bone.t_min + 2.0 * least
    _changed(bone, context)


class SBS_PG_bone(bpy.types.PropertyGroup):
    """The settings of a bone."""

    bones_blending: bool = _kept(
        flag,
        name="Bones Blending",
        description="Blend this bone with its parent by bones blending, on meshes that do so for marked bones",
    )
    own_zone: bool = _kept(
        flag,
        name="Own Zone",
        description="Set where along the bone Bones Blending bends; otherwise the radius of the limb determines it",
    )
    t_min: float = _kept(
        real,
        name="Zone Start",
        description="Where vertices begin to turn with the bone: distance from its head, negative along the parent",
        default=-0.1,
        subtype="DISTANCE",
        update=_zone_changed,
    )
    t_max: float = _kept(
        real,
        name="Zone End",
        description="Where vertices begin to turn only with the bone: distance from its head",
        default=0.1,
        subtype="DISTANCE",
        update=_zone_changed,
    )
    capsule_falloff: str = _kept(
        choice,
        name="Falloff",
        description="How the weight of this bone falls from its inner capsule to its outer one",
        items=((AS_OTHERS, "As Others", "As is chosen for all bones"), *CAPSULE_FALLOFFS),
        default=AS_OTHERS,
    )


class SBS_PG_pose_bone(bpy.types.PropertyGroup):
    """What was found out about a bone of an armature object."""

    is_limb: bool = flag(name="Limb", description="Whether it was found to be a limb", override=_OVERRIDABLE)
    twist_reason: str = text(name="Reason", description="Why it is a limb, or why not", override=_OVERRIDABLE)


CLASSES = (SBS_PG_armature_modifier, SBS_PG_object, SBS_PG_bone, SBS_PG_pose_bone)


def register() -> None:
    of_object = pointer(name="Spherical Blend Skinning", type=SBS_PG_object, override=_OVERRIDABLE)
    of_bone = pointer(name="Spherical Blend Skinning", type=SBS_PG_bone, override=_OVERRIDABLE)
    amount = _kept(
        shared.factor,
        name="Amount",
        description="How much of their method meshes get where this bone moves them, by its weights",
    )
    declared.add(bpy.types.Object, "sbs", of_object)
    declared.add(bpy.types.Bone, "sbs", of_bone)
    twist = _kept(
        flag,
        name="Spread Twist",
        description="Spread the twist of this bone, and of the bone at its tail, along it",
        options=set(),
    )
    of_pose_bone = pointer(name="Spherical Blend Skinning", type=SBS_PG_pose_bone, override=_OVERRIDABLE)
    declared.add(bpy.types.PoseBone, BONE_AMOUNT, amount)
    declared.add(bpy.types.PoseBone, BONE_TWIST, twist)
    declared.add(bpy.types.PoseBone, "sbs", of_pose_bone)


def unregister() -> None:
    declared.remove(bpy.types.PoseBone, "sbs")
    declared.remove(bpy.types.PoseBone, BONE_TWIST)
    declared.remove(bpy.types.PoseBone, BONE_AMOUNT)
    declared.remove(bpy.types.Bone, "sbs")
    declared.remove(bpy.types.Object, "sbs")
