# SPDX-License-Identifier: MIT
"""Mirror weights from one side of a character to the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..rigging.trees import find_depths
from ..rigging.triangle_mesh import diagonal
from ..skinning.influences import InfluencesAndMore, with_rows
from . import tools
from .influences import carry, merge

__all__ = ["MIDDLE", "TOLERANCE", "Axis", "Counterparts", "Mirrored", "mirror", "mirror_joints", "other_sides"]

Axis = Literal["x", "y", "z"]

MIDDLE = 1e-4
"""Vertices nearer to the plane than this share of the mesh's size are in the middle: on both sides."""

TOLERANCE = 0.01
"""How far from their mirror images things may be, as a share of the size, unless told otherwise."""


class Counterparts(NamedTuple):
    """Which joints are mirror images of each other.

    Attributes
    ----------
    joints : (J,) int32 ndarray
        The counterpart of each joint; a joint in the middle, or without a counterpart, is its own.
    unmatched : (N,) intp ndarray
        Joints off the middle without a counterpart.
    """

    joints: NDArray[np.int32]
    unmatched: NDArray[np.intp]


class Mirrored(InfluencesAndMore):
    """Influences of both sides, and unmatched vertices.

    Attributes
    ----------
    joint_indices : (V, K) int32 ndarray
    joint_weights : (V, K) float32 or float64 ndarray
        As in `Influences`.
    unmatched : (N,) intp ndarray
        Vertices whose mirror image is too far from the other side. They keep their weights.
    """

    unmatched: NDArray[np.intp]


def mirror_joints(
    names: Sequence[str],
    positions: ArrayLike | None = None,
    *,
    parents: ArrayLike | None = None,
    axis: Axis = "x",
    position: float = 0.0,
    tolerance: float | None = None,
) -> Counterparts:
    """Find the counterpart of each joint: by its name, else by its position.

    Names of counterparts differ only in the side: ``arm.L`` and ``arm.R``, ``arm_l``, ``arm-l``, ``arm.L.001``,
    ``L_arm``, ``left_arm``, ``LeftArm``, ``mixamorig:LeftArm``, ``LArm``, ``ArmL``, ``lArm``; in upper or lower case;
    ``Lf_arm`` and ``Rt_arm``, ``armLf``, ``Lt_arm``; 左 and 右. Of several joints at one place, those are counterparts
    whose parents are, and then those whose names begin and end most alike.

    Parameters
    ----------
    names : sequence of J str
    positions : (J, 3) array_like, optional
        Where the joints are at bind, to match joints whose names do not show a side.
    parents : (J,) array_like of int, optional
        The parent of each joint, -1 for roots, to decide between joints at one place.
    axis : {"x", "y", "z"}
        The mirror is perpendicular to it.
    position : float
        Where the mirror is on this axis.
    tolerance : float, optional
        How far a joint may be from the image of its counterpart, and how far from the mirror if it is in the middle. By
        default 0.01 of the skeleton's size. Joints that are matched by name may be anywhere.

    Returns
    -------
    Counterparts

    Raises
    ------
    ValueError
        If the shape of positions is wrong, one is NaN or infinite, parents are no trees of these joints, or an option
        is out of its range.

    Examples
    --------
    >>> mirror_joints(["spine", "arm.L", "arm.R", "LeftLeg", "RightLeg"]).joints
    array([0, 2, 1, 4, 3], dtype=int32)
    """
    along = _check_plane(axis, position, tolerance)
    numbers = {name: joint for joint, name in enumerate(names)}
    joints = np.arange(len(names), dtype=np.int32)
    for joint, name in enumerate(names):
        other = next((numbers[candidate] for candidate in other_sides(name) if candidate in numbers), joint)
        if joints[joint] == joint and joints[other] == other:
            joints[joint], joints[other] = other, joint
    loose = np.flatnonzero(joints == np.arange(len(names)))
    if positions is None:
        options = {"parents": parents is None, "axis": axis == "x", "position": position == 0.0}
        for option, idle in (options | {"tolerance": tolerance is None}).items():
            if not idle:
                raise ValueError(f"{option} has no effect without positions")
        return Counterparts(joints, loose[[any(True for _ in other_sides(names[joint])) for joint in loose.tolist()]])
    points = np.asarray(positions, np.float64)
    if points.shape != (len(names), 3):
        raise ValueError(f"positions has shape {points.shape}, expected ({len(names)}, 3)")
    if not np.isfinite(points).all():
        raise ValueError(f"positions[{np.argwhere(~np.isfinite(points))[0][0]}] is not finite")
    above = [-1] * len(names) if parents is None else _check_parents(parents, len(names))
    size = diagonal(points)
    reach = TOLERANCE * size if tolerance is None else tolerance
    beside = loose[np.abs(points[loose, along] - position) > reach]
    if len(beside):
        images = points[beside]
        images[:, along] = 2 * position - images[:, along]
        distances = np.linalg.norm(images[:, None] - points[beside], axis=2)
        nearest = distances.min(axis=1)
        close = (distances <= reach) & (distances <= nearest[:, None] + MIDDLE * size)
        first, second = np.nonzero(np.triu(close & close.T, 1))
        pairs = list(zip(beside[first].tolist(), beside[second].tolist(), strict=True))
        _pair(joints, pairs, distances[first, second].tolist(), names, above)
        beside = beside[joints[beside] == beside]
    return Counterparts(joints, beside)


