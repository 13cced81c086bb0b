# SPDX-License-Identifier: MIT
"""Muscles bound to a character: measured in poses, and covered by its skin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..characters.character import Character
from ..rigging.skeleton import Skeleton, upward
from ..skinning.options import AnyFloats
from ..skinning.twist import as_frames
from ..support.names import nearest_name
from .muscle import Muscle

__all__ = ["MuscleCover", "MuscleStates", "SkinOfMuscle", "bind"]

Floats = NDArray[np.float64]

POINTS = 4
"""The most of a path."""


class MuscleStates(NamedTuple):
    """M muscles in a pose, or in F poses: arrays (M,) or (F, M).

    Attributes
    ----------
    lengths : ndarray of float64
        Of paths.
    belly_lengths : ndarray of float64
        Of bellies.
    growths : ndarray of float64
        The factors that radii have grown by.
    volumes : ndarray of float64
        Of bellies.
    limited : ndarray of bool
        Whether a belly may not grow further, and has lost volume.
    """

    lengths: Floats
    belly_lengths: Floats
    growths: Floats
    volumes: Floats
    limited: NDArray[np.bool_]


class SkinOfMuscle(NamedTuple):
    """The skin that covers a muscle.

    Attributes
    ----------
    vertices : (C,) int32 ndarray
    shares : (C,) float64 ndarray
        How much the muscle moves each, up to 1.
    distances : (C,) float64 ndarray
        From its surface, at bind.
    """

    vertices: NDArray[np.int32]
    shares: Floats
    distances: Floats


class MuscleCover:
    """Muscles of a character, and the skin that covers them; made by `bind`. Immutable.

    A character that skinning matrices scale as a whole, as those of a scene in other units do, has muscles of its size:
    by which factor, the median of the joints of muscles says.

    Attributes
    ----------
    muscles : tuple of Muscle
    """

    def __init__(self, muscles: tuple[Muscle, ...], core: _core.Muscles) -> None:
        self.muscles = muscles
        self._core = core

    def __len__(self) -> int:
        return len(self.muscles)

    def __repr__(self) -> str:
        return f"<sbs.muscles.MuscleCover, muscles: {len(self)}, vertices: {self.covered_count}>"

    @property
    def covered_count(self) -> int:
        """How many vertices the muscles move."""
        return self._core.covered_count

    def skin_of(self, muscle: str | int) -> SkinOfMuscle:
        """The skin that covers a muscle, given by its name or number.

        Raises
        ------
        KeyError
            If no muscle has that name.
        IndexError
            If there is no muscle of that number.
        """
        return SkinOfMuscle(*self._core.cover_of(self._number(muscle)))

    def measure(self, skinning_matrices: ArrayLike, activations: ArrayLike | None = None) -> MuscleStates:
        """Lengths and volumes in a pose, or in several, in the units of the mesh at bind.

        Parameters
        ----------
        skinning_matrices : (J, 4, 4), (J, 3, 4), (F, J, 4, 4) or (F, J, 3, 4) array_like
        activations : (M,) or (F, M) array_like, optional
            Tension without motion, from 0, the default, to 1.

        Raises
        ------
        ValueError
            If a shape is wrong, a matrix is not finite, beyond 1e30 or not affine, or an activation is not between 0
            and 1.
        """
        matrices, single = as_frames(skinning_matrices)
        found = self._core.measure(matrices, self._activations(activations, len(matrices)))
        found = found[0] if single else found
        lengths, belly_lengths, growths, volumes, limited = np.moveaxis(found, -1, 0)
        return MuscleStates(lengths, belly_lengths, growths, volumes, limited != 0)

    def apply(
        self,
        positions: AnyFloats,
        skinning_matrices: ArrayLike,
        *,
        normals: AnyFloats | None = None,
        activations: ArrayLike | None = None,
        threads: int | None = None,
    ) -> None:
        """Move deformed skin so that it covers the muscles.

        Parameters
        ----------
        positions : (V, 3) or (F, V, 3) ndarray of float32 or float64
            The result of a method of `Skin` for the same matrices. Changed in place, so it has to be contiguous.
        skinning_matrices : (J, 4, 4), (J, 3, 4), (F, J, 4, 4) or (F, J, 3, 4) array_like
        normals : ndarray of the shape and type of `positions`, optional
            Changed in place.
        activations : (M,) or (F, M) array_like, optional
            Tension without motion, from 0, the default, to 1.
        threads : int, optional
            As for `Skin.deform`.

        Raises
        ------
        ValueError
            As `measure`; and if an array to be changed has another shape or layout, or normals are given, but the mesh
            has none.
        TypeError
            If an array to be changed is no ndarray of float32 or float64.
        """
        matrices, single = as_frames(skinning_matrices)
        if single:
            positions, normals = positions[None], None if normals is None else normals[None]
        self._core.cover(positions, normals, matrices, self._activations(activations, len(matrices)), threads)

    def surface(
        self,
        muscle: str | int,
        skinning_matrices: ArrayLike,
        activations: ArrayLike | None = None,
        *,
        rings: int = 24,
        sides: int = 16,
    ) -> tuple[Floats, NDArray[np.int32]]:
        """The surface of a belly in a pose or in several, to look at, beside the deformed skin.

        Returns
        -------
        positions : (rings * sides, 3) or (F, rings * sides, 3) float64 ndarray
        triangles : (T, 3) int32 ndarray
            Counter-clockwise seen from outside; open at both ends.
        """
        matrices, single = as_frames(skinning_matrices)
        acting = self._activations(activations, len(matrices))
        found = self._core.surface(matrices, acting, self._number(muscle), rings, sides).reshape(len(matrices), -1, 3)
        return found[0] if single else found, _triangles(rings, sides).copy()

    def _number(self, muscle: str | int) -> int:
        if not isinstance(muscle, str):
            return muscle
        names = [each.name for each in self.muscles]
        if muscle not in names:
            raise KeyError(f"no muscle is named {muscle!r}{nearest_name(muscle, names)}")
        return names.index(muscle)

    def _activations(self, given: ArrayLike | None, frame_count: int) -> Floats | None:
        """Activations (F, M)."""
        if given is None:
            return None
        values = np.asarray(given, np.float64)
        if values.ndim != 1:
            return values
        return values[None] if frame_count == 1 else np.broadcast_to(values, (frame_count, *values.shape))


def bind(character: Character, muscles: Sequence[Muscle]) -> MuscleCover:
    """Bind muscles to a character.

    Parameters
    ----------
    character : Character
        Its mesh is at rest.
    muscles : sequence of Muscle

    Raises
    ------
    ValueError
        If a number of a muscle is out of its range, two have one name, origin and insertion are at one place, or skin
        is inside a muscle. Messages name the muscle.
    KeyError
        If the character has no joint of a name.

    """
    muscles = tuple(muscles)
    names = [muscle.name for muscle in muscles]
    if len(set(names)) < len(names):
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        raise ValueError(f"two muscles are named {twice!r}")
    if not muscles:
        raise ValueError("muscles is empty: there must be at least one muscle")
    mesh = character.mesh
    try:
        core = _core.Muscles(
            len(character.skeleton),
            *_rows(muscles, character.skeleton),
            rest_positions=mesh.positions,
            rest_normals=mesh.normals,
            triangles=mesh.triangles,
            joint_indices=character.skin.joint_indices,
            joint_weights=character.skin.joint_weights,
        )
    except ValueError as error:
        raise ValueError(_with_name(str(error), names)) from None
    return MuscleCover(muscles, core)


def _with_name(message: str, names: Sequence[str]) -> str:
    """A message of the core, "radius[2] ...", with the muscle's name in place of its number."""
    found = re.match(r"(?P<name>\w+)\[(?P<number>\d+)(?:, (?P<column>\d+))?\](?P<rest>.*)", message, re.DOTALL)
    if found is None or int(found["number"]) >= len(names):
        return message
    column = "" if found["column"] is None else f"[{found['column']}]"
    return f"muscle {names[int(found['number'])]!r}: {found['name']}{column}{found['rest']}"


