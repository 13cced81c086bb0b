# SPDX-License-Identifier: GPL-3.0-or-later
"""The node group of the portable engine: all of spherical blend skinning in nodes, for Blender 5.1 and later.

It reads the bones from the armature, and joints and weights from two meshes, see `portable_tables`. If these give each
vertex a center, `portable_given` has the formula. Otherwise it computes, for a vertex v (Kavan and Zara 2005, eq. 9)
with the heaviest joint p and the center c = c0 + z of its joint set, in the space of the armature or an equivalent one,

    v' = C_p v + (Q - I) y + sum w_k (c_k - c_p),   y = C_p v - c_p,   Q = QLERP of q_k q_p*

with c_k = C_k c0 + R_k z, the place where joint k takes the center: C_k c if joints are rigid. If they are not,
[sum w_k R_p (S_k - S_p)] (v - c0) is added to v' and y.

Nodes have single precision, so differences of matrices are taken before anything is multiplied: then only the
differences between joints matter, even if c is far away.

On a small mesh each operation on a field takes some microseconds, however few points it has, and one on single values a
tenth of that. So operations on many joints are done at once, on the points of one geometry.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import bpy

from ...core.twist import Limb
from ...settings.typed import default_of, has_key, set_default
from . import node_trees
from .formulas import Formulas, Socket
from .portable_bones import bone_tree
from .portable_given import deform_about_given
from .portable_joints import ARMATURE, Slots, read_joints, work_space
from .portable_sets import deform, relative_motions, solve_centers

_MARK = "sbs_portable_group"
# The names of all bones of the armature, in its order.
_ALL_BONES = "sbs_all_bones"

# Inputs of the group, beside the armature.
WEIGHTS = "Weights"
JOINT_SETS = "Joint Sets"

# Missing bones have the length 0; others are never shorter than this.
_LEAST_LENGTH = 1e-9


def is_portable(tree: bpy.types.NodeTree | None) -> bool:
    """Whether a node group is one of the portable engine's, of this file or another."""
    return tree is not None and has_key(tree, _MARK)


def _with_inner(tree: bpy.types.NodeTree) -> Iterator[bpy.types.NodeTree]:
    """A group, then those in it, each once for every node that uses it."""
    yield tree
    for node in tree.nodes:
        if isinstance(node, bpy.types.GeometryNodeGroup) and node.node_tree is not None:
            yield from _with_inner(node.node_tree)


def bones_of(tree: bpy.types.NodeTree) -> list[str]:
    """The names of the bones that a group reads."""
    return [default_of(name) for name in _bone_names(tree)]


def follow_names(tree: bpy.types.NodeTree, armature: bpy.types.Armature) -> None:
    """Have a group read bones by their present names, if those of its armature have only been renamed.

    They keep their order then. The names are kept with the group, so that undo finds them together.
    """
    known: list[str] = json.loads(tree.get(_ALL_BONES, "[]"))
    names = list(armature.bones.keys())
    if known == names:
        return
    tree[_ALL_BONES] = json.dumps(names)
    renamed = {old: new for old, new in zip(known, names, strict=False) if old != new}
    if len(known) == len(names) and not renamed.keys() & set(names):
        for name in _bone_names(tree):
            set_default(name, renamed.get(default_of(name), default_of(name)))


def _bone_names(tree: bpy.types.NodeTree) -> list[bpy.types.NodeSocket]:
    """The inputs of a group's nodes that name bones."""
    return [
        node.inputs["Bone Name"]
        for group in _with_inner(tree)
        for node in group.nodes
        if node.bl_idname == "GeometryNodeBoneInfo"
    ]


def node_count(tree: bpy.types.NodeTree) -> int:
    """How many nodes a group has, with those in its inner groups."""
    return sum(len(group.nodes) for group in _with_inner(tree))


def remove(tree: bpy.types.NodeTree) -> None:
    """Delete a group without users, and those in it that nothing else uses."""
    # In groups of earlier versions several nodes use the same one.
    for group in dict.fromkeys(_with_inner(tree)):
        if group.users == 0:
            bpy.data.node_groups.remove(group)


def build(
    name: str,
    bones: Sequence[str],
    block_count: int,
    has_centers: bool,
    other_method: str = "",
    limbs: Sequence[Limb] = (),
    frames: int = 0,
) -> bpy.types.NodeTree:
    """Make the group for a character of this name.

    Bones are by their number in the table, from 1; joints of limbs, as of `portable_bones.bone_tree`, have numbers
    after them. Each vertex has `block_count` vectors of three weights. Without given centers, those of joint sets are
    found in each pose. The other method, `NONE`, `RIGID` or `LINEAR`, is for amounts less than 1; empty without
    amounts.
    """
    tree = _new_tree(f"SBS Portable {name}")
    tree[_MARK] = True
    nodes = Formulas(tree)
    # Blender logs the values of the sockets of a modifier's own group, but within inner groups only if they are shown.
    inputs = {socket.name: socket for socket in nodes.node("NodeGroupInput").outputs if socket.name}
    bone_group = bone_tree(name, bones, limbs, frames)
    deformation = _deformation(name, bones, bone_group, block_count, has_centers, other_method)
    inner = nodes.node("GeometryNodeGroup", inputs, node_tree=deformation)
    nodes.node("NodeGroupOutput", {"Geometry": inner.outputs["Geometry"]})
    nodes.lay_out()
    return tree


