# SPDX-License-Identifier: MIT
"""Joints added to a rig: children of its own with keys in its animations, and one that stands still."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..skinning.influences import tidy
from ..support.callers import warn
from . import affine
from .animation import NEAR_END, Animation, make_tracks
from .rig import Rig, compose, decompose
from .skeleton import Skeleton
from .triangle_mesh import Mesh

Floats = NDArray[np.float64]

ROUNDING = 1e-3
"""By how much a helper may miss its place, relative to its size, because glTF's T R S can't hold a shear.

Files hold scales of bones that are uneven by some 1e-5, as rounding left them.
"""


def free_names(skeleton: Skeleton, rig: Rig, wanted: Iterable[str]) -> list[str]:
    """The wanted names, with underscores behind a name that a joint or node has already."""
    taken = {*skeleton.names, *rig.names}
    found = []
    for wish in wanted:
        name = wish
        while name in taken:
            name += "_"
        taken.add(name)
        found.append(name)
    return found


def to_nodes(relative: Floats, rig: Rig, owners: NDArray[np.intp], names: Sequence[str], why: str) -> Floats:
    """Matrices (..., H, 4, 4) of helpers to the nodes of their owners, from movements in bind space.

    A helper moves points as its owner does after X: its skinning matrix is C X, the node of its owner C A where that is
    A at bind. So relative to the node it is A^-1 X A.

    Parameters
    ----------
    relative : (F, H, 4, 4) ndarray
        X.
    rig : Rig
        Without helpers.
    owners : (H,) ndarray
        Joints.
    names : sequence of str
        Of all joints, for the message.
    why : str
        The end of the message: why T R S cannot hold it.

    Warns
    -----
    UserWarning
        If translation, rotation and scale miss a helper by more than `ROUNDING`.
    """
    to_node = rig.inverse_bind_matrices[owners]
    local = to_node @ relative @ affine.inverse(to_node)
    missed = np.abs(compose(*decompose(local)) - local)[..., :3, :3].max(axis=(-1, -2))
    for _, helper in np.argwhere(missed > ROUNDING)[:1]:
        message = f"joint {names[owners[helper]]!r} has different scales along its axes {why}"
        warn(f"{message}: its helpers miss their places; without twists there are none (--twist none)", UserWarning)
    return np.asarray(local)


def rig_with_helpers(
    skeleton: Skeleton, rig: Rig, owners: NDArray[np.intp], names: Sequence[str], local: Floats
) -> tuple[Skeleton, Rig]:
    """The joints and the nodes with helpers at their end: children of their owners, and where these are at bind.

    Parameters
    ----------
    skeleton, rig
        Without helpers.
    owners : (H,) ndarray
        Joints.
    names : sequence of H str
    local : (H, 4, 4) ndarray
        Helper to the node of its owner, in the pose of the file.
    """
    joints = Skeleton(
        np.concatenate([skeleton.parents, owners]),
        np.concatenate([skeleton.bind_matrices, skeleton.bind_matrices[owners]]),
        (*skeleton.names, *names),
    )
    nodes = _with_joints(rig, names, rig.joints[owners], local, rig.inverse_bind_matrices[owners])
    return joints, nodes


def _with_joints(
    rig: Rig, names: Sequence[str], parents: NDArray[np.intp], local: Floats, inverse_bind_matrices: Floats
) -> Rig:
    """The nodes with others at their end, which are joints: below their parents, nodes or -1, by matrices (H, 4, 4)."""
    translations, quaternions, scales = decompose(local)
    return Rig(
        names=(*rig.names, *names),
        parents=np.concatenate([rig.parents, parents]).astype(np.int32),
        translations=np.concatenate([rig.translations, translations]),
        quaternions=np.concatenate([rig.quaternions, quaternions]),
        scales=np.concatenate([rig.scales, scales]),
        local_matrices=np.concatenate([rig.local_matrices, compose(translations, quaternions, scales)]),
        has_matrix=np.concatenate([rig.has_matrix, np.zeros(len(names), bool)]),
        joints=np.concatenate([rig.joints, len(rig.names) + np.arange(len(names))]),
        inverse_bind_matrices=np.concatenate([rig.inverse_bind_matrices, inverse_bind_matrices]),
        twists=rig.twists,
    )


def with_joint_for_unweighted(
    mesh: Mesh, rig: Rig, animations: Sequence[Animation]
) -> tuple[Mesh, Rig, Sequence[Animation]]:
    """A character whose vertices without weights follow a joint at the end, which stands still.

    They stay at rest in either case, but other programs take such vertices to the origin, or to the first joint.
    """
    indices, weights = tidy(mesh.joint_indices, mesh.joint_weights)
    unweighted = weights[:, 0] == 0.0
    if not unweighted.any():
        return mesh, rig, animations
    indices[unweighted, 0], weights[unweighted, 0] = len(rig.joints), 1.0
    rig = _with_joints(rig, ["unweighted"], np.array([-1]), np.eye(4)[None], np.eye(4)[None])
    mesh = replace(mesh, joint_indices=indices, joint_weights=weights)
    return mesh, rig, [replace(animation, rig=rig) for animation in animations]


def animation_with_helpers(animation: Animation, rig: Rig, times: Floats, local: Floats) -> Animation:
    """An animation that moves helpers, too.

    Parameters
    ----------
    animation : Animation
        Of the rig without helpers.
    rig : Rig
        With them.
    times : (F,) ndarray
        Their keys; none if nothing moves.
    local : (F, H, 4, 4) ndarray
        Helpers to the nodes of their owners.
    """
    if not len(times):
        return replace(animation, rig=rig)
    tracks = make_tracks(times, local, rig, len(animation.rig.names))
    return replace(animation, tracks=(*animation.tracks, *tracks), rig=rig)


def moments(animation: Animation, rate: float) -> Floats:
    """The times of all keys, and as many between them as the rate needs; none if there is no key.

    Raises
    ------
    ValueError
        As `Animation.frames`.
    """
    animation.frames(rate)
    keys: Sequence[Floats] = [track.times for track in animation.tracks]
    if not keys:
        return np.empty(0)
    times = np.unique(np.concatenate(keys))
    between = [
        np.linspace(start, end, max(math.ceil((end - start - NEAR_END) * rate), 1), endpoint=False)
        for start, end in pairwise(times)
    ]
    return np.concatenate([*between, times[-1:]])
