# SPDX-License-Identifier: MIT
"""Flesh: skin that is relaxed in each pose, at all joints at once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..characters.character import Character
from ..rigging.animation import Animations
from ..skinning.options import AnyFloats
from ..skinning.twist import as_frames
from .patches import Surface

__all__ = ["Flesh", "FleshFactors"]


class FleshFactors(TypedDict, total=False):
    """The factors of the energy, all at least 0; `sbs/flesh.h` has their meaning and defaults."""

    bending: float
    hold: float
    crease: float
    margin: float
    thinner: float
    thicker: float


class Flesh:
    """Skin that was deformed by any method, relaxed as flesh would be: joints bend without creases and lost volume.

    In each pose vertices go where the surface is strained and bent least while limbs keep their volume, skin its
    distance to bones, and calf and thigh stay apart; `sbs/flesh.h` has the energy. All joints are relaxed together, by
    a fixed number of steps with one matrix that is factored here. So a frame depends on its pose alone, and smoothly.
    Instances are immutable: any number of threads may use one.

    Parameters
    ----------
    character : Character
    amounts : (V,) array_like, optional
        How far each vertex goes, from 0, which holds it, to 1, the default: a mask for armor, eyes and teeth. Pieces of
        the mesh that a single joint moves are held anyway.
    bending, hold, crease, margin, thinner, thicker : float, optional
        Factors of the energy.

    Raises
    ------
    ValueError
        If an amount or a factor is out of its range, or a mesh has no triangles.
    """

    def __init__(
        self, character: Character, *, amounts: ArrayLike | None = None, **factors: Unpack[FleshFactors]
    ) -> None:
        surface, mesh = Surface(character), character.mesh
        self._character = character
        amounts = None if amounts is None else np.array(amounts, np.float64)
        self._options: dict[str, Any] = {"amounts": amounts, **factors}
        self._core = _core.Flesh(
            rest_positions=mesh.positions,
            triangles=mesh.triangles,
            joint_indices=mesh.joint_indices,
            joint_weights=mesh.joint_weights,
            parents=surface.parents.astype(np.int32),
            bones=np.stack([surface.heads, surface.tails], axis=1),
            hinges=np.array([surface.is_hinge(joint) for joint in range(len(surface.parents))]),
            **self._options,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Neither animations nor a file are needed, and both may be large.
        bare = replace(self._character, animations=Animations(), source=None)
        return partial(Flesh, **self._options), (bare,)

    def __repr__(self) -> str:
        return f"<sbs.Flesh, vertices that move: {self.free_count}>"

    @property
    def free_count(self) -> int:
        """How many vertices can move, those at a seam counted once."""
        return self._core.free_count

    def apply(
        self,
        positions: AnyFloats,
        skinning_matrices: ArrayLike,
        *,
        normals: AnyFloats | None = None,
        bare: AnyFloats | None = None,
        steps: int | None = None,
        amount: float = 1.0,
        threads: int | None = None,
    ) -> None:
        """Relax deformed skin in place.

        Parameters
        ----------
        positions : (V, 3) or (F, V, 3) ndarray of float32 or float64
            Deformed in these poses by any method; changed.
        skinning_matrices : (J, 4, 4), (J, 3, 4), (F, J, 4, 4) or (F, J, 3, 4) array_like
        normals : ndarray like positions, optional
            Changed, too.
        bare : ndarray like positions, optional
            The same skin without blend shapes and correctives: it is relaxed, and the skin moves as it does. So a smile
            is not taken for strain.
        steps : int, optional
            From 1 to 1000; by default 12, for pictures. 8 are enough for playback, and 4 for a preview.
        amount : float, optional
            How much of the way vertices go, from 0 to 1.
        threads : int, optional
            As of `Skin.deform`.

        Raises
        ------
        ValueError
            If a shape is wrong, a number not finite or out of its range.
        TypeError
            If an array is not writable or of another type.
        """
        matrices, single = as_frames(skinning_matrices)
        relaxed = positions if bare is None else np.array(bare, positions.dtype)
        moved = relaxed[None] if single else relaxed
        turned = normals[None] if single and normals is not None else normals
        self._core.relax(moved, turned, matrices, steps=steps, amount=amount, threads=threads)
        if bare is not None:
            positions += relaxed - bare

    def relax(
        self,
        skinning_matrices: ArrayLike,
        positions: ArrayLike | None = None,
        *,
        steps: int | None = None,
        amount: float = 1.0,
        threads: int | None = None,
    ) -> AnyFloats:
        """The relaxed skin of a pose, or of several.

        Parameters
        ----------
        skinning_matrices : (J, 4, 4), (J, 3, 4), (F, J, 4, 4) or (F, J, 3, 4) array_like
        positions : (V, 3) or (F, V, 3) array_like, optional
            The skin as it was deformed; by default by *smooth twist*.
        steps, amount, threads
            As of `apply`.

        Returns
        -------
        (V, 3) or (F, V, 3) ndarray

        Raises
        ------
        ValueError
            As `apply`.
        """
        matrices, single = as_frames(skinning_matrices)
        found = self._deform(matrices, single) if positions is None else np.array(positions)
        self.apply(found, skinning_matrices, steps=steps, amount=amount, threads=threads)
        return found

    def _deform(self, matrices: NDArray[Any], single: bool) -> AnyFloats:
        """The skin (V, 3) or (F, V, 3) by smooth twist."""
        skin, options = self._character.smooth_twist
        found = skin.deform_many(matrices, **options)
        return found[0] if single else found
