# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the portable engine for vertices: what three joints at a time add to the motion of the heaviest, blended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from . import node_trees
from .formulas import Formulas, Socket
from .portable_joints import Slots

__all__ = ["Groups", "deform", "pack_groups"]

_RELATIVE_MARK = "sbs_relative_motion_group"
_RELATIVE_VERSION = 1

# The real part of a quaternion below which it is not computed from a difference of matrices.
_HALF_TURN = 0.25


@dataclass
class Block:
    """What three slots of a pivot group add for their weights, as fields on the groups."""

    quaternions: Socket  # columns: imaginary parts of q_k q_p*
    reals: Socket  # real parts, less 1
    offsets: Socket  # columns: C_k c - C_p c
    stretches: list[Socket]  # for each axis columns: R_p S_k - C_p times the axis
    linear: list[Socket]  # for each axis columns: C_k - C_p times the axis; empty if not asked for


@dataclass
class Groups:
    """The pivot groups: a geometry, and fields on it."""

    geometry: Socket
    matrix: Socket  # C_p, from the mesh's space to the armature's
    moved: Socket  # C_p c
    center: Socket  # c
    to_rig: Socket
    is_skewed: Socket
    blocks: list[Block]


def pack_groups(
    nodes: Formulas, geometry: Socket, slots: Slots, to_rig: Socket, block_count: int, with_linear: bool
) -> Groups:
    """What vertices need of their pivot group: three slots to a matrix, so that one product blends all of them."""
    nodes.begin("Pivots")
    pivot = nodes.attribute("INT", "pivot")

    def at(index: Socket, data_type: str, value: Socket) -> Socket:
        return nodes.sample(data_type, slots.geometry, value, index)

    centroid = nodes.move(to_rig, nodes.attribute("VECTOR", "centroid"))
    values = [
        ("MATRIX", "Matrix", at(pivot, "MATRIX", slots.matrix)),
        ("MATRIX", "Rotation", at(pivot, "MATRIX", slots.rotation)),
        ("VECTOR", "Moved", at(pivot, "VECTOR", slots.moved)),
        ("VECTOR", "Offset", at(pivot, "VECTOR", slots.center)),
    ]
    geometry, matrix, rotation, moved, offset = nodes.keep(geometry, values)

    start, size = nodes.attribute("INT", "start"), nodes.attribute("INT", "size")
    relative = _relative_group()
    of_pivot = {"Pivot Matrix": matrix, "Pivot Rotation": rotation, "Pivot Moved": moved, "Offset": offset}
    blocks = []
    for block in range(block_count):
        nodes.begin(f"Slots {3 * block + 1} to {3 * block + 3} of each group")
        outputs = []
        for number in range(3 * block, 3 * block + 3):
            slot = nodes.integer("ADD", start, number)
            slot = nodes.integer("ADD", slot, nodes.compare("GREATER_EQUAL", slot, pivot))
            inputs = {
                **of_pivot,
                "Matrix": at(slot, "MATRIX", slots.matrix),
                "Rotation": at(slot, "MATRIX", slots.rotation),
                "Moved": at(slot, "VECTOR", slots.moved),
                "Exists": nodes.compare("GREATER_THAN", size, number + 1),
                "Skewed": slots.is_skewed,
            }
            outputs.append(nodes.node("GeometryNodeGroup", inputs, node_tree=relative).outputs)

        def pack(name: str, outputs: list[Any] = outputs) -> Socket:
            return nodes.matrix([output[name] for output in outputs])

        blocks.append(
            Block(
                quaternions=pack("Imaginary"),
                reals=nodes.vector(*(output["Real"] for output in outputs)),
                offsets=pack("Offset"),
                stretches=[pack(f"Stretch {axis}") for axis in "XYZ"],
                linear=[pack(f"Linear {axis}") for axis in "XYZ"] if with_linear else [],
            )
        )
    nodes.begin("Groups")
    kept = nodes.keep(
        geometry,
        [
            ("MATRIX", "Matrix to Rig", nodes.multiply(matrix, to_rig)),
            ("VECTOR", "Moved Center", nodes.add(moved, nodes.turn(matrix, offset))),
            ("VECTOR", "Rotation Center", nodes.add(centroid, offset)),
            *(
                item
                for number, block in enumerate(blocks, 1)
                for item in (
                    ("MATRIX", f"Quaternions {number}", block.quaternions),
                    ("VECTOR", f"Reals {number}", block.reals),
                    ("MATRIX", f"Offsets {number}", block.offsets),
                )
            ),
        ],
    )
    geometry, matrix, moved_center, center, *rest = kept
    for number, block in enumerate(blocks):
        block.quaternions, block.reals, block.offsets = rest[3 * number : 3 * number + 3]
    return Groups(geometry, matrix, moved_center, center, to_rig, slots.is_skewed, blocks)


