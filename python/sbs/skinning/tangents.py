# SPDX-License-Identifier: MIT
"""`sbs.tangents`: tangents of a mesh, deformed with it. A tangent is (x, y, z, handedness)."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.vectors import unit
from .options import AnyFloats, BlendOptions
from .skin import Skin

__all__ = ["deformed_tangents", "moved_tangents"]


def moved_tangents(tangents: AnyFloats, linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Tangents (V, 4) under one linear map (3, 3), of unit length; a map that mirrors changes their handedness."""
    directions = unit(np.asarray(tangents[:, :3], np.float64) @ linear.T)
    sign = -1.0 if np.linalg.det(linear) < 0.0 else 1.0
    return np.concatenate([directions, sign * np.asarray(tangents[:, 3:], np.float64)], axis=1)


def deformed_tangents(
    skin: Skin,
    tangents: ArrayLike,
    skinning_matrices: ArrayLike,
    normals: ArrayLike,
    **options: Unpack[BlendOptions],
) -> AnyFloats:
    """Tangents of a deformed mesh.

    They turn as normals do, which is exact for joints that rotate and move, and are made perpendicular to the deformed
    normals. Joints that mirror the mesh change its handedness.

    Parameters
    ----------
    skin : Skin
    tangents : (V, 4) array_like
        At rest.
    skinning_matrices : (J, 4, 4) or (J, 3, 4) array_like
    normals : (V, 3) array_like
        Of the deformed mesh, by the same options.
    **options
        As `Skin.deform` takes them.

    Returns
    -------
    (V, 4) ndarray
        Of the skin's type.

    Raises
    ------
    ValueError
        If there are not as many tangents or normals as vertices, and as `Skin.deform`.
    """
    at_rest, perpendicular = np.asarray(tangents), np.asarray(normals, np.float64)
    for name, array, columns in (("tangents", at_rest, 4), ("normals", perpendicular, 3)):
        if array.shape != (skin.vertex_count, columns):
            raise ValueError(f"{name} has shape {array.shape}, expected ({skin.vertex_count}, {columns})")
    _, turned = skin.with_normals(at_rest[:, :3]).deform(skinning_matrices, normals=True, **options)
    directions = turned.astype(np.float64)
    along = np.sum(directions * perpendicular, axis=1, keepdims=True)
    directions = unit(directions - along * perpendicular)
    matrices = np.asarray(skinning_matrices, np.float64)[:, :3, :3]
    mirrors = np.where(np.linalg.det(matrices) < 0.0, -1.0, 1.0)
    indices, weights = skin.influences()
    heaviest = np.take_along_axis(indices, weights.argmax(axis=1)[:, None], axis=1)[:, 0]
    handedness = at_rest[:, 3] * mirrors[heaviest]
    return np.concatenate([directions, handedness[:, None]], axis=1).astype(skin.dtype)
