# SPDX-License-Identifier: MIT
"""Spread the twist of limbs along their bones: the argument ``twist`` of a skin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core

__all__ = ["Twist", "TwistTracker", "as_frames"]

Floats = NDArray[np.float64]

FRAMES = 4
"""Frames of a bone: apart by 57 degrees in a twist by 170, and by 120 at most."""

SIGMA = 1.0
"""Sigma of optimized centers where twists are spread: how much similar weights may differ. Where centers need not
serve twists, joints bend with less strain, and tear less, than with the 0.1 of Le and Hodgins."""


class Twist:
    """Bones along which a twist is spread. Immutable.

    A limb is turned about its bone before its joint moves it: at the head so that the joint's own twist is undone, at
    the tail by its child's twist, and evenly in between. `sbs/twist.h` has the formula. A skin with it has some more
    frames for each bone, between which any method blends.

    Most callers want `sbs.limb_twist`, which finds the bones of a character.

    Parameters
    ----------
    joints : (B,) array_like of int
        The joint of each bone, each once. A twist of no bones changes nothing.
    heads, tails : (B, 3) array_like
        Where the bones are at bind, in the space of the mesh.
    parents : (B,) array_like of int
        The joint that a joint's own twist is relative to; -1: it has no twist.
    joint_count : int
        J, of the skeleton.
    children : (B,) array_like of int, optional
        The joint at the tail whose twist is spread along the bone, too, if it has no bone here; -1, the default, for
        none.
    frames : int
        The number for each bone, at least 2. Fewer take less time; a twist may be at most ``frames - 1`` half turns.
    smooth : bool
        Whether the twist begins and ends gently, by ``3 t**2 - 2 t**3`` in place of the share t of the bone.

    Attributes
    ----------
    joint_count : int
        J, of the skeleton.
    bone_count : int
        B.

    Raises
    ------
    ValueError
        If shapes disagree, a joint is out of range or has two bones, a bone has no length, a number is not finite or
        beyond 1e30, or `frames` is less than 2.
    TypeError
        If an array holds neither real numbers nor, for joints, integers.
    """

    def __init__(
        self,
        joints: ArrayLike,
        heads: ArrayLike,
        tails: ArrayLike,
        *,
        parents: ArrayLike,
        joint_count: int,
        children: ArrayLike | None = None,
        frames: int = FRAMES,
        smooth: bool = False,
    ) -> None:
        if children is None:
            children = np.full(len(np.asarray(joints)), -1, np.int32)
        self._arguments: dict[str, Any] = {
            "joints": _copy(joints, np.int32),
            "heads": _copy(heads, np.float64, 3),
            "tails": _copy(tails, np.float64, 3),
            "parents": _copy(parents, np.int32),
            "joint_count": joint_count,
            "children": _copy(children, np.int32),
            "frames": frames,
            "smooth": smooth,
        }
        _check_bones(**self._arguments)
        self._core = _core.Twist(**self._arguments)

    @property
    def joint_count(self) -> int:
        return int(self._arguments["joint_count"])

    @property
    def bone_count(self) -> int:
        return len(self._arguments["joints"])

    @property
    def frames(self) -> int:
        """The number of frames of each bone."""
        return int(self._arguments["frames"])

    @property
    def heads(self) -> Floats:
        """Where the bones begin at bind, (B, 3), a new array."""
        return np.array(self._arguments["heads"], np.float64)

    @property
    def tails(self) -> Floats:
        """Where the bones end at bind, (B, 3), a new array."""
        return np.array(self._arguments["tails"], np.float64)

    @property
    def joints(self) -> NDArray[np.intp]:
        """The joint of each bone, (B,), a new array."""
        return np.array(self._arguments["joints"], np.intp)

    @property
    def parents(self) -> NDArray[np.intp]:
        """The joint that each bone's own twist is relative to, or -1, (B,), a new array."""
        return np.array(self._arguments["parents"], np.intp)

    @property
    def children(self) -> NDArray[np.intp]:
        """The joint whose twist is spread along each bone, too, or -1, (B,), a new array."""
        return np.array(self._arguments["children"], np.intp)

    def angles(
        self, skinning_matrices: ArrayLike, *, follow: bool = False, previous: ArrayLike | None = None
    ) -> Floats:
        """The twists of all bones in a pose or in several frames.

        Without history a twist is at most half a turn, in the shorter direction, and jumps where that changes. With
        history nothing jumps, as long as no joint turns by half a turn or more from one frame to the next.

        Parameters
        ----------
        skinning_matrices : (J, 4, 4), (J, 3, 4), (F, J, 4, 4) or (F, J, 3, 4) array_like
        follow : bool
            Whether each frame continues from the one before.
        previous : (B, 2) array_like, optional
            The twists that frames continue from: with `follow` only the first, otherwise each.

        Returns
        -------
        (B, 2) or (F, B, 2) ndarray of float64
            Radians: the joint's own twist, and its child's; for the argument ``twists`` of `Skin.deform` and
            `Skin.deform_many`.

        Raises
        ------
        ValueError
            If a shape is wrong, or a number not finite.
        """
        matrices, single = as_frames(skinning_matrices)
        found = self._core.angles(matrices, follow, previous)
        return found[0] if single else found

    def pose(self, skinning_matrices: ArrayLike, twists: ArrayLike | None = None) -> Floats:
        """Skinning matrices followed by those of the frames, (J', 3, 4) or (F, J', 3, 4).

        Parameters
        ----------
        skinning_matrices : (J, 4, 4), (J, 3, 4), (F, J, 4, 4) or (F, J, 3, 4) array_like
        twists : (B, 2) or (F, B, 2) array_like, optional
            By default those of the matrices, in the shorter direction.

        Raises
        ------
        ValueError
            If a shape is wrong, or a number not finite.
        """
        given = np.asarray(skinning_matrices)
        if given.ndim == 3:
            posed: NDArray[np.float64] = self._core.pose(
                given[None], None if twists is None else np.asarray(twists)[None]
            )[0]
            return posed
        return self._core.pose(given, twists)

    def influences(
        self, rest_positions: ArrayLike, joint_indices: ArrayLike, joint_weights: ArrayLike
    ) -> tuple[NDArray[np.int32], Floats]:
        """Influences with the frames: joints and weights (V, 2 K) of those (V, K) of the skeleton's joints."""
        return self._core.influences(rest_positions, joint_indices, joint_weights)

    def _key(self) -> str:
        """Its arguments, as text."""
        return repr([np.asarray(argument).tolist() for argument in self._arguments.values()])

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._arguments,)

    def __repr__(self) -> str:
        bones = "1 bone" if self.bone_count == 1 else f"{self.bone_count} bones"
        return f"<sbs.Twist {bones} of {self.joint_count} joints, {self._arguments['frames']} frames each>"