def _relative_group() -> bpy.types.NodeTree:
    """The inner group: what a slot adds to the motion of the pivot. It is the same for all characters."""
    for tree in bpy.data.node_groups:
        if tree.library is None and tree.get(_RELATIVE_MARK) == _RELATIVE_VERSION:
            return tree
    tree = node_trees.new_tree("SBS Relative Motion")
    tree[_RELATIVE_MARK] = _RELATIVE_VERSION
    for name, kind in (
        ("Pivot Matrix", "Matrix"),
        ("Pivot Rotation", "Matrix"),
        ("Pivot Moved", "Vector"),
        ("Offset", "Vector"),
        ("Matrix", "Matrix"),
        ("Rotation", "Matrix"),
        ("Moved", "Vector"),
        ("Exists", "Bool"),
        ("Skewed", "Bool"),
    ):
        node_trees.add_socket(tree, name, f"NodeSocket{kind}")
    nodes = Formulas(tree)
    inputs = nodes.node("NodeGroupInput").outputs
    columns, pivot_columns = nodes.columns(inputs["Matrix"]), nodes.columns(inputs["Pivot Matrix"])
    rotation_columns, pivot_rotation_columns = (
        nodes.columns(inputs["Rotation"]),
        nodes.columns(inputs["Pivot Rotation"]),
    )
    rotation, pivot_rotation = nodes.matrix(rotation_columns), nodes.matrix(pivot_rotation_columns)

    nodes.begin("Quaternion")
    turned = nodes.matrix(
        [nodes.subtract(a, b) for a, b in zip(rotation_columns, pivot_rotation_columns, strict=False)]
    )
    imaginary, real = _quaternion(nodes, nodes.multiply(turned, nodes.transpose(pivot_rotation)))

    nodes.begin("Stretch")
    stretch = nodes.multiply(nodes.transpose(rotation), nodes.matrix(columns))
    stretched = nodes.columns(nodes.multiply(pivot_rotation, stretch))
    stretch_columns = [nodes.subtract(a, b) for a, b in zip(stretched, pivot_columns, strict=False)]

    nodes.begin("How the center moves")
    # C_k z - C_p z by the same numbers that turn and stretch y, for most of either cancels.
    more = nodes.turn(nodes.matrix(stretch_columns), inputs["Offset"])
    more = nodes.switch("VECTOR", inputs["Skewed"], (0.0, 0.0, 0.0), more)
    start = nodes.add(nodes.turn(inputs["Pivot Matrix"], inputs["Offset"]), more)
    around = nodes.add(_turn_less(nodes, start, imaginary, real), more)
    offset = nodes.add(nodes.subtract(inputs["Moved"], inputs["Pivot Moved"]), around)
    linear = [nodes.subtract(a, b) for a, b in zip(columns, pivot_columns, strict=False)]

    nodes.begin("Nothing where there is no slot")
    vectors = {
        "Imaginary": imaginary,
        "Offset": offset,
        **{f"Stretch {axis}": column for axis, column in zip("XYZ", stretch_columns, strict=False)},
        **{f"Linear {axis}": column for axis, column in zip("XYZ", linear, strict=False)},
    }
    results = {name: nodes.scale(vector, inputs["Exists"]) for name, vector in vectors.items()}
    for name in vectors:
        node_trees.add_socket(tree, name, "NodeSocketVector", "OUTPUT")
    node_trees.add_socket(tree, "Real", "NodeSocketFloat", "OUTPUT")
    nodes.node("NodeGroupOutput", {**results, "Real": nodes.math("MULTIPLY", real, inputs["Exists"])})
    nodes.lay_out()
    return tree


