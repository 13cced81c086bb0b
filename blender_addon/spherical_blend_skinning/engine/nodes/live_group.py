# SPDX-License-Identifier: GPL-3.0-or-later
"""The node group of the live engine: it moves vertices to the positions in a carrier mesh.

A carrier is a mesh with as many vertices as the input geometry, and the deformed positions as an attribute. While their
counts differ, as in Edit Mode after an extrusion, the geometry is passed on unchanged. Renders have a separate carrier
if modifiers before ours give them other vertices.

There are three groups, which store more or less of their input as attributes. With one group and switches in it,
Blender 3.4 would copy the mesh in every frame.
"""

from __future__ import annotations

import bpy

from ...settings.typed import has_key
from . import node_trees
from .formulas import Formulas

_NAME = "Spherical Blend Skinning"
_MARK = "sbs_live_group"
_KEEPS = "sbs_keeps_input"
_VERSION = 3

# Inputs of the group.
CARRIER = "Carrier"
POSE_PROBE = "Pose Probe"
RENDER_CARRIER = "Render Carrier"
USE_RENDER_CARRIER = "Use Render Carrier"

_INPUTS = (CARRIER, POSE_PROBE, RENDER_CARRIER, USE_RENDER_CARRIER)

# Attribute of the carrier.
POSITION = "sbs_position"
# How much of its input a group stores.
NOTHING, POSITIONS, POSITIONS_AND_INDEX = range(3)
# Attributes of the output geometry with its input, as far as that is kept.
INPUT_POSITION = "sbs_input_position"
INPUT_INDEX = "sbs_input_index"


def is_live(tree: bpy.types.NodeTree | None) -> bool:
    """Whether a node group is one of the live engine's, of this file or another."""
    return tree is not None and has_key(tree, _MARK)


def get(kept: int = NOTHING) -> bpy.types.NodeTree:
    """The group of this file that keeps so much of its input; made if it does not exist."""
    for tree in bpy.data.node_groups:
        if tree.library is None and tree.override_library is None and _keeps(tree, kept):
            return tree
    return _build(kept)


def choose(modifier: bpy.types.NodesModifier, kept: int) -> None:
    """Choose how much of its input a modifier of the live engine keeps."""
    if _keeps(node_trees.group_of(modifier), kept):
        return
    values = {name: node_trees.get_input(modifier, name) for name in _INPUTS}
    modifier.node_group = get(kept)
    for name, value in values.items():
        node_trees.set_input(modifier, name, value)


def _keeps(tree: bpy.types.NodeTree, kept: int) -> bool:
    return bool(tree.get(_MARK) == _VERSION and tree.get(_KEEPS) == kept)


def _build(kept: int) -> bpy.types.NodeTree:
    tree = node_trees.new_tree(_NAME + ("", ", Input Kept", ", Input and Index Kept")[kept])
    tree[_MARK] = _VERSION
    tree[_KEEPS] = kept
    node_trees.add_socket(tree, "Geometry", "NodeSocketGeometry")
    node_trees.add_socket(tree, CARRIER, "NodeSocketObject")
    node_trees.add_socket(tree, POSE_PROBE, "NodeSocketObject")
    node_trees.add_socket(tree, RENDER_CARRIER, "NodeSocketObject")
    node_trees.add_socket(tree, USE_RENDER_CARRIER, "NodeSocketBool")
    node_trees.add_socket(tree, "Geometry", "NodeSocketGeometry", "OUTPUT")
    node_trees.hide_inputs(tree)
    nodes = Formulas(tree)
    inputs = nodes.node("NodeGroupInput").outputs
    geometry = inputs["Geometry"]
    index = nodes.node("GeometryNodeInputIndex").outputs["Index"]

    # The input is kept only if the engine cannot read it from the mesh itself.
    passed = geometry
    if kept != NOTHING:
        position = nodes.node("GeometryNodeInputPosition").outputs["Position"]
        passed = nodes.store("VECTOR", passed, INPUT_POSITION, position)
    if kept == POSITIONS_AND_INDEX:
        passed = nodes.store("FLOAT", passed, INPUT_INDEX, index)

    shapes = [nodes.object_info(inputs[name]).outputs["Geometry"] for name in (CARRIER, RENDER_CARRIER)]
    in_view = nodes.node("GeometryNodeIsViewport").outputs[0]
    use_render_carrier = nodes.boolean("AND", inputs[USE_RENDER_CARRIER], nodes.boolean("NOT", in_view))
    carrier = nodes.switch("GEOMETRY", use_render_carrier, *shapes)
    deformed = nodes.sample("VECTOR", carrier, nodes.attribute("VECTOR", POSITION), index)
    # In half the time of the node Set Position.
    moved = nodes.store("VECTOR", passed, "position", deformed)
    has_all = nodes.compare("EQUAL", nodes.point_count(geometry), nodes.point_count(carrier))
    nodes.node("NodeGroupOutput", {"Geometry": nodes.switch("GEOMETRY", has_all, passed, moved)})
    nodes.lay_out()
    return tree
