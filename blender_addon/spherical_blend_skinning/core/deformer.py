# SPDX-License-Identifier: GPL-3.0-or-later
"""Methods, and deformers, which turn the pose of a frame into positions; two can be blended by an amount."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .matrices import Floats


@dataclass(frozen=True)
class Method:
    """How the motions of joints are blended."""

    #: A ``method`` of `sbs.Skin.deform`, ``"none"`` for the undeformed mesh, or one that a kind of binding adds
    name: str = "spherical"
    #: For ``"spherical"``.
    rotation: str = "qlerp"
    center: str = "joint_set"


@dataclass(frozen=True)
class Amount:
    """How much of the method each vertex gets, the rest being another method."""

    weights: NDArray[np.float32]  #: (V,)
    method: str  #: The name of the other method


@dataclass(frozen=True)
class Pose:
    """The pose of a frame."""

    matrices: Floats  #: (J, 4, 4): skinning matrices
    twists: Floats | None = None  #: (L, 2): of limbs, in place of those of the matrices


class Deformer(Protocol):
    """Deforms a mesh."""

    def deform(self, pose: Pose, threads: int | None) -> NDArray[np.float32]:
        """Positions (V, 3), in the space of the skin."""


@dataclass(frozen=True)
class SkinDeformer:
    """A skin and its options."""

    skin: Any  #: `sbs.Skin`
    options: Mapping[str, Any]  #: mapping: of its `deform`: a method and its options

    def deform(self, pose: Pose, threads: int | None) -> NDArray[np.float32]:
        positions: NDArray[np.float32] = self.skin.deform(
            pose.matrices, twists=pose.twists, threads=threads, **self.options
        )
        return positions


@dataclass(frozen=True)
class Undeformed:
    """The mesh at rest in every pose."""

    positions: NDArray[np.float32]  #: (V, 3)

    def deform(self, _pose: Pose, _threads: int | None) -> NDArray[np.float32]:
        return self.positions


def deform_blended(
    deformer: Deformer, base: Deformer, amounts: NDArray[np.float32], pose: Pose, threads: int | None
) -> NDArray[np.float32]:
    """Positions (V, 3) blended by amounts (V,): so much from one deformer, and the rest from a base.

    A skin blends with linear blending itself.
    """
    if isinstance(deformer, SkinDeformer) and isinstance(base, SkinDeformer) and deformer.skin is base.skin:
        rotates = deformer.options["method"] in ("spherical", "dual_quaternion")
        if rotates and base.options["method"] == "linear":
            options = {**deformer.options, "amount": amounts}
            return SkinDeformer(deformer.skin, options).deform(pose, threads)
    others = base.deform(pose, threads)
    return others + amounts[:, None] * (deformer.deform(pose, threads) - others)
