# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles bound to a mesh: deformed skin is moved so that it covers them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .binding import Binding
from .matrices import Floats, inverse
from .rest import RestBones

# Sections of a belly that is shown.
_RINGS, _SIDES = 17, 12
#: How many vertices that is.
BELLY_VERTICES = _RINGS * _SIDES


@dataclass(frozen=True)
class MuscleShape:
    """A muscle as an artist describes it, in armature space at rest."""

    row: int  #: Which of the rig's muscles it is
    bones: tuple[int, ...]  #: The bone of the rig that each of the 2 to 4 points of the path moves with, by its number
    points: tuple[tuple[float, float, float], ...]  #: 2 to 4 (x, y, z)
    radius: float
    reach: float
    #: Other attributes of `sbs.muscles.Muscle`: tendons, profile, flattening, contraction, most_growth
    options: Mapping[str, Any]


class MuscleState(NamedTuple):
    """A muscle in a pose."""

    growth: float  #: By what factor its radii have grown
    volume: float  #: As a share of its volume at rest
    is_limited: bool  #: Whether it may not grow further, and has lost volume


def _vertex_normals(positions: NDArray[np.floating[Any]], triangles: NDArray[np.int32]) -> Floats:
    """Normals (V, 3) of vertices by the areas of their triangles (T, 3); 0 of those without."""
    corners = positions[triangles].astype(np.float64)
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros((len(positions), 3))
    for corner in range(3):
        for axis in range(3):
            normals[:, axis] += np.bincount(triangles[:, corner], areas[:, axis], minlength=len(positions))
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    result: Floats = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0)
    return result


class Cover:
    """Muscles of a rig and the skin of a mesh that covers them. It is valid for one binding and place of the mesh.

    The faces (T, 3) tell skin in front of a muscle from skin behind it.
    """

    def __init__(
        self,
        sbs: ModuleType,
        binding: Binding,
        shapes: Sequence[MuscleShape],
        to_rig: Floats,
        triangles: NDArray[np.int32] | None,
    ) -> None:
        self._place = binding.space.place(to_rig)
        self._from_rig = inverse(self._place)
        scale = float(np.cbrt(abs(np.linalg.det(self._from_rig[:3, :3]))))
        character = _character(sbs, binding, triangles)
        #: Why shapes could not be bound, by their rows.
        self.problems: dict[int, str] = {}
        described = {shape.row: self._described(sbs, binding.rig, shape, scale) for shape in shapes}
        try:
            self._cover: Any = sbs.muscles.bind(character, list(described.values())) if described else None
        except ValueError:
            described = self._possible(sbs, character, described)
            self._cover = sbs.muscles.bind(character, list(described.values())) if described else None
        #: The muscles that could be bound.
        self.shapes = tuple(shape for shape in shapes if shape.row in described)
        #: The bones that muscles are attached to, (P,) ascending.
        self.bones = np.unique([bone for shape in self.shapes for bone in shape.bones]).astype(np.intp)
        self._inverse_rests = inverse(binding.rig.rests[self.bones]) if len(self.bones) else np.empty((0, 4, 4))
        self._matrices = np.tile(np.eye(4), (len(binding.rig.names), 1, 1))
        #: Whether there was a pose.
        self.is_posed = False
        self._rest_volumes = np.empty(0) if self._cover is None else self._cover.measure(self._matrices).volumes

    def _described(self, sbs: ModuleType, rig: RestBones, shape: MuscleShape, scale: float) -> Any:
        """A muscle for the library, in the space of the skin."""
        points = np.array(shape.points)
        thin = _away_from_bone(rig, shape)
        return sbs.muscles.Muscle(
            name=str(shape.row),
            joints=tuple(rig.names[bone] for bone in shape.bones),
            points=tuple(map(tuple, (points @ self._from_rig[:3, :3].T + self._from_rig[:3, 3]).tolist())),
            radius=shape.radius * scale,
            reach=shape.reach * scale,
            thin_direction=tuple((self._from_rig[:3, :3] @ thin).tolist()),
            **shape.options,
        )

    def _possible(self, sbs: ModuleType, character: Any, described: dict[int, Any]) -> dict[int, Any]:
        """The muscles that can be bound; keeps why others cannot."""
        possible = {}
        for row, muscle in described.items():
            try:
                sbs.muscles.bind(character, [muscle])
            except ValueError as error:
                self.problems[row] = _in_words(str(error))
            else:
                possible[row] = muscle
        return possible

    def pose(self, pose: NDArray[np.floating[Any]]) -> None:
        """Take the pose: bone to armature space, (B, 4, 4), of all bones of the rig."""
        self.is_posed = True
        posed = pose[self.bones].astype(np.float64)
        moves = self._from_rig @ posed @ self._inverse_rests @ self._place
        moves[:, 3] = (0.0, 0.0, 0.0, 1.0)
        self._matrices[self.bones] = moves

    def apply(self, positions: NDArray[np.float32], activations: Floats, threads: int | None) -> NDArray[np.float32]:
        """Deformed skin (V, 3), in the space of the skin, moved by muscles with activations (M,) in the pose."""
        if self._cover is None or not self._cover.covered_count:
            return positions
        moved = np.array(positions, np.float32, order="C")
        self._cover.apply(moved, self._matrices, activations=activations, threads=threads)
        return moved

    def states(self, activations: Floats) -> dict[int, MuscleState]:
        """The muscles in the pose with activations (M,), by their rows."""
        if self._cover is None:
            return {}
        found = self._cover.measure(self._matrices, activations)
        columns = (found.growths.tolist(), (found.volumes / self._rest_volumes).tolist(), found.limited.tolist())
        states = map(MuscleState, *columns)
        return dict(zip((shape.row for shape in self.shapes), states, strict=True))

    def bellies(self, numbers: Sequence[int], activations: Floats) -> NDArray[np.float32]:
        """The surfaces of some muscles in the pose, (B, N, 3) in armature space; their faces are `belly_faces`."""
        surfaces = [
            self._cover.surface(number, self._matrices, activations, rings=_RINGS, sides=_SIDES)[0]
            for number in numbers
        ]
        place = self._place
        result: NDArray[np.float32] = (np.stack(surfaces) @ place[:3, :3].T + place[:3, 3]).astype(np.float32)
        return result


