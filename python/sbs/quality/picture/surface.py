# SPDX-License-Identifier: MIT
"""The surface that a picture shows: welded, smoothed, and with normals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...rigging.triangle_mesh import area_weighted_normals
from .subdivision import subdivide


@dataclass(frozen=True)
class ShadedMesh:
    """Triangles (T, 3) ready for rendering, counter-clockwise seen from outside.

    Vertices (V, 3) have positions in scene units, unit normals, and colors: diffuse reflectance, linear RGB in [0, 1].
    """

    positions: NDArray[np.float32]
    normals: NDArray[np.float32]
    colors: NDArray[np.float32]
    triangles: NDArray[np.int32]


def smooth_surfaces(
    shapes: Sequence[NDArray[np.float64]], colors: NDArray[np.float64], triangles: NDArray[np.intp], *, steps: int = 2
) -> list[ShadedMesh]:
    """Smoother surfaces of a welded mesh in several shapes (V, 3), for pictures: `steps` of Loop subdivision, or none.

    Colors are the same for all shapes (V, 3), or those of each (S, V, 3). Each step makes four triangles of one.
    """
    positions = np.stack(shapes, axis=1)
    values = np.concatenate([positions, np.broadcast_to(colors, np.shape(shapes)).swapaxes(0, 1)], axis=2)
    values = values.reshape(len(values), -1)
    for _ in range(steps):
        values, triangles = subdivide(values, triangles)
    return [
        ShadedMesh(
            positions=smooth[:, :3].astype(np.float32),
            normals=area_weighted_normals(smooth[:, :3], triangles).astype(np.float32),
            colors=smooth[:, 3:].astype(np.float32),
            triangles=triangles.astype(np.int32),
        )
        for smooth in np.split(values, len(shapes), axis=1)
    ]
