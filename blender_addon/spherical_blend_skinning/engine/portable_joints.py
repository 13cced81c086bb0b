# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the portable engine for joints: their motions, and the rotation centers of their sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy

from . import node_trees
from .formulas import Formulas, Socket

__all__ = ["ARMATURE", "Slots", "bone_tree", "maximum", "read_joints", "solve_centers"]

#: An input of the groups.
ARMATURE = "Armature"

# |A^T A - I| up to which a joint counts as rigid, as in the library.
_RIGID_TOLERANCE = 1e-5
# The share of the largest singular value of a matrix that a smallest one is nothing but a rounding error of.
_FLAT = 1e-6
# The length that stands where there is no bone to be; bones that are missing have 0.
_NO_BONE = -1.0


def bone_tree(name: str, bones: Sequence[str]) -> bpy.types.NodeTree:
    """The inner group: from the number of a joint to its skinning matrix in armature space, and its rest length."""
    tree = node_trees.new_tree(f"SBS Bones {name}")
    node_trees.add_socket(tree, ARMATURE, "NodeSocketObject")
    node_trees.add_socket(tree, "Joint", "NodeSocketInt")
    node_trees.add_socket(tree, "Matrix", "NodeSocketMatrix", "OUTPUT")
    node_trees.add_socket(tree, "Length", "NodeSocketFloat", "OUTPUT")
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
    # Number 0 is no bone: it stays at rest.
    pose = nodes.index_switch("MATRIX", joint, [None, *(info["Pose"] for info in infos)])
    rest = nodes.index_switch("MATRIX", joint, [None, *(info["Rest Pose"] for info in infos)])
    length = nodes.index_switch("FLOAT", joint, [_NO_BONE, *(info["Rest Length"] for info in infos)])
    nodes.node("NodeGroupOutput", {"Matrix": nodes.multiply(pose, nodes.invert(rest)), "Length": length})
    nodes.lay_out()
    return tree


def maximum(nodes: Formulas, geometry: Socket, value: Socket) -> Socket:
    """The largest value on a geometry, one number."""
    inputs = {"Geometry": geometry, "Attribute": value}
    return nodes.node("GeometryNodeAttributeStatistic", inputs, data_type="FLOAT", domain="POINT").outputs["Max"]


def _gram(nodes: Formulas, x: Socket, y: Socket, z: Socket) -> tuple[Socket, Socket]:
    """The inner products of three columns: of each with itself, and of x with y, x with z and y with z."""
    return (
        nodes.vector(nodes.dot(x, x), nodes.dot(y, y), nodes.dot(z, z)),
        nodes.vector(nodes.dot(x, y), nodes.dot(x, z), nodes.dot(y, z)),
    )


@dataclass
class Slots:
    """The slots of all joint sets: a geometry, and fields on it.

    Attributes
    ----------
    geometry : Socket
    matrix, rotation : Socket
        C and its rotation R, which is C itself while all joints are rigid.
    length : Socket
        Of the bone; 0 if it is missing.
    moved : Socket
        C c0.
    center : Socket
        z.
    is_skewed : Socket
        Whether any joint is not rigid, one value.
    """

    geometry: Socket
    matrix: Socket
    rotation: Socket
    length: Socket
    moved: Socket
    is_skewed: Socket
    center: Socket | None = None


def read_joints(
    nodes: Formulas, geometry: Socket, armature: Socket, bones: bpy.types.NodeTree, to_rig: Socket
) -> Slots:
    nodes.begin("Joints")
    inputs = {ARMATURE: armature, "Joint": nodes.attribute("INT", "joint")}
    inner = nodes.node("GeometryNodeGroup", inputs, node_tree=bones)
    values = [("MATRIX", "Matrix", inner.outputs["Matrix"]), ("FLOAT", "Length", inner.outputs["Length"])]
    geometry, matrix, length = nodes.keep(geometry, values)
    centroid = nodes.move(to_rig, nodes.attribute("VECTOR", "centroid"))

    nodes.begin("Rotations")
    diagonal, above = _gram(nodes, *nodes.columns(matrix))
    defect = nodes.subtract(diagonal, (1.0, 1.0, 1.0))
    squares = nodes.math("MULTIPLY_ADD", nodes.dot(above, above), 2.0, nodes.dot(defect, defect))
    mirrored = nodes.math("LESS_THAN", nodes.node("FunctionNodeMatrixDeterminant", {"Matrix": matrix}).outputs[0], 0.0)
    skew = nodes.math("ADD", nodes.math("SQRT", squares), mirrored)
    is_skewed = nodes.compare("GREATER_THAN", maximum(nodes, geometry, skew), _RIGID_TOLERANCE, "FLOAT")
    # A rigid joint moves points by the nearest rotation, which one step of Newton and Schulz leads to.
    half_defect = nodes.symmetric(
        nodes.components(nodes.subtract((1.0, 1.0, 1.0), nodes.scale(defect, 0.5))), nodes.scale(above, -0.5)
    )
    is_rigid = nodes.compare("LESS_EQUAL", skew, _RIGID_TOLERANCE, "FLOAT")
    moving = nodes.switch("MATRIX", is_rigid, matrix, nodes.multiply(matrix, half_defect))
    geometry, matrix = nodes.keep(geometry, [("MATRIX", "Moving Matrix", moving)])
    # The rotation of the polar form, that of -C for a mirrored joint. Of a flat one it is made proper by the axis that
    # vanishes.
    svd = nodes.node("FunctionNodeMatrixSVD", {"Matrix": matrix}).outputs
    left, vectors = nodes.columns(svd["U"]), nodes.transpose(svd["V"])
    orthogonal = nodes.multiply(nodes.matrix(left), vectors)
    determinant = nodes.node("FunctionNodeMatrixDeterminant", {"Matrix": orthogonal}).outputs[0]
    largest, _, smallest = nodes.components(svd["S"])
    is_flat = nodes.math("LESS_THAN", smallest, nodes.math("MULTIPLY", largest, _FLAT))
    sign = nodes.math("SIGN", determinant)
    others = nodes.switch("FLOAT", is_flat, sign, 1.0)
    signed = [nodes.scale(left[0], others), nodes.scale(left[1], others), nodes.scale(left[2], sign)]
    polar = nodes.multiply(nodes.matrix(signed), vectors)
    rotation = nodes.switch("MATRIX", is_skewed, matrix, polar)
    values = [("MATRIX", "Rotation", rotation), ("VECTOR", "Moved", nodes.move(matrix, centroid))]
    geometry, rotation, moved = nodes.keep(geometry, values)
    return Slots(geometry, matrix, rotation, length, moved, is_skewed)