def _rows(muscles: tuple[Muscle, ...], skeleton: Skeleton) -> tuple[Any, ...]:
    """Arguments of the core: each muscle in a row, and lists of different lengths one behind the other."""
    joints = np.zeros((len(muscles), POINTS), np.int32)
    points = np.zeros((len(muscles), POINTS, 3))
    thin_joints = np.zeros(len(muscles), np.int32)
    covered = []
    for row, muscle in enumerate(muscles):
        numbers = _joints(muscle, muscle.joints, skeleton)
        if len(numbers) != len(muscle.points):
            raise ValueError(f"muscle {muscle.name!r}: {len(muscle.points)} points, but {len(numbers)} joints")
        if not 2 <= len(numbers) <= POINTS:
            raise ValueError(f"muscle {muscle.name!r}: {len(numbers)} points, where a path has 2 to {POINTS}")
        joints[row, : len(numbers)] = numbers
        points[row, : len(numbers)] = muscle.points
        thin_joints[row] = _joints(muscle, [muscle.thin_joint or muscle.joints[0]], skeleton)[0]
        covered.append(_joints(muscle, muscle.covered, skeleton) or between(skeleton, numbers))
    return (
        joints,
        points,
        np.array([len(muscle.points) for muscle in muscles], np.int32),
        np.array(
            [
                (each.radius, *each.tendons, each.flattening, each.contraction, each.most_growth, each.reach)
                for each in muscles
            ]
        ),
        np.array([muscle.thin_direction for muscle in muscles], np.float64),
        thin_joints,
        *_one_behind_the_other([muscle.profile for muscle in muscles], np.float64),
        *_one_behind_the_other(covered, np.int32),
    )


def _joints(muscle: Muscle, names: Sequence[str], skeleton: Skeleton) -> list[int]:
    try:
        return skeleton.indices(names)
    except KeyError as error:
        raise KeyError(f"muscle {muscle.name!r}: {error.args[0]}") from None


def _one_behind_the_other(lists: Sequence[Sequence[float]], kind: type) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """All lists in one array, and where each ends."""
    ends = np.cumsum([len(each) for each in lists]).astype(np.int32)
    return np.array([value for each in lists for value in each], kind), ends


def between(skeleton: Skeleton, joints: Sequence[int]) -> list[int]:
    """The joints on the way through the skeleton from the first of some joints to the last, over all others."""
    found = dict.fromkeys(joints)
    for start, end in pairwise(joints):
        up, down = upward(skeleton, start), upward(skeleton, end)
        shared = next((joint for joint in up if joint in down), None)
        if shared is not None:
            found |= dict.fromkeys([*up[: up.index(shared) + 1], *down[: down.index(shared) + 1]])
    return list(found)


@lru_cache(maxsize=8)
def _triangles(rings: int, sides: int) -> NDArray[np.int32]:
    """Triangles (T, 3) between rings."""
    ring, side = np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij")
    here, beside = ring * sides + side, ring * sides + (side + 1) % sides
    return (
        np.stack([np.stack([here, beside, here + sides], -1), np.stack([beside, beside + sides, here + sides], -1)], 2)
        .reshape(-1, 3)
        .astype(np.int32)
    )
