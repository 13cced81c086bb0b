# SPDX-License-Identifier: GPL-3.0-or-later
"""The flesh of a bound object, made anew when its mesh, its weights or its mask change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core import library
from ...core.binding import Binding
from ...core.flesh import Relaxation
from ...core.matrices import Floats
from ...core.place import corners, is_at_place
from ...settings.properties import SBS_PG_object
from ...settings.typed import mesh_of
from .. import reading
from ..stack import subject

#: Whether frames are baked, so that they need the steps of renders.
stays = False


@dataclass
class Flesh:
    """The flesh of a bound object; None while it is off, or has no faces."""

    relaxation: Relaxation | None = None
    _binding: Binding | None = None
    _to_rig: Floats | None = None
    _corners: Floats | None = None
    _mask: str = ""

    def update(
        self,
        target: subject.Subject,
        settings: SBS_PG_object,
        binding: Binding,
        to_rig: Floats,
        mesh_changed: bool,
    ) -> bool:
        """Make the flesh anew as far as it is out of date; return whether it moves the mesh otherwise than before."""
        before = self.relaxation
        if not settings.use_flesh or not target.has_faces():
            self.relaxation = self._binding = None
            return before is not None
        if mesh_changed or not self._fits(binding, to_rig) or self._mask != settings.flesh_mask:
            if target.item.mode == "EDIT" and before is not None:
                return False
            self._binding, self._to_rig, self._mask = binding, to_rig, settings.flesh_mask
            self._corners = corners(binding.surface.at_rest)
            triangles = reading.triangles(mesh_of(target.item))
            amounts = _mask_of(binding, settings.flesh_mask)
            self.relaxation = Relaxation(library.load(), binding, to_rig, triangles, amounts)
        return self.relaxation is not before

    def _fits(self, binding: Binding, to_rig: Floats) -> bool:
        """Whether the flesh is that of a binding; shape keys and modifiers before make no difference."""
        old = self._binding
        if old is None or self._corners is None or self._to_rig is None or not binding.rig.same_as(old.rig):
            return False
        is_same = binding.surface.weights is old.surface.weights and binding.surface.has_same_basis(old.surface)
        return is_same and binding.limit == old.limit and is_at_place(self._corners, to_rig, self._to_rig)


def _mask_of(binding: Binding, group: str) -> NDArray[np.float32] | None:
    """The weights (V,) of a vertex group; None if there is no such group."""
    if group not in binding.surface.groups:
        return None
    weights = binding.surface.weights
    chosen = weights.groups == binding.surface.groups.index(group)
    found: NDArray[np.float32] = (weights.weights * chosen).sum(axis=1).clip(0.0, 1.0)
    return found
