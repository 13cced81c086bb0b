# SPDX-License-Identifier: MIT
"""The bones that start at the joints of a skeleton, as bones blending sees them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .skeleton import Skeleton

__all__ = ["Bones", "moved_on", "nearest_bones"]

Floats = NDArray[np.float64]
Joints = NDArray[np.int32]

COINCIDENT = 1e-6
"""Joints nearer to each other than this share of the skeleton's size have no bone between them."""

REACH = 2.0
"""How far from a joint what its parent moves may be to belong to it by default, in distances to the rim of its zone."""


class Bones:
    """The bones of a skeleton: what starts at each joint.

    Parameters
    ----------
    skeleton : Skeleton
    tails : (J, 3) ndarray, optional
        Where they end, in the space of the bind matrices; by default at the children, as `bones_blending` says.

    Attributes
    ----------
    directions : (J, 3) ndarray
        n, unit vectors in the joints' own axes; zero where there is no bone.
    before, after : (J,) ndarray
        How long the bone of the parent is that ends at the joint, and its own.
    blendable : (J,) ndarray of bool
        Joints with a parent and a bone.
    """

    def __init__(self, skeleton: Skeleton, tails: Floats | None = None) -> None:
        heads, parents = skeleton.joint_positions, skeleton.parents
        self.skeleton = skeleton
        children = np.flatnonzero(parents >= 0)
        steps = np.zeros_like(heads)
        steps[children] = heads[children] - heads[parents[children]]
        size = np.linalg.norm(np.ptp(heads, axis=0))
        if tails is not None:
            bones = tails - heads
        else:
            sums, counts = np.zeros_like(heads), np.bincount(parents[children], minlength=len(heads))
            np.add.at(sums, parents[children], heads[children])
            bones = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None] - heads, 0)
        ends = np.linalg.norm(bones, axis=1) <= COINCIDENT * size  # no child, or all at the same place
        bones[ends] = steps[ends]
        own = np.einsum("jab,jb->ja", skeleton.inverse_bind_matrices[:, :3, :3], bones)
        self.after = np.linalg.norm(own, axis=1)
        bare = np.linalg.norm(bones, axis=1) <= COINCIDENT * size
        self.directions = np.where(bare[:, None], 0, own / np.where(bare, 1, self.after)[:, None])
        self._alongs = np.einsum("ja,jab->jb", self.directions, skeleton.inverse_bind_matrices[:, :3])
        self.before = np.linalg.norm(np.einsum("jab,jb->ja", skeleton.inverse_bind_matrices[:, :3, :3], steps), axis=1)
        self.before = np.where(self.before > COINCIDENT * size, self.before, self.after)
        self.blendable = (parents >= 0) & ~bare
        self.heads, self.tails = heads, heads + bones

    def along(self, points: Floats, joints: int | np.integer[Any] | NDArray[np.integer[Any]]) -> Floats:
        """The t' = <A(j)^-1 v, n> (N,) of points (N, 3) on the bones of joints (N,), or of one (2003, section 3)."""
        rows = self._alongs[joints]
        return np.asarray(np.einsum("...a,...a->...", points, rows[..., :3]) + rows[..., 3])

    def radii(self, points: Floats, attachment: Joints) -> Floats:
        """How thick the limb is at each joint (J,): the median distance to its bone of what is attached nearby.

        Nearby are the halves of the bone and of its parent's; where nothing is, it is a quarter of the bone.
        """
        radii = self.after / 4
        members = members_of(attachment, len(radii))
        for joint in np.flatnonzero(self.blendable):
            near = points[np.concatenate([members[self.skeleton.parents[joint]], members[joint]])]
            place = self.along(near, joint)
            beside = (-self.before[joint] / 2 < place) & (place < self.after[joint] / 2)
            if beside.any():
                inverse = self.skeleton.inverse_bind_matrices[joint]
                own = near[beside] @ inverse[:3, :3].T + inverse[:3, 3]
                across = own - place[beside, None] * self.directions[joint]
                radii[joint] = np.median(np.linalg.norm(across, axis=1)) or radii[joint]
        return np.asarray(radii)


def members_of(attachment: Joints, joint_count: int) -> list[NDArray[np.intp]]:
    """For each of the joints, what is attached to it, ascending."""
    order = np.argsort(attachment, kind="stable")
    ends = np.searchsorted(attachment[order], np.arange(joint_count + 1))
    return [order[begin:end] for begin, end in pairwise(ends.tolist())]


def nearest_bones(bones: Bones, points: Floats) -> Joints:
    """The joint whose bone is nearest to each point (N,), of equal ones the lowest."""
    nearest, best = np.zeros(len(points), np.int32), np.full(len(points), np.inf)
    for joint, (head, tail) in enumerate(zip(bones.heads, bones.tails, strict=True)):
        bone = tail - head
        place = np.clip((points - head) @ bone / (bone @ bone or 1), 0, 1)
        distance = np.linalg.norm(points - head - place[:, None] * bone, axis=1)
        closer = distance < best
        nearest[closer], best[closer] = joint, distance[closer]
    return nearest


def moved_on(
    bones: Bones, points: Floats, attachment: Joints, lowest: Floats, radii: Floats, active: NDArray[np.bool_]
) -> Joints:
    """Attachments with what lies around a joint, but is its parent's, given to the joint."""
    heads, parents = bones.heads, bones.skeleton.parents
    moved, best = attachment.copy(), np.full(len(points), np.inf)
    members = members_of(attachment, len(heads))
    for joint in np.flatnonzero(parents >= 0):
        candidates = members[parents[joint]]
        scale = np.linalg.norm(bones.tails[joint] - heads[joint]) / (bones.after[joint] or 1)
        distance = np.linalg.norm(points[candidates] - heads[joint], axis=1)
        nearer = distance < best[candidates]
        candidates, distance = candidates[nearer], distance[nearer]
        best[candidates] = distance
        moved[candidates] = attachment[candidates]
        if not active[joint]:
            continue
        beyond = bones.along(points[candidates], joint) > lowest[joint]
        within = distance <= REACH * scale * np.hypot(lowest[joint], radii[joint])
        moved[candidates[beyond & within]] = joint
    return moved
