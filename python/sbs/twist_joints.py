# SPDX-License-Identifier: MIT
"""A character whose twists are spread by joints of its own, for engines that know linear blending alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from . import affine, rotations
from .animation import Animation, Track, TrackPath
from .influences import tidy
from .rig import Rig, compose, decompose
from .skeleton import Skeleton
from .triangle_mesh import Mesh
from .twist import Twist

Floats = NDArray[np.float64]

_EXACT = 1e-5
"""By how much a frame may miss its place, relative to its size, because glTF's T R S can't hold a shear."""

_STILL = 1e-6
"""What moves by less, relative to its size, gets no track."""


def twisted_mesh(mesh: Mesh, twist: Twist) -> Mesh:
    """The mesh with the influences of the frames; without centers, which don't fit them."""
    influences = tidy(*twist.influences(mesh.positions, mesh.joint_indices, mesh.joint_weights))
    return Mesh(mesh.positions, mesh.triangles, *influences, normals=mesh.normals, uvs=mesh.uvs)


def twisted_rig(skeleton: Skeleton, rig: Rig, twist: Twist) -> tuple[Skeleton, Rig]:
    """The joints and the nodes with the frames at their end: frame k of bone b is joint J + b frames + k.

    A frame is a child of its joint, and is where that is at bind. In the pose of the file it is turned by the twists
    that the bones have there.

    Raises
    ------
    ValueError
        If a frame can't be told by translation, rotation and scale.
    """
    owners = np.repeat(twist.joints, twist.frames)
    names = _names(skeleton, rig, twist)
    joints = Skeleton(
        np.concatenate([skeleton.parents, owners]),
        np.concatenate([skeleton.bind_matrices, skeleton.bind_matrices[owners]]),
        (*skeleton.names, *names),
    )
    local = _local_matrices(skeleton, rig, twist, twist.angles(rig.rest_matrices)[None])[0]
    translations, quaternions, scales = decompose(local)
    count = len(rig.names)
    nodes = Rig(
        names=(*rig.names, *names),
        parents=np.concatenate([rig.parents, rig.joints[owners]]).astype(np.int32),
        translations=np.concatenate([rig.translations, translations]),
        quaternions=np.concatenate([rig.quaternions, quaternions]),
        scales=np.concatenate([rig.scales, scales]),
        local_matrices=np.concatenate([rig.local_matrices, compose(translations, quaternions, scales)]),
        has_matrix=np.concatenate([rig.has_matrix, np.zeros(len(owners), bool)]),
        joints=np.concatenate([rig.joints, count + np.arange(len(owners))]),
        inverse_bind_matrices=np.concatenate([rig.inverse_bind_matrices, rig.inverse_bind_matrices[owners]]),
    )
    return joints, nodes


def twisted_animation(animation: Animation, skeleton: Skeleton, rig: Rig, twist: Twist, rate: float) -> Animation:
    """An animation that moves the frames, too: at its own keys, and at least `rate` times a second.

    The twists are followed from the first moment to the last, so that none of them jumps.

    Parameters
    ----------
    animation : Animation
        Of the rig without frames.
    skeleton : Skeleton
        Without frames.
    rig : Rig
        With the frames.
    twist : Twist
    rate : float
    """
    times = _moments(animation, rate)
    if not len(times):
        return Animation(animation.name, animation.tracks, rig)
    angles = twist.angles(animation.skinning_matrices(times), follow=True)
    translations, quaternions, scales = decompose(_local_matrices(skeleton, animation.rig, twist, angles))
    flips = np.sum(quaternions[1:] * quaternions[:-1], axis=-1) < 0.0
    quaternions[1:] *= np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)[..., None]
    first = len(animation.rig.names)

    def moving(path: TrackPath, values: Floats, rest: Floats, size: float) -> Iterator[Track]:
        moved = np.flatnonzero(np.abs(values - rest[first:]).max(axis=(0, 2)) > _STILL * size)
        if len(moved):
            yield Track(path, "LINEAR", first + moved, times, np.ascontiguousarray(values[:, moved]))

    size = float(np.abs(rig.translations).max())
    tracks = [*moving("translation", translations, rig.translations, size)]
    tracks += moving("rotation", quaternions, rig.quaternions, 1.0)
    tracks += moving("scale", scales, rig.scales, 1.0)
    return Animation(animation.name, (*animation.tracks, *tracks), rig)


def _names(skeleton: Skeleton, rig: Rig, twist: Twist) -> list[str]:
    """A name for each frame that no joint or node has."""
    taken = {*skeleton.names, *rig.names}
    found = []
    for joint in twist.joints:
        for frame in range(twist.frames):
            name = f"{skeleton.names[joint]}_twist_{frame}"
            while name in taken:
                name += "_"
            taken.add(name)
            found.append(name)
    return found


def _local_matrices(skeleton: Skeleton, rig: Rig, twist: Twist, angles: Floats) -> Floats:
    """The frames (F, B frames, 4, 4) relative to the nodes of their joints, by twists (F, B, 2).

    A frame is C T(x) where C is the skinning matrix of its joint, and the node of that is C A at A at bind. So relative
    to the node it is A^-1 T(x) A.
    """
    shares = np.linspace(0.0, 1.0, twist.frames)
    turns = (angles[..., 1:] * shares - angles[..., :1] * (1.0 - shares)).reshape(len(angles), -1)
    bones = twist.tails - twist.heads
    axes = np.repeat(bones / np.linalg.norm(bones, axis=1, keepdims=True), twist.frames, axis=0)
    heads = np.repeat(twist.heads, twist.frames, axis=0)
    turned = affine.from_linear(rotations.matrices_from_axis_angle(axes, turns))
    turned[..., :3, 3] = heads - np.einsum("fnxy,ny->fnx", turned[..., :3, :3], heads)
    to_node = rig.inverse_bind_matrices[np.repeat(twist.joints, twist.frames)]
    local = to_node @ turned @ affine.inverse(to_node)
    missed = np.abs(compose(*decompose(local)) - local)[..., :3, :3].max(axis=(-1, -2))
    for _, frame in np.argwhere(missed > _EXACT)[:1]:
        name = skeleton.names[twist.joints[frame // twist.frames]]
        raise ValueError(f"joint {name!r} has different scales along its axes at bind, so that no child can twist")
    return np.asarray(local)


def _moments(animation: Animation, rate: float) -> Floats:
    """The times of all keys, and as many between them as the rate needs; none if there is no key."""
    keys: Sequence[Floats] = [track.times for track in animation.tracks]
    if not keys:
        return np.empty(0)
    times = np.unique(np.concatenate(keys))
    between = [
        np.linspace(start, end, max(int(np.ceil((end - start) * rate - 1e-9)), 1), endpoint=False)
        for start, end in pairwise(times)
    ]
    return np.concatenate([*between, times[-1:]])
