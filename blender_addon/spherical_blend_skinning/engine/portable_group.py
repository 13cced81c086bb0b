# SPDX-License-Identifier: GPL-3.0-or-later
"""The node group of the portable engine: all of spherical blend skinning in nodes, for Blender 5.1 and later.

It reads the bones from the armature, and joint sets and weights from two meshes, see `portable_tables`. For a vertex v
(Kavan and Zara 2005, eq. 9) with the heaviest joint p and the center c = c0 + z it computes, in the armature's space,

    v' = C_p v + (Q - I) y + sum w_k (C_k c - C_p c),   y = C_p v - C_p c,   Q = QLERP of q_k q_p*

Nodes have single precision, so differences of matrices are taken before anything is multiplied: however far away c is,
only what joints differ by counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from . import node_trees
from .formulas import Formulas, Socket

__all__ = ["ARMATURE", "DAMPING", "JOINT_SETS", "WEIGHTS", "bones_of", "build", "is_portable", "remove"]

_MARK = "sbs_portable_group"
_RELATIVE_MARK = "sbs_relative_motion_group"
_RELATIVE_VERSION = 1

# Inputs of the group.
ARMATURE = "Armature"
WEIGHTS = "Weights"
JOINT_SETS = "Joint Sets"

#: Of `sbs.Skin.deform`: the weight of the pull of a center to the mean of its set's vertices.
DAMPING = 1e-8

# |A^T A - I| up to which a joint counts as rigid, as in the library.
_RIGID_TOLERANCE = 1e-5
# The share of the largest singular value of a matrix that a smallest one is nothing but a rounding error of.
_FLAT = 1e-6
# The real part of a quaternion below which it is not computed from a difference of matrices.
_HALF_TURN = 0.25
# Bones that are missing have the length 0, others are never shorter than this; -1 stands where there is none to be.
_LEAST_LENGTH = 1e-9
_NO_BONE = -1.0


def is_portable(tree: bpy.types.NodeTree | None) -> bool:
    """Whether a node group is one of the portable engine's, of this file or another."""
    return tree is not None and _MARK in tree


def bones_of(tree: bpy.types.NodeTree) -> list[str]:
    """The names of the bones that a group reads."""
    groups = [node.node_tree for node in tree.nodes if node.bl_idname == "GeometryNodeGroup"]
    return [
        node.inputs["Bone Name"].default_value
        for group in groups
        for node in group.nodes
        if node.bl_idname == "GeometryNodeBoneInfo"
    ]


def remove(tree: bpy.types.NodeTree) -> None:
    """Delete a group that nothing uses any more, and those in it that nothing else uses."""
    inner = {node.node_tree for node in tree.nodes if node.bl_idname == "GeometryNodeGroup"}
    if tree.users == 0:
        bpy.data.node_groups.remove(tree)
    for group in inner:
        if group is not None and group.users == 0:
            bpy.data.node_groups.remove(group)


def build(name: str, bones: Sequence[str], block_count: int, other_method: str = "") -> bpy.types.NodeTree:
    """Make the group for a character.

    Parameters
    ----------
    name : str
        Of the character, for names of groups.
    bones : sequence of str
        The bones by their number in the table, from 1 on.
    block_count : int
        How many vectors of three weights each vertex has.
    other_method : str
        What a vertex gets where its amount is less than 1: ``"NONE"``, ``"RIGID"`` or ``"LINEAR"``; empty if there are
        no amounts.
    """
    tree = node_trees.new_tree(f"SBS Portable {name}")
    tree[_MARK] = True
    node_trees.add_socket(tree, "Geometry", "NodeSocketGeometry")
    for input_name in (ARMATURE, WEIGHTS, JOINT_SETS):
        node_trees.add_socket(tree, input_name, "NodeSocketObject")
    node_trees.add_socket(tree, "Geometry", "NodeSocketGeometry", "OUTPUT")
    nodes = Formulas(tree)
    inputs = nodes.node("NodeGroupInput").outputs
    geometry = inputs["Geometry"]

    nodes.begin("What is there")
    weights = nodes.object_info(inputs[WEIGHTS]).outputs["Geometry"]
    table = nodes.object_info(inputs[JOINT_SETS]).outputs["Geometry"]
    from_rig = nodes.object_info(inputs[ARMATURE], "RELATIVE").outputs["Transform"]
    to_rig = nodes.invert(from_rig)
    is_group = nodes.attribute("BOOLEAN", "is_group")
    group = nodes.node("GeometryNodeSeparateGeometry", {"Geometry": table, "Selection": is_group}, domain="POINT")

    slots = _read_joints(nodes, group.outputs["Inverted"], inputs[ARMATURE], _bones(name, bones), to_rig)
    _solve_centers(nodes, slots)
    groups = _pack_groups(nodes, group.outputs["Selection"], slots, to_rig, block_count, other_method == "LINEAR")
    position = _deform(nodes, groups, weights, from_rig, other_method)

    nodes.begin("Result")
    deformed = nodes.node("GeometryNodeSetPosition", {"Geometry": geometry, "Position": position})
    problem = _warn(nodes, geometry, weights, table, slots, bones)
    result = nodes.switch("GEOMETRY", problem, deformed.outputs["Geometry"], geometry)
    nodes.node("NodeGroupOutput", {"Geometry": result})
    nodes.lay_out()
    return tree


