# SPDX-License-Identifier: GPL-3.0-or-later
"""Formulas as nodes: each method adds the nodes for one operation and returns the socket of its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import bpy

from ...settings.typed import set_default
from .node_trees import socket

Socket = bpy.types.NodeSocket
# An operand: the result of another operation, or a constant.
Value = Any

# Names of data types in nodes, by the names in Switch and Capture Attribute.
_DATA_TYPES = {
    "BOOLEAN": "BOOLEAN",
    "FLOAT": "FLOAT",
    "INT": "INT",
    "VECTOR": "FLOAT_VECTOR",
    "ROTATION": "QUATERNION",
    "MATRIX": "FLOAT4X4",
}

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

_COLUMN_WIDTH, _ROW_HEIGHT = 200.0, 160.0


def _node_name(end: Socket) -> str:
    if end.node is None:
        raise ValueError(f"the socket {end.name} has no node")
    return end.node.name


class Formulas:
    """Nodes of a tree, grouped in frames whose titles say what they do.

    Data types are ``"BOOLEAN"``, ``"FLOAT"``, ``"INT"``, ``"VECTOR"``, ``"ROTATION"`` and ``"MATRIX"``.
    """

    def __init__(self, tree: bpy.types.NodeTree) -> None:
        self.tree = tree
        self._frame: bpy.types.Node | None = None
        # How many nodes are in a row before each. Nodes know it, too, but are very slow.
        self._depths: dict[str, int] = {}

    def begin(self, title: str) -> None:
        """Put the following nodes in a frame with that title."""
        self._frame = self.tree.nodes.new("NodeFrame")
        self._frame.label = title

    def node(self, kind: str, inputs: dict[str, Value] | None = None, **settings: Any) -> bpy.types.Node:
        """A node with some inputs, by name, linked or set to constants."""
        result = self.tree.nodes.new(kind)
        result.parent = self._frame
        self._depths[result.name] = 0
        for name, value in settings.items():
            setattr(result, name, value)
        for name, value in (inputs or {}).items():
            self.put(socket(result.inputs, name), value)
        return result

    def put(self, target: Socket, value: Value) -> None:
        """Link an input of a node to a result, or set it to a constant."""
        if isinstance(value, Socket):
            self.tree.links.new(value, target)
            depths, name = self._depths, _node_name(target)
            depths[name] = max(depths[name], depths[_node_name(value)] + 1)
        else:
            set_default(target, value)

    def _operate(self, kind: str, values: Iterable[Value], **settings: Any) -> Socket:
        """The first output of a node whose inputs cannot be told apart by name."""
        result = self.node(kind, **settings)
        enabled = [item for item in result.inputs if item.enabled]
        for target, value in zip(enabled, values, strict=False):
            self.put(target, value)
        return next(item for item in result.outputs if item.enabled)

    # ------------------------------------------------------------------------------------------------------- numbers

    def math(self, operation: str, *values: Value) -> Socket:
        """An operation of the Math node."""
        return self._operate("ShaderNodeMath", values, operation=operation)

    def integer(self, operation: str, *values: Value) -> Socket:
        """An operation of the Integer Math node."""
        return self._operate("FunctionNodeIntegerMath", values, operation=operation)

    def compare(self, operation: str, a: Value, b: Value, data_type: str = "INT") -> Socket:
        """Whether a comparison holds."""
        return self._operate("FunctionNodeCompare", (a, b), data_type=data_type, operation=operation)

    def boolean(self, operation: str, *conditions: Value) -> Socket:
        return self._operate("FunctionNodeBooleanMath", conditions, operation=operation)

    def any_of(self, conditions: Sequence[Value]) -> Socket:
        """Whether at least one of two or more conditions holds."""
        result: Socket = conditions[0]
        for condition in conditions[1:]:
            result = self.boolean("OR", result, condition)
        return result

    # ------------------------------------------------------------------------------------------------------- vectors

    def vector(self, *components: Value) -> Socket:
        """A vector of three numbers."""
        return self._operate("ShaderNodeCombineXYZ", components)

    def components(self, vector: Value) -> list[Socket]:
        return list(self.node("ShaderNodeSeparateXYZ", {"Vector": vector}).outputs)

    def vector_math(self, operation: str, *values: Value) -> Socket:
        """An operation of the Vector Math node; ``"SCALE"`` takes a vector and a number."""
        return self._operate("ShaderNodeVectorMath", values, operation=operation)

    def add(self, *vectors: Value) -> Socket:
        """The sum of vectors."""
        result: Socket = vectors[0]
        for vector in vectors[1:]:
            result = self.vector_math("ADD", result, vector)
        return result

    def subtract(self, a: Value, b: Value) -> Socket:
        return self.vector_math("SUBTRACT", a, b)

    def scale(self, vector: Value, factor: Value) -> Socket:
        return self.vector_math("SCALE", vector, factor)

    def dot(self, a: Value, b: Value) -> Socket:
        return self.vector_math("DOT_PRODUCT", a, b)

    def cross(self, a: Value, b: Value) -> Socket:
        return self.vector_math("CROSS_PRODUCT", a, b)

    def mix(self, share: Value, a: Value, b: Value) -> Socket:
        """(1 - share) a + share b, of vectors."""
        return self._operate("ShaderNodeMix", (share, a, b), data_type="VECTOR", clamp_factor=False)

    # ----------------------------------------------------------------------------------------------------- rotations

    def rotation(self, matrix: Value) -> Socket:
        """The rotation of a matrix that consists of a rotation and a translation."""
        return self.node("FunctionNodeSeparateTransform", {"Transform": matrix}).outputs["Rotation"]

    def rotation_between(self, a: Value, b: Value) -> Socket:
        """The rotation from one rotation to another: a^-1, then b."""
        return self._operate("FunctionNodeRotateRotation", (self._operate("FunctionNodeInvertRotation", (a,)), b))

    def quaternion(self, rotation: Value) -> tuple[Socket, Socket]:
        """Imaginary and real part of a rotation's quaternion, the one with a non-negative real part."""
        w, *ijk = self.node("FunctionNodeRotationToQuaternion", {"Rotation": rotation}).outputs
        sign = self.math("MULTIPLY_ADD", self.math("LESS_THAN", w, 0.0), -2.0, 1.0)
        return self.scale(self.vector(*ijk), sign), self.math("ABSOLUTE", w)

    def rotation_from_quaternion(self, imaginary: Value, real: Value) -> Socket:
        """The rotation of a quaternion of any length but 0."""
        return self._operate("FunctionNodeQuaternionToRotation", (real, *self.components(imaginary)))

    def rotation_about(self, axis: Value, angle: Value) -> Socket:
        return self._operate("FunctionNodeAxisAngleToRotation", (axis, angle))

    def rotate(self, vector: Value, rotation: Value) -> Socket:
        return self._operate("FunctionNodeRotateVector", (vector, rotation))

    def transform(self, translation: Value, rotation: Value) -> Socket:
        """The matrix of a rotation followed by a translation."""
        return self._operate("FunctionNodeCombineTransform", (translation, rotation))

    # ------------------------------------------------------------------------------------------------------ matrices

    def matrix(self, columns: Sequence[Value], bottom: Sequence[Value] = ()) -> Socket:
        """A matrix from up to four columns, vectors or three entries each; missing ones are those of the identity.

        `bottom` is the start of the last row, which only `project` uses.
        """
        result = self.node("FunctionNodeCombineMatrix")
        for column, vector in enumerate(columns, 1):
            entries = self.components(vector) if isinstance(vector, Socket) else vector
            for row, entry in enumerate(entries, 1):
                self.put(socket(result.inputs, f"Column {column} Row {row}"), entry)
        for column, entry in enumerate(bottom, 1):
            self.put(socket(result.inputs, f"Column {column} Row 4"), entry)
        return result.outputs["Matrix"]

    def symmetric(self, diagonal: Value, above: Value) -> Socket:
        """A symmetric 3x3 matrix; `above` are the entries (0, 1), (0, 2) and (1, 2)."""
        xx, yy, zz = self.components(diagonal)
        xy, xz, yz = self.components(above)
        return self.matrix([(xx, xy, xz), (xy, yy, yz), (xz, yz, zz)])

    def entries(self, matrix: Value) -> list[list[Socket]]:
        """The four entries of each column of a matrix, column by column."""
        outputs = self.node("FunctionNodeSeparateMatrix", {"Matrix": matrix}).outputs
        return [[outputs[f"Column {column} Row {row}"] for row in (1, 2, 3, 4)] for column in (1, 2, 3, 4)]

    def columns(self, matrix: Value) -> list[Socket]:
        """The first three columns of a matrix as vectors: the images of the axes, which takes the fewest nodes."""
        return [self.turn(matrix, axis) for axis in AXES]

    def multiply(self, a: Value, b: Value) -> Socket:
        """A product of matrices."""
        return self._operate("FunctionNodeMatrixMultiply", (a, b))

    def transpose(self, matrix: Value) -> Socket:
        return self._operate("FunctionNodeTransposeMatrix", (matrix,))

    def invert(self, matrix: Value) -> Socket:
        return self._operate("FunctionNodeInvertMatrix", (matrix,))

    def move(self, matrix: Value, point: Value) -> Socket:
        return self._operate("FunctionNodeTransformPoint", (point, matrix))

    def turn(self, matrix: Value, direction: Value) -> Socket:
        """A direction transformed by a matrix without its translation."""
        return self._operate("FunctionNodeTransformDirection", (direction, matrix))

    def project(self, matrix: Value, point: Value) -> Socket:
        """A point transformed by all four rows of a matrix and divided by the result of the last."""
        return self._operate("FunctionNodeProjectPoint", (point, matrix))

    # ---------------------------------------------------------------------------------------------------- attributes

    def attribute(self, data_type: str, name: str) -> Socket:
        """A named attribute."""
        node = self.node("GeometryNodeInputNamedAttribute", {"Name": name}, data_type=_DATA_TYPES[data_type])
        return socket(node.outputs, "Attribute")

    def store(self, data_type: str, geometry: Socket, name: str, value: Socket) -> Socket:
        """The geometry with a named attribute of its points."""
        inputs = {"Geometry": geometry, "Name": name, "Value": value}
        kind = _DATA_TYPES[data_type]
        return self.node("GeometryNodeStoreNamedAttribute", inputs, data_type=kind, domain="POINT").outputs["Geometry"]

    def point_count(self, geometry: Socket) -> Socket:
        """How many vertices the mesh of a geometry has."""
        node = self.node("GeometryNodeAttributeDomainSize", {"Geometry": geometry}, component="MESH")
        return node.outputs["Point Count"]

    def keep(self, geometry: Socket, values: Sequence[tuple[str, str, Socket]]) -> list[Socket]:
        """The geometry with values of its points computed once, then these; each is (data type, name, value)."""
        node: Any = self.node("GeometryNodeCaptureAttribute", {"Geometry": geometry}, domain="POINT")
        for data_type, name, value in values:
            node.capture_items.new(data_type, name)
            self.put(socket(node.inputs, name), value)
        return [node.outputs["Geometry"], *(socket(node.outputs, name) for _, name, _ in values)]

    def average(self, data_type: str, value: Socket, group: Socket) -> Socket:
        """The mean of a number or vector over the points of the same group."""
        inputs = {"Value": value, "Group ID": group}
        node = self.node("GeometryNodeFieldAverage", inputs, data_type=_DATA_TYPES[data_type], domain="POINT")
        return socket(node.outputs, "Mean")

    def at_index(self, data_type: str, value: Socket, index: Value) -> Socket:
        """The value of the point with that index in the same geometry."""
        inputs = {"Value": value, "Index": index}
        node = self.node("GeometryNodeFieldAtIndex", inputs, data_type=_DATA_TYPES[data_type], domain="POINT")
        return socket(node.outputs, "Value")

    def three(self, data_type: str, value: Socket) -> list[Socket]:
        """The values of a point and of the next two points."""
        index = self.node("GeometryNodeInputIndex").outputs[0]
        return [value, *(self.at_index(data_type, value, self.integer("ADD", index, more)) for more in (1, 2))]

    def maximum(self, geometry: Socket, value: Socket) -> Socket:
        """The largest number on a geometry, as a single value."""
        inputs = {"Geometry": geometry, "Attribute": value}
        node = self.node("GeometryNodeAttributeStatistic", inputs, data_type="FLOAT", domain="POINT")
        return socket(node.outputs, "Max")

    def sample(self, data_type: str, geometry: Socket, value: Socket, index: Value) -> Socket:
        """The value of the point with that index in a geometry."""
        inputs = {"Geometry": geometry, "Value": value, "Index": index}
        node = self.node("GeometryNodeSampleIndex", inputs, data_type=_DATA_TYPES[data_type], domain="POINT")
        return socket(node.outputs, "Value")

    def vertex_values(self, table: Socket) -> Callable[[str, str], Socket]:
        """A function that makes the field of a named attribute of a table with a point for each vertex of the mesh."""
        index = self.node("GeometryNodeInputIndex").outputs[0]
        return lambda data_type, name: self.sample(data_type, table, self.attribute(data_type, name), index)

    def switch(self, data_type: str, condition: Socket, no: Value, yes: Value) -> Socket:
        """One of two values, the default for None. With a single condition only the chosen one is computed."""
        inputs = {"Switch": condition, "False": no, "True": yes}
        inputs = {name: value for name, value in inputs.items() if value is not None}
        return socket(self.node("GeometryNodeSwitch", inputs, input_type=data_type).outputs, "Output")

    def index_switch(self, data_type: str, index: Socket, values: Sequence[Value]) -> Socket:
        """The value of that index."""
        node: Any = self.node("GeometryNodeIndexSwitch", data_type=data_type)
        node.index_switch_items.clear()
        for _ in values:
            node.index_switch_items.new()
        self.put(socket(node.inputs, "Index"), index)
        for target, value in zip(node.inputs[1:], values, strict=False):
            if value is not None:
                self.put(target, value)
        return socket(node.outputs, "Output")

    def object_info(self, item: Socket, transform_space: str = "ORIGINAL") -> bpy.types.Node:
        """An Object Info node."""
        return self.node("GeometryNodeObjectInfo", {"Object": item}, transform_space=transform_space)

    # -------------------------------------------------------------------------------------------------------- layout

    def lay_out(self) -> None:
        """Place nodes from left to right, each after all its inputs."""
        rows: dict[int, int] = {}
        places: list[float] = []
        for node in self.tree.nodes:
            depth = self._depths.get(node.name, 0)
            is_frame = node.bl_idname == "NodeFrame"
            rows[depth] = rows.get(depth, 0) + (not is_frame)
            places += (0.0, 0.0) if is_frame else (depth * _COLUMN_WIDTH, rows[depth] * -_ROW_HEIGHT)
        # All at once, because Blender goes through the whole tree whenever a node is placed by itself.
        self.tree.nodes.foreach_set("location", places)
