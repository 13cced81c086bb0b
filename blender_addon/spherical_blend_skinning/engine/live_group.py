# SPDX-License-Identifier: GPL-3.0-or-later
"""The node group of the live engine: it moves vertices to the positions in a carrier mesh.

A carrier is a mesh with as many vertices as the input geometry, and the deformed positions as an attribute. While their
counts differ, as in Edit Mode after an extrusion, the geometry is passed on unchanged. Renders have a separate carrier
if modifiers before ours give them other vertices.

There are two groups: one that also keeps its input, as attributes, and one that does not. A switch inside of one group
would cost Blender 3.4 a copy of the mesh in every frame.
"""

from __future__ import annotations

import bpy

from ..settings.typed import has_key, set_default
from . import node_trees
from .node_trees import socket

__all__ = [
    "CARRIER",
    "INPUT_INDEX",
    "INPUT_POSITION",
    "POSE_PROBE",
    "POSITION",
    "RENDER_CARRIER",
    "USE_RENDER_CARRIER",
    "choose",
    "get",
    "is_live",
]

_NAME = "Spherical Blend Skinning"
_MARK = "sbs_live_group"
_KEEPS = "sbs_keeps_input"
_VERSION = 2

# Inputs of the group.
CARRIER = "Carrier"
POSE_PROBE = "Pose Probe"
RENDER_CARRIER = "Render Carrier"
USE_RENDER_CARRIER = "Use Render Carrier"

_INPUTS = (CARRIER, POSE_PROBE, RENDER_CARRIER, USE_RENDER_CARRIER)

# Attribute of the carrier.
POSITION = "sbs_position"
# Attributes of the output geometry with its input, if that is kept.
INPUT_POSITION = "sbs_input_position"
INPUT_INDEX = "sbs_input_index"


def is_live(tree: bpy.types.NodeTree | None) -> bool:
    """Whether a node group is one of the live engine's, of this file or another."""
    return tree is not None and has_key(tree, _MARK)


def get(keeps_input: bool = False) -> bpy.types.NodeTree:
    """The group of this file that keeps its input, or the one that does not; made if it does not exist."""
    for tree in bpy.data.node_groups:
        is_local = tree.library is None and tree.override_library is None
        if is_local and tree.get(_MARK) == _VERSION and _keeps(tree) == keeps_input:
            return tree
    return _build(keeps_input)


def choose(modifier: bpy.types.NodesModifier, keeps_input: bool) -> None:
    """Choose whether a modifier of the live engine keeps its input."""
    if _keeps(node_trees.group_of(modifier)) == keeps_input:
        return
    values = {name: node_trees.get_input(modifier, name) for name in _INPUTS}
    modifier.node_group = get(keeps_input)
    for name, value in values.items():
        node_trees.set_input(modifier, name, value)


def _keeps(tree: bpy.types.NodeTree) -> bool:
    return bool(tree.get(_KEEPS))


def _build(keeps_input: bool) -> bpy.types.NodeTree:
    tree = node_trees.new_tree(f"{_NAME}, Input Kept" if keeps_input else _NAME)
    tree[_MARK] = _VERSION
    tree[_KEEPS] = keeps_input
    node_trees.add_socket(tree, "Geometry", "NodeSocketGeometry")
    node_trees.add_socket(tree, CARRIER, "NodeSocketObject")
    node_trees.add_socket(tree, POSE_PROBE, "NodeSocketObject")
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
        set_default(result.inputs["Name"], name)
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

    # The input is kept only if the engine cannot read it from the mesh itself.
    kept = geometry
    if keeps_input:
        for column, (name, data_type, value) in enumerate(
            [(INPUT_POSITION, "FLOAT_VECTOR", position), (INPUT_INDEX, "FLOAT", index)], 1
        ):
            keep = store(name, data_type, value, column)
            link(kept, keep.inputs["Geometry"])
            kept = keep.outputs["Geometry"]

    shapes: list[bpy.types.NodeSocket] = []
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
    shape, render_shape = shapes
    carrier = switch(use_render.outputs[0], shape, render_shape, column=2, row=5)
    attribute = node("GeometryNodeInputNamedAttribute", 1, 8, data_type="FLOAT_VECTOR")
    set_default(attribute.inputs["Name"], POSITION)
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
