# SPDX-License-Identifier: GPL-3.0-or-later
"""The portable engine: the modifier of a bound object uses only nodes, so that it works without the add-on.

It uses the bones, weights and vertices of the moment; after later changes, use Make Portable again.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import library
from ...core.binding import Binding
from ...core.joint_tables import joint_tables
from ...core.twist import Limb
from ...settings import disabled_modifier
from ...settings.properties import BONE_AMOUNT, settings_of
from ...settings.typed import armature_data
from .. import curves
from ..live import live, registry, states
from ..nodes import live_group, node_trees, portable_group, portable_tables
from ..nodes.portable_joints import ARMATURE
from ..stack import carriers, stack, subject

#: The first version with Bone Info and Matrix SVD.
MINIMUM_VERSION = (5, 1, 0)

_OTHER_METHODS = {"none": "NONE", "rigid": "RIGID", "linear": "LINEAR"}


class NotPortable(ValueError):  # noqa: N818 - what it says, and no mistake of anybody
    """Nodes cannot deform an object as the live engine does, but a bake can.

    It says why, and how to make it portable, with another result.
    """

    def __init__(self, item: bpy.types.Object, reason: str, instead: str) -> None:
        super().__init__(
            f"{item.name}: {reason}. If it is to be portable all the same, {instead}, and see what that gives"
        )
        self.reason = reason


@dataclass(frozen=True)
class Counts:
    """Counts of the parts of a portable object."""

    vertices: int
    bones: int
    joint_sets: int
    nodes: int


def find(item: bpy.types.Object) -> bpy.types.NodesModifier | None:
    """The modifier of the portable engine on an object."""
    for modifier in item.modifiers:
        if isinstance(modifier, bpy.types.NodesModifier) and portable_group.is_portable(modifier.node_group):
            return modifier
    return None


def armature_of(item: bpy.types.Object) -> bpy.types.Object | None:
    """The armature of a portable object."""
    modifier = find(item)
    return None if modifier is None else node_trees.get_input(modifier, ARMATURE)


def make_portable(item: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Counts:
    """Replace the live engine by nodes for an object, whose present input is bound.

    A ValueError tells that it cannot be bound or has other vertices in renders, `NotPortable` that nodes cannot do it,
    as bendy bones, muscles and other methods. The object is then unchanged.
    """
    if bpy.app.version < MINIMUM_VERSION:
        raise ValueError("Blender's nodes can read bones from version 5.1 on: bake in this one")
    modifier = stack.find(item)
    if modifier is None:
        raise ValueError(f"{item.name} is not bound")
    states.forget(item)
    state = live.update(item, depsgraph, wait=True)
    if state is None:
        raise ValueError(f"{item.name} is not in the view layer")
    binding = _checked(item, modifier, state)
    centers = _centers(item, modifier, binding, state.centers.are_possible, depsgraph)
    armature = settings_of(item).armature
    tables = joint_tables(binding.skin_with_frames(), binding.surface.positions)
    bones = [binding.rig.names[bone] for bone in binding.bones]
    limbs = [_numbered(limb, binding) for limb in binding.limbs]
    frames = binding.twist.frames if limbs else 0
    amount = state.amounts.amount
    other_method = _OTHER_METHODS[amount.method] if amount is not None else ""
    tree = portable_group.build(
        item.name, bones, portable_tables.block_count(tables), centers is not None, other_method, limbs, frames
    )
    amounts = None if amount is None else amount.weights
    if centers is None:
        joints = portable_tables.new_joint_sets(item.name, tables)
        weights = portable_tables.new_weights(item.name, tables, amounts)
    else:
        vertices, influences = tables.distinct_influences(centers)
        joint_count = len(bones) + frames * len(limbs)
        joints = portable_tables.new_joints(item.name, tables, joint_count, centers, vertices)
        weights = portable_tables.new_influences(item.name, influences, amounts)

    stack.take_carriers(modifier)
    modifier.node_group = tree
    node_trees.hide_inputs(tree)
    for name, value in ((ARMATURE, armature), (portable_group.WEIGHTS, weights), (portable_group.JOINT_SETS, joints)):
        node_trees.set_input(modifier, name, value)
    _follow_names(item)
    settings_of(item).bound = False
    states.forget(item)
    registry.forget()
    return Counts(binding.skin.vertex_count, len(bones), len(tables.set_sizes), portable_group.node_count(tree))


def follow_names() -> None:
    """Have the nodes of all portable objects know renamed bones; those of a library keep the names that they have."""
    # Most files have no such nodes, and many have more objects than groups.
    if any(map(portable_group.is_portable, bpy.data.node_groups)):
        for item in bpy.data.objects:
            if item.type == "MESH":
                _follow_names(item)


def _follow_names(item: bpy.types.Object) -> None:
    modifier, armature = find(item), armature_of(item)
    if modifier is not None and armature is not None and armature.type == "ARMATURE":
        tree = node_trees.group_of(modifier)
        if tree.library is None:
            portable_group.follow_names(tree, armature_data(armature))


def _numbered(limb: Limb, binding: Binding) -> Limb:
    """A limb by the numbers of its bones among those of the binding."""
    bone, parent, child = np.searchsorted(binding.bones, (limb.bone, limb.parent, limb.child)).tolist()
    return replace(limb, bone=bone, parent=parent if limb.parent >= 0 else -1, child=child if limb.child >= 0 else -1)


def _checked(item: bpy.types.Object, modifier: bpy.types.NodesModifier, state: states.State) -> Binding:
    """The binding of an object. Raises a ValueError if there is none, NotPortable if nodes cannot do what it does."""
    binding = state.binding
    if binding is None:
        raise ValueError(f"{item.name}: {state.problem}")
    if subject.renders_differ(item, modifier):
        raise ValueError(f"{item.name}: the modifiers before may give other vertices in renders than in the viewport")
    if binding.skin.unweighted_vertex_count == binding.skin.vertex_count:
        raise ValueError(f"{item.name}: no vertex has weights for a bone that deforms")
    settings = settings_of(item)
    if settings.method != "SPHERICAL":
        raise NotPortable(item, f"nodes know no {_choice_name(item, 'method')}", "choose Spherical Blend")
    if settings.rotation != "QLERP":
        raise NotPortable(item, "nodes know linear rotations alone", "set Rotation to Linear")
    if settings.center == "WEIGHTED":
        raise NotPortable(item, "nodes know no pivots by weights", "set Pivot to Best")
    amount = state.amounts.amount
    if amount is not None and amount.method not in _OTHER_METHODS:
        name = _choice_name(item, "amount_method")
        raise NotPortable(item, f"nodes know no {name} to blend with", "set Blend With to Linear")
    armature = settings.armature
    if curves.is_animated(item, "sbs.amount") or (armature is not None and curves.is_animated(armature, BONE_AMOUNT)):
        raise NotPortable(item, "nodes know the strength of one moment, and this one is animated", "delete its keys")
    if binding.limbs and settings.twist_follow:
        raise NotPortable(item, "nodes know no frame before, from which twists continue", "untick Twist Past 180°")
    if state.muscles.cover is not None and state.muscles.cover.shapes:
        raise NotPortable(item, "nodes know no muscles", "untick Muscles Move This Mesh")
    if state.flesh.relaxation is not None:
        raise NotPortable(item, "nodes know no flesh", "untick Flesh")
    if binding.bends:
        bone = next(binding.rig.names[bone] for bone in binding.bones if binding.rig.segments[bone] > 1)
        raise NotPortable(item, f"nodes cannot read the segments of the bendy bone {bone}", "set its Segments to 1")
    return binding


def _choice_name(item: bpy.types.Object, setting: str) -> str:
    """The name for artists of an object's choice for a setting."""
    settings = settings_of(item)
    choices: Any = settings.bl_rna.properties[setting]
    name: str = choices.enum_items[getattr(settings, setting)].name
    return name


