# SPDX-License-Identifier: MIT
"""Skins: joints with their inverse bind matrices, and which skins of a file can be joined."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .. import affine
from ..rig import Floats
from .accessors import count, read_floats
from .document import Document, Element

# Inverse bind matrices are stored as float32: matrices that differ by at most this count as equal.
_SAME = 1e-5

# Skins of the same joints usually have one bind pose, or a few. A skin is compared with at most this many.
_MOST_SPACES = 8


@dataclass
class SkinUse:
    """How a skin of the file fits into its group.

    Attributes
    ----------
    joint_map : (J,) int32 ndarray
        The group's number of each joint of the skin.
    mesh_matrix : (4, 4) ndarray
        Bind space of the skin's meshes to that of the group.
    """

    joint_map: NDArray[np.int32]
    mesh_matrix: Floats


@dataclass
class SkinGroup:
    """Skins of the same joints whose bind spaces differ by one matrix, so that they can become one skin.

    Attributes
    ----------
    joints : list of J int
        The node of each joint.
    inverse_bind_matrices : (J, 4, 4) ndarray
    uses : dict of int to SkinUse
        The skins of the group by their number in the file.
    """

    joints: list[int]
    inverse_bind_matrices: Floats
    uses: dict[int, SkinUse] = field(default_factory=dict)

    def admit(self, skin: int, joints: list[int], inverse_bind_matrices: Floats) -> bool:
        """Add a skin of the same joints, in any order, to the group if it fits; return whether it does."""
        number = {node: joint for joint, node in enumerate(self.joints)}
        joint_map = np.array([number[node] for node in joints], dtype=np.int32)
        reference = self.inverse_bind_matrices[joint_map]
        if np.array_equal(reference, inverse_bind_matrices):
            self.uses[skin] = SkinUse(joint_map, np.eye(4))
            return True
        if affine.are_singular(reference).any():
            return False
        mesh_matrices = affine.inverse(reference) @ inverse_bind_matrices
        spread = np.abs(mesh_matrices - mesh_matrices[0]).max()
        if not spread <= _SAME * np.abs(mesh_matrices[0]).max():
            return False
        same_space = np.abs(mesh_matrices[0] - np.eye(4)).max() <= _SAME
        self.uses[skin] = SkinUse(joint_map, np.eye(4) if same_space else mesh_matrices.mean(axis=0))
        return True


def read_groups(document: Document) -> list[SkinGroup]:
    """All skins of a file, in groups that can each become one. Raises FileError."""
    groups: list[SkinGroup] = []
    alike: dict[frozenset[int], list[SkinGroup]] = {}
    for number, skin in enumerate(document.all("skins")):
        joints = _read_joints(document, skin)
        inverse_bind_matrices = _read_inverse_bind_matrices(document, skin, len(joints))
        candidates = alike.setdefault(frozenset(joints), [])
        if not any(group.admit(number, joints, inverse_bind_matrices) for group in candidates):
            group = SkinGroup(joints, inverse_bind_matrices)
            group.admit(number, joints, inverse_bind_matrices)
            groups.append(group)
            if len(candidates) < _MOST_SPACES:
                candidates.append(group)
    return groups


def _read_joints(document: Document, skin: Element) -> list[int]:
    joints = skin.integers("joints")
    if not joints:
        raise skin.error("a skin without joints", "joints")
    seen: set[int] = set()
    for joint, node in enumerate(joints):
        document.get("nodes", node, skin, f"joints[{joint}]")
        if node in seen:
            raise skin.error(f"node {node} is a joint already", f"joints[{joint}]")
        seen.add(node)
    return joints


def _read_inverse_bind_matrices(document: Document, skin: Element, joint_count: int) -> Floats:
    if "inverseBindMatrices" not in skin:
        return np.tile(np.eye(4), (joint_count, 1, 1))
    accessor = document.follow("accessors", skin, "inverseBindMatrices")
    if count(accessor) < joint_count:
        raise accessor.error(f"{count(accessor)} inverse bind matrices for {joint_count} joints")
    matrices = read_floats(document, accessor, "MAT4")[:joint_count].reshape(-1, 4, 4).transpose(0, 2, 1).copy()
    last_row = np.abs(matrices[:, 3] - [0.0, 0.0, 0.0, 1.0]).max(axis=1)
    if last_row.max() > 1e-5:
        raise accessor.error(f"the last row of matrix {int(np.argmax(last_row))} is not (0, 0, 0, 1)")
    matrices[:, 3] = [0.0, 0.0, 0.0, 1.0]
    return matrices
