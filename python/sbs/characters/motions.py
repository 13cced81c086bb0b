# SPDX-License-Identifier: MIT
"""The motions to measure: clips, and generated poses for characters without clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..rigging.animation import Animation, Track
from ..rigging.shapes import ShapeMotion
from ..skinning.options import AnyFloats
from ..support import rotations
from .character import Character
from .poses import axes, turned

Floats = NDArray[np.float64]

BENDS = (90.0, 125.0)
TWIST = 170.0
SWEEP = np.arange(170.0, 191.0)
"""Degrees of a twist through half a turn, where the shorter way round changes sides."""


@dataclass(frozen=True, eq=False)
class MeasuredMotion:
    """Poses to measure, and paths in which to look for pops.

    Attributes
    ----------
    name : str
    labels : tuple of F str
        Of the poses.
    poses : (F, J, 4, 4) ndarray
        Skinning matrices.
    paths : tuple of (S, J, 4, 4) ndarray
        Successive poses, at least three in each path.
    times : (F,) ndarray or None
        Seconds, of a clip.
    focus : tuple of F int, or None
        The joint that a pose turns.
    shape_tracks : tuple of Track
        Weights of blend shapes over time. Without any, these have the weights of the pose in the file.
    path_times : tuple of (S,) ndarray
        Seconds, of the paths of a clip.
    """

    name: str
    labels: tuple[str, ...]
    poses: Floats
    paths: tuple[Floats, ...] = ()
    times: Floats | None = None
    focus: tuple[int, ...] | None = None
    shape_tracks: tuple[Track, ...] = ()
    path_times: tuple[Floats, ...] = ()

    def shapes(self, character: Character) -> ShapeMotion | None:
        """The blend shapes of a character over time; None if they leave its rest positions as they are."""
        mesh = character.mesh
        if not mesh.shapes or not (self.shape_tracks or any(shape.weight for shape in mesh.shapes)):
            return None
        return ShapeMotion(mesh.positions, mesh.shapes, self.shape_tracks)

    def rest_positions(self, character: Character, pose: int) -> AnyFloats | None:
        """Rest positions (V, 3) of a pose with its blend shapes; None if they are those of the mesh."""
        shapes = self.shapes(character)
        time = 0.0 if self.times is None else float(self.times[pose])
        return None if shapes is None else shapes.rest_positions(time)


def clip(animation: Animation, *, poses: int = 24, rate: float = 96.0) -> MeasuredMotion:
    """An animation: some poses at equal intervals, and its path with `rate` poses per second.

    Raises
    ------
    ValueError
        If there is less than one pose, the rate is not positive, or the path has more than a million poses.
    """
    if poses < 1:
        raise ValueError(f"poses is {poses}; it must be at least 1")
    if not 0 < rate < np.inf:
        raise ValueError(f"rate is {rate}; it must be positive and finite")
    times = np.linspace(0, animation.duration, poses) if poses > 1 else np.array([animation.duration / 2])
    moments = np.array(animation.frames(rate)) / rate
    paths = (animation.skinning_matrices(moments),) if len(moments) > 2 else ()
    labels = tuple(f"{time:.3f} s" for time in times)
    return MeasuredMotion(
        animation.name,
        labels,
        animation.skinning_matrices(times),
        paths,
        times=times,
        shape_tracks=animation.shape_tracks,
        path_times=(moments,) if paths else (),
    )


def made_poses(character: Character, joints: Sequence[str] | None = None) -> MeasuredMotion:
    """Poses of one joint each, bent by 90 and by 125 degrees and twisted by 170; and paths that twist it through 180.

    Joints are turned that share a vertex with their parent. They twist about their bone, and bend in the direction
    in which they are bent already.

    Parameters
    ----------
    character : Character
    joints : sequence of str, optional
        Names of the joints to turn; by default all.

    Returns
    -------
    MeasuredMotion
        With a path for each joint.

    Raises
    ------
    ValueError
        If no joint shares a vertex with its parent.
    KeyError
        If no joint has such a name.
    """
    skeleton = character.skeleton
    numbers = bending_joints(character) if joints is None else [skeleton.index(name) for name in joints]
    labels, poses, paths, focus = [], [], [], []
    for joint in numbers:
        name = skeleton.names[joint]
        bend, twist = axes(skeleton, joint)
        for axis, degrees, verb in (*((bend, angle, "bent") for angle in BENDS), (twist, TWIST, "twisted")):
            labels.append(f"{name} {verb} by {degrees:g}°")
            poses.append(turned(skeleton, name, axis, degrees))
            focus.append(joint)
        paths.append(sweep(character, name, twist))
    return MeasuredMotion(
        "made poses", tuple(labels), character.skinning_matrices(np.stack(poses)), tuple(paths), focus=tuple(focus)
    )


def sweep(character: Character, joint: str, axis: NDArray[np.float64], degrees: NDArray[np.float64] = SWEEP) -> Floats:
    """Skinning matrices (S, J, 4, 4) of one joint turned by several angles."""
    local = np.tile(np.eye(3), (len(degrees), len(character.skeleton), 1, 1))
    local[:, character.skeleton.index(joint)] = rotations.matrices_from_axis_angle(axis, degrees, degrees=True)
    return character.skinning_matrices(local)


def bending_joints(character: Character) -> list[int]:
    """The joints that share a vertex with their parent.

    Raises
    ------
    ValueError
        If there is none.
    """
    parents = character.skeleton.parents
    together = {(joint, other) for joints in character.skin.joint_sets for joint in joints for other in joints}
    found = [joint for joint, parent in enumerate(parents) if (joint, int(parent)) in together]
    if not found:
        raise ValueError("no joint shares a vertex with its parent: there is nothing to bend")
    return found
