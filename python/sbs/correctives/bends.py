# SPDX-License-Identifier: MIT
"""Bends of joints that are drafted: which joints bend together, in which directions, and how far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..rigging.animation import Animation
from ..support.rotations import matrices_from_axis_angle
from ..support.vectors import unit
from .drivers import core_drivers, find_driver
from .patches import Surface

__all__ = ["MOVES", "Direction", "bend", "find_angles", "find_directions", "find_frames", "find_groups", "find_swings"]

Floats = NDArray[np.float64]

Direction = tuple[list[Floats], float]
"""The axis (3,) of each joint of a group, and by how many degrees animations bend it: infinitely many if none does."""

ANGLES = (45.0, 90.0, 130.0)
ANGLES_OF_TRUNK = (30.0, 60.0, 90.0)
"""The poses of a joint: so many degrees in each direction."""

MOST_BENT = 150.0
"""Two bones that are bent by more would be in each other: angles are less where a joint is bent at rest."""

MOVES = np.radians(20.0)
"""An animation that turns a joint by less says nothing of where it bends; nor does a bone that is bent less at rest."""

COVERED = 0.5
"""A direction stands for others that are nearer to it than this cosine."""

TOO_NEAR = 0.85
"""The same of directions that are means."""

RATE, MOST_FRAMES = 15.0, 100
"""How often an animation is looked at: so many times in a second, and at most."""

ALIKE = 0.7
"""Siblings whose bones are so nearly in line bend together, as fingers do."""


def find_groups(surface: Surface, joints: Sequence[int]) -> list[list[int]]:
    """Joints one by one, but three siblings or more together that share skin and lie side by side."""
    depths = {joint: _depth(surface, joint) for joint in joints}
    cores = {joint: surface.core(joint) for joint in joints}
    label = {joint: joint for joint in joints}
    for one in joints:
        for other in joints:
            alike = surface.bones[one] @ surface.bones[other] > ALIKE and depths[one] == depths[other]
            if one != other and alike and np.count_nonzero(cores[one] & (surface.moved(other) > 0.02)) > 2:
                old = label[other]
                label = {joint: label[one] if each == old else each for joint, each in label.items()}
    groups = [[joint for joint in joints if label[joint] == each] for each in dict.fromkeys(label.values())]
    return [part for group in groups for part in ([group] if len(group) > 2 else [[joint] for joint in group])]


def _depth(surface: Surface, joint: int) -> int:
    depth = 0
    while joint >= 0:
        joint, depth = int(surface.parents[joint]), depth + 1
    return depth


def find_swings(character: Character, joints: Sequence[int], poses: Floats | None) -> dict[int, Floats]:
    """How joints swing in poses, else in a character's animations: rotation vectors (F, 3) in the axes of the rest."""
    frames = find_frames(character) if poses is None else poses
    if not len(frames) or not joints:
        return {joint: np.zeros((0, 3)) for joint in joints}
    drivers = [(find_driver(character.skeleton, [joint], "swing"), np.ones((1, 3))) for joint in joints]
    found = core_drivers(character.skeleton, drivers).coordinates(frames)
    return {joint: found[:, number] for number, joint in enumerate(joints)}


def find_frames(character: Character) -> Floats:
    """Skinning matrices (F, J, 4, 4) of moments of all animations."""
    none = np.zeros((0, len(character.skeleton), 4, 4))
    return np.concatenate([none, *map(_frames, character.animations)])


def _frames(animation: Animation) -> Floats:
    """Skinning matrices (F, J, 4, 4) of an animation."""
    count = int(np.clip(RATE * animation.duration, 2, MOST_FRAMES))
    return animation.skinning_matrices(np.linspace(0, animation.duration, count))


