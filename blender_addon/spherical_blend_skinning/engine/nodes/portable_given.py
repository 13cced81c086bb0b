# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the portable engine for vertices with given rotation centers.

Such centers are near the vertices, not far away as those of joint sets may be. So motions of joints can be blended
directly, one after the other, without differences to keep them exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .formulas import AXES, Formulas, Socket, Value
from .portable_joints import Slots, Space
from .portable_sets import with_amount


@dataclass
class _Pairs:
    """The pairs of a pivot with other joints: a geometry, and fields on it.

    Fields at the first of three pairs are for all three; p is the pivot, k another joint.
    """

    geometry: Socket
    pivot_matrix: Socket  #: C_p, from the mesh's space to the one for blending
    matrices: list[Socket]  #: C_k likewise, of each pair
    quaternions: Socket  #: Columns: imaginary parts of q_k q_p*, and below them their real parts minus 1
    reals: Socket  #: Real parts minus 1
    stretched_geometry: Socket
    stretched: list[Socket]  #: On that geometry: R_p S_k of each pair, from the mesh's space


def _pairs(nodes: Formulas, geometry: Socket, slots: Slots, space: Space) -> _Pairs:
    nodes.begin("Motion of each joint")
    values = [
        ("MATRIX", "From Mesh", nodes.multiply(slots.matrix, space.from_mesh)),
        ("ROTATION", "Turn", nodes.rotation(slots.rotation)),
    ]
    joints, from_mesh, turn = nodes.keep(slots.geometry, values)

    nodes.begin("Joints of each pair")
    pivot, other = nodes.attribute("INT", "pivot"), nodes.attribute("INT", "slot")

    def at(index: Socket, data_type: str, value: Socket) -> Socket:
        return nodes.sample(data_type, joints, value, index)

    imaginary, real = nodes.quaternion(nodes.rotation_between(at(pivot, "ROTATION", turn), at(other, "ROTATION", turn)))
    values = [
        ("MATRIX", "Matrix", at(other, "MATRIX", from_mesh)),
        ("VECTOR", "Imaginary", imaginary),
        ("FLOAT", "Real", nodes.math("SUBTRACT", real, 1.0)),
    ]
    moving, matrix, imaginary, real = nodes.keep(geometry, values)

    nodes.begin("Three pairs together")
    reals = nodes.three("FLOAT", real)
    values = [
        ("MATRIX", "Matrix of Pivot", at(pivot, "MATRIX", from_mesh)),
        *(("MATRIX", f"Matrix {number}", each) for number, each in enumerate(nodes.three("MATRIX", matrix), 1)),
        ("MATRIX", "Quaternions", nodes.matrix(nodes.three("VECTOR", imaginary), bottom=reals)),
        ("VECTOR", "Reals", nodes.vector(*reals)),
    ]
    moving, pivot_matrix, *matrices, quaternions, kept_reals = nodes.keep(moving, values)

    nodes.begin("Stretch of joints that are not rigid")
    rotations = (at(pivot, "MATRIX", slots.rotation), nodes.transpose(at(other, "MATRIX", slots.rotation)))
    stretched = nodes.multiply(nodes.multiply(*rotations), at(other, "MATRIX", from_mesh))
    stretched_geometry, stretched = nodes.keep(geometry, [("MATRIX", "Stretched", stretched)])
    return _Pairs(
        geometry=moving,
        pivot_matrix=pivot_matrix,
        matrices=matrices,
        quaternions=quaternions,
        reals=kept_reals,
        stretched_geometry=stretched_geometry,
        stretched=nodes.three("MATRIX", stretched),
    )


