# SPDX-License-Identifier: MIT
"""A character whose twists are spread by joints of its own, for engines that know linear blending alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..skinning.influences import tidy
from ..skinning.twist import Twist
from ..support import rotations
from . import affine
from .animation import Animation
from .frame_drivers import frame_drivers
from .helper_joints import animation_with_helpers, free_names, moments, rig_with_helpers, to_nodes
from .rig import Rig
from .skeleton import Skeleton
from .triangle_mesh import Mesh

Floats = NDArray[np.float64]


def mesh_with_frames(mesh: Mesh, twist: Twist) -> Mesh:
    """The mesh with the influences of the frames; without centers, which don't fit them."""
    influences = tidy(*twist.influences(mesh.positions, mesh.joint_indices, mesh.joint_weights))
    return replace(mesh, joint_indices=influences.joint_indices, joint_weights=influences.joint_weights, centers=None)


def rig_with_frames(skeleton: Skeleton, rig: Rig, twist: Twist) -> tuple[Skeleton, Rig]:
    """The joints and the nodes with the frames at their end: frame k of bone b is joint J + b frames + k.

    A frame is a child of its joint, and is where that is at bind. In the pose of the file it is turned by the twists
    that the bones have there.

    Warns
    -----
    UserWarning
        If translation, rotation and scale can't tell a frame.
    """
    wanted = (f"{skeleton.names[joint]}_twist_{frame}" for joint in twist.joints for frame in range(twist.frames))
    names = free_names(skeleton, rig, wanted)
    local = _local_matrices(skeleton, rig, twist, twist.angles(rig.rest_matrices)[None])[0]
    joints, nodes = rig_with_helpers(skeleton, rig, np.repeat(twist.joints, twist.frames), names, local)
    return joints, replace(nodes, twists=(*rig.twists, *frame_drivers(rig, twist)))


def animation_with_frames(animation: Animation, skeleton: Skeleton, rig: Rig, twist: Twist, rate: float) -> Animation:
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
    times = moments(animation, rate)
    if not len(times):
        return animation_with_helpers(animation, rig, times, np.empty((0, 0, 4, 4)))
    angles = twist.angles(animation.skinning_matrices(times), follow=True)
    return animation_with_helpers(animation, rig, times, _local_matrices(skeleton, animation.rig, twist, angles))


def _local_matrices(skeleton: Skeleton, rig: Rig, twist: Twist, angles: Floats) -> Floats:
    """The frames (F, B frames, 4, 4) relative to the nodes of their joints, by twists (F, B, 2).

    A frame is C T(x) where C is the skinning matrix of its joint.
    """
    shares = np.linspace(0.0, 1.0, twist.frames)
    turns = (angles[..., 1:] * shares - angles[..., :1] * (1.0 - shares)).reshape(len(angles), -1)
    bones = twist.tails - twist.heads
    axes = np.repeat(bones / np.linalg.norm(bones, axis=1, keepdims=True), twist.frames, axis=0)
    heads = np.repeat(twist.heads, twist.frames, axis=0)
    turned = affine.from_linear(rotations.matrices_from_axis_angle(axes, turns))
    turned[..., :3, 3] = heads - np.einsum("fnxy,ny->fnx", turned[..., :3, :3], heads)
    owners = np.repeat(twist.joints, twist.frames)
    return to_nodes(turned, rig, owners, skeleton.names, "at bind, so that no child can twist")
