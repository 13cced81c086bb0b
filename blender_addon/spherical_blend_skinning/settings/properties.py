# SPDX-License-Identifier: GPL-3.0-or-later
"""What the add-on keeps with an object: how it is deformed, and what its Armature modifier was like before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from . import presets, shared
from . import rig as rig_settings
from .choices import AS_OTHERS, BLENDED_BONES, CAPSULE_FALLOFFS, CENTERS, METHODS, ROTATIONS

__all__ = ["BONE_AMOUNT", "CLASSES", "register", "unregister"]

#: The property of pose bones that says how much of the method they get. It stands beside their other properties, not in
#: a group of ours, for only so all of them can be read at once.
BONE_AMOUNT = "sbs_amount"

_OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


def _is_armature(_settings: bpy.types.PropertyGroup, item: bpy.types.Object) -> bool:
    return item.type == "ARMATURE"


def _changed(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    # An update tag is what brings the handlers to look at the object again.
    settings.id_data.update_tag()


def _shared(name: str) -> Callable[[bpy.types.PropertyGroup, bpy.types.Context], None]:
    """What follows a change of a setting that the meshes of a rig may share."""

    def changed(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
        rig_settings.changed(settings, name)
        _changed(settings, context)

    return changed


def _kept(make: Callable[..., Any], *, update: Any = _changed, **options: Any) -> Any:
    """A property that is kept with data-blocks: it may be overridden, and a change of it is noticed."""
    return make(update=update, override=_OVERRIDABLE, **options)


def _shared_choice(setting: str, name: str, description: str, items: Any, default: str) -> Any:
    """An enumeration that the meshes of a rig may share; `setting` is the name of the property."""
    return _kept(
        bpy.props.EnumProperty,
        name=name,
        description=description,
        items=items,
        default=default,
        update=_shared(setting),
    )


def _take_settings(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Have a mesh that shares the settings of its rig get those of another one."""
    if settings.scope == "RIG" and settings.armature is not None:
        rig_settings.join(settings.id_data, settings.armature, settings.center)
    _changed(settings, context)


class SBS_PG_armature_modifier(bpy.types.PropertyGroup):
    """The Armature modifier that stepped back, as it was."""

    name: bpy.props.StringProperty(override=_OVERRIDABLE)
    was_added: bpy.props.BoolProperty(override=_OVERRIDABLE)
    show_viewport: bpy.props.BoolProperty(override=_OVERRIDABLE)
    show_render: bpy.props.BoolProperty(override=_OVERRIDABLE)
    use_vertex_groups: bpy.props.BoolProperty(override=_OVERRIDABLE)
    use_bone_envelopes: bpy.props.BoolProperty(override=_OVERRIDABLE)
    # While weights are painted, and not by the artist.
    shown_to_paint: bpy.props.BoolProperty(override=_OVERRIDABLE)


