# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the portable engine that read bones, with the joints along limbs whose twists are spread."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..core.twist import Limb
from . import node_trees
from .formulas import Formulas
from .portable_joints import ARMATURE
from .portable_twist import frame_matrices

# The length where no bone is needed; missing bones have 0.
_NO_BONE = -1.0


def bone_tree(name: str, bones: Sequence[str], limbs: Sequence[Limb] = (), frames: int = 0) -> bpy.types.NodeTree:
    """The inner group: from the number of a joint to its skinning matrix in armature space, and rest lengths.

    Parameters
    ----------
    name : str
        Of the character.
    bones : sequence of str
        The first joints.
    limbs : sequence of Limb
        Those along which twists are spread, by the numbers of bones in `bones`.
    frames : int
        How many joints follow for each limb.
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
            "GeometryNodeBoneInfo",
            {"Armature": inputs[ARMATURE], "Bone Name": bone},
            transform_space="ORIGINAL",
        ).outputs
        for bone in bones
    ]
    joint = inputs["Joint"]
    # Number 0 is no bone and stays at rest.
    matrices = [nodes.multiply(info["Pose"], nodes.invert(info["Rest Pose"])) for info in infos]
    lengths = [info["Rest Length"] for info in infos]
    limb_matrices = frame_matrices(name, nodes, matrices, limbs, frames)
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
