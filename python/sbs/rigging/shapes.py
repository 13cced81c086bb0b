# SPDX-License-Identifier: MIT
"""Blend shapes: offsets of rest positions, applied before the mesh is deformed by its joints."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..skinning.options import AnyFloats
from ..support.owned import own
from .animation import Track

__all__ = ["BlendShape", "ShapeDriver", "ShapeMotion", "shaped"]


@dataclass(frozen=True, eq=False)
class ShapeDriver:
    """The pose that drives a shape. `sbs/drivers.h` has the formula of the weights.

    Attributes
    ----------
    joints : tuple of str
        The joints whose rotations drive.
    parents : tuple of str or None
        The joint that each of them turns against; None for the model.
    axes : tuple of (x, y, z)
        The direction of the bone of each at bind, a unit vector in bind space.
    part : "swing", "twist" or "both"
        The part of the rotations that drives.
    coordinates : (n, 3) ndarray of float64
        Rotation vectors of the joints in the pose, in the axes of bind space.
    """

    joints: tuple[str, ...]
    parents: tuple[str | None, ...]
    axes: tuple[tuple[float, float, float], ...]
    part: str
    coordinates: NDArray[np.float64]

    def __post_init__(self) -> None:
        own(self, "coordinates")


@dataclass(frozen=True, eq=False)
class BlendShape:
    """A shape of a mesh, as offsets of the vertices that it moves: a morph target.

    Attributes
    ----------
    name : str
    vertices : (W,) int32 ndarray
        Each once.
    offsets : (W, 3) float32 ndarray
        From the rest positions to those of the shape, in bind space.
    weight : float
        How much of it the pose in the file has.
    normals : (W, 3) float32 ndarray, optional
        Added to unit rest normals.
    driver : ShapeDriver, optional
        The pose that drives it in engines; `sbs.correctives.as_blend_shapes` makes such shapes.
    """

    name: str
    vertices: NDArray[np.int32]
    offsets: AnyFloats
    weight: float = 0.0
    normals: AnyFloats | None = None
    driver: ShapeDriver | None = None

    def __post_init__(self) -> None:
        own(self, "vertices", "offsets", "normals")

    def __repr__(self) -> str:
        return f"<sbs.BlendShape {self.name!r}, vertices: {len(self.vertices)}>"

    def in_single_precision(self) -> BlendShape:
        """The same with arrays of float32."""
        normals = self.normals
        return replace(
            self,
            offsets=_core.owned(self.offsets, "offsets", np.float32),
            normals=None if normals is None else _core.owned(normals, "normals", np.float32),
        )

    def moved(self, linear: NDArray[np.float64]) -> BlendShape:
        """The same by a matrix (3, 3) that has an inverse; unit normals remain so where it scales evenly."""
        normals = self.normals
        if normals is not None:
            normals = normals @ np.linalg.inv(linear) * np.cbrt(abs(np.linalg.det(linear)))
        return replace(self, offsets=self.offsets @ linear.T, normals=normals)


def shaped(positions: AnyFloats, shapes: tuple[BlendShape, ...], weights: ArrayLike) -> AnyFloats:
    """Rest positions (V, 3) plus the offsets of shapes by their weights (S,), in the type of the positions.

    Raises
    ------
    ValueError
        If there are not as many weights as shapes, or one is not finite.
    """
    given = np.asarray(weights, np.float64)
    if given.shape != (len(shapes),):
        raise ValueError(f"weights has shape {given.shape}, one for each of {len(shapes)} shapes is needed")
    for number in np.flatnonzero(~np.isfinite(given))[:1]:
        raise ValueError(f"weights[{number}] = {given[number]} is not finite")
    moved = positions.astype(np.float64)
    # Numbers too large for the type become infinite, which a skin refuses.
    with np.errstate(over="ignore", invalid="ignore"):
        for weight, shape in zip(given.tolist(), shapes, strict=True):
            if weight:
                moved[shape.vertices] += weight * shape.offsets.astype(np.float64)
        return moved.astype(positions.dtype)


@dataclass(frozen=True, eq=False)
class ShapeMotion:
    """The blend shapes of a mesh in an animation, or in the file's own pose.

    Attributes
    ----------
    positions : (V, 3) ndarray
        Rest positions without any shape.
    shapes : tuple of S BlendShape
    tracks : tuple of Track
        Weights of some shapes, which the nodes of these tracks are the numbers of. The others keep their own.
    """

    positions: AnyFloats
    shapes: tuple[BlendShape, ...]
    tracks: tuple[Track, ...] = ()

    def __post_init__(self) -> None:
        own(self, "positions")

    def weights(self, times: ArrayLike) -> NDArray[np.float64]:
        """Weights at times in seconds: (S,), or (F, S) of several times."""
        seconds = np.asarray(times, np.float64)
        if seconds.ndim > 1:
            raise ValueError(f"times has shape {seconds.shape}, a number or (F,) is needed")
        found = np.tile(np.array([shape.weight for shape in self.shapes]), (seconds.size, 1))
        for track in self.tracks:
            found[:, track.nodes] = track.sample(np.atleast_1d(seconds))[..., 0]
        return found if seconds.ndim else found[0]

    def rest_positions(self, time: float = 0.0) -> AnyFloats:
        """Rest positions (V, 3) at a time, for ``Skin.deform(..., rest_positions=)``."""
        return shaped(self.positions, self.shapes, self.weights(time))