def _centers(
    item: bpy.types.Object,
    modifier: bpy.types.NodesModifier,
    binding: Binding,
    are_found: bool,
    depsgraph: bpy.types.Depsgraph,
) -> NDArray[np.float32] | None:
    """Rotation centers (V, 3) in the space of the mesh, or None if nodes find those of joint sets.

    With `are_found`, the binding has optimized ones if they are chosen. The live engine has none if earlier modifiers
    change faces; here there is time to read the faces.
    """
    if settings_of(item).center != "OPTIMIZED":
        return None
    if are_found:
        return binding.centers
    triangles = subject.faces_before(item, modifier, depsgraph)
    if not len(triangles):
        raise ValueError(
            f"{item.name} has no faces, between which optimized centers are found: set Center to Bones, and make it "
            "portable then"
        )
    with warnings.catch_warnings():
        # It is fine that vertices without a center are blended linearly.
        warnings.simplefilter("ignore", library.load().CenterWarning)
        return subject.optimized_centers(binding, triangles)


def make_live(item: bpy.types.Object) -> None:
    """Give a portable object back to the live engine; a ValueError says that it is not portable."""
    modifier = find(item)
    if modifier is None:
        raise ValueError(f"{item.name} is not portable")
    armature = armature_of(item)
    tree = node_trees.group_of(modifier)
    _take_tables(modifier)
    modifier.node_group = live_group.get()
    portable_group.remove(tree)
    node_trees.set_input(modifier, live_group.CARRIER, carriers.new(item.name))
    settings_of(item).bound = True
    if disabled_modifier.find(item) is None:
        stack.add_disabled(item, armature)
    elif armature is not None:
        settings_of(item).armature = armature
    registry.adjust(item, modifier)
    registry.forget()
    item.update_tag()


def detach(item: bpy.types.Object) -> None:
    """Remove the modifier with all that belongs to it, and restore the Armature modifier."""
    modifier = find(item)
    if modifier is not None:
        armature = armature_of(item)
        if armature is not None and disabled_modifier.find(item) is None:
            stack.add_disabled(item, armature)
        tree = node_trees.group_of(modifier)
        _take_tables(modifier)
        item.modifiers.remove(modifier)
        portable_group.remove(tree)
    stack.restore_armature_modifier(item)


def problems(item: bpy.types.Object) -> list[str]:
    """Why a portable object is not deformed as it should be, for the artist; the modifier shows the same."""
    modifier = find(item)
    if modifier is None:
        return [f"{item.name} is not portable"]
    armature = armature_of(item)
    found = []
    if armature is None or armature.type != "ARMATURE":
        found.append("The armature is missing")
    else:
        names = portable_group.bones_of(node_trees.group_of(modifier))
        missing = [name for name in names if name not in armature_data(armature).bones]
        if missing:
            found.append(f"The armature has no bone {', '.join(missing)}")
    for name in (portable_group.WEIGHTS, portable_group.JOINT_SETS):
        if not portable_tables.is_table(node_trees.get_input(modifier, name)):
            found.append("The hidden meshes with sets of bones and weights are missing")
            break
    return found


def _take_tables(modifier: bpy.types.NodesModifier) -> None:
    """Empty the inputs of the portable engine's group, and delete the tables that nothing else uses."""
    taken = []
    for name in (ARMATURE, portable_group.WEIGHTS, portable_group.JOINT_SETS):
        taken.append(node_trees.get_input(modifier, name))
        node_trees.set_input(modifier, name, None)
    for table in taken[1:]:
        if portable_tables.is_table(table) and table.library is None:
            portable_tables.remove(table)