class SBS_PG_object(bpy.types.PropertyGroup):
    """How a mesh is deformed, or what the meshes of an armature object share of that."""

    bound: bpy.props.BoolProperty(
        name="Bound", description="Whether the object has the modifier", override=_OVERRIDABLE, options={"HIDDEN"}
    )
    armature: _kept(
        bpy.props.PointerProperty,
        name="Armature",
        description="The armature whose bones deform the mesh, by the vertex groups of their names",
        type=bpy.types.Object,
        poll=_is_armature,
        update=_take_settings,
    )
    scope: _kept(
        bpy.props.EnumProperty,
        name="Settings",
        description="Whose settings these are",
        items=(
            ("RIG", "All Meshes", "Of the armature: all its meshes share them but those that have their own"),
            ("MESH", "This Mesh", "Of this mesh alone"),
        ),
        # That of files from before.
        default="MESH",
        update=_take_settings,
    )
    preset: bpy.props.EnumProperty(
        name="Preset",
        description="Method, rotation, center and limit at once",
        items=presets.ITEMS,
        get=presets.of,
        set=presets.use,
    )
    method: _shared_choice("method", "Method", "How the motions of several bones are blended", METHODS, "SPHERICAL")
    rotation: _shared_choice("rotation", "Rotation", "How Spherical Blend blends rotations", ROTATIONS, "QLERP")
    center: _shared_choice("center", "Center", "What Spherical Blend turns vertices about", CENTERS, "JOINT_SET")
    blended_bones: _shared_choice("blended_bones", "Bones", "Which bones Bones Blending is for", BLENDED_BONES, "ALL")
    influence_limit: _kept(
        shared.limit,
        default=0,
        description="The most bones that move a vertex, the heaviest are kept; 0 for all",
        update=_shared("influence_limit"),
    )
    amount: _kept(
        shared.factor,
        name="Amount",
        description="How much of the method there is; the rest is what is chosen for elsewhere",
    )
    amount_group: _kept(
        bpy.props.StringProperty,
        name="Vertex Group",
        description="Vertex group that tells how much of the method each vertex gets; all of it if empty",
    )
    amount_invert: _kept(bpy.props.BoolProperty, name="Invert", description="Take the vertex group the other way round")
    amount_method: _kept(
        bpy.props.EnumProperty,
        name="Elsewhere",
        description="What a vertex gets where the amount is less than one",
        items=(("NONE", "Undeformed", "It stays where it is"), *METHODS),
        default="LINEAR",
    )
    armature_modifier: bpy.props.PointerProperty(type=SBS_PG_armature_modifier, override=_OVERRIDABLE)


def _zone_changed(bone: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    # Only where start and end are far enough apart that float32 tells so, there is something to divide by.
    least = 1e-3 * max(abs(bone.t_min), abs(bone.t_max), 1e-3)
    if bone.t_max < bone.t_min + least:
        bone.t_max = bone.t_min + 2.0 * least
    _changed(bone, context)


class SBS_PG_bone(bpy.types.PropertyGroup):
    """What is chosen for a bone."""

    bones_blending: _kept(
        bpy.props.BoolProperty,
        name="Bones Blending",
        description="Blend this bone with its parent by bones blending, on meshes that do so for marked bones",
    )
    own_zone: _kept(
        bpy.props.BoolProperty,
        name="Own Zone",
        description="Say where along the bone Bones Blending bends; otherwise it goes by the radius of the limb",
    )
    t_min: _kept(
        bpy.props.FloatProperty,
        name="Zone Start",
        description="Where vertices begin to turn with the bone: how far from its head, negative along the parent",
        default=-0.1,
        subtype="DISTANCE",
        update=_zone_changed,
    )
    t_max: _kept(
        bpy.props.FloatProperty,
        name="Zone End",
        description="From where on vertices turn with the bone alone: how far from its head",
        default=0.1,
        subtype="DISTANCE",
        update=_zone_changed,
    )
    capsule_falloff: _kept(
        bpy.props.EnumProperty,
        name="Falloff",
        description="How the weight of this bone falls from its inner capsule to its outer one",
        items=((AS_OTHERS, "As Others", "As is chosen for all bones"), *CAPSULE_FALLOFFS),
        default=AS_OTHERS,
    )


CLASSES = (SBS_PG_armature_modifier, SBS_PG_object, SBS_PG_bone)


def register() -> None:
    bpy.types.Object.sbs = bpy.props.PointerProperty(
        name="Spherical Blend Skinning", type=SBS_PG_object, override=_OVERRIDABLE
    )
    bpy.types.Bone.sbs = bpy.props.PointerProperty(
        name="Spherical Blend Skinning", type=SBS_PG_bone, override=_OVERRIDABLE
    )
    amount = _kept(
        shared.factor,
        name="Amount",
        description="How much of their method meshes get where this bone moves them, by its weights",
    )
    setattr(bpy.types.PoseBone, BONE_AMOUNT, amount)


def unregister() -> None:
    delattr(bpy.types.PoseBone, BONE_AMOUNT)
    del bpy.types.Bone.sbs
    del bpy.types.Object.sbs
