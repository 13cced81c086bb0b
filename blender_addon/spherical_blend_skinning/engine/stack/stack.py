# SPDX-License-Identifier: GPL-3.0-or-later
"""The modifier stack of a bound object: our modifier is added and the Armature modifier disabled, and back.

The Armature modifier stays, with its armature, but hidden and without vertex groups or envelopes. So it costs nothing,
and Blender still renames vertex groups with bones and knows for Weight Paint which armature belongs to the mesh.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from typing import cast

import bpy

from ...settings import disabled_modifier
from ...settings.properties import settings_of
from ...settings.typed import mesh_of, new_armature_modifier, owner_of
from ..nodes import live_group, node_trees
from . import carriers

_NAME = "Spherical Blend Skinning"

# Modifiers that at most move vertices: their output has the vertices and the vertex groups of their input.
DEFORMING = frozenset(
    [
        "ARMATURE",
        "CAST",
        "CLOTH",
        "COLLISION",
        "CORRECTIVE_SMOOTH",
        "CURVE",
        "DISPLACE",
        "DYNAMIC_PAINT",
        "HOOK",
        "LAPLACIANDEFORM",
        "LATTICE",
        "LAPLACIANSMOOTH",
        "MESH_CACHE",
        "MESH_DEFORM",
        "MESH_SEQUENCE_CACHE",
        "NORMAL_EDIT",
        "SHRINKWRAP",
        "SIMPLE_DEFORM",
        "SMOOTH",
        "SOFT_BODY",
        "SURFACE",
        "SURFACE_DEFORM",
        "UV_PROJECT",
        "UV_WARP",
        "WARP",
        "WAVE",
        "WEIGHTED_NORMAL",
    ]
)

# Where these get their vertices from does not depend on where those of their input are.
STEADY = DEFORMING | {"MASK", "MULTIRES", "SUBSURF", "TRIANGULATE"}


def find(item: bpy.types.Object) -> bpy.types.NodesModifier | None:
    """The modifier of the live engine on an object."""
    for modifier in item.modifiers:
        if isinstance(modifier, bpy.types.NodesModifier) and live_group.is_live(modifier.node_group):
            return modifier
    return None


def before(item: bpy.types.Object, modifier: bpy.types.Modifier) -> list[bpy.types.Modifier]:
    """The modifiers that change the mesh before a given one."""
    return [other for other in takewhile(lambda other: other != modifier, item.modifiers) if _is_shown(other)]


def after(item: bpy.types.Object, modifier: bpy.types.Modifier) -> list[bpy.types.Modifier]:
    """The modifiers that change the mesh after a given one."""
    return [other for other in takewhile(lambda other: other != modifier, reversed(item.modifiers)) if _is_shown(other)]


def _is_shown(modifier: bpy.types.Modifier) -> bool:
    return modifier.show_viewport or modifier.show_render


@contextmanager
def only_before(item: bpy.types.Object, modifier: bpy.types.Modifier, *, and_it: bool = False) -> Iterator[None]:
    """Hide a modifier in the viewport, and all after it, for the time being; with `and_it` it is shown itself."""
    later = list(item.modifiers)[list(item.modifiers).index(modifier) :]
    # Blender evaluates the mesh anew also where a setting gets the value that it has.
    changed = [other for other in later if other.show_viewport != (and_it and other == modifier)]
    try:
        for other in changed:
            other.show_viewport = not other.show_viewport
        yield
    finally:
        for other in changed:
            other.show_viewport = not other.show_viewport


def armature_modifiers(item: bpy.types.Object) -> list[bpy.types.ArmatureModifier]:
    """The Armature modifiers of an object that have an armature."""
    modifiers = cast("list[bpy.types.ArmatureModifier]", item.modifiers)
    return [modifier for modifier in modifiers if modifier.type == "ARMATURE" and modifier.object is not None]


def armature_modifier_of(item: bpy.types.Object, armature: bpy.types.Object) -> bpy.types.ArmatureModifier | None:
    """The disabled Armature modifier of a bound object, else any of that armature."""
    same = (modifier for modifier in armature_modifiers(item) if modifier.object == armature)
    return disabled_modifier.stepped_back(item) or next(same, None)


def deforms(modifier: bpy.types.ArmatureModifier) -> bool:
    """Whether an Armature modifier moves vertices, in the viewport or in renders."""
    bound = modifier.use_vertex_groups or modifier.use_bone_envelopes
    return bool(modifier.object is not None and bound and (modifier.show_viewport or modifier.show_render))


def find_armature(item: bpy.types.Object, selected: list[bpy.types.Object]) -> bpy.types.Object | None:
    """The armature to bind an object to: a selected one, that of its Armature modifier, or its parent."""
    for other in selected:
        if other.type == "ARMATURE":
            return other
    for modifier in armature_modifiers(item):
        return modifier.object
    return item.parent if item.parent is not None and item.parent.type == "ARMATURE" else None


def attach(
    item: bpy.types.Object, armature: bpy.types.Object, armature_modifier: bpy.types.ArmatureModifier | None = None
) -> bpy.types.NodesModifier:
    """Give an object the modifier of the live engine, in the place of its Armature modifier.

    Unless given, it is the armature's first, or else a new one.
    """
    modifier = cast(bpy.types.NodesModifier, item.modifiers.new(_NAME, "NODES"))
    if armature_modifier is None:
        armature_modifier = next((other for other in armature_modifiers(item) if other.object == armature), None)
    if armature_modifier is None:
        armature_modifier = new_armature_modifier(item, "Armature")
        armature_modifier.object = armature
    else:
        move(item, modifier, list(item.modifiers).index(armature_modifier))
    settings = settings_of(item)
    if armature_modifier.vertex_group:
        settings.amount_group = armature_modifier.vertex_group
        settings.amount_invert = armature_modifier.invert_vertex_group
        settings.amount_method = "NONE"
    _disable(armature_modifier)
    settings.bound = True
    modifier.node_group = live_group.get()
    node_trees.set_input(modifier, live_group.CARRIER, carriers.new(item.name))
    return modifier


def add_disabled(item: bpy.types.Object, armature: bpy.types.Object | None) -> None:
    """Give a bound object a disabled Armature modifier in place of one that the artist has removed."""
    added = new_armature_modifier(item, "Armature")
    added.object = armature
    _disable(added)


def _disable(modifier: bpy.types.ArmatureModifier) -> None:
    """Make an Armature modifier do nothing, and remember what it did."""
    kept = settings_of(owner_of(modifier)).armature_modifier
    kept.name = modifier.name
    for name in ("show_viewport", "show_render", "use_vertex_groups", "use_bone_envelopes"):
        setattr(kept, name, getattr(modifier, name))
        setattr(modifier, name, False)


def detach(item: bpy.types.Object) -> None:
    """Remove the modifier with its carrier, and restore the Armature modifier."""
    modifier = find(item)
    if modifier is not None:
        take_carriers(modifier)
        item.modifiers.remove(modifier)
    restore_armature_modifier(item)


def take_carriers(modifier: bpy.types.NodesModifier) -> None:
    """Empty the inputs of a modifier of the live engine, and delete the carriers that they had."""
    taken = []
    for name in (live_group.CARRIER, live_group.RENDER_CARRIER, live_group.POSE_PROBE):
        taken.append(node_trees.get_input(modifier, name))
        # Blender 5.2 leaks a user of an object that is still set when its modifier, or its input, is removed.
        node_trees.set_input(modifier, name, None)
    for carrier in taken[:2]:
        if carrier is not None and carriers.is_writable(carrier):
            carriers.remove(carrier)


def restore_armature_modifier(item: bpy.types.Object) -> None:
    """Bring the Armature modifier back as it was before the object was bound, which it then no longer is."""
    settings = settings_of(item)
    kept = settings.armature_modifier
    modifier = disabled_modifier.stepped_back(item)
    if modifier is not None:
        for name in ("show_viewport", "show_render", "use_vertex_groups", "use_bone_envelopes"):
            setattr(modifier, name, getattr(kept, name))
    kept.enabled_to_compare = False
    settings.bound = False


def clear(item: bpy.types.Object) -> None:
    """Remove everything of ours from an object whose mesh contains our deformation, as if it had never been bound."""
    modifier = disabled_modifier.stepped_back(item)
    if modifier is not None:
        item.modifiers.remove(modifier)
    for name in (live_group.INPUT_POSITION, live_group.INPUT_INDEX):
        attribute: bpy.types.Attribute | None = mesh_of(item).attributes.get(name)
        if attribute is not None:
            mesh_of(item).attributes.remove(attribute)
    item.property_unset("sbs")


def deforming_too(item: bpy.types.Object, modifier: bpy.types.Modifier) -> list[bpy.types.ArmatureModifier]:
    """The Armature modifiers that deform an object by the same armature in addition to our modifier.

    This is the disabled one if the artist has enabled it again.
    """

    def is_shown_too(other: bpy.types.Modifier) -> bool:
        in_view = modifier.show_viewport and other.show_viewport
        return in_view or (modifier.show_render and other.show_render)

    found = [other for other in armature_modifiers(item) if deforms(other) and is_shown_too(other)]
    return [other for other in found if other.object == settings_of(item).armature]


def move(item: bpy.types.Object, modifier: bpy.types.Modifier, index: int) -> None:
    """Move a modifier to a place in the stack."""
    if hasattr(item.modifiers, "move"):
        item.modifiers.move(list(item.modifiers).index(modifier), index)
    else:
        with bpy.context.temp_override(object=item, active_object=item):
            bpy.ops.object.modifier_move_to_index(modifier=modifier.name, index=index)
