# SPDX-License-Identifier: MIT
"""Bones blending: a vertex takes a share of its joint's rotation that depends on how far along the bone it is.

Kavan and Zara, "Real Time Skin Deformation with Bones Blending", WSCG 2003, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..skinning.options import DeformOptions
from ..skinning.skin import Skin
from ..support.owned import own
from .skeleton import Skeleton

__all__ = ["BlendingProfile", "BonesBlending", "bones_blending"]

BlendingProfile = Literal["linear", "smoothstep"]

Floats = NDArray[np.float64]
Joints = NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class BonesBlending:
    """A mesh bound by bones blending: two influences per vertex, and the center that it turns about.

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
        The share of the joint's own rotation: 0 is only the parent's, 1 only the joint's. 1 for vertices of a joint
        that has no parent or is not blended.
    t_min, t_max : (J,) float64 ndarray
        Where on the bone of each joint its share begins to rise from 0, and where it reaches 1: distances from the
        joint. NaN for joints that are not blended.
    joint_indices : (V, 2) int32 ndarray
        Parent and joint; wider where vertices may keep other influences, and then by decreasing weight.
    joint_weights : (V, 2) float64 ndarray
        1 - t and t; joints of weight 0 are padding, index 0.
    centers : (V, 3) float64 ndarray
        The position of the joint at bind; for vertices that keep their influences the vertex itself, so that they are
        blended linearly.
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

    def __post_init__(self) -> None:
        own(self, *(field.name for field in fields(self) if field.name != "skeleton"))

    def __repr__(self) -> str:
        between = int(np.count_nonzero((self.t > 0) & (self.t < 1)))
        joints = int(np.count_nonzero(np.isfinite(self.t_min)))
        return f"<sbs.BonesBlending, vertices: {len(self.t)}, joints: {joints}, between two bones: {between}>"

    @property
    def options(self) -> DeformOptions:
        """The options of `Skin.deform` for bones blending with this skin."""
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
            # vertices that keep their influences are their own centers, also if the rest positions were replaced
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
    profile: BlendingProfile = "linear",
    zone_scale: float = 1.0,
) -> BonesBlending:
    """Bind a mesh by bones blending.

    A vertex v is attached to one joint j. Its place along the bone that starts there is ``t' = <A(j)^-1 v, n>``, with n
    the unit vector along the bone from `sbs.weights.bone_segments`; in the paper n is as long as the bone, and t_min
    and t_max are larger by that factor. The share ``t = (t' - t_min) / (t_max - t_min)``, clamped to [0, 1], says how
    much of T(j) the vertex follows, evenly or by another `profile`: it turns about the joint by the spherical
    interpolation of the parent's rotation and its own, and a translation in T(j) is scaled by t. Vertices of a root are
    rigid.

    Parameters
    ----------
    skeleton : Skeleton
        In its bind pose limbs should be straight.
    rest_positions : (V, 3) array_like
        In the space of the bind matrices.
    attachment : (V,) array_like of int, optional
        The joint of each vertex. A joint should have all vertices that bend with it, on both sides of it; a vertex
        with -1 does not move. By default the heaviest joint in `influences`, or else the nearest bone; then a joint
        takes over vertices of its parent that are nearer to it than to its siblings and beyond t_min.
    t_min, t_max : float or (J,) array_like, optional
        Where t reaches 0 and 1, for all joints or for each, in the joint's own unit of length; NaN takes the default.
        By default 1.2 times the radius of the limb to both sides, but not beyond the middle of a bone. A wider zone
        makes a rounder bend.
    joints : sequence of str or int, optional
        Only these are blended. Vertices of other joints are rigid, or keep their `influences`. By default all.
    influences : ((V, K) array_like, (V, K) array_like), optional
        Joint indices and weights. With `joints`, vertices with t of 0 or 1 keep them and are blended linearly, except
        that the weights of joint and parent are merged: at t = 0 the parent gets both, at t = 1 the joint.
    tails : (J, 3) array_like, optional
        Where the bone of each joint ends, for rigs that define it. By default it is found from the children.
    profile : {"linear", "smoothstep"}, optional
        How t grows over the zone: evenly as in the paper, or by ``3 t^2 - 2 t^3``, level at both ends.
    zone_scale : float, optional
        Default ends of zones are this many times as far from the joint, within the middles of bones. With 1.5,
        smoothstep is as steep in the middle as linear is with 1.

    Returns
    -------
    BonesBlending

    Raises
    ------
    ValueError
        If a shape is wrong, a joint is out of range, t_min is not below t_max, a number is infinite, the profile is
        unknown, `zone_scale` is not positive, or one of `joints` has no parent, or is at the same place as its child
        and its parent, so that it has no bone.
    TypeError
        If joints are not integers, or numbers are not numbers.
    KeyError
        If no joint has a name in `joints`.

    Examples
    --------
    A vertex at the elbow, in the middle of the zone, takes half of the forearm's rotation:

    >>> import numpy as np
    >>> import sbs
    >>> bind = np.tile(np.eye(4), (2, 1, 1))
    >>> bind[0, 0, 3] = -3
    >>> arm = sbs.Skeleton([-1, 0], bind)
    >>> blending = bones_blending(arm, [[0.0, 1.0, 0.0]], attachment=[1], t_min=-1, t_max=1)
    >>> blending.joint_weights
    array([[0.5, 0.5]])
    """
    if not zone_scale > 0:
        raise ValueError(f"zone_scale is {zone_scale}; it must be positive")
    rest = np.asarray(rest_positions)
    joint_indices, joint_weights = (None, None) if influences is None else influences
    found = _core.blend_bones(
        rest,
        skeleton.parents,
        skeleton.joint_positions,
        skeleton.inverse_bind_matrices[:, :3],
        skeleton.names,
        tails=tails,
        t_min=_for_all(t_min, len(skeleton)),
        t_max=_for_all(t_max, len(skeleton)),
        blended=None if joints is None else np.isin(np.arange(len(skeleton)), skeleton.indices(joints)),
        attachment=attachment,
        joint_indices=joint_indices,
        joint_weights=joint_weights,
        profile=profile,
        zone_scale=zone_scale,
    )
    return BonesBlending(skeleton, rest if rest.dtype in (np.float32, np.float64) else rest.astype(np.float64), *found)


def _for_all(ends: ArrayLike | None, joint_count: int) -> ArrayLike | None:
    """One end of the zones (J,), from an array or a single number for all joints."""
    return ends if ends is None or np.ndim(ends) else np.broadcast_to(ends, joint_count)
