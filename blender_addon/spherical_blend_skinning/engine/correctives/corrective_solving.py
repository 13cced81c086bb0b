# SPDX-License-Identifier: GPL-3.0-or-later
"""A shape key solved so that vertices get to where they are to be, through all that deforms them after it.

Each vertex is moved by itself, by bendy bones, twists, amounts and muscles alike. So three deformations with all
vertices moved a little along x, y and z give the derivative of each, and Newton's method does the rest: a few more
deformations, and new derivatives where the way bends.
"""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...settings.typed import block_of_key
from ..bake import shape_keys

Floats = NDArray[np.float64]

# Shares of the size of the mesh: of a difference, of an error that is rounding, and of one that is not.
_DIFFERENCE = 2e-4
_MET = 2e-7
_MISSED = 1e-4
_STEPS = 16
# Singular values of a crushed vertex are below this share of the largest.
_FLAT = 1e-3


class Solved(NamedTuple):
    """How near solving got."""

    #: The largest distance between a vertex and its target, but for missed ones: a share of the size of the mesh
    error: float
    missed: int  #: How many vertices cannot reach their targets, as joints have crushed them


def solve(
    item: bpy.types.Object,
    block: bpy.types.ShapeKey,
    vertices: NDArray[np.intp],
    positions: NDArray[np.float64],
    view_layer: bpy.types.ViewLayer,
    others_stay: bool = False,
) -> Solved:
    """Solve a shape key, whose value in this pose is 1, for places (M, 3) of some vertices.

    All others keep their deltas if they stay, and have none otherwise.
    """
    basis, before = shape_keys.basis_and_deltas(block)
    if not others_stay:
        before = np.zeros_like(basis)
    size = float(np.linalg.norm(np.ptp(basis, axis=0))) or 1.0

    def deformed(deltas: Floats) -> Floats:
        block.data.foreach_set("co", (basis + deltas).astype(np.float32).reshape(-1))
        block_of_key(block).update_tag()
        item.update_tag()
        return shape_keys.positions_alone(item, view_layer)[vertices].astype(np.float64)

    def derivative(moves: Floats, posed: Floats) -> Floats:
        """How the vertices follow the shape key, (M, 3, 3)."""
        found = np.empty((len(vertices), 3, 3))
        for axis in range(3):
            beside = moves.copy()
            beside[:, axis] += _DIFFERENCE * size
            found[:, :, axis] = (deformed(spread(beside)) - posed) / (_DIFFERENCE * size)
        return found

    def spread(moves: Floats) -> Floats:
        """Moves (M, 3) as deltas of all vertices."""
        deltas = before.copy()
        deltas[vertices] = moves
        return deltas

    kept = before[vertices]
    posed = deformed(spread(kept))
    offsets = positions - posed
    best = np.linalg.norm(offsets, axis=1)
    inverse: Floats = np.empty((len(vertices), 3, 3))
    share = np.ones(len(vertices))
    is_new, last = True, np.inf
    for _ in range(_STEPS):
        if best.max(initial=0.0) <= _MET * size:
            break
        if is_new:
            inverse = np.asarray(np.linalg.pinv(derivative(kept, posed), rcond=_FLAT), np.float64)
        tried = kept + share[:, None] * np.einsum("vij,vj->vi", inverse, offsets)
        now = deformed(spread(tried))
        lengths = np.linalg.norm(positions - now, axis=1)
        nearer = lengths < best
        best[nearer], kept[nearer], posed[nearer] = lengths[nearer], tried[nearer], now[nearer]
        if not nearer.all():
            # Modifiers before ours may move a vertex with its neighbors.
            posed = deformed(spread(kept))
            best = np.linalg.norm(positions - posed, axis=1)
        offsets = positions - posed
        # Bending bones and muscles bend the way: where a whole step leads away, half of it may not.
        share = np.where(nearer, 1.0, 0.5 * share)
        # Where the way is nearly straight, derivatives stay as they are.
        is_new = best.max(initial=0.0) > 0.1 * last
        last = best.max(initial=0.0)
    deformed(spread(kept))
    is_missed = best > _MISSED * size
    return Solved(float(best[~is_missed].max(initial=0.0)) / size, int(is_missed.sum()))
