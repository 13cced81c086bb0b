# SPDX-License-Identifier: MIT
"""How much of its shape a deformed mesh keeps."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...characters.character import Character
from ...support import rotations

LEAST_TURN = np.radians(5)


def volume(positions: ArrayLike, triangles: ArrayLike) -> float:
    """Volume of a closed mesh, by the divergence theorem; positive if triangles are counter-clockwise from outside."""
    points = np.asarray(positions, np.float64)
    a, b, c = np.moveaxis((points - points.mean(axis=0))[np.asarray(triangles)], 1, 0)
    return float(np.einsum("tx,tx->", a, np.cross(b, c)) / 6)


def radius_kept(character: Character, skinning_matrices: NDArray[np.float64], positions: ArrayLike) -> float:
    """The least share that a vertex keeps of its distance to the axis of a turned joint; 1 if no joint is turned.

    This considers vertices of a character in the bind pose that are moved only by a joint and its parent, relative to
    the parent. They lie around the axis that the joint turns about, and move towards it where the mesh collapses. By
    LBS, a vertex with equal weights keeps cos(angle / 2). Joints are rigid.
    """
    skeleton, skin = character.skeleton, character.skin
    rest = np.asarray(skin.rest_positions, np.float64)
    deformed = np.asarray(positions, np.float64)
    local = skeleton.local(skinning_matrices @ skeleton.bind_matrices)
    half_turns = rotations.quaternions_from_matrices(local[:, :3, :3])[:, 1:]
    kept = 1.0
    for index, joints in enumerate(skin.joint_sets):
        joint = child_in_pair(skeleton.parents, joints)
        if joint is None or np.linalg.norm(half_turns[joint]) < np.sin(LEAST_TURN / 2):
            continue
        members = skin.joint_set_of_vertex == index
        axis = skeleton.bind_matrices[joint][:3, :3] @ half_turns[joint]
        origin = skeleton.joint_positions[joint]
        to_parent = np.linalg.inv(skinning_matrices[skeleton.parents[joint]])
        seen = deformed[members] @ to_parent[:3, :3].T + to_parent[:3, 3]
        before, after = (np.linalg.norm(np.cross(axis, points - origin), axis=1) for points in (rest[members], seen))
        kept = min(kept, float(np.min(after / before)))
    return kept


def child_in_pair(parents: NDArray[np.int32], joints: tuple[int, ...]) -> int | None:
    """Which of two joints is the child of the other; None if neither is, or they are not two."""
    if len(joints) != 2:
        return None
    a, b = joints
    if parents[a] == b:
        return a
    return b if parents[b] == a else None
