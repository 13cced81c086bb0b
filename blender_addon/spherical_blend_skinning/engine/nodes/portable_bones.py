# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the portable engine that read bones, with more joints along limbs whose twists are spread (``sbs/twist.h``).

A limb's joint at the share t of its length moves as C_p T(-a (1 - t) + b t): a is the twist of joint p relative to its
parent, b that of its child relative to it, T turns about the limb. Single values are used for it, which Blender
computes in a tenth of the time that a field takes. A twist is at most half a turn: nodes know no frame before.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...core.twist import Limb
from . import node_trees
from .formulas import Formulas, Socket
from .portable_joints import ARMATURE, polar_rotation

# The length where no bone is needed; missing bones have 0.
_NO_BONE = -1.0


def bone_tree(name: str, bones: Sequence[str], limbs: Sequence[Limb] = (), frames: int = 0) -> bpy.types.NodeTree:
    """The inner group: from the number of a joint to its skinning matrix in armature space, and rest lengths.

    The first joints are those of bones; then follow so many frames for each limb along which twists are spread, by the
    numbers of bones.
    """
    tree = node_trees.new_tree(f"SBS Bones {name}")
    node_trees.add_socket(tree, ARMATURE, "NodeSocketObject")
    node_trees.add_socket(tree, "Joint", "NodeSocketInt")
    node_trees.add_socket(tree, "Matrix", "NodeSocketMatrix", "OUTPUT")
    node_trees.add_socket(tree, "Length", "NodeSocketFloat", "OUTPUT")
    node_trees.add_socket(tree, "Shortest", "NodeSocketFloat", "OUTPUT")
    nodes = Formulas(tree)
    inputs = nodes.node("NodeGroupInput").outputs
    infos = [
        nodes.node(
            "GeometryNodeBoneInfo", {"Armature": inputs[ARMATURE], "Bone Name": bone}, transform_space="ORIGINAL"
        ).outputs
        for bone in bones
    ]
    joint = inputs["Joint"]
    # Number 0 is no bone and stays at rest.
    matrices = [nodes.multiply(info["Pose"], nodes.invert(info["Rest Pose"])) for info in infos]
    lengths = [info["Rest Length"] for info in infos]
    limb_matrices = _frame_matrices(name, nodes, matrices, limbs, frames)
    # Single values are used, because an operation on a field takes ten times as long.
    shortest = lengths[0]
    for length in lengths[1:]:
        shortest = nodes.math("MINIMUM", shortest, length)
    results = {
        "Matrix": nodes.index_switch("MATRIX", joint, [None, *matrices, *limb_matrices]),
        "Length": nodes.index_switch("FLOAT", joint, [_NO_BONE, *lengths, *[_NO_BONE] * len(limb_matrices)]),
        "Shortest": shortest,
    }
    nodes.node("NodeGroupOutput", results)
    nodes.lay_out()
    return tree


def _frame_matrices(
    name: str, nodes: Formulas, matrices: Sequence[Socket], limbs: Sequence[Limb], count: int
) -> list[Socket]:
    """The skinning matrices of so many joints along each limb, limb after limb, by those of bones in armature space.

    Limbs are by the numbers of bones in `matrices`; the name is that of the character.
    """
    if not limbs:
        return []
    angle_tree, joint_tree = _angle_tree(name), _joint_tree(name)

    def angle(joint: int, reference: int, limb: Limb) -> Socket:
        inputs = {"From": matrices[reference], "To": matrices[joint], "Axis": tuple(limb.axis)}
        return nodes.node("GeometryNodeGroup", inputs, node_tree=angle_tree).outputs["Angle"]

    found = []
    for limb in limbs:
        own = angle(limb.bone, limb.parent, limb) if limb.parent >= 0 else 0.0
        ahead = angle(limb.child, limb.bone, limb) if limb.child >= 0 else 0.0
        for number in range(count):
            share = number / (count - 1)
            turn = nodes.math("MULTIPLY_ADD", ahead, share, nodes.math("MULTIPLY", own, share - 1.0))
            inputs = {"Matrix": matrices[limb.bone], "Head": tuple(limb.head), "Axis": tuple(limb.axis), "Angle": turn}
            found.append(nodes.node("GeometryNodeGroup", inputs, node_tree=joint_tree).outputs["Matrix"])
    return found


def _angle_tree(name: str) -> bpy.types.NodeTree:
    """The inner group for the twist of a joint relative to another, about an axis at bind, at most half a turn."""
    tree = node_trees.new_tree(f"SBS Twist {name}")
    for input_name, kind in (("From", "Matrix"), ("To", "Matrix"), ("Axis", "Vector")):
        node_trees.add_socket(tree, input_name, f"NodeSocket{kind}")
    node_trees.add_socket(tree, "Angle", "NodeSocketFloat", "OUTPUT")
    nodes = Formulas(tree)
    inputs = nodes.node("NodeGroupInput").outputs
    rotations = [polar_rotation(nodes, inputs[end]) for end in ("From", "To")]
    relative = nodes.rotation(nodes.multiply(nodes.transpose(rotations[0]), rotations[1]))
    imaginary, real = nodes.quaternion(relative)
    half = nodes.math("ARCTAN2", nodes.dot(imaginary, inputs["Axis"]), real)
    nodes.node("NodeGroupOutput", {"Angle": nodes.math("MULTIPLY", half, 2.0)})
    nodes.lay_out()
    return tree


def _joint_tree(name: str) -> bpy.types.NodeTree:
    """The inner group for a joint after a turn about the line through a head along an axis, both at bind."""
    tree = node_trees.new_tree(f"SBS Twisted Joint {name}")
    for input_name, kind in (("Matrix", "Matrix"), ("Head", "Vector"), ("Axis", "Vector"), ("Angle", "Float")):
        node_trees.add_socket(tree, input_name, f"NodeSocket{kind}")
    node_trees.add_socket(tree, "Matrix", "NodeSocketMatrix", "OUTPUT")
    nodes = Formulas(tree)
    inputs = nodes.node("NodeGroupInput").outputs
    turn = nodes.rotation_about(inputs["Axis"], inputs["Angle"])
    shift = nodes.subtract(inputs["Head"], nodes.rotate(inputs["Head"], turn))
    nodes.node("NodeGroupOutput", {"Matrix": nodes.multiply(inputs["Matrix"], nodes.transform(shift, turn))})
    nodes.lay_out()
    return tree