def _quaternion(nodes: Formulas, difference: Socket) -> tuple[Socket, Socket]:
    """Imaginary part, and real part less 1, of the quaternion of I plus a matrix; its real part is not negative."""
    x = nodes.entries(difference)
    trace = nodes.math("ADD", nodes.math("ADD", x[0][0], x[1][1]), x[2][2])
    real = nodes.math("SQRT", nodes.math("MAXIMUM", nodes.math("MULTIPLY_ADD", trace, 0.25, 1.0), 0.0))
    twice = nodes.vector(
        nodes.math("SUBTRACT", x[2][1], x[1][2]),
        nodes.math("SUBTRACT", x[0][2], x[2][0]),
        nodes.math("SUBTRACT", x[1][0], x[0][1]),
    )
    imaginary = nodes.scale(twice, nodes.math("DIVIDE", 0.25, nodes.math("MAXIMUM", real, _HALF_TURN)))

    # Near a half turn that says nothing any more, and Blender's own way does well.
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    columns = [nodes.add(column, axis) for column, axis in zip(nodes.columns(difference), axes, strict=False)]
    rotation = nodes.node("FunctionNodeSeparateTransform", {"Transform": nodes.matrix(columns)}).outputs["Rotation"]
    w, *ijk = nodes.node("FunctionNodeRotationToQuaternion", {"Rotation": rotation}).outputs
    sign = nodes.math("SUBTRACT", 1.0, nodes.math("MULTIPLY", nodes.math("LESS_THAN", w, 0.0), 2.0))
    is_far = nodes.compare("LESS_THAN", real, _HALF_TURN, "FLOAT")
    imaginary = nodes.switch("VECTOR", is_far, imaginary, nodes.scale(nodes.vector(*ijk), sign))
    real = nodes.switch("FLOAT", is_far, real, nodes.math("MULTIPLY", w, sign))
    return imaginary, nodes.math("SUBTRACT", real, 1.0)


def _turn_less(nodes: Formulas, vector: Socket, imaginary: Socket, real_less_one: Socket) -> Socket:
    """A vector turned by a unit quaternion, less the vector."""
    once = nodes.cross(imaginary, vector)
    once_real = nodes.add(nodes.scale(once, real_less_one), once)
    return nodes.scale(nodes.add(once_real, nodes.cross(imaginary, once)), 2.0)


def deform(nodes: Formulas, groups: Groups, weights: Socket, from_rig: Socket, other_method: str) -> Socket:
    """The position of a vertex, in the mesh's space."""
    nodes.begin("Vertices")
    index = nodes.node("GeometryNodeInputIndex").outputs[0]
    position = nodes.node("GeometryNodeInputPosition").outputs[0]
    group = nodes.sample("INT", weights, nodes.attribute("INT", "group"), index)
    own_weights = [
        nodes.sample("VECTOR", weights, nodes.attribute("VECTOR", f"weights_{number}"), index)
        for number in range(1, len(groups.blocks) + 1)
    ]

    def of_group(data_type: str, value: Socket) -> Socket:
        return nodes.sample(data_type, groups.geometry, value, group)

    def blend(matrices: Sequence[Socket]) -> Socket:
        return nodes.add(
            *(nodes.turn(of_group("MATRIX", m), own) for m, own in zip(matrices, own_weights, strict=False))
        )

    rigid = nodes.move(of_group("MATRIX", groups.matrix), position)
    imaginary = blend([block.quaternions for block in groups.blocks])
    real: Socket | float = 1.0
    for block, own in zip(groups.blocks, own_weights, strict=False):
        real = nodes.math("ADD", real, nodes.dot(own, of_group("VECTOR", block.reals)))
    moved = nodes.add(rigid, blend([block.offsets for block in groups.blocks]))
    arm = nodes.subtract(rigid, of_group("VECTOR", groups.moved))

    nodes.begin("Joints that are not rigid")
    from_center = nodes.subtract(nodes.move(groups.to_rig, position), of_group("VECTOR", groups.center))

    def along(columns: Sequence[Sequence[Socket]], vector: Socket) -> Socket:
        """The blend of matrices times a vector; the columns are those of `Block`."""
        return nodes.add(
            *(
                nodes.scale(blend([of_block[axis] for of_block in columns]), component)
                for axis, component in enumerate(nodes.components(vector))
            )
        )

    stretched = along([block.stretches for block in groups.blocks], from_center)
    moved = nodes.switch("VECTOR", groups.is_skewed, moved, nodes.add(moved, stretched))
    arm = nodes.switch("VECTOR", groups.is_skewed, arm, nodes.add(arm, stretched))

    nodes.begin("Blended rotation")
    norm = nodes.math("ADD", nodes.math("MULTIPLY", real, real), nodes.dot(imaginary, imaginary))
    once = nodes.cross(imaginary, arm)
    turned = nodes.add(nodes.scale(once, real), nodes.cross(imaginary, once))
    turned = nodes.scale(turned, nodes.math("DIVIDE", 2.0, norm))
    result = nodes.move(from_rig, nodes.add(moved, turned))
    if not other_method:
        return result

    nodes.begin("Amount")
    amount = nodes.sample("FLOAT", weights, nodes.attribute("FLOAT", "amount"), index)
    other = position
    if other_method == "RIGID":
        other = nodes.move(from_rig, rigid)
    elif other_method == "LINEAR":
        linear = along([block.linear for block in groups.blocks], from_center)
        other = nodes.move(from_rig, nodes.add(rigid, blend([block.offsets for block in groups.blocks]), linear))
    return nodes.add(other, nodes.scale(nodes.subtract(result, other), amount))
