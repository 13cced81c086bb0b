# SPDX-License-Identifier: MIT
"""`sbs.poses`: poses in which one joint is turned, and the vertices that such a joint moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..rigging.bones import bone_segments
from ..rigging.skeleton import Skeleton
from ..support import rotations
from .character import Character

__all__ = ["axes", "bone_axis", "descendants", "flexed", "turned", "vertices_around"]

STRAIGHT = 1e-2
"""The sine of the angle between a bone and its parent's below which they are in line."""

# A turn about an axis nearer to the bone than this, as a sine, is a twist and no bend.
_ACROSS = 0.1


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


def axes(skeleton: Skeleton, joint: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The axes that a joint bends and twists about: unit vectors (3,) in its own frame, across and along its bone."""
    heads, tails = bone_segments(skeleton)
    bones = tails - heads
    parent = int(skeleton.parents[joint])
    bone = _unit(bones[joint], np.array([0.0, 1.0, 0.0]))
    across = np.cross(_unit(bones[parent], bone), bone) if parent >= 0 else np.zeros(3)
    if np.linalg.norm(across) < STRAIGHT:
        across = np.cross(np.eye(3)[int(np.argmin(np.abs(bone)))], bone)
    to_joint = skeleton.inverse_bind_matrices[joint][:3, :3]
    bend, twist = (_unit(to_joint @ axis, axis) for axis in (across, bone))
    return bend, twist


def flexed(
    skeleton: Skeleton, joint: str | int, degrees: ArrayLike, axis: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Poses in which a joint bends, from a limb that is stretched: all else is as at bind.

    At 0 degrees the bone of the joint goes on as its parent's does. If the limb is bent at bind, this is the axis that
    it bends about by default, and bends by as much as it does there are the bind pose.

    Parameters
    ----------
    skeleton : Skeleton
    joint : str or int
    degrees : (N,) array_like
    axis : (3,) array_like, optional
        In the joint's own frame. Its part along the bone is left out. By default across the bones of the
        joint and its parent; where they are in line at bind, any axis across them.

    Returns
    -------
    (N, J, 3, 3) ndarray
        Local rotations T(j), for `Skeleton.forward`.

    Raises
    ------
    ValueError
        If the axis is along the bone, so that the pose would be a twist.
    """
    number = skeleton.index(joint)
    hinge, bone = axes(skeleton, number)
    heads, tails = bone_segments(skeleton)
    parent = int(skeleton.parents[number])
    to_joint = skeleton.inverse_bind_matrices[number][:3, :3]
    before = bone if parent < 0 else _unit(to_joint @ (tails - heads)[parent], bone)
    # The angle of the limb at bind, about the hinge; the arc tangent keeps its digits at small angles.
    at_bind = np.arctan2(np.cross(before, bone) @ hinge, before @ bone)
    stretched = rotations.matrices_from_axis_angle(hinge, -at_bind)
    if axis is not None:
        given = _unit(np.asarray(axis, np.float64), hinge)
        across = given - (given @ bone) * bone
        if np.linalg.norm(across) < _ACROSS:
            name = skeleton.names[number]
            raise ValueError(f"the axis is along the bone of joint {name!r}, so that it would twist and not bend")
        hinge = _unit(across, hinge)
    turns = np.atleast_1d(np.asarray(degrees, np.float64))
    local = np.tile(np.eye(3), (len(turns), len(skeleton), 1, 1))
    local[:, number] = stretched @ rotations.matrices_from_axis_angle(hinge, turns, degrees=True)
    return local


def _unit(vector: NDArray[np.float64], otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(vector)
    return np.asarray(vector / length if length > 0 else otherwise)


def descendants(skeleton: Skeleton, *joints: str | int) -> NDArray[np.intp]:
    """Some joints and all below them, ascending."""
    parents = np.asarray(skeleton.parents)
    found = np.zeros(len(parents), bool)
    found[skeleton.indices(joints)] = True
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
