# SPDX-License-Identifier: GPL-3.0-or-later
"""A bound mesh as shown, and by linear blending. Nothing is written to the artist's data."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ..engine.live import live, methods, states


class Difference(NamedTuple):
    """The results of the modifier of an object, in the object's space."""

    #: (V, 3)
    shown: NDArray[np.float32]
    linear: NDArray[np.float32]

    @property
    def distances(self) -> NDArray[np.float32]:
        """How far each vertex is from its place by linear blending, (V,)."""
        distances: NDArray[np.float32] = np.linalg.norm(self.shown - self.linear, axis=1)
        return distances


def find(item: bpy.types.Object) -> Difference | None:
    """The difference in the pose shown; None for an object that the live engine does not deform at present."""
    state, shown = states.state_of(item), live.shown(item)
    if state is None or shown is None or state.binding is None or state.skinning_matrices is None:
        return None
    if len(state.skinning_matrices) != state.binding.joint_count:
        return None
    binding = state.binding
    linear = binding.deform(state.skinning_matrices, methods.LINEAR, twists=binding.untwisted)
    return Difference(shown, binding.space.to_mesh(linear).astype(np.float32, copy=False))
