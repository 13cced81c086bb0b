# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the portable engine for vertices that have rotation centers of their own, which are given with them.

Centers are among the vertices, not far away as those of joint sets may be: so motions of joints are blended as they
are, from one to the next, and there is nothing that would have to be a difference to be exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .formulas import Formulas, Socket, Value
from .portable_joints import Slots, Space
from .portable_vertices import with_amount

__all__ = ["deform_about_given"]


@dataclass
class _Pairs:
    """The pairs of a pivot with other joints: a geometry, and fields on it.

    Fields stand at the first of three pairs for all of them; p is the pivot, k another joint.

    Attributes
    ----------
    geometry : Socket
    pivot_matrix : Socket
        C_p, from the mesh's space to the one for blending.
    matrices : list of Socket
        C_k likewise, of each pair.
    quaternions : Socket
        Columns: imaginary parts of q_k q_p*, and below them their real parts less 1.
    reals : Socket
        Real parts less 1.
    stretched_geometry : Socket
    stretched : list of Socket
        On that geometry: R_p S_k of each pair, from the mesh's space.
    """

    geometry: Socket
    pivot_matrix: Socket
    matrices: list[Socket]
    quaternions: Socket
    reals: Socket
    stretched_geometry: Socket
    stretched: list[Socket]


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
    geometry: Socket,
    slots: Slots,
    weights: Socket,
    space: Space,
    block_count: int,
    other_method: str,
) -> Socket:
    """The position of a vertex v about its center c, in the mesh's space.

    v' = sum w_i C_i c + Q y, y = sum w_i R_p S_i (v - c), with Q blended from q_i q_p*: y is C_p (v - c) while joints
    are rigid.

    Parameters
    ----------
    nodes : Formulas
    geometry : Socket
        The pairs, of three joints each with the pivot.
    slots : Slots
        A joint at the point of its number.
    weights : Socket
        The table of vertices.
    space : Space
    block_count, other_method
        As of the group.
    """
    pairs = _pairs(nodes, geometry, slots, space)

    nodes.begin("Vertices")
    index = nodes.node("GeometryNodeInputIndex").outputs[0]
    position = nodes.node("GeometryNodeInputPosition").outputs[0]

    def of_vertex(data_type: str, name: str) -> Socket:
        return nodes.sample(data_type, weights, nodes.attribute(data_type, name), index)

    first = of_vertex("INT", "pair")
    blocks = [first, *(nodes.integer("ADD", first, 3 * number) for number in range(1, block_count))]
    # Of each other joint its part of the sum of the weights up to its own: so much of the way to it is gone.
    blocks_of_shares = (of_vertex("VECTOR", f"shares_{number + 1}") for number in range(block_count))
    shares = [share for block in blocks_of_shares for share in nodes.components(block)]

    def of_others(geometry: Socket, fields: Sequence[Socket]) -> list[Socket]:
        return [nodes.sample("MATRIX", geometry, field, block) for block in blocks for field in fields]

    def blend(
        move: Callable[[Socket, Socket], Socket], pivot: Socket, others: Sequence[Socket], vector: Socket
    ) -> Socket:
        """The blend of matrices times a vector, of which the pivot's is given."""
        result = pivot
        for share, matrix in zip(shares, others, strict=True):
            result = nodes.mix(share, result, move(matrix, vector))
        return result

    center = of_vertex("VECTOR", "center")
    pivot_matrix = nodes.sample("MATRIX", pairs.geometry, pairs.pivot_matrix, first)
    matrices = of_others(pairs.geometry, pairs.matrices)
    moved_by_pivot = nodes.move(pivot_matrix, center)
    moved = blend(nodes.move, moved_by_pivot, matrices, center)
    from_center = nodes.subtract(position, center)
    arm_of_pivot = nodes.turn(pivot_matrix, from_center)

    nodes.begin("Joints that are not rigid")
    stretched = blend(nodes.turn, arm_of_pivot, of_others(pairs.stretched_geometry, pairs.stretched), from_center)
    arm = nodes.switch("VECTOR", slots.is_skewed, arm_of_pivot, stretched)

    nodes.begin("Blended rotation")
    own = [of_vertex("VECTOR", f"weights_{number + 1}") for number in range(block_count)]
    quaternions = [nodes.sample("MATRIX", pairs.geometry, pairs.quaternions, block) for block in blocks]
    real: Value = 1.0
    if block_count == 1:
        # The imaginary part over the real one, which is the weight of the pivot at least.
        imaginary = nodes.project(*quaternions, *own)
    else:
        imaginary = nodes.add(*(nodes.turn(*each) for each in zip(quaternions, own, strict=True)))
        for block, weight in zip(blocks, own, strict=True):
            less = nodes.dot(weight, nodes.sample("VECTOR", pairs.geometry, pairs.reals, block))
            real = nodes.math("ADD", real, less)
    result = space.vertex_to_mesh(nodes, nodes.add(moved, nodes.rotate(arm, imaginary, real)))

    def other() -> Socket:
        if other_method == "NONE":
            return position
        by_pivot = nodes.add(moved_by_pivot, arm_of_pivot)
        linear = blend(nodes.move, by_pivot, matrices, position) if other_method == "LINEAR" else by_pivot
        return space.vertex_to_mesh(nodes, linear)

    return with_amount(nodes, of_vertex, result, other) if other_method else result
