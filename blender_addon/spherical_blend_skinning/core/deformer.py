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
    """How the motions of joints are blended.

    Attributes
    ----------
    name : str
        A ``method`` of `sbs.Skin.deform`, ``"none"`` for the undeformed mesh, or one that a kind of binding adds.
    rotation, center : str
        For ``"spherical"``.
    """

    name: str = "spherical"
    rotation: str = "qlerp"
    center: str = "joint_set"


@dataclass(frozen=True)
class Amount:
    """How much of the method each vertex gets, the rest being another method.

    Attributes
    ----------
    weights : (V,) ndarray of float32
    method : str
        The name of the other method.
    """

    weights: NDArray[np.float32]
    method: str


@dataclass(frozen=True)
class Pose:
    """The pose of a frame.

    Attributes
    ----------
    matrices : (J, 4, 4) ndarray
        Skinning matrices.
    twists : (L, 2) ndarray, optional
        Of limbs, in place of those of the matrices.
    """

    matrices: Floats
    twists: Floats | None = None


class Deformer(Protocol):
    """Deforms a mesh."""

    def deform(self, pose: Pose, threads: int | None) -> NDArray[np.float32]:
        """Positions (V, 3), in the space of the skin."""


@dataclass(frozen=True)
class SkinDeformer:
    """A skin and its options.

    Attributes
    ----------
    skin : sbs.Skin
    options : mapping
        Of its `deform`: a method and its options.
    """

    skin: Any
    options: Mapping[str, Any]

    def deform(self, pose: Pose, threads: int | None) -> NDArray[np.float32]:
        positions: NDArray[np.float32] = self.skin.deform(
            pose.matrices, twists=pose.twists, threads=threads, **self.options
        )
        return positions


@dataclass(frozen=True)
class Undeformed:
    """The mesh at rest in every pose.

    Attributes
    ----------
    positions : (V, 3) ndarray of float32
    """

    positions: NDArray[np.float32]

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
