# SPDX-License-Identifier: MIT
"""Correctives that are drafted: bent joints, relaxed as skin over flesh would be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..characters.character import Character
from ..skinning.options import BlendOptions
from ..skinning.shapes import Shape
from ..skinning.skin import Skin
from ..skinning.twist import as_frames
from .bends import MOVES, Direction, bend, find_angles, find_directions, find_groups, find_swings
from .correctives import Corrective, Correctives
from .drivers import find_coordinates, find_driver
from .making import made_for
from .patches import BALL, HINGE, Patch, Surface
from .solving import Target

__all__ = ["draft"]

Floats = NDArray[np.float64]

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
        `Character.default_method`, by which `Character.deform` deforms.
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
    skin, options = or_default(character, skin, options)
    surface = Surface(character)
    found = Correctives(character.skeleton)
    groups, swings = find_bends(character, surface, find_hinges, joints, poses)
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


def or_default(character: Character, skin: Skin | None, options: BlendOptions) -> tuple[Skin, BlendOptions]:
    """The skin and the options that drafts are for: those of `Character.deform` if there is no skin."""
    if skin is not None:
        return skin, options
    if options:
        raise ValueError(f"{next(iter(options))} has no effect without skin")
    return character.default_method


def find_bends(
    character: Character,
    surface: Surface,
    find_joints: Callable[[Surface], list[int]],
    joints: Iterable[str | int] | None,
    poses: ArrayLike | None,
) -> tuple[list[list[int]], dict[int, Floats]]:
    """Groups of joints that are drafted, and how each of them swings in poses or animations.

    Joints are found where none are named. Those that no pose bends are left out, and controls of a rig without a bone.
    """
    if (surface.parents < 0).all():
        raise ValueError("no joint has a parent, so none can be an elbow or a knee: parent the bones of each limb")
    has_bone = np.asarray(surface.bones.any(axis=1))
    if joints is None:
        chosen = [joint for joint in find_joints(surface) if has_bone[joint]]
    else:
        chosen = character.skeleton.indices(joints)
    for joint in chosen:
        name = character.skeleton.names[joint]
        if surface.parents[joint] < 0:
            raise ValueError(f"{name} is a root: no joint above it holds the skin")
        if not has_bone[joint]:
            raise ValueError(f"{name} has no bone that could bend: joints above and below it are at its own place")
    swings = find_swings(character, chosen, None if poses is None else as_frames(poses)[0])
    if poses is not None:
        chosen = [joint for joint in chosen if np.linalg.norm(swings[joint], axis=1).max(initial=0.0) >= MOVES]
        if not chosen:
            raise ValueError("the poses bend no joint by 20 degrees: bend an elbow, a knee or another joint")
    return find_groups(surface, chosen), swings


def find_hinges(surface: Surface) -> list[int]:
    """The joints that are drafted where none are named."""
    return [joint for joint in range(len(surface.parents)) if surface.is_hinge(joint)]


def _draft_patch(
    found: Correctives,
    patch: Patch,
    directions: Sequence[Direction],
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
            matrices = bend(surface, group, axes, degrees)
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
                found.insert(Corrective(name, driver, coordinates, target, shape, made_for(skin, options)))
