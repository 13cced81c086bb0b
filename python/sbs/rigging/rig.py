# SPDX-License-Identifier: MIT
"""The tree of transforms above the joints of a character: from node transforms to skinning matrices."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..skinning.influences import tidy
from ..support import rotations
from ..support.owned import own
from ..support.quantiles import weighted_quantiles
from . import affine
from .skeleton import Skeleton
from .twist_drivers import TwistDriver

Floats = NDArray[np.float64]

# A matrix has shear if it differs from T R S by more than the rounding of float32, relative to its largest element.
_SHEAR = 1e-6

# Joints whose scales differ by more than this are of two units of length: an inch, the nearest to another, has 2.54 cm.
_OTHER_UNITS = 2.0

# Bind matrices of a rig and of a skeleton are equal if they differ by at most this, relative to their size, plus the
# error of inverting them.
_APART = 1e-6


def compose(translations: Floats, quaternions: Floats, scales: Floats) -> Floats:
    """Matrices T R S of glTF node transforms.

    Parameters
    ----------
    translations, scales : (..., 3) ndarray
    quaternions : (..., 4) ndarray
        Unit quaternions (w, x, y, z).

    Returns
    -------
    (..., 4, 4) ndarray
    """
    matrices = affine.from_linear(rotations.matrices_from_quaternions(quaternions) * scales[..., None, :])
    matrices[..., :3, 3] = translations
    return matrices


def decompose(matrices: Floats) -> tuple[Floats, Floats, Floats]:
    """Translations (..., 3), unit quaternions (..., 4), (w, x, y, z), and scales (..., 3) of matrices T R S.

    Mirrored matrices get three negative scales. T R S cannot hold shear, which is lost; no axis may have length 0.
    """
    axes = matrices[..., :3, :3]
    handedness = np.where(np.linalg.det(axes) < 0.0, -1.0, 1.0)
    scales = np.linalg.norm(axes, axis=-2) * handedness[..., None]
    return matrices[..., :3, 3].copy(), rotations.quaternions_from_matrices(axes / scales[..., None, :]), scales


def decompose_frames(matrices: Floats) -> tuple[Floats, Floats, Floats]:
    """`decompose` of frames (F, ..., 4, 4) in the order of time: no quaternion changes its sign between two of them."""
    translations, quaternions, scales = decompose(matrices)
    flips = np.sum(quaternions[1:] * quaternions[:-1], axis=-1) < 0.0
    quaternions[1:] *= np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)[..., None]
    return translations, quaternions, scales


@dataclass(frozen=True, eq=False, repr=False)
class Rig:
    """The joints of a character and every node above or between them, N nodes in all, parents before children.

    `Skeleton` has only the joints, at bind. A rig also has the nodes that a file puts above and between them (an
    armature node, often scaled), and the pose in the file. Animations move nodes.

    Attributes
    ----------
    names : tuple of N str
    parents : (N,) int32 ndarray
        Parent of each node, -1 for a root; always less than the node's own number.
    translations, scales : (N, 3) float64 ndarray
    quaternions : (N, 4) float64 ndarray
        Unit quaternions (w, x, y, z).
    local_matrices : (N, 4, 4) float64 ndarray
        Node to parent, in the pose in the file: T R S, or the node's own matrix if it has one.
    has_matrix : (N,) bool ndarray
        Nodes given by a matrix; these cannot be animated and have no T, R, S.
    joints : (J,) intp ndarray
        The node of each joint.
    inverse_bind_matrices : (J, 4, 4) float64 ndarray
        Bind space of the mesh to each joint's node.
    twists : tuple of TwistDriver
        How nodes follow twists in poses that have no keys for them.
    """

    names: tuple[str, ...]
    parents: NDArray[np.int32]
    translations: Floats
    quaternions: Floats
    scales: Floats
    local_matrices: Floats
    has_matrix: NDArray[np.bool_]
    joints: NDArray[np.intp]
    inverse_bind_matrices: Floats
    twists: tuple[TwistDriver, ...] = ()

    def __post_init__(self) -> None:
        own(self, *(field.name for field in fields(self) if field.name not in ("names", "twists")))

    @classmethod
    def from_skeleton(cls, skeleton: Skeleton) -> Rig:
        """The rig whose nodes are the joints of a skeleton, in its bind pose and in the order ``skeleton.order``.

        A joint that is sheared against its parent is given by its matrix.
        """
        order = np.asarray(skeleton.order, dtype=np.intp)
        joint_nodes = np.empty(len(order), dtype=np.intp)
        joint_nodes[order] = np.arange(len(order))
        parents = np.asarray(skeleton.parents)[order]
        local_matrices = np.asarray(skeleton.local_bind_matrices)[order]
        translations, quaternions, scales = decompose(local_matrices)
        missed = np.abs(compose(translations, quaternions, scales) - local_matrices)[:, :3, :3].max(axis=(1, 2))
        return cls(
            names=tuple(skeleton.names[joint] for joint in order),
            parents=np.where(parents < 0, -1, joint_nodes[parents]).astype(np.int32),
            translations=translations,
            quaternions=quaternions,
            scales=scales,
            local_matrices=local_matrices,
            has_matrix=missed > _SHEAR * np.abs(local_matrices[:, :3, :3]).max(axis=(1, 2)),
            joints=joint_nodes,
            inverse_bind_matrices=np.asarray(skeleton.inverse_bind_matrices),
        )

    @cached_property
    def _levels(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """The nodes of each depth with their parents, so that a level takes one matrix product."""
        depth: list[int] = []
        for parent in self.parents.tolist():
            depth.append(0 if parent < 0 else depth[parent] + 1)
        by_depth = np.argsort(depth, kind="stable")
        levels = np.split(by_depth, np.cumsum(np.bincount(depth))[:-1])
        return [(nodes, self.parents[nodes]) for nodes in levels[1:]]

    def global_matrices(self, local_matrices: Floats) -> Floats:
        """Node to scene, (..., N, 4, 4), from node to parent, (..., N, 4, 4)."""
        matrices = np.array(local_matrices, dtype=np.float64)
        for nodes, parents in self._levels:
            matrices[..., nodes, :, :] = matrices[..., parents, :, :] @ matrices[..., nodes, :, :]
        return matrices

    def skinning_matrices(self, local_matrices: Floats) -> Floats:
        """Skinning matrices (..., J, 4, 4), bind space to scene, from node to parent, (..., N, 4, 4)."""
        return self.global_matrices(local_matrices)[..., self.joints, :, :] @ self.inverse_bind_matrices

    def local_from_joints(self, matrices: Floats) -> Floats:
        """Node to parent (..., N, 4, 4), from joints to scene (..., J, 4, 4); other nodes are at rest."""
        shape = (*matrices.shape[:-3], len(self.parents), 4, 4)
        local_matrices = np.broadcast_to(self.local_matrices, shape).copy()
        global_matrices = np.array(local_matrices)
        is_joint = np.zeros(len(self.parents), bool)
        is_joint[self.joints] = True
        global_matrices[..., self.joints, :, :] = matrices
        local_matrices[..., self.joints, :, :] = matrices
        for nodes, parents in self._levels:
            above = global_matrices[..., parents, :, :]
            rest = ~is_joint[nodes]
            global_matrices[..., nodes[rest], :, :] = above[..., rest, :, :] @ local_matrices[..., nodes[rest], :, :]
            moved = nodes[~rest]
            local_matrices[..., moved, :, :] = (
                affine.inverse(above[..., ~rest, :, :]) @ global_matrices[..., moved, :, :]
            )
        return local_matrices

    @property
    def joint_parents(self) -> NDArray[np.int32]:
        """For each joint (J,) the nearest joint above it, or -1."""
        number, nearest = (np.full(len(self.parents), -1, np.int32) for _ in range(2))
        number[self.joints] = np.arange(len(self.joints))
        for nodes, parents in self._levels:
            nearest[nodes] = np.where(number[parents] < 0, nearest[parents], number[parents])
        return nearest[self.joints]

    @property
    def bind_matrices(self) -> Floats:
        """The joints at bind (J, 4, 4), scaled to a determinant of 1 or -1.

        A scale of a joint's own axes cancels in skinning matrices.
        """
        matrices = affine.inverse(self.inverse_bind_matrices)
        matrices[:, :3, :3] /= np.cbrt(np.abs(np.linalg.det(matrices[:, :3, :3])))[:, None, None]
        return matrices

    def check_skeleton(self, skeleton: Skeleton) -> None:
        """Check that the joints are those of a skeleton, at the same place at bind.

        Raises
        ------
        ValueError
            If they are not.
        """
        count = len(skeleton)
        if count != len(self.joints):
            raise ValueError(f"skeleton has {count} joint{'s' if count > 1 else ''}, rig {len(self.joints)}")
        for joint in np.flatnonzero(skeleton.parents != self.joint_parents)[:1]:
            raise ValueError(f"the parent of joint {skeleton.names[joint]!r} is another in skeleton than in rig")
        ours, theirs = (
            matrices[:, :3] / np.abs(matrices[:, :3, :3]).max(axis=(1, 2), keepdims=True)
            for matrices in (self.inverse_bind_matrices, skeleton.inverse_bind_matrices)
        )
        values = np.linalg.svd(ours[..., :3], compute_uv=False)
        with np.errstate(divide="ignore", over="ignore"):
            allowed = _APART + 64.0 * np.finfo(np.float64).eps * values[:, 0] / values[:, 2]
        apart = np.abs(ours - theirs).max(axis=(1, 2)) > allowed * np.abs(ours).max(axis=(1, 2))
        for joint in np.flatnonzero(apart)[:1]:
            raise ValueError(f"the bind matrix of joint {skeleton.names[joint]!r} is another in skeleton than in rig")

    def same_as(self, other: Rig) -> bool:
        """Whether two rigs have the same nodes, joints and rest pose."""
        return self is other or all(
            np.array_equal(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)
        )

    def scene_matrix(self, joint_indices: NDArray[np.integer[Any]], joint_weights: NDArray[np.floating[Any]]) -> Floats:
        """Bind space to scene (4, 4): the rest matrix of the root above the joint that carries the most weight.

        If the root is of other units than the joints that move the mesh, such as a control above them, the scale is
        theirs, and the heaviest joint is where it is at rest.
        """
        indices, weights = tidy(joint_indices, joint_weights)
        carried = np.bincount(indices.ravel(), weights.ravel(), len(self.joints)).astype(np.float64)
        heaviest, parents = int(np.argmax(carried)), self.joint_parents
        joint = heaviest
        while parents[joint] >= 0:
            joint = int(parents[joint])
        matrix: Floats = self.rest_matrices[joint]
        scales = np.cbrt(np.abs(np.linalg.det(self.rest_matrices[:, :3, :3])))
        (common,) = weighted_quantiles(scales, carried, (0.5,))
        root = scales[joint]
        if min(root, common) > 0.0 and max(root / common, common / root) > _OTHER_UNITS:
            matrix = matrix.copy()
            matrix[:3, :3] *= common / root
            place = affine.inverse(self.inverse_bind_matrices[[heaviest]])[0, :, 3]
            matrix[:3, 3] += ((self.rest_matrices[heaviest] - matrix) @ place)[:3]
        return matrix

    @cached_property
    def twist_by_node(self) -> dict[int, TwistDriver]:
        """The twist drivers by the nodes that they turn."""
        return {twist.node: twist for twist in self.twists}

    @cached_property
    def rest_matrices(self) -> Floats:
        """Skinning matrices (J, 4, 4) of the pose in the file."""
        matrices = self.skinning_matrices(self.local_matrices)
        matrices.setflags(write=False)
        return matrices
