# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the portable engine for joints: their motions, and the space in which these are blended."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from .formulas import AXES, Formulas, Socket

#: An input of the groups.
ARMATURE = "Armature"

# |A^T A - I| up to which a joint counts as rigid, as in the library.
_RIGID_TOLERANCE = 1e-5
# A smallest singular value below this share of the largest is a rounding error.
_FLAT = 1e-6
# How far a transformation may be from one that keeps angles, relatively: some rounding errors of its entries.
_SIMILAR = 5e-7


@dataclass
class Space:
    """The space in which joints are blended: that of the armature, or of the mesh, which saves a transformation."""

    #: Matrices between it and the spaces of the mesh and of the armature
    from_mesh: Socket
    to_mesh: Socket
    from_rig: Socket
    to_rig: Socket
    is_mesh_space: Socket  #: Whether it is that of the mesh

    def vertex_to_mesh(self, nodes: Formulas, position: Socket) -> Socket:
        """The position of a vertex in the space of the mesh."""
        return nodes.switch("VECTOR", self.is_mesh_space, nodes.move(self.to_mesh, position), position)

    def motion_to_mesh(self, nodes: Formulas, matrix: Socket) -> Socket:
        """A motion in the space of the mesh."""
        return nodes.switch("MATRIX", self.is_mesh_space, nodes.multiply(self.to_mesh, matrix), matrix)


def work_space(nodes: Formulas, rig_to_mesh: Socket) -> Space:
    """The space of the mesh if rotations are the same in both: if axes keep right angles and equal lengths.

    Otherwise the result of spherical blending depends on the space, and that of the armature is the right one.
    """
    nodes.begin("Space")
    mesh_to_rig = nodes.invert(rig_to_mesh)
    x, y, z = nodes.columns(rig_to_mesh)
    square = nodes.dot(x, x)
    off_z = nodes.subtract(nodes.scale(z, nodes.math("SQRT", square)), nodes.cross(x, y))
    off_y = nodes.vector(nodes.math("SUBTRACT", nodes.dot(y, y), square), nodes.dot(x, y), 0.0)
    off = nodes.math("ADD", nodes.dot(off_z, off_z), nodes.dot(off_y, off_y))
    limit = nodes.math("MULTIPLY", nodes.math("MULTIPLY", square, square), _SIMILAR**2)
    is_mesh_space = nodes.compare("LESS_THAN", off, limit, "FLOAT")
    return Space(
        from_mesh=nodes.switch("MATRIX", is_mesh_space, mesh_to_rig, None),
        to_mesh=nodes.switch("MATRIX", is_mesh_space, rig_to_mesh, None),
        from_rig=nodes.switch("MATRIX", is_mesh_space, None, rig_to_mesh),
        to_rig=nodes.switch("MATRIX", is_mesh_space, None, mesh_to_rig),
        is_mesh_space=is_mesh_space,
    )


@dataclass
class Slots:
    """Joints, one at each point of a geometry, and fields on it."""

    geometry: Socket
    #: C and its rotation R, which is C itself if all joints are rigid
    matrix: Socket
    rotation: Socket
    is_skewed: Socket  #: Whether any joint is not rigid, a single value
    length: Socket  #: Of the bone; 0 if it is missing
    shortest: Socket  #: The length of the shortest bone, a single value


def read_joints(nodes: Formulas, geometry: Socket, armature: Socket, bones: bpy.types.NodeTree, space: Space) -> Slots:
    """Read the joints of all slots, by their numbers."""
    nodes.begin("Joints")
    inputs = {ARMATURE: armature, "Joint": nodes.attribute("INT", "joint")}
    inner = nodes.node("GeometryNodeGroup", inputs, node_tree=bones).outputs
    matrix = nodes.multiply(nodes.multiply(space.from_rig, inner["Matrix"]), space.to_rig)

    nodes.begin("Rigid joints")
    x, y, z = nodes.columns(matrix)
    diagonal = nodes.vector(nodes.dot(x, x), nodes.dot(y, y), nodes.dot(z, z))
    above = nodes.vector(nodes.dot(x, y), nodes.dot(x, z), nodes.dot(y, z))
    defect = nodes.subtract(diagonal, (1.0, 1.0, 1.0))
    squares = nodes.math("MULTIPLY_ADD", nodes.dot(above, above), 2.0, nodes.dot(defect, defect))
    mirrored = nodes.math("LESS_THAN", nodes.node("FunctionNodeMatrixDeterminant", {"Matrix": matrix}).outputs[0], 0.0)
    skew = nodes.math("ADD", nodes.math("SQRT", squares), mirrored)
    # A rigid joint uses the nearest rotation, which one Newton-Schulz step finds.
    half_defect = nodes.symmetric(nodes.subtract((1.0, 1.0, 1.0), nodes.scale(defect, 0.5)), nodes.scale(above, -0.5))
    is_rigid = nodes.compare("LESS_EQUAL", skew, _RIGID_TOLERANCE, "FLOAT")
    moving = nodes.switch("MATRIX", is_rigid, matrix, nodes.multiply(matrix, half_defect))
    geometry, matrix, skew = nodes.keep(geometry, [("MATRIX", "Matrix", moving), ("FLOAT", "Skew", skew)])
    is_skewed = nodes.compare("GREATER_THAN", nodes.maximum(geometry, skew), _RIGID_TOLERANCE, "FLOAT")

    nodes.begin("Rotations of joints that are not rigid")
    rotation = nodes.switch("MATRIX", is_skewed, matrix, polar_rotation(nodes, matrix))
    return Slots(geometry, matrix, rotation, is_skewed, inner["Length"], inner["Shortest"])


def polar_rotation(nodes: Formulas, matrix: Socket) -> Socket:
    """The rotation of the polar form of a matrix C, that of -C for a mirrored joint.

    For a flat joint the sign of the vanishing axis is chosen so that it is a rotation.
    """
    svd = nodes.node("FunctionNodeMatrixSVD", {"Matrix": matrix}).outputs
    left, vectors = svd["U"], nodes.transpose(svd["V"])
    determinant = nodes.node("FunctionNodeMatrixDeterminant", {"Matrix": nodes.multiply(left, vectors)}).outputs[0]
    largest, _, smallest = nodes.components(svd["S"])
    is_flat = nodes.math("LESS_THAN", smallest, nodes.math("MULTIPLY", largest, _FLAT))
    sign = nodes.math("SIGN", determinant)
    others = nodes.switch("FLOAT", is_flat, sign, 1.0)
    signs = nodes.matrix([nodes.scale(axis, factor) for axis, factor in zip(AXES, (others, others, sign), strict=True)])
    return nodes.multiply(nodes.multiply(left, signs), vectors)
