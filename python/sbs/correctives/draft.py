# SPDX-License-Identifier: MIT
"""Correctives that are drafted: bent joints, relaxed as skin over flesh would be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..characters.character import Character
from ..rigging.animation import Animation
from ..skinning.options import BlendOptions
from ..skinning.shapes import Shape
from ..skinning.skin import Skin
from ..skinning.twist import as_frames
from ..support.rotations import matrices_from_axis_angle
from ..support.vectors import unit
from .correctives import Corrective, Correctives
from .drivers import core_drivers, find_coordinates, find_driver
from .patches import BALL, HINGE, Patch, Surface
from .solving import Target

__all__ = ["draft"]

Floats = NDArray[np.float64]

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

SMALL = 1e-3
"""A joint gets no share of a delta that is smaller."""


def draft(
    character: Character,
    joints: Iterable[str | int] | None = None,
    *,
    poses: ArrayLike | None = None,
    skin: Skin | None = None,
    progress: Callable[[float], object] | None = None,
    **options: Unpack[BlendOptions],
) -> Correctives:
    """Draft correctives: around each hinge, as elbows, knees, fingers and toes, skin is relaxed in some poses.

    The skin near a joint goes where it is stretched, squashed and bent least while limbs keep their volume and their
    thickness, and do not enter each other; `sbs/relaxation.h` has the energy. The result depends on the shape of the
    mesh and on its weights, and on the method only by where it begins. Fingers that share skin are bent together.
    Pieces of the mesh near the skin, such as a boot over the leg, go where it goes, fading out with the distance.

    Parameters
    ----------
    character : Character
    joints : iterable of str or int, optional
        By default all hinges: joints between two bones of one limb. Others are drafted if they are named, without the
        assumptions about limbs.
    poses : (F, J, 4, 4) or (F, J, 3, 4) array_like, optional
        Skinning matrices that say where joints bend, in place of the character's animations. Joints that none of them
        bends by 20 degrees are left out.
    skin : Skin, optional
        The skin that shapes are for, with `options` of `Skin.deform`. By default those of
        `Character.smooth_twist`, by which `Character.deform` deforms.
    progress : callable, optional
        Called with how much is done, from 0 to 1; an exception from it ends the draft.
    method, rotation, center, damping, rcond, amount, base
        Options of the deformation.

    Returns
    -------
    Correctives
        With targets and shapes.

    Raises
    ------
    KeyError, IndexError
        If there is no such joint.
    ValueError
        If one of them is a root, or all joints are, or `poses` bends none; as `Skin.deform`.
    """
    if skin is None:
        if options:
            raise ValueError(f"{next(iter(options))} has no effect without skin")
        skin, options = character.smooth_twist
    surface = Surface(character)
    if (surface.parents < 0).all():
        raise ValueError("no joint has a parent, so none can be an elbow or a knee: parent the bones of each limb")
    chosen = find_hinges(surface) if joints is None else character.skeleton.indices(joints)
    for joint in chosen:
        if surface.parents[joint] < 0:
            raise ValueError(f"{character.skeleton.names[joint]} is a root: no joint above it holds the skin")
    found = Correctives(character.skeleton)
    swings = _swings(character, chosen, None if poses is None else as_frames(poses)[0])
    if poses is not None:
        chosen = [joint for joint in chosen if np.linalg.norm(swings[joint], axis=1).max(initial=0.0) >= MOVES]
        if not chosen:
            raise ValueError("the poses bend no hinge by 20 degrees: bend an elbow, a knee or another joint")
    groups = find_groups(surface, chosen)
    for number, group in enumerate(groups):
        if progress is not None:
            progress(number / len(groups))
        patch = Patch.around(surface, group)
        if patch is not None:
            directions = find_directions(surface, group, [swings[joint] for joint in group])
            _draft_patch(found, patch, directions, skin, options)
    if progress is not None:
        progress(1.0)
    return found


def find_hinges(surface: Surface) -> list[int]:
    """The joints that are drafted where none are named."""
    return [joint for joint in range(len(surface.parents)) if surface.is_hinge(joint)]


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


def _swings(character: Character, joints: Sequence[int], poses: Floats | None) -> dict[int, Floats]:
    """How joints swing in poses, else in a character's animations: rotation vectors (F, 3) in the axes of the rest."""
    frames = [poses] if poses is not None else [*map(_frames, character.animations)]
    if not frames or not joints:
        return {joint: np.zeros((0, 3)) for joint in joints}
    drivers = [(find_driver(character.skeleton, [joint], "swing"), np.ones((1, 3))) for joint in joints]
    found = core_drivers(character.skeleton, drivers).coordinates(np.concatenate(frames))
    return {joint: found[:, number] for number, joint in enumerate(joints)}


