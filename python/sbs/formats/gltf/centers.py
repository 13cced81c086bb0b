# SPDX-License-Identifier: MIT
"""Centers of rotation for shaders of engines, as an attribute, and whether they still belong to the positions beside.

Other tools change positions and leave attributes that they do not know: quantization (KHR_mesh_quantization) brings
positions into another space. So the extras of a primitive have the bounds of POSITION of when centers were written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...rigging import affine
from ...rigging.rig import Floats
from ...rigging.triangle_mesh import Mesh
from .output import ARRAY_BUFFER, Json, Output
from .source import Part

__all__ = ["BOUNDS", "CENTER", "fit_centers", "put_centers"]

CENTER = "_SBS_CENTER"
"""The attribute VEC4 with `engine_centers`: a center in the space of POSITION, and the amount of spherical blending."""

BOUNDS = "sbs_positions"
"""The key in the extras of a primitive."""

ROUNDING = 1 / 128
"""Of the size: positions of eight bits, at both ends."""


def put_centers(
    output: Output, before: Floats | None, centers: Floats | None, mesh: Mesh, part: Part, primitive: Json
) -> None:
    """Put the centers of rotation and amounts (V, 4) for a shader, or none where they are of other weights."""
    attributes, extras = primitive["attributes"], primitive.get("extras")
    extras = dict(extras) if isinstance(extras, dict) else {}
    bounds = extras.pop(BOUNDS, None)
    if centers is None:
        attributes.pop(CENTER, None)
        if bounds is not None:
            primitive["extras"] = extras
        return
    inverse = affine.inverse(part.matrix[None])[0]

    def stored(points: NDArray[Any]) -> NDArray[np.float32]:
        return np.asarray(points @ inverse[:3, :3].T + inverse[:3, 3], np.float32)

    own, positions = stored(centers[part.rows, :3]), stored(mesh.positions[part.rows])
    if before is None or not np.array_equal(before, centers) or fit_centers(own, positions, bounds) is not own:
        amounts = centers[part.rows, 3].astype(np.float32)
        attributes[CENTER] = output.accessor(np.column_stack([own, amounts]), ARRAY_BUFFER)
    bounds = {"min": positions.min(axis=0).tolist(), "max": positions.max(axis=0).tolist()}
    primitive["extras"] = extras | {BOUNDS: bounds}


def fit_centers(centers: NDArray[Any], positions: NDArray[Any], bounds: object) -> NDArray[Any] | None:
    """Bring centers (V, 3) along if a tool has scaled and moved the positions (V, 3) beside them.

    Returns None if positions were changed otherwise, or bounds are damaged.

    Parameters
    ----------
    centers, positions : (V, 3) ndarray
    bounds : object
        The bounds that positions had when centers were written, as in the file. None: centers stay as they are.
    """
    if bounds is None:
        return centers
    try:
        written = np.array([bounds["min"], bounds["max"]], np.float64) if isinstance(bounds, dict) else np.empty(0)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    if written.shape != (2, 3) or not np.isfinite(written).all():
        return None
    now = np.array([positions.min(axis=0), positions.max(axis=0)])
    with np.errstate(all="ignore"):
        before, size = written[1] - written[0], now[1] - now[0]
        longest = int(before.argmax())
        factor = size[longest] / before[longest]
        if not (0 < factor < np.inf) or (np.abs(size - factor * before) > ROUNDING * size[longest]).any():
            return None
    if np.allclose(now, written, rtol=0, atol=1e-6 * size[longest]):
        return centers
    return np.asarray((centers - written.mean(axis=0)) * factor + now.mean(axis=0))
