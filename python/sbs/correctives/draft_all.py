# SPDX-License-Identifier: MIT
"""Correctives of all joints, drafted from poses in which the whole skin is relaxed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..characters.character import Character
from ..characters.limbs import is_twisting, words
from ..rigging.triangle_mesh import diagonal
from ..skinning.options import AnyFloats, BlendOptions
from ..skinning.shapes import Shape
from ..skinning.skin import Skin
from ..skinning.twist import as_frames
from .bends import Direction, bend, find_angles, find_directions, find_frames
from .choosing import Candidates, choose
from .correctives import Corrective, Correctives
from .draft import SMALL, find_bends, or_default
from .drivers import find_coordinates, find_driver
from .flesh import Flesh
from .making import made_for
from .patches import FEWEST, Surface
from .refining import Offsets, refine
from .solving import Target

__all__ = ["DraftedCorrectives", "Relax", "draft_all"]

Floats = NDArray[np.float64]

Relax = Callable[[Floats, AnyFloats], AnyFloats]
"""A function of a pose (J, 3, 4) and the skin in it (V, 3): where the skin goes."""

LEFT = 0.3
"""The share of the error that may be left, if neither it nor a number of shapes is given."""

LEAST_BEND = 0.02
"""Joints that are bent by less against their parents, in radians, are left out."""

FADING = 2e-4, 4e-4
"""Deltas below the first share of the size are dropped, and above the second kept as they are: no edge is seen."""

FRAMES = 24
"""So many moments of animations, or of poses, are relaxed, in which several joints are bent."""

SCALED = 0.01
"""Moments whose joints are scaled differently by more than this share are left out: flesh would be another there."""

FACE = re.compile("eyes?|eyelids?|lids?|brows?|jaw|mouth|lips?|tongue|teeth|cheeks?|nose|ears?|hair|breasts?")
"""Words in names of joints that do not bend as limbs do."""


class DraftedCorrectives(NamedTuple):
    """The result of `draft_all`. Errors are root mean squares of distances, as shares of the size of the mesh.

    They are taken over all vertices, in all poses that were drafted, and in poses between them.

    Attributes
    ----------
    correctives : Correctives
        With targets and shapes.
    error, error_before : float
        How far the skin is from the relaxed one, with correctives and without.
    """

    correctives: Correctives
    error: float
    error_before: float


def draft_all(
    character: Character,
    joints: Iterable[str | int] | None = None,
    *,
    relax: Relax | None = None,
    poses: ArrayLike | None = None,
    skin: Skin | None = None,
    shapes: int | None = None,
    error: float | None = None,
    progress: Callable[[float], object] | None = None,
    **options: Unpack[BlendOptions],
) -> DraftedCorrectives:
    """Draft correctives of all joints: also of shoulders, hips, wrists, necks and spines, that bend in any direction.

    Each joint is bent in the directions in which animations bend it, or else in four, and the whole skin is relaxed. Of
    all these poses those become shapes whose absence would be seen most. Then shapes are refined by least squares, to
    do best in poses between, and in moments of animations, where several of them act.

    Parameters
    ----------
    character : Character
    joints : iterable of str or int, optional
        By default all that bend skin, without joints that only twist, and without those of a face.
    relax : callable, optional
        ``relax(skinning_matrices, positions) -> positions``: where the skin goes that was deformed to positions (V, 3)
        in a pose (J, 3, 4). By default `Flesh.relax`.
    poses : (F, J, 4, 4) or (F, J, 3, 4) array_like, optional
        As of `draft`.
    skin : Skin, optional
        As of `draft`.
    shapes : int, optional
        How many shapes there are at most. Joints that bend together, as fingers, have one each.
    error : float, optional
        The share of the error without shapes that may be left, about: shapes are left out as long as less is, before
        they are refined. So that a trunk is not all that counts, the squares of a joint are divided by the distances
        that it lacks without shapes. By default 0.3, if `shapes` is not given.
    progress : callable, optional
        Called with how much is done, from 0 to 1; an exception from it ends the draft.
    method, rotation, center, damping, rcond, amount, base
        Options of the deformation.

    Returns
    -------
    DraftedCorrectives

    Raises
    ------
    KeyError, IndexError
        If there is no such joint.
    ValueError
        If one of them is a root, or all joints are, or `poses` bends none; if a number is out of its range, or both
        `shapes` and `error` are given; if `relax` returns another shape, or numbers that are not finite; as
        `Skin.deform`.
    """
    if shapes is not None and error is not None:
        raise ValueError("shapes and error are given, and either decides how many shapes are left out")
    if shapes is not None and shapes < 1:
        raise ValueError(f"shapes must be at least 1, not {shapes}")
    if error is not None and not 0 <= error < 1:
        raise ValueError(f"error must be at least 0 and below 1, not {error}")
    skin, options = or_default(character, skin, options)
    surface = Surface(character)
    groups, swings = find_bends(character, surface, _find_joints, joints, poses)
    drafts = _Drafts(character, surface, skin, options, relax or Flesh(character).relax)
    for number, group in enumerate(groups):
        if progress is not None:
            progress(number / len(groups))
        is_ball = not surface.is_hinge(group[0])
        drafts.add(group, find_directions(surface, group, [swings[each] for each in group], is_ball=is_ball), is_ball)
    moments = _moments(find_frames(character) if poses is None else as_frames(poses)[0])
    found = drafts.chosen(shapes, LEFT if error is None else error, moments)
    if progress is not None:
        progress(1.0)
    return found


def _find_joints(surface: Surface) -> list[int]:
    """The joints that are drafted where none are named."""
    return [
        joint
        for joint, name in enumerate(surface.names)
        if surface.parents[joint] >= 0
        and not is_twisting(name)
        and not any(FACE.fullmatch(word) for word in words(name))
        and np.count_nonzero(surface.core(joint)) >= FEWEST
    ]


def _moments(frames: Floats) -> Floats:
    """Some of the frames (F, J, 4, 4), as (M, J, 3, 4), without the scale of the whole."""
    scales = np.cbrt(np.linalg.det(frames[..., :3, :3]))
    least, most = scales.min(axis=1), scales.max(axis=1)
    alike = np.flatnonzero((least > 0) & (most <= (1 + SCALED) * least))
    some = alike[np.linspace(0, len(alike) - 1, min(FRAMES, len(alike))).astype(np.intp)]
    return np.asarray(frames[some, :, :3] / scales[some, :1, None, None])


def _degrees(surface: Surface, joint: int, direction: Direction, *, is_ball: bool, is_first: bool) -> Floats:
    """By how much a joint is bent in a direction: a hinge all the way in the first, else as far as animations go."""
    axes, reach = direction
    angles = find_angles(surface, joint, axes[0], is_ball=is_ball)
    if is_ball and np.isinf(reach):
        return angles[:2]
    return angles if is_first and not is_ball else angles[: 1 + np.count_nonzero(angles < reach)]


class _Pose(NamedTuple):
    """A pose of a group of joints: the vertices that are to be moved, where to, and by which offsets at rest."""

    name: str
    matrices: Floats
    vertices: NDArray[np.int32]
    relaxed: AnyFloats
    deltas: Floats


@dataclass(frozen=True, eq=False)
class _Group:
    joints: list[int]
    poses: list[_Pose]
    candidates: Candidates


class _Drafts:
    """Poses of a character, relaxed."""

    def __init__(self, character: Character, surface: Surface, skin: Skin, options: BlendOptions, relax: Relax) -> None:
        self._skeleton, self._surface, self._skin, self._options = character.skeleton, surface, skin, options
        self._relax = relax
        self._rest = np.asarray(skin.rest_positions, np.float64)
        self._size = diagonal(skin.rest_positions)
        self._groups: list[_Group] = []

    def add(self, group: list[int], directions: Sequence[Direction], is_ball: bool) -> None:
        """Relax all poses of a group of joints."""
        poses, between = [], []
        for way, direction in enumerate(directions):
            degrees = _degrees(self._surface, group[0], direction, is_ball=is_ball, is_first=not way)
            suffix = f" ({way + 1})" if way else ""
            poses += [self._pose(group, direction[0], angle, f" {angle:.0f}{suffix}") for angle in degrees]
            between.append(self._pose(group, direction[0], float(np.mean([0.0, *degrees][-2:])), ""))
        drivers = tuple(find_driver(self._skeleton, [joint], "swing") for joint in group)
        coordinates = [
            [find_coordinates(self._skeleton, driver, pose.matrices)[0] for pose in poses] for driver in drivers
        ]
        if (np.linalg.norm(coordinates, axis=-1) < LEAST_BEND).any():
            return  # a parent turns along, as where feet of a chain for inverse kinematics are elsewhere in the tree
        every = [*poses, *between]
        matrices = np.stack([pose.matrices for pose in every])
        candidates = Candidates(self._skeleton, drivers, np.array(coordinates), matrices, _products(every))
        self._groups.append(_Group(group, every, candidates))

    def _pose(self, group: list[int], axes: Sequence[Floats], degrees: float, name: str) -> _Pose:
        matrices = bend(self._surface, group, axes, degrees)
        relaxed, (vertices, deltas) = self._relaxed(matrices)
        return _Pose(name, matrices, vertices, relaxed[vertices], deltas)

    def _relaxed(self, matrices: Floats) -> tuple[AnyFloats, Offsets]:
        """The relaxed skin (V, 3) in a pose, and the offsets at rest that it needs."""
        posed = self._skin.deform(matrices, **self._options)
        relaxed = np.asarray(self._relax(matrices, posed.copy()), posed.dtype)
        if relaxed.shape != posed.shape or not np.isfinite(relaxed).all():
            raise ValueError(f"relax must return finite positions {posed.shape}, in every pose")
        back, singular = self._skin.inverse_deform(relaxed, matrices, return_singular=True, **self._options)
        deltas = np.where(singular[:, None], 0.0, back - self._rest)
        lengths = np.linalg.norm(deltas, axis=1) / self._size
        vertices = np.flatnonzero(lengths > FADING[0]).astype(np.int32)
        kept = np.clip((lengths[vertices] - FADING[0]) / (FADING[1] - FADING[0]), 0.0, 1.0)
        return relaxed, (vertices, kept[:, None] * deltas[vertices])

    def chosen(self, most: int | None, share: float, moments: Floats) -> DraftedCorrectives:
        """The correctives of the poses that are chosen, refined in moments (M, J, 3, 4), too."""
        found, made = Correctives(self._skeleton), made_for(self._skin, self._options)
        kept = choose([group.candidates for group in self._groups], most, share)
        for group, numbers in zip(self._groups, kept, strict=True):
            shares = self._shares(group.joints)
            for number in numbers:
                pose = group.poses[number]
                for place, joint in enumerate(group.joints):
                    own = shares[self._surface.numbers[pose.vertices], place]
                    is_own = own > SMALL
                    shape = Shape(pose.vertices[is_own], own[is_own, None] * pose.deltas[is_own])
                    name = self._skeleton.names[joint] + pose.name
                    driver, coordinates = group.candidates.drivers[place], group.candidates.coordinates[place, number]
                    target = Target(pose.matrices, shape.vertices, pose.relaxed[is_own])
                    found.insert(Corrective(name, driver, coordinates[None], target, shape, made))
        if len(found):
            self._refine(found, moments)
        return DraftedCorrectives(found, self._error(found), self._error(None))

    def _refine(self, found: Correctives, moments: Floats) -> None:
        """Change shapes for all poses and for moments, and targets for the shapes, which `solve` then finds again."""
        poses = [pose for group in self._groups for pose in group.poses]
        matrices = np.concatenate([np.stack([pose.matrices for pose in poses]), moments])
        needed = [(pose.vertices, pose.deltas) for pose in poses] + [self._relaxed(moment)[1] for moment in moments]
        before = [(each.shape.vertices, each.shape.deltas) for each in found if each.shape is not None]
        after = refine(before, needed, found.weights(matrices), self._skin.vertex_count)
        for each, (vertices, deltas) in zip([*found], after, strict=True):
            found.exchange(replace(each, shape=Shape(vertices, deltas.astype(self._skin.dtype))))
        for each in [*found]:
            if each.target is not None and each.target.vertices is not None:
                posed = self._skin.deform(each.target.skinning_matrices, correctives=found, **self._options)
                target = replace(each.target, positions=posed[each.target.vertices])
                found.exchange(replace(each, target=target))

    def _shares(self, joints: list[int]) -> Floats:
        if len(joints) == 1:
            return np.ones((len(self._surface.positions), 1))
        radii = [self._surface.radius(joint, self._surface.core(joint)) for joint in joints]
        return self._surface.shares(joints, float(np.mean(radii)))

    def _error(self, correctives: Correctives | None) -> float:
        """How far the skin is from the relaxed one in all poses."""
        squares = []
        for pose in (pose for group in self._groups for pose in group.poses):
            posed = self._skin.deform(pose.matrices, correctives=correctives, **self._options)
            goal = self._skin.deform(pose.matrices, **self._options)
            goal[pose.vertices] = pose.relaxed
            squares.append(np.mean(np.sum((posed - goal) ** 2, axis=1)))
        return float(np.sqrt(np.mean(squares))) / self._size if squares else 0.0


def _products(poses: Sequence[_Pose]) -> Floats:
    """The inner products of the deltas of poses."""
    anywhere = np.unique(np.concatenate([pose.vertices for pose in poses]))
    dense = np.zeros((len(poses), len(anywhere), 3))
    for number, pose in enumerate(poses):
        dense[number, np.searchsorted(anywhere, pose.vertices)] = pose.deltas
    flat = dense.reshape(len(poses), -1)
    return np.asarray(flat @ flat.T)
