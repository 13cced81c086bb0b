# SPDX-License-Identifier: MIT
"""Correctives from a sequence that was scanned or simulated: poses from its frames, shapes by least squares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..rigging.skeleton import Skeleton
from ..rigging.triangle_mesh import diagonal
from ..skinning.options import AnyFloats, BlendOptions
from ..skinning.shapes import Shape
from ..skinning.skin import Skin
from .correctives import Correctives
from .drivers import Driver, Part, core_drivers, find_driver
from .making import made_for

__all__ = ["FittedCorrectives", "fit"]

Floats = NDArray[np.float64]
Pose = tuple[Driver, Floats]

CANDIDATES = 12
"""How many frames of each driver may become poses, far apart from each other."""

LEAST_TURN = 0.15
"""Radians that a joint is turned at least in a pose."""

LEAST_GAIN = 0.01
"""A pose that lowers the error of frames held out by less than this share is not taken."""

RIDGE = 1e-3
"""Added to squared singular values of weights, so that shapes that hardly come in are not made large."""


class FittedCorrectives(NamedTuple):
    """The result of `fit`. Errors are root mean squares of distances, as shares of the size of the mesh.

    Attributes
    ----------
    correctives : Correctives
        Their shapes are given: `Correctives.solve` leaves them as they are.
    error, error_before : float
        Of the frames that were fitted, with correctives and without.
    held_out_error, held_out_error_before : float
        Of the frames that were held out.
    """

    correctives: Correctives
    error: float
    error_before: float
    held_out_error: float
    held_out_error_before: float


def fit(
    skeleton: Skeleton,
    skin: Skin,
    skinning_matrices: ArrayLike,
    positions: ArrayLike,
    joints: Iterable[str | int | Iterable[str | int]],
    *,
    poses: int = 8,
    held_out: int = 4,
    tolerance: float = 1e-4,
    part: Part = "swing",
    **options: Unpack[BlendOptions],
) -> FittedCorrectives:
    """Fit correctives to frames that show the mesh as it should look.

    The deformation of each frame is undone. Frames become poses one after the other, each time the one that leaves the
    least error; shapes are fitted by least squares, without small deltas. It ends when a pose makes the frames that
    were held out no better.

    Parameters
    ----------
    skeleton : Skeleton
    skin : Skin
    skinning_matrices : (F, J, 4, 4) or (F, J, 3, 4) array_like
    positions : (F, V, 3) array_like
        The mesh in these frames: the same vertices.
    joints : iterable of str, int or iterables of these
        The joints that drive; several in one entry drive together.
    poses : int
        The most poses, of all of them together.
    held_out : int
        Every frame of so many is held out.
    tolerance : float
        Smaller deltas are dropped: a share of the size of the mesh.
    part : {"swing", "twist", "both"}
        The part of rotations that drives.
    method, rotation, center, damping, rcond, amount, base
        Options of the deformation; see `Skin.deform`.

    Returns
    -------
    FittedCorrectives

    Raises
    ------
    KeyError
        If the skeleton has no such joint.
    ValueError
        If shapes of arrays disagree, there are fewer than `held_out` frames, or an option is out of its range.
    """
    matrices, wanted = np.asarray(skinning_matrices, np.float64), np.asarray(positions)
    if poses < 1 or held_out < 2 or not tolerance >= 0:
        raise ValueError("poses must be at least 1, held_out at least 2, and tolerance at least 0")
    if matrices.ndim != 4 or wanted.shape != (len(matrices), skin.vertex_count, 3):
        raise ValueError(f"positions has shape {wanted.shape}, expected ({len(matrices)}, {skin.vertex_count}, 3)")
    if len(matrices) < held_out:
        raise ValueError(f"there are {len(matrices)} frames, of which every {held_out} is to be held out")
    size = diagonal(skin.rest_positions)
    drivers = [find_driver(skeleton, [each] if isinstance(each, str | int) else [*each], part) for each in joints]
    missing = _missing(skin, matrices, wanted, options)
    is_held = np.arange(len(matrices)) % held_out == held_out - 1
    chosen = _choose(skeleton, drivers, matrices, missing, is_held, poses)
    result = Correctives(skeleton)
    if chosen:
        weights = core_drivers(skeleton, chosen).weights(matrices)[~is_held]
        for (driver, coordinates), shape in zip(
            chosen, _shapes(weights, missing[~is_held], tolerance * size), strict=True
        ):
            added = result.add_shape(shape, coordinates, joints=driver.joints, part=part)
            result.exchange(replace(added, made_for=made_for(skin, options)))
    before, after = (
        np.sqrt(np.mean(np.sum((_deformed(skin, matrices, each, options) - wanted) ** 2, axis=2), axis=1)) / size
        for each in (None, result)
    )

    def together(errors: Floats) -> float:
        return float(np.sqrt(np.mean(errors**2)))

    return FittedCorrectives(
        result,
        together(after[~is_held]),
        together(before[~is_held]),
        together(after[is_held]),
        together(before[is_held]),
    )


def _deformed(skin: Skin, matrices: Floats, correctives: Correctives | None, options: BlendOptions) -> AnyFloats:
    return skin.deform_many(matrices, correctives=correctives, **options)


def _missing(skin: Skin, matrices: Floats, wanted: AnyFloats, options: BlendOptions) -> Floats:
    """Offsets of rest positions (F, V, 3) that each frame needs; 0 where joints have crushed a vertex."""
    found = np.zeros(wanted.shape)
    for frame, (pose, posed) in enumerate(zip(matrices, wanted, strict=True)):
        back, singular = skin.inverse_deform(posed, pose, return_singular=True, **options)
        found[frame] = np.where(singular[:, None], 0.0, back - skin.rest_positions.astype(np.float64))
    return found


def _candidates(skeleton: Skeleton, driver: Driver, matrices: Floats) -> list[Pose]:
    """Poses of a driver in frames, far apart from each other, the farthest from rest first."""
    any_pose = [(driver, np.ones((len(driver.joints), 3)))]
    coordinates = core_drivers(skeleton, any_pose).coordinates(matrices)
    rows = coordinates.reshape(len(matrices), -1)
    distances = np.linalg.norm(rows, axis=1)
    found: list[Pose] = []
    while len(found) < CANDIDATES and distances.max(initial=0.0) > LEAST_TURN:
        frame = int(np.argmax(distances))
        found.append((driver, coordinates[frame]))
        distances = np.minimum(distances, np.linalg.norm(rows - rows[frame], axis=1))
    return found


def _choose(
    skeleton: Skeleton,
    drivers: list[Driver],
    matrices: Floats,
    missing: Floats,
    is_held: NDArray[np.bool_],
    most: int,
) -> list[Pose]:
    """The poses that leave the least, one after the other, as long as frames that are held out gain by it."""
    flat = missing.reshape(len(missing), -1)
    products = flat @ flat.T  # all that least squares need to know of the frames
    candidates = [pose for driver in drivers for pose in _candidates(skeleton, driver, matrices[~is_held])]
    chosen: list[Pose] = []
    left = np.array([np.trace(products[np.ix_(each, each)]) for each in (~is_held, is_held)])
    while candidates and len(chosen) < most:
        tried = []
        for candidate in candidates:
            try:
                weights = core_drivers(skeleton, [*chosen, candidate]).weights(matrices)
            except ValueError:  # too near another pose
                tried.append(np.full(2, np.inf))
                continue
            tried.append(_what_is_left(weights, products, is_held))
        best = int(np.argmin([each[0] for each in tried]))
        if not (tried[best] < (1 - LEAST_GAIN) * left).all():
            break
        left = tried[best]
        chosen.append(candidates.pop(best))
    return chosen


def _what_is_left(weights: Floats, products: Floats, is_held: NDArray[np.bool_]) -> Floats:
    """The squares that shapes by least squares leave of frames that are fitted, and of those held out."""
    by_frames = np.eye(len(weights))
    by_frames[:, ~is_held] -= weights @ _inverse(weights[~is_held])
    squares = np.einsum("fg,gh,fh->f", by_frames, products, by_frames)
    return np.array([squares[~is_held].sum(), squares[is_held].sum()])


def _inverse(weights: Floats) -> Floats:
    """The matrix (P, F) that makes shapes of offsets in frames, by least squares."""
    square = weights.T @ weights
    return np.asarray(np.linalg.solve(square + RIDGE * np.eye(len(square)), weights.T))


def _shapes(weights: Floats, missing: Floats, limit: float) -> list[Shape]:
    """Shapes by least squares, once of all vertices, and again of the vertices that each shape moves by more."""
    deltas = np.einsum("pf,fvx->pvx", _inverse(weights), missing)
    moved = np.linalg.norm(deltas, axis=2) > limit
    patterns, numbers = np.unique(moved, axis=1, return_inverse=True)
    deltas[~moved] = 0
    for number, pattern in enumerate(patterns.T):
        shapes, vertices = np.flatnonzero(pattern), np.flatnonzero(numbers.reshape(-1) == number)
        if len(shapes):
            solved = np.einsum("pf,fvx->pvx", _inverse(weights[:, shapes]), missing[:, vertices])
            deltas[np.ix_(shapes, vertices)] = solved
    return [
        Shape(vertices, each[vertices])
        for each in deltas
        for vertices in [np.flatnonzero(each.any(axis=1)).astype(np.int32)]
    ]
