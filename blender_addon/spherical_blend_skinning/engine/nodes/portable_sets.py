# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the portable engine for joint sets: the center of each, pairs of its joints, and vertices by these.

There is a point for each pair of a pivot group, whose pivot is one of the set's slots, and another slot of the set. It
has what that joint adds to the motion of a vertex's heaviest joint. Three at a time they fill matrices, so that one
product blends the contributions of three joints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .formulas import AXES, Formulas, Socket, Value
from .portable_joints import Slots, Space

#: The damping of `sbs.Skin.deform`: how strongly a center is drawn to the mean of its set's vertices.
DAMPING = 1e-8
# Below this real part, a quaternion is not computed from a difference of matrices.
_HALF_TURN = 0.25


def solve_centers(nodes: Formulas, slots: Slots, space: Space) -> tuple[Slots, Socket]:
    """Where the joints of each set move most alike: the z that minimizes |E z + f|^2 + damping |z|^2 over the set.

    z is the offset of the rotation center from c0, the mean of the set's vertices. It is stored at the points for the
    damping, on the geometry of the slots.

    E are deviations of rotations from their mean, f those of moved points c0: the sum over all pairs of
    |(R_a z + C_a c0) - (R_b z + C_b c0)|^2 is, for n joints, n times the sum of squared deviations. The damping is one
    more point of the set, where E is its root times the identity and f is 0.

    In single precision, E^T E would lose small singular values. So columns are made orthogonal by the modified
    Gram-Schmidt process, with f as the last, and only the results are squared (Bjorck, Numerical Methods for Least
    Squares Problems, 1996). The residual of f is E z + f; at the point for the damping that is its root times z.
    """
    nodes.begin("Deviations from the mean")
    set_number, mean_number = nodes.attribute("INT", "set"), nodes.attribute("INT", "mean")
    damping = nodes.attribute("VECTOR", "damping")
    moved = nodes.move(slots.matrix, nodes.move(space.from_mesh, nodes.attribute("VECTOR", "centroid")))
    columns = (*nodes.columns(slots.rotation), moved)
    *rest, last = (nodes.subtract(value, nodes.average("VECTOR", value, mean_number)) for value in columns)
    rest = [nodes.vector_math("MULTIPLY_ADD", damping, *pair) for pair in zip(AXES, rest, strict=True)]
    rest.append(last)
    names = ("X", "Y", "Z", "Moved")
    values = [("VECTOR", name, value) for name, value in zip(names, rest, strict=True)]
    geometry, *rest = nodes.keep(slots.geometry, values)
    for number in range(1, 4):
        nodes.begin(f"What {names[number - 1]} does not explain")
        first, *rest = rest
        products = [nodes.dot(first, column) for column in (first, *rest)]
        square, *means = nodes.components(nodes.average("VECTOR", nodes.vector(*products[:3]), set_number))
        means = [*means, *(nodes.average("FLOAT", product, set_number) for product in products[3:])]
        rest = [
            nodes.subtract(column, nodes.scale(first, nodes.math("DIVIDE", mean, square)))
            for column, mean in zip(rest, means, strict=False)
        ]
        if number == 3:
            rest = [nodes.vector_math("DIVIDE", *rest, damping)]
        values = [("VECTOR", name, value) for name, value in zip(names[number:], rest, strict=True)]
        geometry, *rest = nodes.keep(geometry, values)
    (center,) = rest
    return replace(slots, geometry=geometry), center


# ---------------------------------------------------------------------------------------------------------------- pairs


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


# ------------------------------------------------------------------------------------------------------------- vertices


def deform(
    nodes: Formulas, pairs: Pairs, weights: Socket, space: Space, is_skewed: Socket, block_count: int, other_method: str
) -> Socket:
    """The position of a vertex, in the mesh's space."""
    nodes.begin("Vertices")
    position = nodes.node("GeometryNodeInputPosition").outputs[0]
    vertex_value = nodes.vertex_values(weights)
    first = vertex_value("INT", "pair")
    # The weights of each three other joints, and the first of their pairs.
    blocks = [
        (
            vertex_value("VECTOR", f"weights_{number}"),
            nodes.integer("ADD", first, 3 * (number - 1)) if number > 1 else first,
        )
        for number in range(1, block_count + 1)
    ]

    def pivot_value(data_type: str, value: Socket) -> Socket:
        return nodes.sample(data_type, pairs.geometry, value, first)

    def blend(geometry: Socket, matrix: Socket) -> Socket:
        return nodes.add(*(nodes.turn(nodes.sample("MATRIX", geometry, matrix, at), own) for own, at in blocks))

    def along(matrices: ByAxis, vector: Socket) -> Socket:
        """The blend of matrices times a vector."""
        components = nodes.components(vector)
        return nodes.add(
            *(
                nodes.scale(blend(matrices.geometry, matrix), component)
                for matrix, component in zip(matrices.axes, components, strict=True)
            )
        )

    rigid = nodes.move(pivot_value("MATRIX", pairs.matrix), position)
    arm = nodes.subtract(rigid, pivot_value("VECTOR", pairs.pivot_center))
    offset = blend(pairs.geometry, pairs.offsets)
    moved = nodes.add(rigid, offset)

    nodes.begin("Joints that are not rigid")
    from_centroid = nodes.subtract(nodes.move(space.from_mesh, position), pivot_value("VECTOR", pairs.centroid))
    stretched = along(pairs.stretches, from_centroid)
    moved = nodes.switch("VECTOR", is_skewed, moved, nodes.add(moved, stretched))
    arm = nodes.switch("VECTOR", is_skewed, arm, nodes.add(arm, stretched))

    nodes.begin("Blended rotation")
    # The imaginary part divided by the real one, which is at least the weight of the pivot.
    if block_count == 1:
        ((own, _),) = blocks
        tangent = nodes.project(pivot_value("MATRIX", pairs.quaternions), own)
    else:
        real: Value = 1.0
        for own, at in blocks:
            real = nodes.math("ADD", real, nodes.dot(own, nodes.sample("VECTOR", pairs.geometry, pairs.reals, at)))
        tangent = nodes.scale(blend(pairs.geometry, pairs.quaternions), nodes.math("DIVIDE", 1.0, real))
    once = nodes.cross(tangent, arm)
    turned = nodes.add(once, nodes.cross(tangent, once))
    norm = nodes.math("ADD", nodes.dot(tangent, tangent), 1.0)
    turned = nodes.scale(turned, nodes.math("DIVIDE", 2.0, norm))
    result = space.vertex_to_mesh(nodes, nodes.add(moved, turned))

    def other() -> Socket:
        if other_method == "RIGID":
            return space.vertex_to_mesh(nodes, rigid)
        if other_method == "LINEAR" and pairs.linear is not None and pairs.linear_offsets is not None:
            offset = blend(pairs.geometry, pairs.linear_offsets)
            return space.vertex_to_mesh(nodes, nodes.add(rigid, offset, along(pairs.linear, from_centroid)))
        return position

    return with_amount(nodes, vertex_value, result, other) if other_method else result


def with_amount(
    nodes: Formulas, vertex_value: Callable[[str, str], Socket], result: Socket, other: Callable[[], Socket]
) -> Socket:
    """A position blended with another by the amount of a vertex; `other` makes the nodes for the latter."""
    nodes.begin("Amount")
    amount, rest = vertex_value("FLOAT", "amount"), other()
    return nodes.add(rest, nodes.scale(nodes.subtract(result, rest), amount))
