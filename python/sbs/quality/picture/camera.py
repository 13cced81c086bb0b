# SPDX-License-Identifier: MIT
"""The camera of a picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FIELD_OF_VIEW = 16.0  # degrees across the picture's width: a long lens, so that near and far limbs are of similar size


@dataclass(frozen=True)
class Camera:
    """A camera that looks at a point.

    `direction` is from the target towards the camera and `up` upward in the picture, both of any length and not
    parallel. `width` is how much of the scene, at the target, fills the picture's width.
    """

    target: ArrayLike
    direction: ArrayLike
    up: ArrayLike
    width: float

    @property
    def axes(self) -> NDArray[np.float64]:
        """Unit vectors (3, 3) in rows: the picture's right, its up, and towards the camera."""
        return view_axes(self.direction, self.up)

    @property
    def position(self) -> NDArray[np.float64]:
        """Where the camera is, (3,)."""
        towards: NDArray[np.float64] = self.axes[2] * (self.width / 2 / half_angle_tangent())
        return towards + np.asarray(self.target, np.float64)

    @classmethod
    def framing(
        cls, points: ArrayLike, direction: ArrayLike, up: ArrayLike, *, aspect: float, margin: float = 0.08
    ) -> Camera:
        """The camera in that direction that shows all `points` (N, 3), for a ratio of width to height."""
        axes = view_axes(direction, up)
        seen = np.asarray(points, np.float64) @ axes.T
        center = (seen.min(axis=0) + seen.max(axis=0)) / 2
        across, upward, nearer = (seen - center).T
        # At a distance z in front of the target, half of the picture's width covers z tan(angle / 2) less of the scene.
        reach = np.maximum(np.abs(across), np.abs(upward) * aspect) + nearer * half_angle_tangent()
        return cls(center @ axes, direction, up, float(2 * reach.max() * (1 + 2 * margin)))


def half_angle_tangent() -> float:
    return float(np.tan(np.radians(FIELD_OF_VIEW / 2)))


def view_axes(direction: ArrayLike, up: ArrayLike) -> NDArray[np.float64]:
    """Right-handed unit axes (3, 3) in rows: right, up, towards the camera."""
    backward = np.asarray(direction, np.float64) / np.linalg.norm(direction)
    right = np.cross(np.asarray(up, np.float64), backward)
    length = np.linalg.norm(right)
    if not length > 0:
        raise ValueError("direction and up must not be parallel")
    right /= length
    return np.stack([right, np.cross(backward, right), backward])
