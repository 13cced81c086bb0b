# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the portable engine for vertices: add the blended differences of other joints to the heaviest's motion."""

from __future__ import annotations

from collections.abc import Callable

from .formulas import Formulas, Socket, Value
from .portable_joints import Space
from .portable_pairs import ByAxis, Pairs


def deform(
    nodes: Formulas,
    pairs: Pairs,
    weights: Socket,
    space: Space,
    is_skewed: Socket,
    block_count: int,
    other_method: str,
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
