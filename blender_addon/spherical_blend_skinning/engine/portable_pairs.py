# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the portable engine for pairs of joints: what a joint adds to the motion of a vertex's heaviest joint.

There is a point for each pair of a pivot group, whose pivot is one of the set's slots, and another slot of the set.
Three at a time they fill matrices, so that one product blends the contributions of three joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .formulas import AXES, Formulas, Socket
from .portable_joints import Slots, Space

# Below this real part, a quaternion is not computed from a difference of matrices.
_HALF_TURN = 0.25


@dataclass
class ByAxis:
    """Matrices of three pairs by columns: a geometry, and a field on it for the image of each axis."""

    geometry: Socket
    axes: list[Socket]


@dataclass
class Pairs:
    """The pairs of pivot groups, for vertices: a geometry, and fields on it.

    Fields at the first of three pairs are for all three; p is the pivot, k another slot.
    """

    geometry: Socket
    matrix: Socket  #: C_p, from the mesh's space to the one for blending
    quaternions: Socket  #: Columns: imaginary parts of q_k q_p*, and below them their real parts minus 1
    reals: Socket  #: Real parts minus 1
    offsets: Socket  #: Columns: c_k - c_p, with c_k = C_k c0 + R_k z the place where joint k takes the center
    pivot_center: Socket  #: c_p
    centroid: Socket  #: c0
    stretches: ByAxis  #: Of R_p S_k - C_p
    linear: ByAxis | None  #: Of C_k - C_p, if needed
    linear_offsets: Socket | None  #: Columns: C_k c0 - C_p c0, if needed


def relative_motions(
    nodes: Formulas, geometry: Socket, slots: Slots, center: Socket, space: Space, with_linear: bool
) -> Pairs:
    """All pairs, from the slots of their joints and the centers at the points for the damping."""
    nodes.begin("Joints of each pair")
    pivot, slot = nodes.attribute("INT", "pivot"), nodes.attribute("INT", "slot")

    def at(index: Socket, data_type: str, value: Socket) -> Socket:
        return nodes.sample(data_type, slots.geometry, value, index)

    matrix, pivot_matrix = at(slot, "MATRIX", slots.matrix), at(pivot, "MATRIX", slots.matrix)
    rotation, pivot_rotation = (
        nodes.switch("MATRIX", slots.is_skewed, rigid, at(index, "MATRIX", slots.rotation))
        for rigid, index in ((matrix, slot), (pivot_matrix, pivot))
    )
    centroid = nodes.move(space.from_mesh, nodes.attribute("VECTOR", "centroid"))
    from_centroid = at(nodes.attribute("INT", "damper"), "VECTOR", center)

    nodes.begin("Stretch of joints that are not rigid")
    pivot_columns = nodes.columns(pivot_matrix)
    stretched = nodes.multiply(nodes.multiply(pivot_rotation, nodes.transpose(rotation)), matrix)
    stretch = _difference(nodes, nodes.columns(stretched), pivot_columns)
    linear = _difference(nodes, nodes.columns(matrix), pivot_columns) if with_linear else None

    imaginary, real_less_one = _quaternion(nodes, rotation, pivot_rotation)

    nodes.begin("How the center moves")
    pivot_moved = nodes.move(pivot_matrix, centroid)
    arm = nodes.turn(pivot_rotation, from_centroid)
    pivot_center = nodes.add(pivot_moved, arm)
    # R_k z - R_p z from the same numbers that rotate y, because most of both cancels.
    centroid_offset = nodes.subtract(nodes.move(matrix, centroid), pivot_moved)
    offset = nodes.add(centroid_offset, _turn_less(nodes, arm, imaginary, real_less_one))
    columns = [imaginary, offset, centroid_offset] if with_linear else [imaginary, offset]
    values = [
        ("MATRIX", "Motion", nodes.matrix(columns, bottom=[real_less_one])),
        ("MATRIX", "Matrix of Pivot", nodes.multiply(pivot_matrix, space.from_mesh)),
        ("VECTOR", "Pivot Center", pivot_center),
    ]
    moving, motion, mesh_to_pivot, pivot_center = nodes.keep(geometry, values)

    nodes.begin("Three pairs to a matrix")
    three = [nodes.entries(each) for each in nodes.three("MATRIX", motion)]
    reals = [imaginary[3] for imaginary, *_ in three]
    names = ("Offsets", "Linear Offsets") if with_linear else ("Offsets",)
    values = [
        ("MATRIX", "Quaternions", nodes.matrix([imaginary[:3] for imaginary, *_ in three], bottom=reals)),
        ("VECTOR", "Reals", nodes.vector(*reals)),
        *(
            ("MATRIX", name, nodes.matrix([columns[number][:3] for columns in three]))
            for number, name in enumerate(names, 1)
        ),
    ]
    moving, quaternions, kept_reals, offsets, *linear_offsets = nodes.keep(moving, values)
    return Pairs(
        geometry=moving,
        matrix=mesh_to_pivot,
        quaternions=quaternions,
        reals=kept_reals,
        offsets=offsets,
        pivot_center=pivot_center,
        centroid=centroid,
        stretches=_by_axis(nodes, geometry, stretch),
        linear=_by_axis(nodes, geometry, linear) if linear is not None else None,
        linear_offsets=linear_offsets[0] if linear_offsets else None,
    )


