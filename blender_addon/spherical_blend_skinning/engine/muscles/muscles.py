# SPDX-License-Identifier: GPL-3.0-or-later
"""The muscles of a rig as a mesh covers them: read from their objects, bound, and in each pose applied."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import library
from ...core.binding import Binding, Given
from ...core.matrices import Floats
from ...core.muscles import Cover, MuscleShape
from ...core.place import corners, is_at_place
from ...core.rest import RestBones
from ...settings.muscles import ACTIVATION, NUMBERS, PARTS, PROFILE_RADII, SBS_PG_muscle
from ...settings.properties import settings_of
from ...settings.typed import animation_of, mesh_of
from .. import reading
from ..identity import key_of
from ..stack import resting, subject
from . import applied, muscle_list


def at_rest(handle: bpy.types.Object, rest: Floats, length: float) -> tuple[float, float, float]:
    """Where the child of a bone is at rest, in armature space, by the matrix of the bone at rest and its length.

    Children move with the tail.
    """
    point = rest[:3, :3] @ applied.place_in_bone(handle, length) + rest[:3, 3]
    x, y, z = point.tolist()
    return x, y, z


@dataclass
class Muscles:
    """The muscles that a bound object covers."""

    cover: Cover | None = None  #: None without muscles
    activations: Floats = field(default_factory=lambda: np.empty(0))  #: (M,): of the muscles that are bound
    #: Problems of muscles of the rig, by their rows, for the artist
    problems: dict[int, str] = field(default_factory=dict)
    #: The binding of the mesh without its animated shape keys; None if it has none. Muscles are bound to this mesh, and
    #: how far they move its skin is added to the skin with the keys.
    still: Binding | None = None
    _keys: tuple[resting.Key, ...] = ()
    _resting: NDArray[np.float32] | None = None
    _reading: _Reading | None = None
    _shapes: tuple[MuscleShape, ...] = ()
    _wrong: dict[int, str] = field(default_factory=dict)
    _bound: tuple[MuscleShape, ...] = ()
    _binding: Binding | None = None
    _to_rig: Floats | None = None
    _corners: Floats | None = None
    _triangles: NDArray[np.int32] | None = None

    @property
    def key(self) -> bytes:
        """The activations, on which skin depends besides cover and pose."""
        return self.activations.tobytes()

    def update(
        self,
        target: subject.Subject,
        armature: bpy.types.Object,
        posed: bpy.types.Object,
        binding: Binding,
        to_rig: Floats,
        mesh_changed: bool,
    ) -> bool:
        """Read and bind muscles as far as they have changed; return whether they cover the mesh otherwise than before.

        They are read from the original armature, and their animation from the posed one. The mesh may have other faces
        if it has changed.
        """
        before = self.cover
        muscles = settings_of(armature).muscles
        if not len(muscles) or not settings_of(target.item).use_muscles:
            self._forget()
            return before is not None
        reading_now = _read_muscles(armature)
        if self._reading != reading_now or self._binding is None or self._binding.rig is not binding.rig:
            self._reading = reading_now
            # An artist may have moved handles.
            applied.follow(armature)
            self._shapes, self._wrong = _shapes(armature, binding.rig)
        self._find_still(target, binding, to_rig, mesh_changed)
        binding = self.still or binding
        if mesh_changed or self._triangles is None:
            self._triangles = reading.triangles(mesh_of(target.item)) if target.has_faces() else None
        is_same = binding is self._binding and self._shapes == self._bound and not mesh_changed and self._is_at(to_rig)
        if before is None or not is_same:
            self._bound, self._binding, self._to_rig = self._shapes, binding, to_rig
            self._corners = corners(binding.surface.positions)
            self.cover = Cover(library.load(), binding, self._shapes, to_rig, self._triangles)
        self.problems = self._wrong if self.cover is None else {**self._wrong, **self.cover.problems}
        self._read_activations(posed)
        return self.cover is not before

    def _find_still(self, target: subject.Subject, binding: Binding, to_rig: Floats, mesh_changed: bool) -> None:
        """Bring `still` up to date."""
        is_possible = not (binding.bends or binding.rig.curves)
        keys = resting.moving_keys(target.item, target.modifier) if is_possible else ()
        if not keys:
            self.still, self._resting = None, None
            return
        if mesh_changed or self._resting is None or keys != self._keys:
            if target.item.mode == "EDIT" and self._resting is not None:
                return
            self._keys, self._resting = keys, resting.positions(target.item, keys)
        old = self.still
        if old is None or old.centers is not binding.centers or type(old) is not type(binding):
            old = binding
        surface = replace(binding.surface, positions=self._resting)
        self.still = old.rebound(Given(binding.rig, surface, to_rig, binding.limit, None, binding.spread))

    def _is_at(self, to_rig: Floats) -> bool:
        if self._to_rig is None or self._corners is None:
            return False
        return is_at_place(self._corners, to_rig, self._to_rig)

    def _forget(self) -> None:
        self.cover, self.problems, self.activations = None, {}, np.empty(0)
        self._reading, self._binding, self._triangles = None, None, None
        self.still, self._resting = None, None

    def _read_activations(self, posed: bpy.types.Object) -> None:
        animated = settings_of(posed).muscles
        values = np.zeros(len(animated), np.float32)
        animated.foreach_get(ACTIVATION, values)
        rows = [shape.row for shape in self.cover.shapes] if self.cover is not None else []
        self.activations = np.clip(values[rows].astype(np.float64), 0.0, 1.0)


class _Reading(NamedTuple):
    """All that a rig's muscles are bound by, to be compared with that of the last frame."""

    used: bytes  #: Whether each is in use
    numbers: bytes  #: Of all muscles
    profiles: tuple[str, ...]  #: The kind of each profile
    #: For each point of each muscle, the place and parent of its handle; None without one
    handles: tuple[tuple[object, ...] | None, ...]
    deleted: frozenset[tuple[int, str]]  #: Parts that an artist has deleted