def belly_faces() -> list[tuple[int, int, int, int]]:
    """The faces of a belly, of vertices ring by ring, seen from outside."""
    return [
        (
            ring * _SIDES + side,
            ring * _SIDES + (side + 1) % _SIDES,
            (ring + 1) * _SIDES + (side + 1) % _SIDES,
            (ring + 1) * _SIDES + side,
        )
        for ring in range(_RINGS - 1)
        for side in range(_SIDES)
    ]


def _character(sbs: ModuleType, binding: Binding, triangles: NDArray[np.int32] | None) -> Any:
    """The mesh in the space of the skin, its joints being all bones of the rig."""
    joints, weights = binding.bone_influences()
    positions = binding.positions
    faces = np.empty((0, 3), np.int32) if triangles is None else triangles
    normals = None if triangles is None else _vertex_normals(positions, triangles)
    count = len(binding.rig.names)
    skeleton = sbs.Skeleton(binding.rig.parents, np.tile(np.eye(4), (count, 1, 1)), list(binding.rig.names))
    with warnings.catch_warnings():
        # The status of the mesh tells of vertices without weights.
        warnings.simplefilter("ignore", sbs.WeightWarning)
        return sbs.Character.from_mesh(sbs.Mesh(positions, faces, joints, weights, normals), skeleton)


def _away_from_bone(rig: RestBones, shape: MuscleShape) -> Floats:
    """The direction from the bone of a muscle's origin to the middle of its path, at right angles to that."""
    points = np.array(shape.points)
    rest = rig.rests[shape.bones[0]]
    along = rest[:3, 1]
    middle = points.mean(axis=0) - rest[:3, 3]
    away = middle - middle @ along * along
    chord = points[-1] - points[0]
    length = float(chord @ chord)
    away = away - (away @ chord / length * chord if length > 0.0 else 0.0)
    size = float(np.linalg.norm(away))
    result: Floats = away / size if size > 0.0 else rest[:3, 2]
    return result


def _in_words(message: str) -> str:
    """The library's message on a muscle, without its name, which the panel shows already."""
    return message.partition("': ")[2] or message
