# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the portable engine for joint sets: the rotation center of each in a pose."""

from __future__ import annotations

from dataclasses import replace

from .formulas import AXES, Formulas, Socket
from .portable_joints import Slots, Space

#: The damping of `sbs.Skin.deform`: how strongly a center is drawn to the mean of its set's vertices.
DAMPING = 1e-8


def solve_centers(nodes: Formulas, slots: Slots, space: Space) -> tuple[Slots, Socket]:
    """Where the joints of each set move most alike: the z that minimizes |E z + f|^2 + damping |z|^2 over the set.

    z is the offset of the rotation center from c0, the mean of the set's vertices. It is stored at the points for the
    damping, on the geometry of the slots.

    E are deviations of rotations from their mean, f those of moved points c0: the sum over all pairs of
    |(R_a z + C_a c0) - (R_b z + C_b c0)|^2 is, for n joints, n times the sum of squared deviations. The damping is one
    more point of the set, where E is its root times the identity and f is 0.

    In single precision, E^T E would lose small singular values. So columns are made orthogonal by the modified
    Gram-Schmidt process, with f as the last, and only the results are squared (Bjorck, Numerical Methods for Least
    Squares Problems, 1996). What remains of f is E z + f; at the point for the damping that is its root times z.
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