# The meshes of a rig are updated together, and have the same muscles.
_readings: dict[int | str, _Reading] = {}


def read_anew() -> None:
    """Forget all readings: updates follow."""
    _readings.clear()


def _read_muscles(armature: bpy.types.Object) -> _Reading:
    """The reading of an armature object, which is taken in every frame: edits may come with a change of frame."""
    key = key_of(armature)
    if key not in _readings:
        muscles = settings_of(armature).muscles
        used = np.zeros(len(muscles), np.bool_)
        muscles.foreach_get("use", used)
        numbers = np.zeros((len(NUMBERS) + PROFILE_RADII, len(muscles)), np.float32)
        for row, name in enumerate(NUMBERS):
            muscles.foreach_get(name, numbers[row])
        muscles.foreach_get("radii", numbers[len(NUMBERS) :].reshape(-1))
        handles = tuple(_describe_handle(armature, getattr(muscle, part)) for muscle in muscles for part in PARTS)
        # One by one: to `foreach_get`, Blender 3.4 gives whatever is in its memory for a choice.
        profiles = tuple(muscle.profile for muscle in muscles)
        _readings[key] = _Reading(
            used.tobytes(), numbers.tobytes(), profiles, handles, muscle_list.deleted_parts(armature)
        )
    return _readings[key]


def _describe_handle(armature: bpy.types.Object, handle: bpy.types.Object | None) -> tuple[object, ...] | None:
    if handle is None:
        return None
    animation = animation_of(handle)
    return (
        handle.name,
        handle.parent == armature,
        handle.parent_type,
        handle.parent_bone,
        handle.matrix_basis.translation.to_tuple(),
        handle.matrix_parent_inverse.copy(),
        len(handle.constraints),
        animation is not None and (animation.action is not None or len(animation.drivers) > 0),
    )


def _shapes(armature: bpy.types.Object, rig: RestBones) -> tuple[tuple[MuscleShape, ...], dict[int, str]]:
    """The muscles of an armature object that are in use, and why others cannot be bound, by their rows."""
    number = {name: bone for bone, name in enumerate(rig.names)}
    shapes, problems = [], {}
    muscles = settings_of(armature).muscles
    for row in muscle_list.present_rows(armature):
        muscle = muscles[row]
        if not muscle.use:
            continue
        try:
            shapes.append(_shape(armature, rig, number, row, muscle))
        except ValueError as error:
            problems[row] = str(error)
    return tuple(shapes), problems


def _shape(
    armature: bpy.types.Object, rig: RestBones, number: dict[str, int], row: int, muscle: SBS_PG_muscle
) -> MuscleShape:
    """A muscle as its objects and numbers say. Raises ValueError if they do not make one."""
    bones, points = [], []
    for part in PARTS:
        handle = muscle_list.present_part(armature, row, part)
        if handle is None:
            if part in ("origin", "insertion"):
                raise ValueError(f"It has no {part}: choose an object that is a child of a bone")
            continue
        bone = _bone_of(armature, handle, number)
        bones.append(bone)
        points.append(at_rest(handle, rig.rests[bone], float(rig.lengths[bone])))
    return MuscleShape(
        row=row,
        bones=tuple(bones),
        points=tuple(points),
        radius=muscle.radius,
        reach=muscle.reach,
        options={
            "tendons": (muscle.tendon_at_origin, muscle.tendon_at_insertion),
            "profile": tuple(muscle.radii) if muscle.profile == "RADII" else (),
            "flattening": muscle.flattening,
            "contraction": muscle.contraction,
            "most_growth": muscle.most_growth,
        },
    )


def _bone_of(armature: bpy.types.Object, handle: bpy.types.Object, number: dict[str, int]) -> int:
    """The bone that a handle is a child of."""
    if handle.parent != armature or handle.parent_type != "BONE" or handle.parent_bone not in number:
        raise ValueError(f"{handle.name} is no child of a bone of {armature.name}: parent it to one")
    animation = animation_of(handle)
    if len(handle.constraints) or (animation is not None and (animation.action or len(animation.drivers))):
        raise ValueError(f"{handle.name} has keys, drivers or constraints: handles move with their bones alone")
    return number[handle.parent_bone]
