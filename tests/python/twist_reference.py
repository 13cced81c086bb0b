# SPDX-License-Identifier: MIT
"""Twist spread along bones, written down as it is defined: a loop over vertices in double precision.

Shares no code with the package. Across joints it blends linearly, or by quaternions about a given center for each
vertex.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from reference import quaternion, rotation_matrix


def rotation_quaternion(rotation: np.ndarray) -> np.ndarray:
    found = quaternion(np.asarray(rotation, float))
    return -found if found[0] < 0 else found


def twist_angle(rotation: np.ndarray, axis: np.ndarray) -> float:
    """The angle of a rotation's twist about a unit vector, by what its quaternion has of it; half a turn at most."""
    quaternion = rotation_quaternion(rotation)
    return float(2 * np.arctan2(quaternion[1:] @ axis, quaternion[0]))


def rotation_part(matrix: np.ndarray) -> np.ndarray:
    """The rotation of a matrix by its singular values; a mirrored one is turned inside out first."""
    left, _, right = np.linalg.svd(matrix)
    rotation = left @ right
    return np.asarray(rotation if np.linalg.det(rotation) > 0 else -rotation)


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rodrigues' formula."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


class Bone:
    """A limb bone: joint, parent and child (-1 for none), head and tail in bind space."""

    def __init__(self, joint: int, parent: int, child: int, head: ArrayLike, tail: ArrayLike) -> None:
        self.joint, self.parent, self.child = joint, parent, child
        self.head, self.tail = np.asarray(head, float), np.asarray(tail, float)
        self.length = float(np.linalg.norm(self.tail - self.head))
        self.axis = (self.tail - self.head) / self.length

    def share(self, point: np.ndarray) -> float:
        """How far along the bone a point is, 0 to 1."""
        return float(np.clip((point - self.head) @ self.axis / self.length, 0, 1))

    def angles(self, matrices: np.ndarray) -> tuple[float, float]:
        """The joint's own twist relative to its parent, and its child's relative to it, both about this bone."""
        own = child = 0.0
        rotation = rotation_part(matrices[self.joint][:3, :3])
        if self.parent >= 0:
            own = twist_angle(rotation_part(matrices[self.parent][:3, :3]).T @ rotation, self.axis)
        if self.child >= 0:
            child = twist_angle(rotation.T @ rotation_part(matrices[self.child][:3, :3]), self.axis)
        return own, child

    def spread(self, matrix: np.ndarray, angles: tuple[float, float], share: float) -> np.ndarray:
        """The joint's matrix (4, 4) as a point at such a share of the bone sees it: turned about the bone before."""
        own, child = angles
        rotation = turn(self.axis, -own * (1 - share) + child * share)
        before = np.eye(4)
        before[:3, :3], before[:3, 3] = rotation, self.head - rotation @ self.head
        return np.asarray(matrix @ before)


def deform(
    points: ArrayLike,
    weights: np.ndarray,
    matrices: np.ndarray,
    bones: Sequence[Bone],
    *,
    centers: np.ndarray | None = None,
    amount: float = 1.0,
    angles: Sequence[tuple[float, float]] | None = None,
) -> np.ndarray:
    """Positions (V, 3): linear without centers, else spherical about them, or `amount` of that beside linear.

    ``weights`` (V, J) sum to 1; ``angles`` take the place of those that the matrices have.
    """
    turns = [bone.angles(matrices) for bone in bones] if angles is None else angles
    result = np.empty((len(weights), 3))
    for vertex, (point, row) in enumerate(zip(np.asarray(points, float), weights, strict=True)):
        own = np.array(matrices, float)
        for bone, turned in zip(bones, turns, strict=True):
            own[bone.joint] = bone.spread(own[bone.joint], turned, bone.share(point))
        blended = np.einsum("j,jxy->xy", row, own)
        linear = blended[:3, :3] @ point + blended[:3, 3]
        if centers is None:
            result[vertex] = linear
            continue
        center = centers[vertex]
        about = blended[:3, :3] @ center + blended[:3, 3]
        spherical = blended_rotation(own[:, :3, :3], row) @ (point - center) + about
        result[vertex] = linear + amount * (spherical - linear)
    return result


def blended_rotation(linear: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Quaternions blended linearly in the hemisphere of the heaviest joint's (2005, section 4.2)."""
    used = np.flatnonzero(weights)
    quaternions = np.stack([rotation_quaternion(rotation_part(linear[joint])) for joint in used])
    pivot = quaternions[int(np.argmax(weights[used]))]
    return rotation_matrix((weights[used] * np.where(quaternions @ pivot < 0, -1, 1)) @ quaternions)
