# SPDX-License-Identifier: MIT
"""Arguments and results of `Skin.deform_vjp`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .options import AnyFloats, Rotation

__all__ = ["DeformGradients", "Differentiable", "refuse_indifferentiable", "wanted_bits"]

Differentiable = Literal[
    "rest_positions",
    "rest_normals",
    "joint_weights",
    "skinning_matrices",
    "centers",
    "amount",
    "twists",
    "twist_shares",
    "shape_weights",
    "shaped_positions",
    "shaped_normals",
]
"""The arguments that a deformation can be differentiated by."""


@dataclass(frozen=True)
class DeformGradients:
    """The gradient of a loss by the arguments of a deformation; None for those not wanted.

    Attributes
    ----------
    rest_positions, rest_normals, centers : (V, 3) ndarray or None
        Of the skin's type. By normals as they were given: 0 along them, as their length does not matter.
    joint_weights : (V, K) ndarray or None
        Of the skin's type, by the weights as they were given, which the skin normalizes.
    skinning_matrices : (J, 3, 4) ndarray of float64 or None
        By the first three rows of each matrix.
    amount : (V,) ndarray or None
        Of the skin's type.
    twists : (B, 2) ndarray of float64 or None
        By the twists of the bones of a skin with twist.
    twist_shares : (V, K) ndarray of float64 or None
        By where along its bone each influence of such a skin is, 0 at the head and 1 at the tail; 0 for joints
        without a bone.
    shape_weights : (S,) ndarray of float64 or None
        By the weights of shapes.
    shaped_positions, shaped_normals : (V, 3) ndarray or None
        Of the skin's type, by the offsets that shapes add to each rest position and unit normal. Times the weight of a
        shape this is the gradient by its deltas.
    """

    rest_positions: AnyFloats | None
    rest_normals: AnyFloats | None
    joint_weights: AnyFloats | None
    skinning_matrices: NDArray[np.float64] | None
    centers: AnyFloats | None
    amount: AnyFloats | None
    twists: NDArray[np.float64] | None = None
    twist_shares: NDArray[np.float64] | None = None
    shape_weights: NDArray[np.float64] | None = None
    shaped_positions: AnyFloats | None = None
    shaped_normals: AnyFloats | None = None


def refuse_indifferentiable(rotation: Rotation) -> None:
    """Refuse rotations that have no gradient.

    Raises
    ------
    ValueError
        If it is one of them.
    """
    if rotation == "average":
        raise ValueError("deform_vjp: there is no gradient of rotation='average'")


@cache
def wanted_bits(wanted: tuple[Differentiable, ...]) -> int:
    """The gradients that the core is asked for, as bits.

    Raises
    ------
    ValueError
        If a name is not known.
    """
    names = get_args(Differentiable)
    for name in wanted:
        if name not in names:
            raise ValueError(f"wanted: {name!r} is none of {[*names]}")
    return sum(1 << number for number, name in enumerate(names) if name in wanted)
