# SPDX-License-Identifier: MIT
"""The compute shader: `engines/wgsl` of the sources, and the content of its buffers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...support.vectors import unit
from ..options import Center
from ..skin import Skin

__all__ = ["CENTERS", "describe_influences", "describe_vertices", "shader_source"]

CENTERS = {"joint_set": 1, "optimized": 2, "weighted": 3}
"""The numbers that the shader has for centers; 0 is linear blending."""

_VERTEX = np.dtype(
    [
        ("position", "<f4", 3),
        ("joint_set", "<u4"),
        ("normal", "<f4", 3),
        ("amount", "<f4"),
        ("center", "<f4", 3),
        ("padding", "<f4"),
    ]
)
"""The shader's ``struct Vertex``."""

_INFLUENCE = np.dtype([("joint", "<u4"), ("weight", "<f4")])
"""The shader's ``struct Influence``."""


def shader_source() -> str:
    """The module in WGSL: its files are beside this one in an installed package, in `engines/wgsl` in a checkout."""
    here = Path(__file__).resolve().parent
    folder = here if (here / "skin.wgsl").exists() else here.parents[3] / "engines" / "wgsl"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in ("spherical.wgsl", "skin.wgsl"))


def describe_influences(skin: Skin) -> NDArray[np.void]:
    """(V, W) of the shader's ``struct Influence``."""
    bound = skin.bound_influences()
    found = np.empty(bound.joint_indices.shape, _INFLUENCE)
    found["joint"], found["weight"] = bound.joint_indices, bound.joint_weights
    return found


def describe_vertices(skin: Skin, center: Center | None, amount: ArrayLike | None) -> NDArray[np.void]:
    """(V) of the shader's ``struct Vertex``, for spherical blending about this center, or for linear blending."""
    found = np.zeros(skin.vertex_count, _VERTEX)
    found["position"] = skin.rest_positions
    found["joint_set"] = skin.joint_set_of_vertex
    found["amount"] = 1.0 if amount is None else amount
    if skin.rest_normals is not None:
        found["normal"] = unit(skin.rest_normals.astype(float))
    if center is None:
        found["amount"] = 0.0  # which normals follow
    elif center == "optimized":
        assert skin.centers is not None  # has been checked
        found["center"] = skin.centers
        # A vertex that is its own center is blended linearly, and so is its normal.
        found["amount"][(skin.centers == skin.rest_positions).all(axis=1)] = 0.0
    return found