def _bones(name: str, bones: Sequence[str]) -> bpy.types.NodeTree:
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


def _largest(nodes: Formulas, geometry: Socket, value: Socket) -> Socket:
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
class _Slots:
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


def _read_joints(
    nodes: Formulas, geometry: Socket, armature: Socket, bones: bpy.types.NodeTree, to_rig: Socket
) -> _Slots:
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
    is_skewed = nodes.compare("GREATER_THAN", _largest(nodes, geometry, skew), _RIGID_TOLERANCE, "FLOAT")
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
    return _Slots(geometry, matrix, rotation, length, moved, is_skewed)


def _solve_centers(nodes: Formulas, slots: _Slots) -> None:
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


@dataclass
class _Block:
    """What three slots of a pivot group add for their weights, as fields on the groups."""

    quaternions: Socket  # columns: imaginary parts of q_k q_p*
    reals: Socket  # real parts, less 1
    offsets: Socket  # columns: C_k c - C_p c
    stretches: list[Socket]  # for each axis columns: R_p S_k - C_p times the axis
    linear: list[Socket]  # for each axis columns: C_k - C_p times the axis; empty if not asked for


@dataclass
class _Groups:
    """The pivot groups: a geometry, and fields on it."""

    geometry: Socket
    matrix: Socket  # C_p, from the mesh's space to the armature's
    moved: Socket  # C_p c
    center: Socket  # c
    to_rig: Socket
    is_skewed: Socket
    blocks: list[_Block]


def _pack_groups(
    nodes: Formulas, geometry: Socket, slots: _Slots, to_rig: Socket, block_count: int, with_linear: bool
) -> _Groups:
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
            _Block(
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
    return _Groups(geometry, matrix, moved_center, center, to_rig, slots.is_skewed, blocks)


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


def _deform(nodes: Formulas, groups: _Groups, weights: Socket, from_rig: Socket, other_method: str) -> Socket:
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
        """The blend of matrices times a vector; the columns are those of `_Block`."""
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


def _warn(
    nodes: Formulas, geometry: Socket, weights: Socket, table: Socket, slots: _Slots, bones: Sequence[str]
) -> Socket:
    """Whether something is missing, of which the modifier then warns; the mesh passes as it is."""
    nodes.begin("Warnings")

    def count(of: Socket) -> Socket:
        return nodes.node("GeometryNodeAttributeDomainSize", {"Geometry": of}, component="MESH").outputs["Point Count"]

    def warn(condition: Socket, message: Socket | str) -> Socket:
        inputs = {"Show": condition, "Message": message}
        return nodes.node("GeometryNodeWarning", inputs, warning_type="WARNING").outputs["Show"]

    weight_count, slot_count = count(weights), count(table)
    no_table = nodes.any_of([nodes.compare("EQUAL", of, 0) for of in (weight_count, slot_count)])
    other_vertices = nodes.compare("NOT_EQUAL", count(geometry), weight_count)
    other_vertices = nodes.compare("GREATER_THAN", other_vertices, no_table)

    no_armature = nodes.compare("LESS_THAN", _largest(nodes, slots.geometry, slots.length), _LEAST_LENGTH, "FLOAT")
    # The last bone that is missing, 0 if none is.
    is_missing = nodes.math("LESS_THAN", nodes.math("ABSOLUTE", slots.length), _LEAST_LENGTH)
    joint = nodes.math("MULTIPLY", is_missing, nodes.attribute("INT", "joint"))
    missing = nodes.node(
        "FunctionNodeFloatToInt", {"Float": _largest(nodes, slots.geometry, joint)}, rounding_mode="ROUND"
    ).outputs[0]
    messages = ["", *(f'The armature has no bone "{bone}": choose Make Portable again' for bone in bones)]
    message = nodes.switch(
        "STRING", no_armature, nodes.index_switch("STRING", missing, messages), "The armature is missing"
    )
    return nodes.any_of(
        [
            warn(no_table, "The hidden meshes with joint sets and weights are missing: choose Make Portable again"),
            warn(other_vertices, "The mesh has other vertices than when it was made portable"),
            warn(nodes.compare("GREATER_THAN", missing, 0), message),
        ]
    )
