# SPDX-License-Identifier: GPL-3.0-or-later
"""How a mesh is deformed: a method, and how much of it each vertex gets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Method:
    """How the motions of joints are blended."""

    #: A ``method`` of `sbs.Skin.deform`, ``"none"`` for the undeformed mesh, or one that a kind of binding adds
    name: str = "spherical"
    #: For ``"spherical"``
    rotation: str = "qlerp"
    center: str = "joint_set"


@dataclass(frozen=True)
class Amount:
    """How much of the method each vertex gets, the rest being another method."""

    weights: NDArray[np.float32]  #: (V,)
    method: str  #: The name of the other method
