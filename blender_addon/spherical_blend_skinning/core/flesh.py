# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh of a mesh: deformed skin, relaxed in each pose."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .binding import Binding
from .matrices import Floats, inverse


class Relaxation:
    """The `sbs.Flesh` of a mesh, in the space of the skin. It is valid for one binding and place of the mesh.

    It knows the mesh before shape keys and modifiers; `amounts` (V,) say how far vertices go.
    """

    def __init__(
        self,
        sbs: ModuleType,
        binding: Binding,
        to_rig: Floats,
        triangles: NDArray[np.int32],
        amounts: NDArray[np.float32] | None,
    ) -> None:
        rig, place = binding.rig, binding.space.place(to_rig)
        self._from_rig = inverse(place)
        self._bones, parents = rig.joints()
        self._after = inverse(rig.rests[self._bones]) @ place
        numbers = np.zeros(len(rig.names), np.int32)
        numbers[self._bones] = np.arange(len(self._bones))
        joints, weights = binding.bone_influences()
        rests = self._from_rig @ rig.rests[self._bones]
        rests[:, :3, :3] /= np.cbrt(np.abs(np.linalg.det(rests[:, :3, :3])))[:, None, None]
        skeleton = sbs.Skeleton(parents, rests, [rig.names[bone] for bone in self._bones.tolist()])
        positions = binding.space.from_mesh(binding.surface.at_rest)
        with warnings.catch_warnings():
            # The status of the mesh tells of vertices without weights.
            warnings.simplefilter("ignore", sbs.WeightWarning)
            character = sbs.Character.from_mesh(sbs.Mesh(positions, triangles, numbers[joints], weights), skeleton)
        self._flesh: Any = sbs.Flesh(character, amounts=amounts)

    def apply(
        self,
        positions: NDArray[np.float32],
        bare: NDArray[np.float32] | None,
        pose: NDArray[np.floating[Any]],
        *,
        amount: float,
        steps: int,
        threads: int | None,
    ) -> NDArray[np.float32]:
        """Deformed skin (V, 3), in the space of the skin, relaxed in a pose (B, 4, 4), from bone to armature space.

        `bare` is the skin without shape keys and modifiers before; None if there are none.
        """
        matrices = self._from_rig @ pose[self._bones].astype(np.float64) @ self._after
        matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)
        found = np.array(positions, np.float32, order="C")
        self._flesh.apply(found, matrices, bare=bare, amount=amount, steps=steps, threads=threads)
        return found