class TwistTracker:
    """Follows the twists of a motion, frame by frame, beyond half a turn.

    Parameters
    ----------
    twist : Twist

    Examples
    --------
    >>> import numpy as np
    >>> import sbs
    >>> twist = sbs.Twist([1], [[0.0, 0, 0]], [[4.0, 0, 0]], parents=[0], joint_count=2)
    >>> tracker = sbs.TwistTracker(twist)
    >>> for degrees in (0, 90, 170, 190):
    ...     turn = sbs.rotations.matrices_from_axis_angle([1, 0, 0], [0, degrees], degrees=True)
    ...     frame = np.concatenate([turn, np.zeros((2, 3, 1))], axis=2)
    ...     twists = tracker(frame)
    >>> np.degrees(twists).round(6)
    array([[190.,   0.]])
    """

    def __init__(self, twist: Twist) -> None:
        self.twist = twist
        self._last: Floats | None = None

    def __call__(self, skinning_matrices: ArrayLike) -> Floats:
        """The twists (B, 2) of the next frame, (J, 4, 4) or (J, 3, 4)."""
        self._last = self.twist.angles(skinning_matrices, previous=self._last)
        return self._last.copy()

    def reset(self) -> None:
        """Forget the past: the next frame is the first one."""
        self._last = None


def as_frames(matrices: ArrayLike) -> tuple[NDArray[Any], bool]:
    """Frames (F, J, rows, 4), and whether a single one was given without the first axis."""
    given = np.asarray(matrices)
    return (given[None], True) if given.ndim == 3 else (given, False)


def _check_bones(joints: NDArray[Any], children: NDArray[Any], frames: int, joint_count: int, **_: Any) -> None:
    """Refuse a joint of two bones, a bone that is its own child, and too many frames, by names that callers know."""
    if joints.ndim != 1 or joints.shape != children.shape:
        return  # which the core does
    for bone in np.setdiff1d(np.arange(len(joints)), np.unique(joints, return_index=True)[1])[:1]:
        raise ValueError(f"joints[{bone}] = {joints[bone]} has a bone already: give each joint once")
    for bone in np.flatnonzero(children == joints)[:1]:
        raise ValueError(f"children[{bone}] = {children[bone]} is the joint of the bone itself")
    if len(joints) * frames + joint_count > np.iinfo(np.int32).max:
        raise ValueError(f"frames = {frames} is too large for {len(joints)} bones")


def _copy(given: ArrayLike, dtype: type, *shape: int) -> NDArray[Any]:
    """A copy; where there is no bone, an array of the type and the shape of no rows, which an empty list lacks."""
    found = np.array(given)
    return found if found.size else np.empty((0, *shape), dtype)


def _restore(arguments: dict[str, Any]) -> Twist:
    return Twist(**arguments)
