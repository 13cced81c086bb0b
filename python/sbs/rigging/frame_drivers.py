# SPDX-License-Identifier: MIT
"""The drivers of the frames of a twist: from the bones of a `Twist` to rotations between nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..skinning.twist import Twist
from ..support import rotations
from .rig import Floats, Rig, decompose
from .twist_drivers import TwistDriver

__all__ = ["frame_drivers"]

AT_JOINT = 1e-4
"""A bone whose line is farther from its joint, relative to its length, moves frames, where drivers only turn them."""


def frame_drivers(rig: Rig, twist: Twist) -> tuple[TwistDriver, ...]:
    """How the frames follow poses, for all bones where rotations of nodes tell it.

    They don't where a bone lies beside its joint, where its parent or child is not above or below it or has no name of
    its own, and where a node on the way there mirrors.

    Parameters
    ----------
    rig : Rig
        Without the frames, which come at its end.
    twist : Twist
    """
    return tuple(driver for bone in range(twist.bone_count) for driver in _drivers(rig, twist, bone))


def _drivers(rig: Rig, twist: Twist, bone: int) -> Iterator[TwistDriver]:
    joint, parent, child = (int(joints[bone]) for joints in (twist.joints, twist.parents, twist.children))
    node, above, below = (int(rig.joints[number]) if number >= 0 else -1 for number in (joint, parent, child))
    to_node = rig.inverse_bind_matrices[joint]
    head = to_node[:3, :3] @ twist.heads[bone] + to_node[:3, 3]
    along = to_node[:3, :3] @ (twist.tails[bone] - twist.heads[bone])
    if np.linalg.norm(np.cross(head, along)) > AT_JOINT * (along @ along) or not _are_told(rig, node, above, below):
        return
    rest = _bind_rotations(rig, joint, parent, child)
    axis = rest[0].T @ (twist.tails[bone] - twist.heads[bone])
    axis /= np.linalg.norm(axis)
    for frame, share in enumerate(np.linspace(0.0, 1.0, twist.frames).tolist()):
        yield TwistDriver(
            node=len(rig.names) + bone * twist.frames + frame,
            parent=rig.names[above] if above >= 0 else None,
            parent_rest=_quaternion(rest[1].T @ rest[0]),
            child=rig.names[below] if below >= 0 else None,
            child_rest=_quaternion(rest[0].T @ rest[2]),
            axis=tuple(axis.tolist()),
            share=share,
        )


def _are_told(rig: Rig, node: int, above: int, below: int) -> bool:
    """Whether the nodes above and below, or -1, are known by their names, and rotations between them by quaternions."""
    between = []
    if above >= 0:
        chain = _upward(rig, node)
        named = [each for each in chain[1:] if rig.names[each] == rig.names[above]]
        if not rig.names[above] or named[:1] != [above]:
            return False
        between += chain[: chain.index(above)]
    if below >= 0:
        named = [each for each, name in enumerate(rig.names) if name == rig.names[below]]
        if not rig.names[below] or [each for each in named if node in _upward(rig, each)[1:]] != [below]:
            return False
        chain = _upward(rig, below)
        between += chain[: chain.index(node)]
    return bool(np.all(np.linalg.det(rig.local_matrices[between, :3, :3]) > 0.0))


def _upward(rig: Rig, node: int) -> list[int]:
    """A node and all above it."""
    chain = [node]
    while (parent := int(rig.parents[chain[-1]])) >= 0:
        chain.append(parent)
    return chain


def _bind_rotations(rig: Rig, joint: int, *others: int) -> list[Floats]:
    """From the axes of joints to those of bind space; in place of -1, those of the first."""
    _, quaternions, _ = decompose(rig.bind_matrices[[joint, *(other if other >= 0 else joint for other in others)]])
    return list(rotations.matrices_from_quaternions(quaternions))


def _quaternion(matrix: NDArray[np.float64]) -> tuple[float, ...]:
    """The quaternion of a rotation, (x, y, z, w)."""
    w, x, y, z = rotations.quaternions_from_matrices(matrix).tolist()
    return x, y, z, w
