# SPDX-License-Identifier: MIT
"""Poses in which one joint is turned."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import rotations
from .character import Character
from .skeleton import Skeleton


def turned(skeleton: Skeleton, joint: str | int, axis: ArrayLike, degrees: float) -> NDArray[np.float64]:
    """The bind pose with one joint turned.

    Parameters
    ----------
    skeleton : Skeleton
    joint : str or int
    axis : (3,) array_like
        In the joint's own frame; any length.
    degrees : float
        Right-handed.

    Returns
    -------
    (J, 3, 3) ndarray
        Local rotations T(j), for `Skeleton.forward`.
    """
    local = np.tile(np.eye(3), (len(skeleton.parents), 1, 1))
    local[skeleton.index(joint)] = rotations.matrices_from_axis_angle(axis, degrees, degrees=True)
    return local


def bone_axis(skeleton: Skeleton, joint: str | int) -> NDArray[np.float64]:
    """Unit vector (3,) along the bone of a joint, to its first child, in the joint's own frame.

    Raises
    ------
    ValueError
        If the joint has no child, or its first child is at the same place.
    """
    index = skeleton.index(joint)
    children = np.flatnonzero(np.asarray(skeleton.parents) == index)
    if len(children) == 0:
        raise ValueError(f"joint {skeleton.names[index]!r} has no child, so it has no bone to turn about")
    bone = skeleton.inverse_bind_matrices[index] @ skeleton.bind_matrices[children[0]][:, 3]
    length = np.linalg.norm(bone[:3])
    if not length > 0:
        raise ValueError(f"joint {skeleton.names[index]!r} lies where its child {skeleton.names[children[0]]!r} lies")
    return np.asarray(bone[:3] / length)


def descendants(skeleton: Skeleton, joint: str | int) -> NDArray[np.intp]:
    """A joint and all joints below it, ascending."""
    parents = np.asarray(skeleton.parents)
    found = np.zeros(len(parents), bool)
    found[skeleton.index(joint)] = True
    while True:
        grown = found | (found[parents] & (parents >= 0))
        if (grown == found).all():
            return np.flatnonzero(found)
        found = grown


def vertices_around(character: Character, joint: int) -> NDArray[np.bool_]:
    """Which vertices (V,) are moved by a joint or its parent."""
    pair = {joint, int(character.skeleton.parents[joint])}
    chosen = np.array([not pair.isdisjoint(joints) for joints in character.skin.joint_sets])
    return np.asarray(chosen[character.skin.joint_set_of_vertex])
