# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of its method a bound mesh gets: a number, one for each bone and a vertex group, multiplied.

If twists are to be spread, there is less of it across joints, also where no limb is found.

The numbers are read from evaluated data-blocks, because they may be animated.
"""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import influences
from ...core.binding import Binding
from ...core.influences import VertexWeights
from ...core.method import Amount
from ...settings.given import pose_of
from ...settings.properties import BONE_AMOUNT, settings_of


def read_bone_amounts(armature: bpy.types.Object) -> NDArray[np.float32]:
    """The amounts of all bones in the pose of an armature object, (B,)."""
    bones = pose_of(armature).bones
    result = np.empty(len(bones), np.float32)
    bones.foreach_get(BONE_AMOUNT, result)
    return result


class Amounts:
    """The remembered amounts of an object."""

    def __init__(self) -> None:
        self.key = b""  #: All that they are computed from: equal keys, equal amounts
        self.amount: Amount | None = None  #: None if every vertex gets only the method
        self._painted: NDArray[np.float32] | None = None
        self._group = ""
        self._weights: VertexWeights | None = None
        self._binding: Binding | None = None
        self._across: tuple[float, NDArray[np.float32]] | None = None

    def update(self, evaluated: bpy.types.Object, posed: bpy.types.Object, binding: Binding) -> None:
        """Bring them up to date with an evaluated object, its armature and what it is bound by."""
        settings = settings_of(evaluated)
        numbers = read_bone_amounts(posed)
        group, invert, method = settings.amount_group, settings.amount_invert, settings.amount_method.lower()
        # Where the other method is the same, it does not matter how much of either a vertex gets.
        across = (
            settings.twist_across if binding.spread is not None and settings.method != settings.amount_method else 1.0
        )
        words = f"{invert}{method}{across}{group}"
        key = b"".join((np.float32(settings.amount).tobytes(), numbers.tobytes(), words.encode()))
        old = self._binding
        is_same = old is not None and binding.has_influences_of(old)
        if key == self.key and is_same:
            return
        weights = binding.surface.weights
        if group != self._group or weights is not self._weights:
            self._painted = _painted(binding, group)
            self._group, self._weights = group, weights
        self.amount = _combined(binding, settings.amount, numbers, self._painted, invert, method)
        if across < 1.0:
            if self._across is None or self._across[0] != across or not is_same:
                self._across = across, binding.across_joints(across)
            amounts = self._across[1]
            self.amount = Amount(amounts if self.amount is None else self.amount.weights * amounts, method)
        self.key, self._binding = key, binding


def _painted(binding: Binding, group: str) -> NDArray[np.float32] | None:
    """The weights (V,) in a vertex group; None if there is no such group."""
    surface = binding.surface
    if group not in surface.groups:
        return None
    return influences.group_weights(surface.weights, surface.groups.index(group))


def _combined(
    binding: Binding,
    whole: float,
    bones: NDArray[np.float32],
    painted: NDArray[np.float32] | None,
    invert: bool,
    method: str,
) -> Amount | None:
    if painted is None and whole >= 1.0 and (bones >= 1.0).all():
        return None
    amounts = np.full(len(binding.surface.positions), whole, np.float32)
    if painted is not None:
        amounts *= 1.0 - painted if invert else painted
    if (bones < 1.0).any():
        amounts *= binding.means_by_weight(bones)
    # Animation curves can overshoot.
    return Amount(np.clip(amounts, 0.0, 1.0, out=amounts), method)
