# SPDX-License-Identifier: MIT
"""The skeleton: a tree of joints in its bind pose, and forward kinematics.

The letters are those of Kavan and Zara, "Real Time Skin Deformation with Bones Blending", WSCG 2003, section 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..skinning.reports import counted
from ..support import rotations
from ..support.markup import folded
from ..support.names import joint_numbers
from . import affine
from .trees import CircleError, find_depths

__all__ = ["Skeleton"]

Floats = NDArray[np.float64]
Joints = NDArray[np.int32]
Scalar = TypeVar("Scalar", bound=np.generic)


class Skeleton:
    """A tree of joints with the bind pose of each. Immutable.

    Parameters
    ----------
    parents : (J,) array_like of int
        Parent of each joint, -1 for a root. Joints may come in any order, and there may be several roots.
    bind_matrices : (J, 4, 4) array_like
        A(j): joint to the space in which the mesh was bound, at bind.
    names : sequence of J str, optional
        All different. By default ``"joint_0"``, ``"joint_1"``, ...

    Attributes
    ----------
    parents : (J,) int32 ndarray, read-only
    bind_matrices : (J, 4, 4) float64 ndarray, read-only
        A(j).
    inverse_bind_matrices : (J, 4, 4) float64 ndarray, read-only
        A(j)^-1.
    local_bind_matrices : (J, 4, 4) float64 ndarray, read-only
        R(j): joint to its parent at bind; A(j) = A(p(j)) R(j). For roots R(j) = A(j).
    joint_positions : (J, 3) float64 ndarray, read-only
        Where the joints are at bind.
    names : tuple of J str
    roots : tuple of int
        The joints without a parent, ascending.
    order : (J,) int32 ndarray, read-only
        All joints, parents before their children.

    Raises
    ------
    ValueError
        If shapes disagree, a parent is out of range, parents run in a circle, a name occurs twice, or a bind matrix is
        not finite, not affine or singular.
    TypeError
        If parents are not integers.

    Examples
    --------
    An upper arm along x, and a forearm of the same length bent by 90 degrees about z:

    >>> import numpy as np
    >>> bind = np.tile(np.eye(4), (2, 1, 1))
    >>> bind[1, 0, 3] = 2.0
    >>> arm = Skeleton([-1, 0], bind, names=["upper_arm", "forearm"])
    >>> pose = arm.forward(rotations.matrices_from_euler([[0, 0, 0], [0, 0, 90]], "XYZ", degrees=True))
    >>> tip = np.array([4.0, 0.0, 0.0, 1.0])
    >>> (arm.skinning_matrices(pose)[1] @ tip).round(3)
    array([2., 2., 0., 1.])
    """

    def __init__(self, parents: ArrayLike, bind_matrices: ArrayLike, names: Sequence[str] | None = None) -> None:
        self.parents = _read_only(_check_parents(parents))
        self.names = _check_names(names, len(self.parents))
        self._levels = _levels(self.parents)
        self.order = _read_only(np.concatenate(self._levels).astype(np.int32))
        self.roots = tuple(int(joint) for joint in self._levels[0])

        given = np.asarray(bind_matrices)
        if given.ndim != 3:
            raise ValueError(f"bind_matrices has shape {given.shape}, expected ({len(self)}, 4, 4)")
        self.bind_matrices = _read_only(affine.as_affine(given, "bind_matrices", len(self)).copy())
        singular = np.flatnonzero(affine.are_singular(self.bind_matrices))
        if len(singular):
            raise ValueError(f"bind_matrices[{singular[0]}], of joint {self.names[singular[0]]!r}, is singular")
        self.inverse_bind_matrices = _read_only(affine.inverse(self.bind_matrices))
        self.local_bind_matrices = _read_only(self._relative_to_parents(self.bind_matrices, self.inverse_bind_matrices))
        self.joint_positions = self.bind_matrices[:, :3, 3]

    def __len__(self) -> int:
        return len(self.parents)

    def __repr__(self) -> str:
        roots = f"{len(self.roots)} root" + ("s" if len(self.roots) > 1 else "")
        return f"<sbs.Skeleton {len(self)} joint{'s' if len(self) > 1 else ''}, {roots}>"

    def _repr_html_(self) -> str:
        lines, waiting = [], [(joint, 0) for joint in reversed(self.roots)]
        while waiting:
            joint, depth = waiting.pop()
            lines.append("  " * depth + self.names[joint])
            waiting += [(child, depth + 1) for child in np.flatnonzero(self.parents == joint)[::-1].tolist()]
        return folded(counted(len(self), "joint"), lines)

    def __reduce__(self) -> tuple[type[Skeleton], tuple[Joints, Floats, tuple[str, ...]]]:
        return type(self), (self.parents, self.bind_matrices, self.names)

    @cached_property
    def _number_by_name(self) -> dict[str, int]:
        return {name: joint for joint, name in enumerate(self.names)}

    def index(self, joint: str | int) -> int:
        """The number of a joint that is given by name or number.

        Raises
        ------
        KeyError
            If no joint has the name.
        ValueError
            If a number is out of range.
        """
        return self.indices([joint])[0]

    def indices(self, joints: Iterable[str | int]) -> list[int]:
        """The numbers of joints that are given by names or numbers.

        Raises
        ------
        KeyError
            If no joint has such a name.
        ValueError
            If a number is out of range.
        TypeError
            If `joints` is a single name.
        """
        return joint_numbers(joints, self._number_by_name)

    def forward(
        self,
        local: ArrayLike | None = None,
        *,
        quaternions: ArrayLike | None = None,
        rotation_vectors: ArrayLike | None = None,
    ) -> Floats:
        """Pose matrices of joint movements: F(j) = F(p(j)) R(j) T(j), and R(j) T(j) for roots.

        Parameters
        ----------
        local : (..., J, 3), (..., J, 4), (..., J, 3, 3) or (..., J, 4, 4) array_like
            T(j), the movement of each joint in its own axes: rotation vectors (an axis whose length is the angle, in
            radians), quaternions (w, x, y, z) of any length but 0, rotation matrices, or affine matrices. The identity
            for all joints, which is zero as a rotation vector, gives the bind pose. A shape that ends in (J, 3, 3) or
            (J, 4, 4) means matrices; for several frames of three vectors or four quaternions use the names below.
        quaternions : (..., J, 4) array_like
            Quaternions, in place of `local`.
        rotation_vectors : (..., J, 3) array_like
            Rotation vectors, in place of `local`.

        Returns
        -------
        (..., J, 4, 4) ndarray of float64
            F(j): joint to the space of the bind matrices, as posed.

        Raises
        ------
        ValueError
            If a shape is wrong, a number not finite, or a last row not (0, 0, 0, 1).
        TypeError
            If not exactly one of the three is given.

        Examples
        --------
        A pose as in SMPL, with one joint turned:

        >>> skeleton = Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)))
        >>> skeleton.forward([[0.0, 0.0, 0.0], [np.pi, 0.0, 0.0]])[1].round(3) + 0.0
        array([[ 1.,  0.,  0.,  0.],
               [ 0., -1.,  0.,  0.],
               [ 0.,  0., -1.,  0.],
               [ 0.,  0.,  0.,  1.]])
        """
        if sum(given is not None for given in (local, quaternions, rotation_vectors)) != 1:
            raise TypeError("forward() takes exactly one of local, quaternions and rotation_vectors")
        return self._accumulate(self.local_bind_matrices @ self._movements(local, quaternions, rotation_vectors))

    def _movements(
        self, local: ArrayLike | None, quaternions: ArrayLike | None, rotation_vectors: ArrayLike | None
    ) -> Floats:
        """T(j) as matrices (..., J, 4, 4), from the one argument that is given."""
        name = "local"
        if local is not None:
            movements = np.asarray(local, dtype=np.float64)
            last = movements.shape[-3:]
            if last == (len(self), 4, 4):
                return self._check_pose(movements, name)
            if last == (len(self), 3, 3):
                return self._check_pose(affine.from_linear(movements), name)
            if last[-2:] == (len(self), 4):
                quaternions = movements
            elif last[-2:] == (len(self), 3):
                rotation_vectors = movements
            else:
                each = f"..., {len(self)}"
                raise ValueError(
                    f"local has shape {movements.shape}, expected ({each}, 3) rotation vectors, ({each}, 4) quaternions"
                    f" (w, x, y, z), or matrices ({each}, 3, 3) or ({each}, 4, 4)"
                )
        if quaternions is not None:
            turned = rotations.matrices_from_quaternions(quaternions)
            name = "the matrices of quaternions"
        else:
            turned = rotations.matrices_from_rotation_vectors(np.asarray(rotation_vectors, np.float64))
            name = "the matrices of rotation vectors"
        return self._check_pose(affine.from_linear(turned), name)

    def from_local(self, local_matrices: ArrayLike) -> Floats:
        """Pose matrices from matrices joint to parent, like those of glTF nodes: F(j) = F(p(j)) L(j).

        Parameters
        ----------
        local_matrices : (..., J, 4, 4) array_like
            L(j) = R(j) T(j).

        Returns
        -------
        (..., J, 4, 4) ndarray of float64

        Raises
        ------
        ValueError
            As `forward`.
        """
        return self._accumulate(self._check_pose(local_matrices, "local_matrices").copy())

    def local(self, pose: ArrayLike) -> Floats:
        """The movements of the joints in a pose, the inverse of `forward`: T(j) = R(j)^-1 F(p(j))^-1 F(j).

        Parameters
        ----------
        pose : (..., J, 4, 4) array_like
            F(j), pose matrices.

        Returns
        -------
        (..., J, 4, 4) ndarray of float64

        Raises
        ------
        ValueError
            If a shape is wrong, a number not finite, a last row not (0, 0, 0, 1), or the matrix of a parent singular.
        """
        pose = self._check_pose(pose, "pose")
        parents = np.unique(self.parents[self.parents >= 0])
        singular = np.argwhere(affine.are_singular(pose[..., parents, :, :]))
        if len(singular):
            *frame, parent = singular[0]
            place = ", ".join(map(str, [*frame, parents[parent]]))
            raise ValueError(f"pose[{place}], of joint {self.names[parents[parent]]!r}, is singular and has children")
        inverse_pose = np.empty_like(pose)
        inverse_pose[..., parents, :, :] = affine.inverse(pose[..., parents, :, :])
        return affine.inverse(self.local_bind_matrices) @ self._relative_to_parents(pose, inverse_pose)

    def skinning_matrices(self, pose: ArrayLike) -> Floats:
        """Skinning matrices F(j) A(j)^-1 from pose matrices, for `Skin.deform`.

        Parameters
        ----------
        pose : (..., J, 4, 4) array_like
            F(j), in the same space as the bind matrices.

        Returns
        -------
        (..., J, 4, 4) ndarray of float64

        Raises
        ------
        ValueError
            As `forward`.
        """
        # C = F A^-1: Kavan & Zara 2005, section 3; Larsen et al. 2001, eq. (5)
        return self._check_pose(pose, "pose") @ self.inverse_bind_matrices

    def _check_pose(self, matrices: ArrayLike, name: str) -> Floats:
        return affine.as_affine(matrices, name, len(self))

    def _relative_to_parents(self, matrices: Floats, inverses: Floats) -> Floats:
        """M(p(j))^-1 M(j), and M(j) for roots."""
        children = np.flatnonzero(self.parents >= 0)
        relative = matrices.copy()
        relative[..., children, :, :] = inverses[..., self.parents[children], :, :] @ matrices[..., children, :, :]
        return relative

    def _accumulate(self, matrices: Floats) -> Floats:
        """F(j) = F(p(j)) L(j) (Kavan & Zara 2003, section 2), from the roots down, in place of the L(j)."""
        for level in self._levels[1:]:
            matrices[..., level, :, :] = matrices[..., self.parents[level], :, :] @ matrices[..., level, :, :]
        return matrices


def upward(skeleton: Skeleton, joint: int) -> list[int]:
    """A joint, its parent, and so on to the root."""
    way = [joint]
    while skeleton.parents[way[-1]] >= 0:
        way.append(int(skeleton.parents[way[-1]]))
    return way


def _read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    array.setflags(write=False)
    return array


def _check_parents(parents: ArrayLike) -> Joints:
    """The parents as new int32."""
    given = np.asarray(parents)
    if given.ndim != 1 or not len(given):
        raise ValueError(f"parents has shape {given.shape}, expected (J,) with at least one joint")
    if given.dtype.kind not in "iu":
        raise TypeError(f"parents must hold integers, not {given.dtype}")
    bad = np.flatnonzero((given < -1) | (given >= len(given)))
    if len(bad):
        raise ValueError(f"parents[{bad[0]}] = {given[bad[0]]} is out of range for {len(given)} joints")
    return given.astype(np.int32)


def _check_names(names: Sequence[str] | None, joint_count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"joint_{joint}" for joint in range(joint_count))
    if len(names) != joint_count:
        raise ValueError(f"names has length {len(names)}, expected {joint_count}")
    seen: dict[str, int] = {}
    for joint, name in enumerate(names):
        if seen.setdefault(name, joint) != joint:
            raise ValueError(f"names[{joint}] = {name!r} is also the name of joint {seen[name]}")
    return tuple(names)


def _levels(parents: Joints) -> list[NDArray[np.intp]]:
    """The joints at each depth of the tree, ascending, the roots first."""
    above = parents.tolist()
    try:
        found = find_depths(above)
    except CircleError as error:
        start = error.node
        raise ValueError(f"parents[{start}] = {above[start]} leads to no root: the parents run in a circle") from None
    return np.split(np.argsort(found, kind="stable"), np.cumsum(np.bincount(found))[:-1])
