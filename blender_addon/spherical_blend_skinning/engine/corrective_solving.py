# SPDX-License-Identifier: GPL-3.0-or-later
"""A shape key solved so that vertices get to where they are to be, through all that deforms them after it.

Each vertex is moved by itself, by modifiers before ours, bendy bones, twists, amounts and muscles alike. So three
deformations with all vertices moved a little along x, y and z give the derivative of each, and Newton's method does the
rest: a few more deformations.
"""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ..settings.typed import block_of_key
from . import shape_keys

__all__ = ["Solved", "solve"]

Floats = NDArray[np.float64]

# Shares of the size of the mesh: of a difference, of an error that is rounding, and of one that is not.
_DIFFERENCE = 2e-4
_MET = 2e-7
_MISSED = 1e-4
_STEPS = 10
# What a crushed vertex has no inverse along: a share of the largest singular value.
_FLAT = 1e-3


class Solved(NamedTuple):
    """How near solving got.

    Attributes
    ----------
    error : float
        The farthest vertex from where it is to be, of those that get there: a share of the size of the mesh.
    missed : int
        How many vertices cannot get there, as joints have crushed them; these are as near as can be.
    """

    error: float
    missed: int


def solve(
    item: bpy.types.Object,
    block: bpy.types.ShapeKey,
    vertices: NDArray[np.intp],
    positions: NDArray[np.float64],
    view_layer: bpy.types.ViewLayer,
) -> Solved:
    """Solve a shape key, whose value in this pose is 1, for places (M, 3) of some vertices; all others stay at rest."""
    basis, _deltas = shape_keys.basis_and_deltas(block)
    size = float(np.linalg.norm(np.ptp(basis, axis=0))) or 1.0

    def deformed(deltas: Floats) -> Floats:
        block.data.foreach_set("co", (basis + deltas).astype(np.float32).reshape(-1))
        block_of_key(block).update_tag()
        item.update_tag()
        return shape_keys.positions_alone(item, view_layer)[vertices].astype(np.float64)

    deltas = np.zeros_like(basis)
    posed = deformed(deltas)
    derivative = np.empty((len(vertices), 3, 3))
    for axis in range(3):
        beside = np.zeros_like(basis)
        beside[vertices, axis] = _DIFFERENCE * size
        derivative[:, :, axis] = (deformed(beside) - posed) / (_DIFFERENCE * size)
    inverse = np.linalg.pinv(derivative, rcond=_FLAT)
    best = np.full(len(vertices), np.inf)
    tried = np.zeros((len(vertices), 3))
    kept = tried.copy()
    for _ in range(_STEPS):
        offsets = positions - posed
        lengths = np.linalg.norm(offsets, axis=1)
        nearer = lengths < best
        best[nearer], kept[nearer] = lengths[nearer], tried[nearer]
        if best.max(initial=0.0) <= _MET * size or not nearer.any():
            break
        # Muscles and shape keys bend the way: steps start from the nearest that was found.
        tried = np.where(nearer[:, None], tried + np.einsum("vij,vj->vi", inverse, offsets), 0.5 * (tried + kept))
        deltas[vertices] = tried
        posed = deformed(deltas)
    deltas[vertices] = kept
    deformed(deltas)
    is_missed = best > _MISSED * size
    return Solved(float(best[~is_missed].max(initial=0.0)) / size, int(is_missed.sum()))