def find_directions(
    surface: Surface, group: Sequence[int], swings: Sequence[Floats], *, is_ball: bool = False
) -> list[Direction]:
    """The directions in which a group of joints bends, the farthest first.

    Animations tell them, or else the rest pose of a hinge, both ways, or else there are four.
    """
    seeds, reaches = _seeds(np.concatenate(swings))
    if seeds:
        axes = [_means(own, np.stack(seeds)) for own in swings]
        found = [
            [_across(own[number], surface.bones[joint]) for own, joint in zip(axes, group, strict=True)]
            for number in range(len(seeds))
        ]
        return list(zip(found, reaches, strict=True))
    bone = surface.bones[group[0]]
    above = surface.joints[group[0]] - surface.joints[surface.parents[group[0]]]
    axis = np.cross(unit(above), bone)
    is_bent = np.linalg.norm(axis) > np.sin(MOVES)
    if not is_bent:
        axis = np.cross(np.eye(3)[int(np.argmin(np.abs(bone)))], bone)
    axis = axis / np.linalg.norm(axis)
    other = np.cross(bone, axis)
    ways = [axis, -axis] if is_bent and not is_ball else [axis, other, -axis, -other]
    return [([_across(way, surface.bones[joint]) for joint in group], np.inf) for way in ways]


def _seeds(swings: Floats) -> tuple[list[Floats], list[float]]:
    """Axes of swings (F, 3), no two of them near each other, and their largest angles: the largest first."""
    axes: list[Floats] = []
    reaches: list[float] = []
    lengths = np.linalg.norm(swings, axis=1)
    for number in np.argsort(-lengths, kind="stable"):
        if lengths[number] < MOVES:
            break
        axis = swings[number] / lengths[number]
        if all(axis @ other < COVERED for other in axes):
            axes.append(axis)
            reaches.append(float(np.degrees(lengths[number])))
    return axes, reaches


def _means(swings: Floats, seeds: Floats) -> Floats:
    """The mean axes (D, 3) of the swings (F, 3) that are nearest to each seed (D, 3), large ones counting for more."""
    lengths = np.linalg.norm(swings, axis=1)
    nearest = np.argmax(swings @ seeds.T, axis=1)
    found = seeds.copy()
    for number, seed in enumerate(seeds):
        mine = (nearest == number) & (swings @ seed > COVERED * lengths) & (lengths > MOVES / 2)
        mean = (lengths[mine, None] * swings[mine]).sum(axis=0)
        if mine.any():
            found[number] = mean / np.linalg.norm(mean)
    alike = found @ found.T - 2 * np.eye(len(found))
    return found if alike.max() < TOO_NEAR else seeds


def _across(axis: Floats, bone: Floats) -> Floats:
    """The unit vector of an axis without its component along a bone."""
    across = axis - (axis @ bone) * bone
    return across / np.linalg.norm(across)


def bend(surface: Surface, group: Sequence[int], axes: Sequence[Floats], degrees: float) -> Floats:
    """The skinning matrices (J, 3, 4) with each joint of a group bent about its axis."""
    matrices = np.tile(np.eye(3, 4), (len(surface.parents), 1, 1))
    for joint, axis in zip(group, axes, strict=True):
        turn = matrices_from_axis_angle(axis, degrees, degrees=True)
        below = surface.below(joint)
        matrices[below, :, :3] = turn
        matrices[below, :, 3] = surface.joints[joint] - turn @ surface.joints[joint]
    return matrices


def find_angles(surface: Surface, joint: int, axis: Floats, *, is_ball: bool = False) -> Floats:
    """The degrees by which a joint is bent about an axis: a ball at a short bone, as a spine or a wrist, by less."""
    is_stiff = surface.is_trunk(joint) or (is_ball and not surface.is_limb(joint))
    angles = np.array(ANGLES_OF_TRUNK if is_stiff else ANGLES)
    above = surface.joints[joint] - surface.joints[surface.parents[joint]]
    degrees = np.arange(1.0, angles[-1] + 1)
    bones = matrices_from_axis_angle(axis, degrees, degrees=True) @ surface.bones[joint]
    is_too_much = bones @ above < np.cos(np.radians(MOST_BENT)) * np.linalg.norm(above)
    most = degrees[is_too_much.argmax()] if is_too_much.any() else degrees[-1]
    return np.asarray(np.round(angles * max(most / angles[-1], 0.2)))
