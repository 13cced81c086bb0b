# SPDX-License-Identifier: MIT
"""Pictures of one mesh in several shapes, all with the same camera."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...rigging.triangle_mesh import welded
from ...skinning.influences import share_of, tidy
from .camera import Camera
from .render import render
from .surface import smooth_surfaces

CLAY = np.array([0.60, 0.43, 0.34])
BLUE = np.array([0.25, 0.41, 0.58])


def portraits(
    rest_positions: ArrayLike,
    triangles: ArrayLike,
    shapes: Iterable[ArrayLike],
    colors: NDArray[np.float64],
    camera: Camera,
    size: tuple[int, int],
    *,
    samples: int,
) -> Iterator[NDArray[np.uint8]]:
    """Take pictures (height, width, 3) of a mesh in several shapes (V, 3), one after the other.

    The rest positions show which vertices belong together along seams. Colors are linear RGB, of all shapes (V, 3) or
    of each (S, V, 3). `camera`, `size` and `samples` are those of `render`.
    """
    kept, corners = welded(rest_positions, triangles)
    welded_shapes = [np.asarray(positions, np.float64)[kept] for positions in shapes]
    steps = smoothing_steps(welded_shapes[0], corners, size[0] / camera.width)
    for surface in smooth_surfaces(welded_shapes, colors[..., kept, :], corners, steps=steps):
        yield render(surface, camera, size, samples=samples)


def smoothing_steps(positions: NDArray[np.float64], triangles: NDArray[np.intp], pixels: float) -> int:
    """Steps of subdivision, 2 at most, until most sides are shorter than a pixel; a unit of length has `pixels`."""
    sides = np.linalg.norm(positions[triangles] - positions[triangles[:, [1, 2, 0]]], axis=2)
    length = float(np.median(sides)) * pixels if sides.size else 0.0
    return sum(length > step for step in (1, 2))


def weight_colors(joint_indices: ArrayLike, joint_weights: ArrayLike, joints: ArrayLike) -> NDArray[np.float64]:
    """Colors (V, 3) for the share of a vertex's weight that some joints have: clay for none, blue for all."""
    return np.asarray(CLAY + (BLUE - CLAY) * share_of(*tidy(joint_indices, joint_weights), joints)[:, None])
