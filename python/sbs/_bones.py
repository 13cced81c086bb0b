# SPDX-License-Identifier: MIT
"""The bones that start at the joints of a skeleton, as bones blending sees them."""

from __future__ import annotations

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
        self.before = np.linalg.norm(np.einsum("jab,jb->ja", skeleton.inverse_bind_matrices[:, :3, :3], steps), axis=1)
        self.before = np.where(self.before > COINCIDENT * size, self.before, self.after)
        self.blendable = (parents >= 0) & ~bare
        self.heads, self.tails = heads, heads + bones

    def along(self, points: Floats, joints: NDArray[np.integer[Any]]) -> Floats:
        """The t' (N,) of points (N, 3) on the bones of joints (N,)."""
        own = self._local(points, joints)
        return np.asarray(np.einsum("na,na->n", own, self.directions[joints]))

    def across(self, points: Floats, joints: NDArray[np.integer[Any]]) -> Floats:
        """Distances (N,) of points (N, 3) to the lines of the bones of joints (N,)."""
        own = self._local(points, joints)
        return np.asarray(np.linalg.norm(np.cross(own, self.directions[joints]), axis=1))

    def _local(self, points: Floats, joints: NDArray[np.integer[Any]]) -> Floats:
        inverse = self.skeleton.inverse_bind_matrices[joints]
        return np.asarray(np.einsum("nab,nb->na", inverse[:, :3, :3], points) + inverse[:, :3, 3])

    def radii(self, points: Floats, attachment: Joints) -> Floats:
        """How thick the limb is at each joint (J,): the median distance to its bone of what is attached nearby.

        Nearby are the halves of the bone and of its parent's; where nothing is, it is a quarter of the bone.
        """
        radii = self.after / 4
        for joint in np.flatnonzero(self.blendable):
            near = points[(attachment == joint) | (attachment == self.skeleton.parents[joint])]
            place = self.along(near, np.full(len(near), joint))
            near = near[(-self.before[joint] / 2 < place) & (place < self.after[joint] / 2)]
            if len(near):
                radii[joint] = np.median(self.across(near, np.full(len(near), joint))) or radii[joint]
        return np.asarray(radii)


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
    for joint in np.flatnonzero(parents >= 0):
        candidates = np.flatnonzero(attachment == parents[joint])
        scale = np.linalg.norm(bones.tails[joint] - heads[joint]) / (bones.after[joint] or 1)
        distance = np.linalg.norm(points[candidates] - heads[joint], axis=1)
        nearer = distance < best[candidates]
        candidates, distance = candidates[nearer], distance[nearer]
        best[candidates] = distance
        moved[candidates] = attachment[candidates]
        if not active[joint]:
            continue
        beyond = bones.along(points[candidates], np.full(len(candidates), joint)) > lowest[joint]
        within = distance <= REACH * scale * np.hypot(lowest[joint], radii[joint])
        moved[candidates[beyond & within]] = joint
    return moved
