# SPDX-License-Identifier: MIT
"""Optimized centers with an amount for each vertex, as shaders of engines blend about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..skinning.options import BlendOptions
from .rig import Floats
from .triangle_mesh import Mesh

__all__ = ["engine_centers", "engine_options", "still_centered"]


def engine_options(amount: Floats) -> BlendOptions:
    """The options of `Skin.deform` for the result of a shader with centers and amounts (V,)."""
    return BlendOptions(method="spherical", center="optimized", amount=amount)


def engine_centers(mesh: Mesh, options: BlendOptions) -> Floats | None:
    """The centers and amounts (V, 4) of a character that is deformed with `engine_options`; None of all others."""
    centered = options.get("method") == "spherical" and options.get("center") == "optimized"
    if mesh.centers is None or not centered or options.keys() != {"method", "center", "amount"}:
        return None
    return np.column_stack([mesh.centers, np.asarray(options["amount"])])


def still_centered(mesh: Mesh, before: Mesh, options: BlendOptions) -> tuple[Mesh, BlendOptions]:
    """A changed mesh and its options, without the centers and amounts of an engine if these are of another mesh.

    Centers depend on the surface and its weights, amounts on the weights.
    """
    if engine_centers(before, options) is None:
        return mesh, options
    arrays = ("positions", "triangles", "joint_indices", "joint_weights", "centers")
    if all(np.array_equal(getattr(mesh, name), getattr(before, name)) for name in arrays):
        return mesh, options
    return replace(mesh, centers=None), BlendOptions()