def _new_tree(name: str) -> bpy.types.NodeTree:
    tree = node_trees.new_tree(name)
    node_trees.add_socket(tree, "Geometry", "NodeSocketGeometry")
    for input_name in (ARMATURE, WEIGHTS, JOINT_SETS):
        node_trees.add_socket(tree, input_name, "NodeSocketObject")
    node_trees.add_socket(tree, "Geometry", "NodeSocketGeometry", "OUTPUT")
    return tree


def _deformation(
    name: str, bones: Sequence[str], reading: bpy.types.NodeTree, block_count: int, has_centers: bool, other_method: str
) -> bpy.types.NodeTree:
    """The inner group, which does all the work."""
    tree = _new_tree(f"SBS Deformation {name}")
    nodes = Formulas(tree)
    inputs = nodes.node("NodeGroupInput").outputs
    geometry = inputs["Geometry"]

    nodes.begin("What is there")
    weights = nodes.object_info(inputs[WEIGHTS]).outputs["Geometry"]
    table = nodes.object_info(inputs[JOINT_SETS]).outputs["Geometry"]
    from_rig = nodes.object_info(inputs[ARMATURE], "RELATIVE").outputs["Transform"]
    space = work_space(nodes, from_rig)

    def divide(points: Socket, kind: str) -> tuple[Socket, Socket]:
        """Separate the points of a kind from the others."""
        choice = {"Geometry": points, "Selection": nodes.attribute("BOOLEAN", kind)}
        parts = nodes.node("GeometryNodeSeparateGeometry", choice, domain="POINT").outputs
        return parts["Selection"], parts["Inverted"]

    influence_points, others = divide(table, "is_influence") if has_centers else (None, table)
    pair_points, slot_points = divide(others, "is_pair")
    slots = read_joints(nodes, slot_points, inputs[ARMATURE], reading, space)
    if influence_points is not None:
        position = deform_about_given(
            nodes, pair_points, influence_points, slots, weights, space, block_count, other_method
        )
    else:
        slots, center = solve_centers(nodes, slots, space)
        pairs = relative_motions(nodes, pair_points, slots, center, space, other_method == "LINEAR")
        position = deform(nodes, pairs, weights, space, slots.is_skewed, block_count, other_method)

    nodes.begin("Result")
    deformed = nodes.node("GeometryNodeSetPosition", {"Geometry": geometry, "Position": position})
    problem = _warn(nodes, geometry, weights, table, slots, bones)
    result = nodes.switch("GEOMETRY", problem, deformed.outputs["Geometry"], geometry)
    nodes.node("NodeGroupOutput", {"Geometry": result})
    nodes.lay_out()
    return tree


def _warn(
    nodes: Formulas, geometry: Socket, weights: Socket, table: Socket, slots: Slots, bones: Sequence[str]
) -> Socket:
    """Whether something is missing. The modifier then shows a warning, and the mesh is passed on unchanged."""
    nodes.begin("Warnings")

    def warn(condition: Socket, message: Socket | str) -> Socket:
        inputs = {"Show": condition, "Message": message}
        return nodes.node("GeometryNodeWarning", inputs, warning_type="WARNING").outputs["Show"]

    weight_count, slot_count = nodes.point_count(weights), nodes.point_count(table)
    no_table = nodes.any_of([nodes.compare("EQUAL", count, 0) for count in (weight_count, slot_count)])
    other_vertices = nodes.compare("NOT_EQUAL", nodes.point_count(geometry), weight_count)
    other_vertices = nodes.compare("GREATER_THAN", other_vertices, no_table)

    # Everything after the switches is computed only if a bone is missing.
    is_missing = nodes.compare("LESS_THAN", slots.shortest, _LEAST_LENGTH, "FLOAT")
    no_armature = nodes.compare("LESS_THAN", nodes.maximum(slots.geometry, slots.length), _LEAST_LENGTH, "FLOAT")
    # The last missing bone.
    is_missing_slot = nodes.math("LESS_THAN", nodes.math("ABSOLUTE", slots.length), _LEAST_LENGTH)
    joint = nodes.maximum(slots.geometry, nodes.math("MULTIPLY", is_missing_slot, nodes.attribute("INT", "joint")))
    number = nodes.node("FunctionNodeFloatToInt", {"Float": joint}, rounding_mode="ROUND").outputs[0]
    messages = ["", *(f'The armature has no bone "{bone}": choose Make Portable again' for bone in bones)]
    message = nodes.switch(
        "STRING", no_armature, nodes.index_switch("STRING", number, messages), "The armature is missing"
    )
    return nodes.any_of(
        [
            warn(no_table, "The hidden meshes with sets of bones and weights are missing: choose Make Portable again"),
            warn(other_vertices, "The mesh has other vertices than when it was made portable"),
            warn(is_missing, nodes.switch("STRING", is_missing, "", message)),
        ]
    )
