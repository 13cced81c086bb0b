# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of an object and of a bone."""

from __future__ import annotations

from typing import cast

import bpy

from . import limbs, presets, shared
from .choices import AS_OTHERS, CAPSULE_FALLOFFS, METHODS
from .declared import choice, flag, integer, real, text
from .disabled_modifier import SBS_PG_armature_modifier
from .kept import follow, kept, kept_group
from .limbs import Limbs, SBS_PG_pose_bone
from .muscles import Muscles, SBS_PG_muscle
from .rig import RigSettings

#: The property of pose bones with the amount of the method that they get. It is not in a property group of ours,
#: because then the amounts of all bones could not be read at once.
BONE_AMOUNT = "sbs_amount"


class SBS_PG_object(RigSettings, Limbs, Muscles, bpy.types.PropertyGroup):
    """How a mesh is deformed; on an armature object, the settings that its meshes share."""

    preset: str = choice(
        "Preset",
        "Method, rotation, center and limit at once",
        items=presets.ITEMS,
        get=presets.preset_number,
        set=presets.use,
    )
    amount: float = kept(
        shared.factor, "Strength", "How much of the method is used; the rest is the method of Blend With"
    )
    amount_group: str = kept(
        text,
        "Vertex Group",
        "Vertices that get the method, by weight; if empty, all do",
    )
    amount_invert: bool = kept(flag, "Invert", "All vertices but those of the group get the method")
    amount_method: str = kept(
        choice,
        "Blend With",
        "The method where strength, vertex group or bones leave some room",
        items=(("NONE", "Undeformed", "It stays where it is"), *METHODS),
        default="LINEAR",
    )
    flesh_mask: str = kept(
        text,
        "Mask",
        "Vertices that flesh moves, by weight; others stay where they are deformed to. If empty, all do",
    )
    corrective_row: int = integer("Corrective", "The shape key whose buttons are shown", options=set())


def settings_of(item: bpy.types.Object) -> SBS_PG_object:
    """Our settings of an object."""
    return cast("SBS_PG_object", item.sbs)  # type: ignore[attr-defined]  # is one of PROPERTIES


def _zone_changed(bone: SBS_PG_bone, context: bpy.types.Context) -> None:
    # Start and end must differ in float32, because their difference is a divisor.
    least = 1e-3 * max(abs(bone.t_min), abs(bone.t_max), 1e-3)
    if bone.t_max < bone.t_min + least:
        bone.t_max = bone.t_min + 2.0 * least
    follow(bone, context)


class SBS_PG_bone(bpy.types.PropertyGroup):
    """The settings of a bone."""

    bones_blending: bool = kept(
        flag,
        "Bones Blending",
        "Blend this bone with its parent by bones blending, on meshes that do so for marked bones",
    )
    own_zone: bool = kept(
        flag,
        "Own Bend",
        "Set where along the bone Bones Blending bends; otherwise the radius of the limb determines it",
    )
    t_min: float = kept(
        real,
        "Bend Begins",
        "Where vertices begin to turn with the bone: distance from its head, negative along the parent",
        default=-0.1,
        subtype="DISTANCE",
        update=_zone_changed,
    )
    t_max: float = kept(
        real,
        "Bend Ends",
        "Where vertices begin to turn only with the bone: distance from its head",
        default=0.1,
        subtype="DISTANCE",
        update=_zone_changed,
    )
    capsule_falloff: str = kept(
        choice,
        "Own Falloff",
        "How the weight of this bone falls from its inner capsule to its outer one",
        items=((AS_OTHERS, "As All Bones", "As Falloff below says"), *CAPSULE_FALLOFFS),
        default=AS_OTHERS,
    )


def settings_of_bone(bone: bpy.types.Bone | bpy.types.EditBone) -> SBS_PG_bone:
    """Our settings of a bone."""
    return cast("SBS_PG_bone", bone.sbs)  # type: ignore[union-attr]  # is one of PROPERTIES


CLASSES = (SBS_PG_muscle, SBS_PG_armature_modifier, SBS_PG_object, SBS_PG_bone, SBS_PG_pose_bone)
PROPERTIES = (
    (bpy.types.Object, "sbs", kept_group(SBS_PG_object)),
    (bpy.types.Bone, "sbs", kept_group(SBS_PG_bone)),
    (
        bpy.types.PoseBone,
        BONE_AMOUNT,
        kept(shared.factor, "Strength", "How much of their method meshes get where this bone moves them"),
    ),
    *limbs.PROPERTIES,
)
