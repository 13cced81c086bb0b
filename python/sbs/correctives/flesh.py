# SPDX-License-Identifier: MIT
"""Flesh: skin that is relaxed in each pose, at all joints at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..characters.character import Character
from ..characters.limbs import limb_twist, twist_amounts
from ..skinning.twist import as_frames
from .patches import Surface

__all__ = ["Flesh"]

STEPS = 12


class Flesh:
    """Flesh of a character."""

    def __init__(self, character: Character, *, amounts: ArrayLike | None = None, **options: float) -> None:
        surface, mesh = Surface(character), character.mesh
        self._character = character
        self._flesh = _core.Flesh(
            mesh.positions,
            mesh.triangles,
            mesh.joint_indices,
            mesh.joint_weights,
            surface.parents.astype(np.int32),
            np.stack([surface.heads, surface.tails], axis=1),
            hinges=np.array([surface.is_hinge(joint) for joint in range(len(surface.parents))]),
            amounts=None if amounts is None else np.asarray(amounts, np.float64),
            **options,
        )
        twist = limb_twist(character)
        self._skin = character.twisted_skin(twist, optimized=True)
        self._amount = twist_amounts(character, twist)

    def relax(self, skinning_matrices: ArrayLike, positions: Any = None, *, steps: int = STEPS, amount: float = 1.0, threads: int | None = None):
        matrices, single = as_frames(skinning_matrices)
        if positions is None:
            positions = self._skin.deform_many(matrices, center="optimized", amount=self._amount)
        found = np.array(positions)
        self._flesh.relax(found.reshape(-1, *found.shape[-2:]), matrices, steps=steps, amount=amount, threads=threads)
        return found[0] if single else found
