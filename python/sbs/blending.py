# SPDX-License-Identifier: MIT
"""Bones blending: a vertex turns by a share of its joint's rotation, by how far along the bone it is.

Kavan and Zara, "Real Time Skin Deformation with Bones Blending", WSCG 2003, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._bones import Bones, moved_on, nearest_bones
from .attachment import heaviest_of
from .influences import tidy
from .options import DeformOptions
from .skeleton import Skeleton
from .skin import Skin

__all__ = ["BonesBlending", "bones_blending"]

Floats = NDArray[np.float64]
Joints = NDArray[np.int32]

WIDTH = 1.2
"""Half of the default zone, in radii of the limb: the inner side of a bend by up to 137 degrees does not fold."""


@dataclass(frozen=True, eq=False, repr=False)
class BonesBlending:
    """What bones blending makes of a mesh: two influences a vertex, and where it turns about.

    In terms of ``v' = Q (v - c) + sum w_i C_i c`` a vertex of joint j has the influences (parent of j, 1 - t) and
    (j, t), Q is the spherical interpolation of both rotations, and c the position of j. `skin` makes a skin of it,
    which is deformed with `options`::

        blending = sbs.bones_blending(skeleton, rest_positions)
        positions = blending.skin().deform(skinning_matrices, **blending.options)

    Attributes
    ----------
    skeleton : Skeleton
    rest_positions : (V, 3) ndarray
    attachment : (V,) int32 ndarray
        The joint that each vertex is attached to; -1: none, it does not move.
    t : (V,) float64 ndarray
        The share of the joint's own rotation: 0 is the parent's alone, 1 the joint's. 1 for vertices of a joint that
        has no parent or is not blended.
    t_min, t_max : (J,) float64 ndarray
        Where on the bone of each joint its share begins, and where it is all: distances from the joint. NaN for joints
        that are not blended.
    joint_indices : (V, 2) int32 ndarray
        Parent and joint; wider where vertices keep other influences.
    joint_weights : (V, 2) float64 ndarray
        1 - t and t; joints of weight 0 are padding, index 0.
    centers : (V, 3) float64 ndarray
        The position of the joint at bind. Of vertices that keep their influences it is the vertex, which makes linear
        blending of the formula.
    keeps : (V,) bool ndarray
        Which vertices keep their influences.
    """

    skeleton: Skeleton
    rest_positions: NDArray[Any]
    attachment: Joints
    t: Floats
    t_min: Floats
    t_max: Floats
    joint_indices: Joints
    joint_weights: Floats
    centers: Floats
    keeps: NDArray[np.bool_]

    def __repr__(self) -> str:
        between = int(np.count_nonzero((self.t > 0) & (self.t < 1)))
        joints = int(np.count_nonzero(np.isfinite(self.t_min)))
        return f"<sbs.BonesBlending, vertices: {len(self.t)}, joints: {joints}, between two bones: {between}>"

    @property
    def options(self) -> DeformOptions:
        """The options of `Skin.deform` that make bones blending of the skin."""
        return {"method": "spherical", "rotation": "average", "center": "optimized"}

    def skin(self, *, rest_normals: ArrayLike | None = None) -> Skin:
        """The skin, to be deformed with `options`.

        Vertices with t of 0 or 1 are moved by one joint, so no rotation is interpolated for them.

        Parameters
        ----------
        rest_normals : (V, 3) array_like, optional

        Returns
        -------
        Skin
        """
        return Skin(
            self.rest_positions,
            self.joint_indices,
            self.joint_weights,
            parents=self.skeleton.parents,
            joint_positions=self.skeleton.joint_positions,
            rest_normals=rest_normals,
            # those that keep their influences are where the rest positions are, also if these were replaced
            centers=np.where(self.keeps[:, None], self.rest_positions, self.centers),
        )


def bones_blending(
    skeleton: Skeleton,
    rest_positions: ArrayLike,
    *,
    attachment: ArrayLike | None = None,
    t_min: ArrayLike | None = None,
    t_max: ArrayLike | None = None,
    joints: Sequence[str | int] | None = None,
    influences: tuple[ArrayLike, ArrayLike] | None = None,
    tails: ArrayLike | None = None,
) -> BonesBlending:
    """Bind a mesh by bones blending.

    A vertex v is attached to one joint j. Its place along the bone that starts there is ``t' = <A(j)^-1 v, n>`` with n
    the direction of the bone: to the child of j, to the mean of several, and away from the parent where there is none.
    The share ``t = (t' - t_min) / (t_max - t_min)``, cut to 0 to 1, says how much of T(j) the vertex follows: it turns
    by the spherical interpolation of the parent's rotation and the joint's own, about the joint, and a translation in
    T(j) is scaled by t. What is attached to a root is rigid.

    Parameters
    ----------
    skeleton : Skeleton
        In its bind pose limbs should be stretched.
    rest_positions : (V, 3) array_like
        In the space of the bind matrices.
    attachment : (V,) array_like of int, optional
        The joint of each vertex: all that j should bend, on both sides of it, belongs to j; -1 stays where it is. By
        default what is heaviest in `influences`, or else the nearest bone; then what its parent moves goes to j where
        it is nearer to j than to its siblings and beyond t_min.
    t_min, t_max : float or (J,) array_like, optional
        Where t becomes 0 and 1, for all joints or for each, in the joint's own unit of length; NaN takes the default.
        By default 1.2 times the radius of the limb to both sides, but not beyond the middle of a bone. The broader,
        the rounder the bend.
    joints : sequence of str or int, optional
        Only these are blended. The others' vertices are rigid, or keep their `influences`. By default all.
    influences : ((V, K) array_like, (V, K) array_like), optional
        Joint indices and weights. With `joints`, they stay where t is not between 0 and 1, blended linearly, but where
        it is 0 the weight of the joint goes to its parent, and where it is 1 the other way.
    tails : (J, 3) array_like, optional
        Where the bone that starts at each joint ends, for rigs that say so: it gives n in place of the children.

    Returns
    -------
    BonesBlending

    Raises
    ------
    ValueError
        If a shape is wrong, a joint is out of range, t_min is not below t_max, a number is infinite, or one of `joints`
        has no parent, or lies at the place of its child and its parent, so that it has no bone.
    KeyError
        If there is no joint of a name.

    Examples
    --------
    A vertex above the elbow, as far before it as beyond it: half of a twist by 180 degrees is its own.

    >>> import numpy as np
    >>> import sbs
    >>> bind = np.tile(np.eye(4), (2, 1, 1))
    >>> bind[0, 0, 3] = -3
    >>> arm = sbs.Skeleton([-1, 0], bind)
    >>> blending = bones_blending(arm, [[0.0, 1.0, 0.0]], attachment=[1], t_min=-1, t_max=1)
    >>> blending.joint_weights
    array([[0.5, 0.5]])
    """
    rest = np.asarray(rest_positions)
    _core.weld(rest)  # refuses what are no positions
    if rest.dtype not in (np.float32, np.float64):
        rest = rest.astype(np.float64)
    points = rest.astype(np.float64)
    selected = _select(skeleton, joints)
    given = None if influences is None else _check_influences(influences, len(rest), len(skeleton))
    bones = Bones(skeleton, _check_tails(tails, len(skeleton)))
    named = np.flatnonzero(selected & ~bones.blendable & (skeleton.parents >= 0))
    for joint in np.flatnonzero(selected & (skeleton.parents < 0))[:1] if joints is not None else ():
        raise ValueError(f"joint {skeleton.names[joint]!r} has no parent whose rotation it could blend with")
    if joints is not None and len(named):
        name = skeleton.names[named[0]]
        raise ValueError(f"joint {name!r} lies at the place of its child and its parent: it has no bone to blend along")

    belongs = _check_attachment(attachment, len(rest), len(skeleton))
    nearest = belongs
    if nearest is None:
        nearest = nearest_bones(bones, points) if given is None else heaviest_of(*given)
    radii = bones.radii(points, nearest)
    lowest = _zone(t_min, np.maximum(-WIDTH * radii, -bones.before / 2), "t_min", skeleton)
    highest = _zone(t_max, np.minimum(WIDTH * radii, bones.after / 2), "t_max", skeleton)
    active = selected & bones.blendable
    wrong = np.flatnonzero(active & ~(lowest < highest))
    if len(wrong):
        joint = wrong[0]
        raise ValueError(
            f"t_min is {lowest[joint]:g}, not below t_max, {highest[joint]:g}, of joint {skeleton.names[joint]!r}"
        )
    lowest[~active] = highest[~active] = np.nan
    if belongs is None:
        belongs = moved_on(bones, points, nearest, lowest, radii, active)

    t = np.ones(len(points))
    mine = (belongs >= 0) & active[belongs]
    joint = belongs[mine]
    along = bones.along(points[mine], joint)
    # t = (t' - t_min) / (t_max - t_min): Kavan & Zara 2003, section 3
    t[mine] = np.clip((along - lowest[joint]) / (highest[joint] - lowest[joint]), 0, 1)
    pairs = _influences(skeleton, points, belongs, t, mine)
    keeps = np.zeros(len(points), np.bool_)
    if joints is None or given is None:
        return BonesBlending(skeleton, rest, belongs, t, lowest, highest, *pairs, keeps)
    keeps = ~(mine & (t > 0) & (t < 1))
    kept = _keep(skeleton, points, belongs, t, mine, keeps, pairs, given)
    return BonesBlending(skeleton, rest, belongs, t, lowest, highest, *kept, keeps)


def _select(skeleton: Skeleton, joints: Sequence[str | int] | None) -> NDArray[np.bool_]:
    """Which joints (J,) are meant."""
    if joints is None:
        return np.ones(len(skeleton), np.bool_)
    selected = np.zeros(len(skeleton), np.bool_)
    selected[skeleton.indices(joints)] = True
    return selected


def _check_influences(
    influences: tuple[ArrayLike, ArrayLike], vertex_count: int, joint_count: int
) -> tuple[Joints, Floats]:
    indices, weights = (np.asarray(array) for array in influences)
    if indices.ndim != 2 or indices.shape != weights.shape or len(indices) != vertex_count or not indices.size:
        raise ValueError(
            f"influences have the shapes {indices.shape} and {weights.shape}, expected ({vertex_count}, K) twice"
        )
    try:
        joints, shares = tidy(indices, weights, joint_count=joint_count)
    except ValueError as error:
        raise ValueError(f"influences: {error}") from None
    return joints, shares.astype(np.float64, copy=False)


def _check_attachment(attachment: ArrayLike | None, vertex_count: int, joint_count: int) -> Joints | None:
    if attachment is None:
        return None
    given = np.asarray(attachment)
    if given.shape != (vertex_count,):
        raise ValueError(f"attachment has shape {given.shape}, expected ({vertex_count},)")
    if given.dtype.kind not in "iu":
        raise TypeError(f"attachment must hold integers, not {given.dtype}")
    bad = np.flatnonzero((given < -1) | (given >= joint_count))
    if len(bad):
        raise ValueError(f"attachment[{bad[0]}] = {given[bad[0]]} is out of range for {joint_count} joints")
    return given.astype(np.int32)


def _check_tails(tails: ArrayLike | None, joint_count: int) -> Floats | None:
    if tails is None:
        return None
    given = np.asarray(tails, np.float64)
    if given.shape != (joint_count, 3):
        raise ValueError(f"tails has shape {given.shape}, expected ({joint_count}, 3)")
    bad = np.flatnonzero(~np.isfinite(given).all(axis=1))
    if len(bad):
        raise ValueError(f"tails[{bad[0]}] is not finite")
    return given


def _zone(given: ArrayLike | None, default: Floats, name: str, skeleton: Skeleton) -> Floats:
    """One end of the zones (J,): what was given, and the default where it is NaN."""
    if given is None:
        return default.copy()
    ends = np.asarray(given, np.float64)
    if ends.shape not in ((), (len(skeleton),)):
        raise ValueError(f"{name} has shape {ends.shape}, expected a number or ({len(skeleton)},)")
    if np.isinf(ends).any():
        raise ValueError(f"{name} must be finite, or NaN for the default")
    return np.where(np.isnan(ends), default, ends)


def _influences(
    skeleton: Skeleton, points: Floats, attachment: Joints, t: Floats, mine: NDArray[np.bool_]
) -> tuple[Joints, Floats, Floats]:
    """Joint indices, joint weights and centers: (parent, 1 - t) and (joint, t)."""
    moves = (attachment >= 0)[:, None]
    own = np.maximum(attachment, 0)
    joints = np.stack([np.where(mine, skeleton.parents[own], 0), own], axis=1).astype(np.int32)
    weights = np.stack([1 - t, t], axis=1) * moves
    joints[weights == 0] = 0
    return joints, weights, np.where(moves, skeleton.joint_positions[own], points)


def _keep(
    skeleton: Skeleton,
    points: Floats,
    attachment: Joints,
    t: Floats,
    mine: NDArray[np.bool_],
    keeps: NDArray[np.bool_],
    pairs: tuple[Joints, Floats, Floats],
    influences: tuple[Joints, Floats],
) -> tuple[Joints, Floats, Floats]:
    """Joint indices, joint weights and centers where vertices keep what influences they have.

    The others are the pairs that `_influences` finds.
    """
    width = max(2, influences[0].shape[1])
    joints, weights, kept_joints, kept_weights = (
        np.pad(array, ((0, 0), (0, width - array.shape[1]))) for array in (*pairs[:2], *influences)
    )
    # beyond the zone, one of the pair has the weight of both
    own, parents = attachment[:, None], skeleton.parents[attachment][:, None]
    gives, takes = np.where(t[:, None] == 0, (own, parents), (parents, own))
    kept_joints = np.where(mine[:, None] & (kept_joints == gives), takes, kept_joints)
    joints[keeps], weights[keeps] = kept_joints[keeps], kept_weights[keeps]
    joints, weights, _ = _core.clean_weights(joints, weights)
    return joints, np.asarray(weights, np.float64), np.where(keeps[:, None], points, pairs[2])