def _frames(animation: Animation) -> Floats:
    """Skinning matrices (F, J, 4, 4) of an animation."""
    count = int(np.clip(RATE * animation.duration, 2, MOST_FRAMES))
    return animation.skinning_matrices(np.linspace(0, animation.duration, count))


def find_directions(
    surface: Surface, group: Sequence[int], swings: Sequence[Floats]
) -> list[tuple[list[Floats], float]]:
    """The axes (3,) of each joint of a group in each direction, and how far animations bend them.

    Animations tell the directions, or else the rest pose, both ways, or else there are four.
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
    is_known = np.linalg.norm(axis) > np.sin(MOVES)
    if not is_known:
        axis = np.cross(np.eye(3)[int(np.argmin(np.abs(bone)))], bone)
    axis = axis / np.linalg.norm(axis)
    other = np.cross(bone, axis)
    ways = [axis, -axis] if is_known else [axis, other, -axis, -other]
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


def _pose(surface: Surface, group: Sequence[int], axes: Sequence[Floats], degrees: float) -> Floats:
    """The skinning matrices (J, 3, 4) with each joint of a group bent about its axis."""
    matrices = np.tile(np.eye(3, 4), (len(surface.parents), 1, 1))
    for joint, axis in zip(group, axes, strict=True):
        turn = matrices_from_axis_angle(axis, degrees, degrees=True)
        below = surface.below(joint)
        matrices[below, :, :3] = turn
        matrices[below, :, 3] = surface.joints[joint] - turn @ surface.joints[joint]
    return matrices


def find_angles(surface: Surface, joint: int, axis: Floats) -> Floats:
    """The degrees by which a joint is bent about an axis."""
    angles = np.array(ANGLES_OF_TRUNK if surface.is_trunk(joint) else ANGLES)
    above = surface.joints[joint] - surface.joints[surface.parents[joint]]
    degrees = np.arange(1.0, angles[-1] + 1)
    bones = matrices_from_axis_angle(axis, degrees, degrees=True) @ surface.bones[joint]
    is_too_much = bones @ above < np.cos(np.radians(MOST_BENT)) * np.linalg.norm(above)
    most = degrees[is_too_much.argmax()] if is_too_much.any() else degrees[-1]
    return np.asarray(np.round(angles * max(most / angles[-1], 0.2)))


def _draft_patch(
    found: Correctives,
    patch: Patch,
    directions: Sequence[tuple[list[Floats], float]],
    skin: Skin,
    options: BlendOptions,
) -> None:
    """Add the correctives of all poses of a patch."""
    surface, group = patch.surface, patch.joints
    factors = HINGE if surface.is_hinge(group[0]) else BALL
    rest = np.asarray(skin.rest_positions, np.float64)
    vertices = np.flatnonzero(patch.reached[surface.numbers]).astype(np.int32)
    for way, (axes, reach) in enumerate(directions):
        begin = rest
        angles = find_angles(surface, group[0], axes[0])
        # In other directions than the first, as far as animations go.
        for degrees in angles[: 1 + sum(angle < reach for angle in angles)] if way else angles:
            matrices = _pose(surface, group, axes, degrees)
            start = np.asarray(skin.deform(matrices, rest_positions=begin.astype(skin.dtype), **options), np.float64)
            posed = np.asarray(skin.deform(matrices, **options), np.float64)
            relaxed = patch.relax(matrices, start[surface.kept], factors)
            posed[vertices] = patch.carry(posed[surface.kept], relaxed)[surface.numbers[vertices]]
            back = np.asarray(skin.inverse_deform(posed.astype(skin.dtype), matrices, **options), np.float64)
            deltas = back[vertices] - rest[vertices]
            begin = rest.copy()
            begin[vertices] += deltas
            for number, joint in enumerate(group):
                shares = patch.shares[surface.numbers[vertices], number]
                kept = shares > SMALL
                driver = find_driver(found.skeleton, [joint], "swing")
                name = f"{found.skeleton.names[joint]} {degrees:.0f}" + (f" ({way + 1})" if way else "")
                shape = Shape(vertices[kept], (shares[kept, None] * deltas[kept]).astype(skin.dtype))
                target = Target.make(matrices, posed, vertices[kept])
                coordinates = find_coordinates(found.skeleton, driver, matrices)
                found.insert(Corrective(name, driver, coordinates, target, shape))