def _pair(
    joints: NDArray[np.int32],
    pairs: list[tuple[int, int]],
    distances: list[float],
    names: Sequence[str],
    parents: Sequence[int],
) -> None:
    """Choose among pairs of joints that may be counterparts, each joint once, and note them in `joints`.

    Parents are paired before their children. The number of pairs is that of joints, but for ties of place.
    """
    depths = find_depths(parents)
    levels: dict[int, list[tuple[float, float, int, int]]] = {}
    for (one, other), distance in zip(pairs, distances, strict=True):
        rank = -_likeness(names[one], names[other]), distance, one, other
        levels.setdefault(max(depths[one], depths[other]), []).append(rank)

    def siblings(one: int, other: int) -> bool:
        above, beside = parents[one], parents[other]
        return above == beside == -1 or (min(above, beside) >= 0 and joints[above] == beside)

    for _, ranked in sorted(levels.items()):
        for *_, one, other in sorted(ranked, key=lambda rank: (not siblings(rank[2], rank[3]), rank)):
            if joints[one] == one and joints[other] == other:
                joints[one], joints[other] = other, one


def _likeness(one: str, other: str) -> float:
    """Which share of the longer name both have at their beginnings and ends."""
    start = _count_common(one, other)
    end = _count_common(one[start:][::-1], other[start:][::-1])
    return (start + end) / max(len(one), len(other), 1)


