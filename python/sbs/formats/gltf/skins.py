# SPDX-License-Identifier: MIT
"""Skins: joints with their inverse bind matrices, and how skins of a file become one skeleton."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...rigging import affine
from ...rigging.rig import Floats
from ...skinning.reports import counted
from .accessors import read_floats
from .document import Document, Element
from .nodes import AFFINE, ancestry, read_rig

# Inverse bind matrices are stored as float32: matrices that differ by at most this count as equal.
_SAME = 1e-5

# Bind poses that are the pose of the file agree with it by so much, relative to the size.
_SAME_PLACE = 1e-3

# With so many joints of a skin this is seen.
_MOST_COMPARED = 8

# Bytes that a joint takes which has a place of its own in the rig, of all its arrays and names.
_JOINT_SIZE = 4096


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


class SkinGroup:
    """Skins whose joints make one skeleton.

    Parameters
    ----------
    most : int
        The most joints that it may get.

    Attributes
    ----------
    joints : list of J int
        The node of each joint. A node occurs again for a skin that was bound in another pose of it.
    inverse_bind_matrices : (J, 4, 4) ndarray
    uses : dict of int to SkinUse
        The skins of the group by their number in the file.
    """

    def __init__(self, most: int) -> None:
        self.joints: list[int] = []
        self.uses: dict[int, SkinUse] = {}
        self._matrices = np.empty((most, 4, 4))
        self._number: dict[int, int] = {}

    @property
    def inverse_bind_matrices(self) -> Floats:
        """Bind space of the group to the joints."""
        return self._matrices[: len(self.joints)]

    def admit(self, skin: Skin, at_rest: Callable[[list[int]], Floats]) -> int:
        """Add a skin; how many of its joints are bound in another pose than by the skins before.

        Joints of the same nodes are one if one matrix brings all their inverse bind matrices to those of the group:
        the meshes were bound in spaces that differ by it. Where the pose of a few joints differs, these are added.

        Parameters
        ----------
        skin : Skin
        at_rest : callable
            Node to scene (n, 4, 4) of nodes, in the pose of the file.
        """
        matrices = skin.inverse_bind_matrices
        known = np.array([self._number.get(node, -1) for node in skin.joints])
        shared = np.flatnonzero(known >= 0)
        reference = self.inverse_bind_matrices[known[shared]]
        same = np.all(reference == matrices[shared], axis=(1, 2))
        mesh_matrix = np.eye(4)
        if not len(shared):
            mesh_matrix = self._between(skin, at_rest)
        elif not same.all():
            mesh_matrix, same = _common(reference, matrices[shared], same)
        joint_map = known.copy()
        joint_map[shared[~same]] = -1
        others = np.flatnonzero(joint_map < 0)
        joint_map[others] = len(self.joints) + np.arange(len(others))
        to_group = affine.inverse(mesh_matrix[None])[0]
        self._matrices[len(self.joints) : len(self.joints) + len(others)] = matrices[others] @ to_group
        for joint in others:
            self._number.setdefault(skin.joints[joint], len(self.joints))
            self.joints.append(skin.joints[joint])
        self.uses[skin.number] = SkinUse(joint_map.astype(np.int32), mesh_matrix)
        return int(np.count_nonzero(~same))

    def _between(self, skin: Skin, at_rest: Callable[[list[int]], Floats]) -> Floats:
        """Bind space of a skin to that of the group, which have no joint in common.

        If both are bound as they are in the pose of the file, it is known from there.
        """
        if not self.joints:
            return np.eye(4)
        places = []
        for nodes, matrices in ((self.joints, self.inverse_bind_matrices), (skin.joints, skin.inverse_bind_matrices)):
            found = at_rest(nodes[:_MOST_COMPARED]) @ matrices[:_MOST_COMPARED]
            if not np.isfinite(found).all() or np.abs(found - found[0]).max() > _SAME_PLACE * np.abs(found[0]).max():
                return np.eye(4)
            places.append(found[:1])
        if affine.are_singular(np.concatenate(places)).any():
            return np.eye(4)
        matrix = (affine.inverse(places[0]) @ places[1])[0]
        return np.eye(4) if np.abs(matrix - np.eye(4)).max() <= _SAME_PLACE else np.asarray(matrix)


@dataclass
class Skin:
    """A skin of the file: its number, the nodes of its joints, and inverse bind matrices (J, 4, 4)."""

    number: int
    joints: list[int]
    inverse_bind_matrices: Floats


def _common(reference: Floats, matrices: Floats, equal: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
    """The matrix that brings most inverse bind matrices (n, 4, 4) to reference ones, and which of them, (n,)."""
    usable = ~affine.are_singular(reference) & ~affine.are_singular(matrices)
    if not usable.any():
        return np.eye(4), equal
    candidates = affine.inverse(reference[usable]) @ matrices[usable]
    middle = np.median(candidates, axis=0)
    apart = np.abs(candidates - middle).max(axis=(1, 2)) > _SAME * np.abs(middle).max()
    if apart.all() or affine.are_singular(middle[None]).any():
        return np.eye(4), equal
    same = np.zeros(len(matrices), np.bool_)
    same[np.flatnonzero(usable)[~apart]] = True
    if np.abs(middle - np.eye(4)).max() <= _SAME:
        return np.eye(4), same | equal
    return candidates[~apart].mean(axis=0), same


def read_skins(document: Document) -> list[Skin]:
    """All skins of a file. Raises FileError."""
    skins = []
    for number, skin in enumerate(document.all("skins")):
        joints = _read_joints(document, skin)
        skins.append(Skin(number, joints, _read_inverse_bind_matrices(document, skin, len(joints))))
    return skins


def skeletons(document: Document, skins: list[Skin], parents: list[int]) -> list[list[Skin]]:
    """Skins that belong together: they share joints, or joints of one are above those of another."""
    leader = list(range(len(skins)))

    def find_leader(skin: int) -> int:
        while leader[skin] != skin:
            leader[skin] = leader[leader[skin]]
            skin = leader[skin]
        return skin

    owner: dict[int, int] = {}
    for place, skin in enumerate(skins):
        element = document.all("skins")[skin.number]
        root = [element.integer("skeleton")] if "skeleton" in element else []
        for node in (*skin.joints, *root):
            leader[find_leader(place)] = find_leader(owner.setdefault(node, place))
    above: dict[int, int] = {}
    for node in ancestry(range(len(parents)), parents):
        over = above.get(parents[node], -1)
        mine = owner.get(node, -1)
        if mine >= 0 and over >= 0:
            leader[find_leader(mine)] = find_leader(over)
        above[node] = mine if mine >= 0 else over
    together: dict[int, list[Skin]] = {}
    for place, skin in enumerate(skins):
        together.setdefault(find_leader(place), []).append(skin)
    return list(together.values())


def join_skins(document: Document, skins: list[Skin], parents: list[int]) -> SkinGroup:
    """One skeleton of several skins. Raises FileError."""

    @functools.cache
    def all_at_rest() -> dict[int, Floats]:
        nodes = sorted({node for skin in skins for node in skin.joints})
        rig = read_rig(document, nodes, parents, np.tile(np.eye(4), (len(nodes), 1, 1)))
        return dict(zip(nodes, rig.rest_matrices, strict=True))

    def at_rest(nodes: list[int]) -> Floats:
        return np.array([all_at_rest()[node] for node in nodes])

    group = SkinGroup(sum(len(skin.joints) for skin in skins))
    for skin in skins:
        element = document.all("skins")[skin.number]
        before = len(group.joints)
        otherwise = group.admit(skin, at_rest)
        document.charge((len(group.joints) - before) * (_JOINT_SIZE if otherwise else 0), element)
        if otherwise:
            document.remarks.append(
                f"skin {skin.number} binds {otherwise} joints in another pose than the skins before: it has its own"
            )
    return group


def _read_joints(document: Document, skin: Element) -> list[int]:
    joints = skin.integers("joints")
    if not joints:
        raise skin.error("a skin without joints", "joints")
    seen: set[int] = set()
    for joint, node in enumerate(joints):
        document.get("nodes", node, skin, f"joints[{joint}]")
        if node in seen:
            document.remarks.append(f"{skin.label}.joints[{joint}]: node {node} is a joint already")
        seen.add(node)
    return joints


def _read_inverse_bind_matrices(document: Document, skin: Element, joint_count: int) -> Floats:
    if "inverseBindMatrices" not in skin:
        return np.tile(np.eye(4), (joint_count, 1, 1))
    accessor = document.follow("accessors", skin, "inverseBindMatrices")
    matrices = np.tile(np.eye(4), (joint_count, 1, 1))
    stored = read_floats(document, accessor, "MAT4")[:joint_count].reshape(-1, 4, 4).transpose(0, 2, 1)
    matrices[: len(stored)] = stored
    if len(stored) < joint_count:
        found = counted(len(stored), "inverse bind matrix", "inverse bind matrices")
        document.remarks.append(f"{accessor.label}: {found} for {joint_count} joints; the others get the identity")
    last_row = np.abs(matrices[:, 3] - [0.0, 0.0, 0.0, 1.0]).max(axis=1)
    if last_row.max() > AFFINE:
        raise accessor.error(f"the last row of matrix {int(np.argmax(last_row))} is not (0, 0, 0, 1)")
    matrices[:, 3] = [0.0, 0.0, 0.0, 1.0]
    return matrices
