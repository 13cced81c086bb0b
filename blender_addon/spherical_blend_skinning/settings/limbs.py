# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs of an armature object, along which twists are spread: found, or ticked by the artist."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import bpy

from .declared import flag, integer, text
from .kept import OVERRIDABLE, kept, kept_group
from .typed import PropertyGroupMixin

#: The property of pose bones that says whether twists are spread along them. It is not in a property group of ours,
#: because then the values of all bones could not be read at once.
BONE_TWIST = "sbs_twist"


class Limbs(PropertyGroupMixin):
    """Of the settings of an armature object: its limbs, and how they are listed."""

    twist_found: bool = flag(
        "Limbs Found",
        "Whether the limbs of this armature have been looked for",
        override=OVERRIDABLE,
        options={"HIDDEN"},
    )
    twist_row: int = integer("Bone", "The bone whose reason is shown", override=OVERRIDABLE, options=set())
    twist_all_bones: bool = flag(
        "All Bones",
        "Show all bones that deform, not only limbs: any of them can be ticked",
        override=OVERRIDABLE,
        options=set(),
    )


class SBS_PG_pose_bone(bpy.types.PropertyGroup):
    """Whether a bone of an armature is a limb, and why."""

    is_limb: bool = flag("Limb", "Whether it was found to be a limb", override=OVERRIDABLE)
    twist_reason: str = text("Reason", "Why it is a limb, or why not", override=OVERRIDABLE)


def settings_of_pose_bone(bone: bpy.types.PoseBone) -> SBS_PG_pose_bone:
    """Our settings of a bone of an armature object."""
    return cast("SBS_PG_pose_bone", bone.sbs)  # type: ignore[attr-defined]  # is one of PROPERTIES


# Looks for the limbs of an armature; part of the add-on that is above the settings.
_search: Callable[[bpy.types.Object], object] | None = None


def find_with(search: Callable[[bpy.types.Object], object] | None) -> None:
    """Set the search for the limbs of an armature; None for none."""
    global _search
    _search = search


def find(armature: bpy.types.Object) -> None:
    """Look for the limbs of an armature object, and tick them."""
    if _search is not None and armature.library is None:
        _search(armature)


def find_first(armature: bpy.types.Object) -> None:
    """Look for the limbs of an armature object unless that has been done."""
    settings = cast("Limbs", armature.sbs)  # type: ignore[attr-defined]  # is added when the add-on is registered
    if not settings.twist_found:
        find(armature)


def are_as_found(armature: bpy.types.Object) -> bool:
    """Whether the bones that are ticked are the limbs that were found; False without a pose."""
    if armature.pose is None:
        return False
    return all(getattr(bone, BONE_TWIST) == settings_of_pose_bone(bone).is_limb for bone in armature.pose.bones)


PROPERTIES = (
    (
        bpy.types.PoseBone,
        BONE_TWIST,
        kept(
            flag, "Spread Twist", "Spread the twist of this bone, and of the bone at its tail, along it", options=set()
        ),
    ),
    (bpy.types.PoseBone, "sbs", kept_group(SBS_PG_pose_bone)),
)
