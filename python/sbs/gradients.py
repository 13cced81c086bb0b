# SPDX-License-Identifier: MIT
"""What `Skin.deform_vjp` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .options import AnyFloats

__all__ = ["DeformGradients", "Differentiable", "wanted_bits"]

Differentiable = Literal["rest_positions", "rest_normals", "joint_weights", "skinning_matrices", "centers", "amount"]
"""What a deformation can be differentiated by."""


@dataclass(frozen=True)
class DeformGradients:
    """The gradient of a loss by what a deformation is made from. None for what was not wanted.

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
    """

    rest_positions: AnyFloats | None
    rest_normals: AnyFloats | None
    joint_weights: AnyFloats | None
    skinning_matrices: NDArray[np.float64] | None
    centers: AnyFloats | None
    amount: AnyFloats | None


def wanted_bits(wanted: tuple[Differentiable, ...]) -> int:
    """What the core is asked for.

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