def solve_centers(nodes: Formulas, slots: Slots) -> None:
    """Where the joints of each set move most alike: z = -(G + damping)^-1 E^T f, by deviations from their means.

    sum_{a<b} |(C_a - C_b) c|^2 over all pairs is, for n joints, n times the sum of squared deviations from the mean.
    Formed of E in single precision, G = E^T E says little of small singular values. So its singular vectors V only
    serve to turn E such that its columns are nearly orthogonal; then (E V)^T (E V), scaled to a diagonal of ones, is
    almost the identity, and as good as E is.
    """
    nodes.begin("Deviations from the mean")
    of_set = nodes.attribute("INT", "set")
    deviations = [
        nodes.subtract(value, nodes.average(value, of_set)) for value in (*nodes.columns(slots.matrix), slots.moved)
    ]
    names = ("Deviation X", "Deviation Y", "Deviation Z", "Deviation")
    values = [("VECTOR", name, value) for name, value in zip(names, deviations, strict=False)]
    geometry, *columns, residual = nodes.keep(slots.geometry, values)

    def mean_gram(columns: Sequence[Socket]) -> list[Socket]:
        return [nodes.average(value, of_set) for value in _gram(nodes, *columns)]

    diagonal, above = mean_gram(columns)
    geometry, diagonal, above = nodes.keep(geometry, [("VECTOR", "Diagonal", diagonal), ("VECTOR", "Above", above)])

    nodes.begin("Singular vectors of each set")
    is_first = nodes.compare("EQUAL", nodes.node("GeometryNodeInputIndex").outputs[0], nodes.attribute("INT", "start"))
    sets = nodes.node("GeometryNodeSeparateGeometry", {"Geometry": geometry, "Selection": is_first}, domain="POINT")
    svd = nodes.node("FunctionNodeMatrixSVD", {"Matrix": nodes.symmetric(diagonal, above)}).outputs
    vectors = nodes.sample("MATRIX", sets.outputs["Selection"], svd["V"], of_set)

    nodes.begin("Rotation centers")
    geometry, vectors = nodes.keep(geometry, [("MATRIX", "Vectors", vectors)])
    turned = nodes.columns(nodes.multiply(nodes.matrix(columns), vectors))
    diagonal, above = mean_gram(turned)
    right = nodes.average(nodes.vector(*(nodes.dot(column, residual) for column in turned)), of_set)
    values = [("VECTOR", "Diagonal", diagonal), ("VECTOR", "Above", above), ("VECTOR", "Right", right)]
    geometry, diagonal, above, right = nodes.keep(geometry, values)
    damping = nodes.attribute("FLOAT", "damping")
    r, s, t = (nodes.math("INVERSE_SQRT", nodes.math("ADD", entry, damping)) for entry in nodes.components(diagonal))
    products = nodes.vector(nodes.math("MULTIPLY", r, s), nodes.math("MULTIPLY", r, t), nodes.math("MULTIPLY", s, t))
    scaled = nodes.symmetric((1.0, 1.0, 1.0), nodes.vector_math("MULTIPLY", above, products))
    scales = nodes.vector(r, s, t)
    solution = nodes.turn(nodes.invert(scaled), nodes.vector_math("MULTIPLY", right, scales))
    solution = nodes.turn(vectors, nodes.vector_math("MULTIPLY", solution, scales))
    slots.geometry, slots.center = nodes.keep(geometry, [("VECTOR", "Center", nodes.scale(solution, -1.0))])
