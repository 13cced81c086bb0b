# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones blending of a bound mesh (Kavan and Zara 2003): each vertex belongs to one bone and its parent."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .binding import Binding, Given
from .matrices import Floats, inverse
from .method import Method

#: The `Method` that blends bones. `sbs.Skin.deform` does not know this name; it means a second skin.
NAME = "bones_blending"


@dataclass(frozen=True)
class BonesChoice:
    """Which bones are blended, and how."""

    only_marked: bool  #: Otherwise all; vertices of other bones are moved linearly by their weights
    profile: str  #: ``"linear"`` or ``"smoothstep"``
    zone_scale: float  #: As of `sbs.bones_blending`.


class BlendedBinding(Binding):
    """A binding with a second skin for bones blending, besides the one for methods that use weights.

    The joints of both are all bones that deform. The place of a vertex along a bone is found before shape keys and
    modifiers move it, so that it stays the same while those are animated. A bone that bends is a ValueError.
    """

    blends = True

    def __init__(self, sbs: ModuleType, given: Given, choice: BonesChoice) -> None:
        if given.spread is not None:
            raise ValueError("Bones Blending turns vertices along bones already, so it spreads no twist besides")
        self.choice = choice
        super().__init__(sbs, given)
        if self.bends:
            name = self.rig.names[self.bones[np.argmax(self.segments > 1)]]
            raise ValueError(f"Bones Blending knows no segments, and bone {name} has some: choose another method")
        self._zone_radii: Floats | None = None
        self._blend()

    @property
    def blended_bone_count(self) -> int:
        """How many bones are blended with their parents."""
        return int(np.count_nonzero(np.isfinite(self._blending.t_min)))

    def zone_of(self, bone: int) -> tuple[float, float] | None:
        """Where along a bone, by its number in the pose, vertices begin to turn with it and turn only with it.

        None if it is not blended with its parent.
        """
        joint = int(np.searchsorted(self.bones, bone))
        if joint == len(self.bones) or self.bones[joint] != bone or not np.isfinite(self._blending.t_min[joint]):
            return None
        return float(self._blending.t_min[joint]), float(self._blending.t_max[joint])

    def zone_radius(self, bone: int) -> float:
        """The largest distance from a bone, by its number in the pose, of the vertices in its zone; 0 without any."""
        if self._zone_radii is None:
            self._zone_radii = self._find_zone_radii()
        return float(self._zone_radii[np.searchsorted(self.bones, bone)])

    def _find_zone_radii(self) -> Floats:
        found = self._blending
        inside = np.flatnonzero((found.attachment >= 0) & (found.t > 0.0) & (found.t < 1.0))
        joints = found.attachment[inside]
        to_bones = (self._inverse_rests @ self.space.place(self._to_rig))[joints]
        places = np.einsum("nij,nj->ni", to_bones[:, :3, :3], found.rest_positions[inside]) + to_bones[:, :3, 3]
        radii = np.zeros(len(self.bones))
        np.maximum.at(radii, joints, np.hypot(places[:, 0], places[:, 2]))
        return radii

    def fitted_zones(self, triangles: NDArray[np.int32], chosen: NDArray[np.bool_]) -> dict[int, tuple[float, float]]:
        """The zones that bend bones best, by their numbers in the pose, for the faces (T, 3) and the chosen bones (B,).

        Bones that are not blended with a parent, or have no vertices in their zone, are left out.
        """
        zones = np.where(chosen[:, None], np.nan, self.rig.zones)
        found = self._bound_by(partial(self._sbs.quality.fit_zones, triangles=triangles), zones)
        between = np.unique(found.attachment[(found.t > 0.0) & (found.t < 1.0)])
        return {
            int(self.bones[joint]): (float(found.t_min[joint]), float(found.t_max[joint]))
            for joint in between
            if chosen[self.bones[joint]]
        }

    def _blend(self) -> None:
        """Find which bone each vertex belongs to, and how far along it is."""
        bind = partial(self._sbs.bones_blending, zone_scale=self.choice.zone_scale)
        self._blending = self._bound_by(bind, self.rig.zones)
        self._zone_radii = None
        with warnings.catch_warnings():
            # The status line counts vertices without weights.
            warnings.simplefilter("ignore", self._sbs.WeightWarning)
            self._by_bones = self._blending.skin()

    def _bound_by(self, bind: Callable[..., Any], zones: Floats) -> Any:
        """The mesh bound in some zones (B, 2), NaN for zones that `bind` finds."""
        basis = self.surface.at_rest
        from_rig = inverse(self.space.place(self._to_rig))
        rests = self.rig.rests[self.bones]
        tails = rests[:, :3, 3] + rests[:, :3, 1] * self.rig.lengths[self.bones, None]
        # `bones` are all that deform.
        _, parents = self.rig.joints()
        # Bones without a parent are rigid, marked or not.
        marked = np.flatnonzero(self.rig.marked[self.bones] & (parents >= 0)).tolist()
        return bind(
            self._sbs.Skeleton(parents, from_rig @ rests, [self.rig.names[bone] for bone in self.bones.tolist()]),
            self.space.from_mesh(basis),
            t_min=zones[self.bones, 0],
            t_max=zones[self.bones, 1],
            joints=marked if self.choice.only_marked else None,
            influences=(self.skin.joint_indices, self.skin.joint_weights),
            tails=tails @ from_rig[:3, :3].T + from_rig[:3, 3],
            profile=self.choice.profile,
        )

    def chosen(self, choice: BonesChoice) -> Self:
        """The binding with another choice of bones; itself if it is the same."""
        if choice == self.choice:
            return self
        result = copy.copy(self)
        result.choice = choice
        result._blend()
        return result

    def rebound(self, given: Given) -> Self:
        surface, same_zones = given.surface, given.rig.has_same_zones(self.rig)
        result = super().rebound(given)
        same_basis = surface.has_same_basis(self.surface)
        if result is self and same_zones:
            return self
        if result is self:
            result = copy.copy(self)
            result.surface = replace(surface, weights=self.surface.weights)
        if result._blending is not self._blending:
            return result
        same_weights = result.surface.weights is self.surface.weights
        if not (same_zones and same_basis and (same_weights or self._attaches_alike(result))):
            result._blend()
        return result

    def _attaches_alike(self, other: BlendedBinding) -> bool:
        """Whether vertices belong to the same bones in another binding of the same vertices; nothing else matters."""
        mine, others = self.skin, other.skin
        if self.choice.only_marked or mine.joint_indices.shape != others.joint_indices.shape:
            return False
        differs = (mine.joint_indices != others.joint_indices) | (mine.joint_weights != others.joint_weights)
        changed = np.flatnonzero(differs.any(axis=1))
        if not len(changed):
            return True
        before, after = (
            self._sbs.mesh.heaviest_joints(skin.joint_indices[changed], skin.joint_weights[changed])
            for skin in (mine, others)
        )
        return np.array_equal(before, after)

    def _anew(self, given: Given) -> Self:
        return type(self)(self._sbs, given, self.choice)

    def _deformed(
        self, matrices: Floats, method: Method, twists: Floats | None, threads: int | None, **options: Any
    ) -> NDArray[np.float32]:
        if method.name != NAME:
            return super()._deformed(matrices, method, twists, threads, **options)
        found: NDArray[np.float32] = self._by_bones.deform(
            matrices, rest_positions=self._moved, threads=threads, **self._blending.options
        )
        return found
