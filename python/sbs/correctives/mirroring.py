# SPDX-License-Identifier: MIT
"""Give one side of a character the correctives of the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..rigging.triangle_mesh import diagonal
from ..skinning.options import BlendOptions
from ..skinning.shapes import Shape
from ..skinning.skin import Skin
from ..support.callers import warn
from ..weights.mirror import MIDDLE, TOLERANCE, Axis, mirror_joints, other_sides
from .correctives import Corrective, Correctives
from .drivers import find_coordinates, find_driver
from .solving import TOLERANCE as SMALLEST
from .solving import After, Target, finished

__all__ = ["mirror"]

Floats = NDArray[np.float64]


def mirror(
    correctives: Correctives,
    skin: Skin,
    triangles: ArrayLike,
    names: Iterable[str] | None = None,
    *,
    source: Literal["positive", "negative"] = "positive",
    axis: Axis = "x",
    position: float = 0.0,
    tolerance: float | None = None,
    counterparts: ArrayLike | None = None,
    after: After | None = None,
    **options: Unpack[BlendOptions],
) -> list[Corrective]:
    """Add the mirror images of solved correctives, in place of correctives of their names.

    A vertex gets the offset of the point of the other side nearest to its mirror image, so the sides need not have the
    same vertices. The target of a new corrective is the skin deformed with it.

    Parameters
    ----------
    correctives : Correctives
        The new ones are added to it.
    skin : Skin
        The skin that they were solved for.
    triangles : (T, 3) array_like of int
    names : iterable of str, optional
        The correctives to mirror. By default all whose joints are on the side `source`; correctives of joints in the
        middle, such as a spine that bends to one side, have to be named.
    source : {"positive", "negative"}
        The side of the mirror.
    axis : {"x", "y", "z"}
        The mirror is perpendicular to it.
    position : float
        Where the mirror is on this axis.
    tolerance : float, optional
        How far the image of a vertex may be from the other side, and of a joint from its counterpart; by default 0.01
        of the size. A vertex that is farther gets nothing.
    counterparts : (J,) array_like of int, optional
        For each joint the one on the other side; by default of `sbs.weights.mirror_joints`, by names and places.
    after, method, rotation, center, damping, rcond, amount, base
        As of `Correctives.solve`.

    Returns
    -------
    list of Corrective
        The new ones. Their names are of the other side, such as "RightLeg 90" of "LeftLeg 90", or end in
        "mirrored".

    Warns
    -----
    UserWarning
        If a joint off the mirror has no counterpart: it is taken for its own.

    Raises
    ------
    KeyError
        If there is no corrective of a name.
    ValueError
        If one is not solved, or an option is out of its range.
    """
    if source not in ("positive", "negative"):
        raise ValueError(f"source must be 'positive' or 'negative', not {source!r}")
    skeleton = correctives.skeleton
    if counterparts is None:
        found = mirror_joints(
            skeleton.names,
            skeleton.joint_positions,
            parents=skeleton.parents,
            axis=axis,
            position=position,
            tolerance=tolerance,
        )
        if len(found.unmatched):
            alone = ", ".join(skeleton.names[joint] for joint in found.unmatched[:5])
            warn(f"{len(found.unmatched)} joints off the mirror have no other side: {alone}", UserWarning)
        counterparts = found.joints
    others, along = np.asarray(counterparts, np.intp), "xyz".index(axis)
    size = diagonal(skin.rest_positions)
    if names is None:
        sign = 1 if source == "positive" else -1
        middles = np.asarray(skeleton.joint_positions)[:, along]
        names = [
            each.name
            for each in correctives
            if sign * (np.mean(middles[skeleton.indices(each.driver.joints)]) - position) > MIDDLE * size
        ]
    plane = _Plane(along, position)
    carry = _carrier(skin, np.asarray(triangles), plane, TOLERANCE * size if tolerance is None else tolerance)
    made = [_image(correctives, correctives[name], others, plane, carry, SMALLEST * size) for name in names]
    for each in made:
        if each.name in correctives:
            correctives.remove(each.name)
    correctives.insert(*made)
    new = []
    for each in made:
        if each.target is not None:
            posed = finished(skin, each.target.skinning_matrices, correctives, after, options)
            target = replace(each.target, positions=posed[each.target.vertices])
            each = replace(each, target=target)
            correctives.exchange(each)
        new.append(each)
    return new


class _Plane:
    """A mirror perpendicular to an axis."""

    def __init__(self, along: int, position: float) -> None:
        self.along = along
        self.signs = np.ones(3)
        self.signs[along] = -1
        self.offset = np.zeros(3)
        self.offset[along] = 2 * position

    def points(self, points: Floats) -> Floats:
        return points * self.signs + self.offset

    def matrices(self, matrices: Floats) -> Floats:
        """Skinning matrices (J, 3, 4) of the mirror images."""
        turned = matrices[:, :, :3] * self.signs[:, None] * self.signs
        shifts = matrices[:, :, 3] * self.signs + self.offset - turned @ self.offset
        return np.concatenate([turned, shifts[:, :, None]], axis=2)


class _Carrier:
    """For each vertex, the triangle of the other side at its mirror image."""

    def __init__(self, corners: NDArray[np.intp], shares: Floats, near: NDArray[np.bool_], plane: _Plane) -> None:
        self._corners, self._shares, self._near, self._plane = corners, shares, near, plane

    def __call__(self, vertices: NDArray[np.int32], vectors: NDArray[np.floating]) -> Floats:
        """The mirror image (V, 3) of vectors at some vertices."""
        everywhere = np.zeros((len(self._corners), 3))
        everywhere[vertices] = vectors
        carried = np.einsum("vc,vcx->vx", self._shares, everywhere[self._corners]) * self._plane.signs
        return np.where(self._near[:, None], carried, 0.0)


def _carrier(skin: Skin, triangles: NDArray[np.integer], plane: _Plane, tolerance: float) -> _Carrier:
    points = skin.rest_positions.astype(np.float64)
    alone = np.setdiff1d(np.arange(len(points)), triangles)
    faces = np.concatenate([triangles.reshape(-1, 3), np.stack([alone] * 3, axis=1)]).astype(np.int32)
    nearest, shares, distances = _core.nearest_on_surface(points, faces, plane.points(points))
    return _Carrier(faces[nearest].astype(np.intp), shares, distances <= tolerance, plane)


def _image(
    correctives: Correctives,
    corrective: Corrective,
    others: NDArray[np.intp],
    plane: _Plane,
    carry: _Carrier,
    limit: float,
) -> Corrective:
    """The mirror image of a corrective; where its target is, is not known yet."""
    shape, skeleton = corrective.shape, correctives.skeleton
    if shape is None:
        raise ValueError(f"{corrective.name!r} is not solved")
    driven = others[skeleton.indices(corrective.driver.joints)]
    driver = find_driver(skeleton, driven.tolist(), corrective.driver.part)
    deltas = carry(shape.vertices, shape.deltas)
    changed = np.linalg.norm(deltas, axis=1) > limit
    normals = None if shape.normal_deltas is None else carry(shape.vertices, shape.normal_deltas)
    if normals is not None:
        changed |= normals.any(axis=1)
    vertices = np.flatnonzero(changed).astype(np.int32)
    kind = shape.deltas.dtype
    made = Shape(vertices, deltas[vertices].astype(kind), None if normals is None else normals[vertices].astype(kind))
    target = None
    # A rotation is mirrored with its axis, and in the other sense.
    rotations = np.zeros((len(skeleton), 3))
    rotations[driven] = -corrective.coordinates * plane.signs
    coordinates = rotations[skeleton.indices(driver.joints)]
    if corrective.target is not None:
        matrices = np.empty_like(corrective.target.skinning_matrices)
        matrices[others] = plane.matrices(corrective.target.skinning_matrices)
        target = Target(matrices, vertices, deltas[vertices])
        coordinates = find_coordinates(skeleton, driver, matrices)
    name = next(other_sides(corrective.name), f"{corrective.name} mirrored")
    return Corrective(name, driver, coordinates, target, made, corrective.made_for)
