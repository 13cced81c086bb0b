# SPDX-License-Identifier: GPL-3.0-or-later
"""The muscles of an armature object. Its places are those of objects, which an artist moves as any others."""

from __future__ import annotations

from typing import Any

import bpy

from . import shared
from .declared import Group, choice, data_block, flag, group, integer, real, reals
from .kept import OVERRIDABLE, follow, kept
from .typed import PropertyGroupMixin, has_key

#: The points of a path, by the names of the properties that refer to their objects; in the order along the path.
PARTS = ("origin", "via", "second_via", "insertion")

#: The properties that are lengths, shares and factors, besides its profile.
NUMBERS = ("radius", "reach", "tendon_at_origin", "tendon_at_insertion", "flattening", "contraction", "most_growth")

#: How many radii a profile of an artist has.
PROFILE_RADII = 7

#: The property that is animated.
ACTIVATION = "activation"

# Bellies and handles have it, so that they are not taken for meshes of the character.
_MARK = "sbs_muscle"


def _bound(**options: Any) -> dict[str, Any]:
    """Options of a muscle's properties. They cannot be animated, as activation can: a change binds the muscle anew."""
    return {"options": set(), "override": OVERRIDABLE, "update": follow, **options}


def _length(name: str, description: str, default: float) -> float:
    return real(name, description, default=default, min=0.0, subtype="DISTANCE", precision=4, **_bound())


def _share(name: str, description: str, default: float) -> float:
    return real(name, description, default=default, min=0.0, max=0.9, subtype="FACTOR", **_bound())


def _factor(name: str, description: str, default: float) -> float:
    return real(name, description, default=default, min=1.0, soft_max=4.0, **_bound())


def _part(name: str, description: str) -> bpy.types.Object | None:
    return data_block(bpy.types.Object, name, description, **_bound())


class SBS_PG_muscle(bpy.types.PropertyGroup):
    """A muscle. Lengths are in the space of the armature."""

    use: bool = flag("Use", "Whether the skin covers this muscle", default=True, **_bound())
    activation: float = shared.factor(
        "Activation",
        "Tension without motion: the belly becomes shorter and thicker, and its volume stays",
        default=0.0,
        override=OVERRIDABLE,
        update=follow,
    )
    origin: bpy.types.Object | None = _part("Origin", "Where the muscle begins; a child of a bone")
    via: bpy.types.Object | None = _part("Via", "What draws the path towards itself; a child of a bone")
    second_via: bpy.types.Object | None = _part("Second Via", "What draws the path towards itself; a child of a bone")
    insertion: bpy.types.Object | None = _part("Insertion", "Where the muscle ends; a child of a bone")
    belly: bpy.types.Object | None = _part("Belly", "What shows the muscle")
    was_shown: bool = flag(options={"HIDDEN"}, override=OVERRIDABLE)
    radius: float = _length("Radius", "The largest of the belly, in the rest pose", 0.05)
    reach: float = _length(
        "Skin Range",
        "How far from the belly skin is moved: with all of the movement up to half of it, then with less",
        0.1,
    )
    profile: str = choice(
        "Shape",
        "How thick the belly is along the muscle",
        items=(
            ("SPINDLE", "Spindle", "Thick in the middle, and thin at its ends"),
            ("RADII", "Radii", "As thick as you say, at equal steps from origin to insertion"),
        ),
        **_bound(),
    )
    radii: bpy.types.bpy_prop_array[float] = reals(
        name="Radii",
        description="Radii along the belly, as shares of the largest",
        size=PROFILE_RADII,
        default=(0.0, 0.41, 0.84, 1.0, 0.84, 0.41, 0.0),
        min=0.0,
        max=1.0,
        **_bound(),
    )
    tendon_at_origin: float = _share(
        "Tendon at Origin", "Which share of the path is tendon, which keeps its length and does not swell", 0.1
    )
    tendon_at_insertion: float = _share(
        "Tendon at Insertion", "Which share of the path is tendon, which keeps its length and does not swell", 0.1
    )
    flattening: float = _factor(
        "Flattening", "How many times wider than thick the belly is; it is thin away from the bone of its origin", 1.0
    )
    contraction: float = _share("Contraction", "By which share full activation shortens the belly", 0.2)
    most_growth: float = _factor("Most Growth", "By what factor radii grow at most; there the belly loses volume", 2.0)


class Muscles(PropertyGroupMixin):
    """Of the settings of an object: the muscles of an armature object, and whether a mesh covers those of its rig."""

    use_muscles: bool = kept(flag, "Muscles", "Whether this mesh covers the muscles of its armature", default=True)
    muscles: Group[SBS_PG_muscle] = group(
        SBS_PG_muscle, name="Muscles", override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
    )
    muscle_row: int = integer("Muscle", "The muscle that is shown", options=set())


def mark(item: bpy.types.Object) -> None:
    """Say that an object is a belly or a handle."""
    item[_MARK] = True


def is_part(item: bpy.types.Object) -> bool:
    """Whether an object is a belly or a handle."""
    return has_key(item, _MARK)


def rig_of_part(item: bpy.types.Object) -> bpy.types.Object | None:
    """The armature object of a belly or a handle."""
    rig = item.parent if is_part(item) else None
    return rig if rig is not None and rig.type == "ARMATURE" else None