def _difference(nodes: Formulas, columns: Sequence[Socket], others: Sequence[Socket]) -> Socket:
    """A matrix with the differences of columns."""
    return nodes.matrix([nodes.subtract(a, b) for a, b in zip(columns, others, strict=True)])


def _by_axis(nodes: Formulas, geometry: Socket, matrix: Socket) -> ByAxis:
    nodes.begin("Three pairs to a matrix for each axis")
    geometry, matrix = nodes.keep(geometry, [("MATRIX", "Matrix", matrix)])
    three = nodes.three("MATRIX", matrix)
    values = [
        ("MATRIX", name, nodes.matrix([nodes.turn(each, axis) for each in three]))
        for name, axis in zip("XYZ", AXES, strict=True)
    ]
    geometry, *axes = nodes.keep(geometry, values)
    return ByAxis(geometry, axes)


def _quaternion(nodes: Formulas, rotation: Socket, pivot_rotation: Socket) -> tuple[Socket, Socket]:
    """Imaginary part, and real part minus 1, of q_k q_p*; its real part is not negative.

    With columns r of R_p and d of R_k - R_p, the sum of r x d is four times the real part times the imaginary one, and
    the sum of d d is eight times the square of the latter.
    """
    nodes.begin("Quaternion")
    columns = nodes.columns(pivot_rotation)
    differences = [nodes.subtract(a, b) for a, b in zip(nodes.columns(rotation), columns, strict=True)]
    axis = nodes.add(*(nodes.cross(r, d) for r, d in zip(columns, differences, strict=True)))
    squares = [nodes.dot(d, d) for d in differences]
    eight = nodes.math("ADD", nodes.math("ADD", squares[0], squares[1]), squares[2])
    square = nodes.math("MULTIPLY_ADD", eight, -0.125, 1.0)
    real = nodes.math("SQRT", nodes.math("MAXIMUM", square, _HALF_TURN**2))
    imaginary = nodes.scale(axis, nodes.math("DIVIDE", 0.25, real))

    # Near half a turn this is inexact, but Blender's own conversion is exact.
    relative = nodes.multiply(rotation, nodes.invert(pivot_rotation))
    far_imaginary, far_real = nodes.quaternion(nodes.rotation(relative))
    is_far = nodes.compare("LESS_THAN", square, _HALF_TURN**2, "FLOAT")
    imaginary = nodes.switch("VECTOR", is_far, imaginary, far_imaginary)
    real = nodes.switch("FLOAT", is_far, real, far_real)
    return imaginary, nodes.math("SUBTRACT", real, 1.0)


def _turn_less(nodes: Formulas, vector: Socket, imaginary: Socket, real_less_one: Socket) -> Socket:
    """A vector rotated by a unit quaternion, minus the vector."""
    once = nodes.cross(imaginary, vector)
    once_real = nodes.add(nodes.scale(once, real_less_one), once)
    return nodes.scale(nodes.add(once_real, nodes.cross(imaginary, once)), 2.0)
