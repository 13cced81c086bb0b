# SPDX-License-Identifier: GPL-3.0-or-later
"""The node group of the live engine: it puts the vertices where a carrier mesh says.

A carrier is a mesh of as many vertices as the geometry that comes in, with the deformed positions as an attribute.
While their counts differ, as in Edit Mode after an extrusion, the geometry passes as it is. Renders have a carrier of
their own where modifiers before give them other vertices.
"""

from __future__ import annotations

import bpy

from . import node_trees
from .node_trees import socket

__all__ = [
    "CARRIER",
    "INPUT_INDEX",
    "INPUT_POSITION",
    "KEEP_INPUT",
    "POSE_PROBE",
    "POSITION",
    "RENDER_CARRIER",
    "USE_RENDER_CARRIER",
    "get",
    "is_live",
]

_NAME = "Spherical Blend Skinning"
_MARK = "sbs_live_group"
_VERSION = 1

# Inputs of the group.
CARRIER = "Carrier"
POSE_PROBE = "Pose Probe"
KEEP_INPUT = "Keep Input"
RENDER_CARRIER = "Render Carrier"
USE_RENDER_CARRIER = "Use Render Carrier"

# Attribute of the carrier.
POSITION = "sbs_position"
# Attributes of the geometry that comes out, if its input is kept: what came in.
INPUT_POSITION = "sbs_input_position"
INPUT_INDEX = "sbs_input_index"


def is_live(tree: bpy.types.NodeTree | None) -> bool:
    """Whether a node group is one of the live engine's, of this file or another."""
    return tree is not None and _MARK in tree


def get() -> bpy.types.NodeTree:
    """The group of this file, made if there is none."""
    for tree in bpy.data.node_groups:
        if tree.library is None and tree.override_library is None and tree.get(_MARK) == _VERSION:
            return tree
    return _build()


def _build() -> bpy.types.NodeTree:
    tree = node_trees.new_tree(_NAME)
    tree[_MARK] = _VERSION
    node_trees.add_socket(tree, "Geometry", "NodeSocketGeometry")
    node_trees.add_socket(tree, CARRIER, "NodeSocketObject")
    node_trees.add_socket(tree, POSE_PROBE, "NodeSocketObject")
    node_trees.add_socket(tree, KEEP_INPUT, "NodeSocketBool")
    node_trees.add_socket(tree, RENDER_CARRIER, "NodeSocketObject")
    node_trees.add_socket(tree, USE_RENDER_CARRIER, "NodeSocketBool")
    node_trees.add_socket(tree, "Geometry", "NodeSocketGeometry", "OUTPUT")
    node_trees.hide_inputs(tree)
    link = tree.links.new

    def node(kind: str, column: int, row: int = 0, **values: object) -> bpy.types.Node:
        result = tree.nodes.new(kind)
        result.location = (column * 220.0, row * -180.0)
        for name, value in values.items():
            setattr(result, name, value)
        return result

    def store(name: str, data_type: str, value: bpy.types.NodeSocket, column: int) -> bpy.types.Node:
        result = node("GeometryNodeStoreNamedAttribute", column, 2, data_type=data_type, domain="POINT")
        result.inputs["Name"].default_value = name
        link(value, socket(result.inputs, "Value"))
        return result

    def switch(
        condition: bpy.types.NodeSocket, no: bpy.types.NodeSocket, yes: bpy.types.NodeSocket, column: int, row: int = 0
    ) -> bpy.types.NodeSocket:
        result = node("GeometryNodeSwitch", column, row, input_type="GEOMETRY")
        link(condition, socket(result.inputs, "Switch"))
        link(no, socket(result.inputs, "False"))
        link(yes, socket(result.inputs, "True"))
        return socket(result.outputs, "Output")

    group_input = node("NodeGroupInput", 0)
    geometry = group_input.outputs["Geometry"]
    position = node("GeometryNodeInputPosition", 0, 3).outputs["Position"]
    index = node("GeometryNodeInputIndex", 0, 4).outputs["Index"]

    # What came in is kept only where the engine cannot read it off the mesh itself.
    keep_position = store(INPUT_POSITION, "FLOAT_VECTOR", position, 1)
    keep_index = store(INPUT_INDEX, "FLOAT", index, 2)
    link(geometry, keep_position.inputs["Geometry"])
    link(keep_position.outputs["Geometry"], keep_index.inputs["Geometry"])
    kept = switch(group_input.outputs[KEEP_INPUT], geometry, keep_index.outputs["Geometry"], 3)

    shapes = []
    for name, row in ((CARRIER, 5), (RENDER_CARRIER, 6)):
        info = node("GeometryNodeObjectInfo", 0, row, transform_space="ORIGINAL")
        link(group_input.outputs[name], info.inputs["Object"])
        shapes.append(info.outputs["Geometry"])
    in_view = node("GeometryNodeIsViewport", 0, 7).outputs[0]
    in_render = node("FunctionNodeBooleanMath", 1, 6, operation="NOT")
    link(in_view, in_render.inputs[0])
    use_render = node("FunctionNodeBooleanMath", 1, 5, operation="AND")
    link(group_input.outputs[USE_RENDER_CARRIER], use_render.inputs[0])
    link(in_render.outputs[0], use_render.inputs[1])
    carrier = switch(use_render.outputs[0], *shapes, column=2, row=5)
    attribute = node("GeometryNodeInputNamedAttribute", 1, 8, data_type="FLOAT_VECTOR")
    attribute.inputs["Name"].default_value = POSITION
    sample = node("GeometryNodeSampleIndex", 3, 5, data_type="FLOAT_VECTOR", domain="POINT")
    link(carrier, sample.inputs["Geometry"])
    link(socket(attribute.outputs, "Attribute"), socket(sample.inputs, "Value"))
    link(index, sample.inputs["Index"])
    set_position = node("GeometryNodeSetPosition", 4)
    link(kept, set_position.inputs["Geometry"])
    link(socket(sample.outputs, "Value"), set_position.inputs["Position"])

    counts = [node("GeometryNodeAttributeDomainSize", 3, row, component="MESH") for row in (7, 8)]
    link(geometry, counts[0].inputs["Geometry"])
    link(carrier, counts[1].inputs["Geometry"])
    equal = node("FunctionNodeCompare", 4, 7, data_type="INT", operation="EQUAL")
    link(counts[0].outputs["Point Count"], socket(equal.inputs, "A"))
    link(counts[1].outputs["Point Count"], socket(equal.inputs, "B"))
    result = switch(equal.outputs["Result"], kept, set_position.outputs["Geometry"], 5)
    link(result, node("NodeGroupOutput", 6).inputs["Geometry"])
    return tree