def _count_common(one: str, other: str) -> int:
    """How many letters are the same from the beginning on."""
    pairs = zip(one, other, strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _check_parents(parents: ArrayLike, count: int) -> list[int]:
    above = np.asarray(parents)
    if above.shape != (count,) or above.dtype.kind not in "iu" or not np.all((above >= -1) & (above < count)):
        raise ValueError(f"parents must be {count} numbers of joints, or -1, not {above.dtype} {above.shape}")
    numbers: list[int] = above.tolist()
    find_depths(numbers)  # raises CircleError, a ValueError
    return numbers


_SIDES = (("left", "right"), ("l", "r"), ("lf", "rt"), ("lt", "rt"), ("左", "右"))
_WORDS = re.compile("left|right|左|右", re.IGNORECASE)
_BEGINS = r"(?:^|(?<=[._\- :]))"
_LETTERS = re.compile(rf"{_BEGINS}(?:[lr]|l[ft]|rt)(?=$|[._\- ])", re.IGNORECASE)
_CAMEL = re.compile(
    rf"{_BEGINS}(?:[LR]|L[ft]|Rt)(?=[A-Z][a-z])|{_BEGINS}[lr](?=[A-Z])|(?<=[a-z0-9])(?:[LR]|L[ft]|Rt)(?=$|[._\- ])"
)


def other_sides(name: str) -> Iterator[str]:
    """Names that differ from this one in one occurrence of the side."""
    for pattern in (_WORDS, _LETTERS, _CAMEL):
        for found in pattern.finditer(name):
            for other in _swapped(found[0]):
                yield name[: found.start()] + other + name[found.end() :]


def _swapped(word: str) -> Iterator[str]:
    """The words for the other side, in the same case."""
    for left, right in _SIDES:
        if word.lower() in (left, right):
            other = right if word.lower() == left else left
            yield other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other


def mirror(
    positions: ArrayLike,
    triangles: ArrayLike,
    joint_indices: ArrayLike,
    joint_weights: ArrayLike,
    counterparts: ArrayLike,
    *,
    source: Literal["positive", "negative"] = "positive",
    axis: Axis = "x",
    position: float = 0.0,
    tolerance: float | None = None,
) -> Mirrored:
    """Give one side the weights of the other, with left and right joints exchanged.

    A vertex gets the weights of the point of the other side that is nearest to its mirror image, so the sides need not
    have the same vertices. In the middle, weights become the mean of themselves and their mirror image. Mirroring again
    changes nothing.

    Parameters
    ----------
    positions : (V, 3) array_like
        Rest positions.
    triangles : (T, 3) array_like of int
        May be empty: then a vertex gets the weights of the nearest vertex.
    joint_indices : (V, K) array_like of int
    joint_weights : (V, K) array_like
        Repaired and normalized, as by `normalize`.
    counterparts : (J,) array_like of int
        From `mirror_joints`: for each joint the one that gets its weight on the other side.
    source : {"positive", "negative"}
        The side of the mirror that keeps its weights.
    axis : {"x", "y", "z"}
        The mirror is perpendicular to it.
    position : float
        Where the mirror is on this axis.
    tolerance : float, optional
        How far the image of a vertex may be from the other side; by default 0.01 of the mesh's size, the diagonal of
        its box.

    Returns
    -------
    Mirrored

    Raises
    ------
    ValueError
        If shapes disagree, there are no vertices, an index is out of range, joints are not each other's counterparts, a
        position is NaN or infinite, or an option is unknown or out of its range.
    TypeError
        If an array holds neither real numbers nor, for indices, integers.
    """
    along = _check_plane(axis, position, tolerance)
    if source not in ("positive", "negative"):
        raise ValueError(f"source must be 'positive' or 'negative', not {source!r}")
    indices, weights = tools.normalize(joint_indices, joint_weights)
    others = _check_counterparts(counterparts, int(indices.max()))
    if len(_core.weld(positions)) != len(indices):
        raise ValueError(f"positions has shape {np.shape(positions)}, joint_indices {indices.shape}")
    points = np.asarray(positions, np.float64)
    faces = np.asarray(triangles) if np.size(triangles) else np.empty((0, 3), np.int32)
    _core.islands(faces, len(points))  # this also refuses wrong triangles, as weld does positions

    size = diagonal(points)
    offsets = (points[:, along] - position) * (1 if source == "positive" else -1)
    middle, changed = np.abs(offsets) <= MIDDLE * size, offsets < -MIDDLE * size
    flipped = np.where(weights > 0, others[indices], 0).astype(np.int32)
    both = merge(
        np.concatenate([indices, flipped], axis=1)[middle], np.concatenate([weights, weights], axis=1)[middle] / 2
    )
    indices, weights = with_rows((indices, weights), np.flatnonzero(middle), both)
    flipped = np.where(weights > 0, others[indices], 0).astype(np.int32)

    giving = faces[~changed[faces].any(axis=1)]
    alone = np.flatnonzero(~changed & ~np.isin(np.arange(len(points)), giving))
    giving = np.concatenate([giving, np.stack([alone] * 3, axis=1).astype(giving.dtype)])
    targets = np.flatnonzero(changed)
    if not len(giving) or not len(targets):
        return Mirrored(indices, weights, targets)
    images = points[targets]
    images[:, along] = 2 * position - images[:, along]
    nearest, shares, distances = _core.nearest_on_surface(points, giving, images)
    near = distances <= (TOLERANCE * size if tolerance is None else tolerance)
    mirrored = carry(flipped, weights, giving[nearest[near]], shares[near])
    return Mirrored(*with_rows((indices, weights), targets[near], mirrored), targets[~near])


def _check_counterparts(counterparts: ArrayLike, largest: int) -> NDArray[np.intp]:
    given = np.asarray(counterparts)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise TypeError(f"counterparts must be integers (J,), not {given.dtype} {given.shape}")
    if largest >= len(given):
        raise ValueError(f"counterparts has shape {given.shape}, joint_indices goes up to {largest}")
    numbers = np.arange(len(given))
    bad = np.flatnonzero((given < 0) | (given >= len(given)))
    if not len(bad):
        bad = np.flatnonzero(given[given] != numbers)
    if len(bad):
        raise ValueError(f"counterparts[{bad[0]}] = {given[bad[0]]}: joints must be each other's counterparts")
    return given.astype(np.intp)


def _check_plane(axis: Axis, position: float, tolerance: float | None) -> int:
    """The number of the axis; raises if an option is out of its range."""
    if axis not in ("x", "y", "z"):
        raise ValueError(f"axis must be 'x', 'y' or 'z', not {axis!r}")
    if not np.isfinite(position):
        raise ValueError(f"position must be finite, not {position}")
    if tolerance is not None and not tolerance >= 0:
        raise ValueError(f"tolerance must be None or at least 0, not {tolerance}")
    return "xyz".index(axis)