def deform_about_given(
    nodes: Formulas,
    pair_points: Socket,
    influence_points: Socket,
    slots: Slots,
    weights: Socket,
    space: Space,
    block_count: int,
    other_method: str,
) -> Socket:
    """The position of a vertex v about its center c, in the mesh's space.

    v' = sum w_i C_i c + Q y, y = Y (v - c), Y = sum w_i R_p S_i, with Q blended from q_i q_p*; Y is C_p if joints are
    rigid. That is one affine motion for all vertices with the same weights and center.

    Points are given of pairs, three joints at a time with the pivot, of vertices with the same weights and center, and
    by the slots of joints by their numbers. The weights are the table of vertices.
    """
    pairs = _pairs(nodes, pair_points, slots, space)
    motions, motion, *others = nodes.keep(
        influence_points, _motions(nodes, pairs, slots, space, block_count, other_method)
    )

    nodes.begin("Vertices")
    position = nodes.node("GeometryNodeInputPosition").outputs[0]
    vertex_value = nodes.vertex_values(weights)
    influence = vertex_value("INT", "influence")

    def moved(matrix: Socket) -> Socket:
        return nodes.move(nodes.sample("MATRIX", motions, matrix, influence), position)

    result = moved(motion)
    if not other_method:
        return result
    return with_amount(nodes, vertex_value, result, lambda: moved(*others) if others else position)


def _motions(
    nodes: Formulas, pairs: _Pairs, slots: Slots, space: Space, block_count: int, other_method: str
) -> list[tuple[str, str, Socket]]:
    """The motion of each point of influences, in the mesh's space, and that of the other method if there is one.

    They are (data type, name, value), for `keep`.
    """
    nodes.begin("Joints of influences")
    first = nodes.attribute("INT", "pair")
    blocks = [first, *(nodes.integer("ADD", first, 3 * number) for number in range(1, block_count))]
    own = [nodes.attribute("VECTOR", f"weights_{number + 1}") for number in range(block_count)]
    # Each other joint's weight divided by the sum of the weights up to it: the step towards its motion.
    share_blocks = (nodes.attribute("VECTOR", f"shares_{number + 1}") for number in range(block_count))
    shares = [share for block in share_blocks for share in nodes.components(block)]

    def other_matrices(geometry: Socket, fields: Sequence[Socket]) -> list[Socket]:
        return [nodes.sample("MATRIX", geometry, field, block) for block in blocks for field in fields]

    def blend(
        move: Callable[[Socket, Value], Socket], pivot: Socket, others: Sequence[Socket], vector: Value
    ) -> Socket:
        """The blend of matrices times a vector."""
        result = move(pivot, vector)
        for share, matrix in zip(shares, others, strict=True):
            result = nodes.mix(share, result, move(matrix, vector))
        return result

    center = nodes.attribute("VECTOR", "center")
    pivot_matrix = nodes.sample("MATRIX", pairs.geometry, pairs.pivot_matrix, first)
    matrices = other_matrices(pairs.geometry, pairs.matrices)
    moved = blend(nodes.move, pivot_matrix, matrices, center)

    nodes.begin("Joints of influences that are not rigid")
    stretched = other_matrices(pairs.stretched_geometry, pairs.stretched)
    stretching = nodes.matrix([blend(nodes.turn, pivot_matrix, stretched, axis) for axis in AXES])
    turning = nodes.switch("MATRIX", slots.is_skewed, pivot_matrix, stretching)

    nodes.begin("Blended rotation")
    quaternions = [nodes.sample("MATRIX", pairs.geometry, pairs.quaternions, block) for block in blocks]
    real: Value = 1.0
    if block_count == 1:
        # The imaginary part divided by the real one, which is at least the weight of the pivot.
        imaginary = nodes.project(*quaternions, *own)
    else:
        imaginary = nodes.add(*(nodes.turn(*each) for each in zip(quaternions, own, strict=True)))
        for block, weight in zip(blocks, own, strict=True):
            less = nodes.dot(weight, nodes.sample("VECTOR", pairs.geometry, pairs.reals, block))
            real = nodes.math("ADD", real, less)
    rotation = nodes.rotation_from_quaternion(imaginary, real)
    offset = nodes.subtract(moved, nodes.rotate(nodes.move(turning, center), rotation))
    motion = nodes.multiply(nodes.transform(offset, rotation), turning)
    motions = [("MATRIX", "Motion", space.motion_to_mesh(nodes, motion))]

    if other_method in ("RIGID", "LINEAR"):
        nodes.begin("The other method")
        other = pivot_matrix
        if other_method == "LINEAR":
            columns = [blend(nodes.turn, pivot_matrix, matrices, axis) for axis in AXES]
            other = nodes.matrix([*columns, blend(nodes.move, pivot_matrix, matrices, (0.0, 0.0, 0.0))])
        motions.append(("MATRIX", "Other Motion", space.motion_to_mesh(nodes, other)))
    return motions
