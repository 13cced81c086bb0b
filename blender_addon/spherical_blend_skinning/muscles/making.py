# SPDX-License-Identifier: GPL-3.0-or-later
"""Make muscles: their entries in the list of an armature, their handles, and their bellies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ..core import library
from ..core.matrices import inverse
from ..engine import reading
from ..engine.muscles import bellies, muscle_list, muscles
from ..interface import character
from ..settings.muscles import NUMBERS, PARTS, SBS_PG_muscle, mark
from ..settings.properties import settings_of
from ..settings.typed import armature_data

# The size of a handle, as a share of the radius of its muscle.
_HANDLE = 0.3
# Of a muscle between two bones: its radius, as a share of its length, and how far along the bones it begins and ends.
_SLENDER, _ALONG = 0.08, 0.25


class Point(NamedTuple):
    """A point of a path: the name of the bone that it moves with, and where it is at rest in armature space."""

    bone: str
    place: tuple[float, float, float]


def add(
    armature: bpy.types.Object, name: str, path: Sequence[Point], numbers: Mapping[str, float | str | Sequence[float]]
) -> int:
    """Give an armature one more muscle; return its row.

    The muscle of that name is replaced, if there is one; its activation stays. The path has 2 to 4 points, and the
    numbers are other properties of `SBS_PG_muscle`.
    """
    muscle_list.remove_deleted(armature)
    return _add(armature, name, path, numbers)


def _add(
    armature: bpy.types.Object, name: str, path: Sequence[Point], numbers: Mapping[str, float | str | Sequence[float]]
) -> int:
    """As `add`, for an armature without muscles that were deleted."""
    settings = settings_of(armature)
    row = settings.muscles.find(name)
    if row < 0:
        settings.muscles.add().name = name
        row = len(settings.muscles) - 1
    muscle = settings.muscles[row]
    for key, value in numbers.items():
        setattr(muscle, key, value)
    collection = muscle_list.collection_of(armature)
    parts = _path_parts(len(path))
    for part in PARTS:
        point = path[parts.index(part)] if part in parts else None
        _provide_handle(armature, muscle, part, point, collection)
    if muscle.belly is None:
        belly = bellies.new(name)
        belly.parent = armature
        collection.objects.link(belly)
        muscle.belly = belly
    muscle.was_shown = True
    settings.muscle_row = row
    return row


def _path_parts(count: int) -> tuple[str, ...]:
    """The parts of a path of so many points."""
    return (*PARTS[: count - 1], PARTS[-1])


def _provide_handle(
    armature: bpy.types.Object, muscle: SBS_PG_muscle, part: str, point: Point | None, collection: bpy.types.Collection
) -> None:
    """Have a handle of a muscle at a point, or none."""
    handle: bpy.types.Object | None = getattr(muscle, part)
    if point is None:
        if handle is not None:
            setattr(muscle, part, None)
            if handle.library is None:
                bpy.data.objects.remove(handle)
        return
    if handle is None or handle.library is not None:
        handle = bpy.data.objects.new(f"{muscle.name} {part.replace('_', ' ').title()}", None)
        mark(handle)
        handle.empty_display_type = "SPHERE"
        handle.show_in_front = True
        handle.hide_render = True
        collection.objects.link(handle)
        setattr(muscle, part, handle)
    handle.empty_display_size = _HANDLE * muscle.radius
    _put(armature, handle, point)


def _put(armature: bpy.types.Object, handle: bpy.types.Object, point: Point) -> None:
    """Make a handle the child of a bone, at a place at rest in armature space."""
    bone = armature_data(armature).bones[point.bone]
    handle.parent, handle.parent_type, handle.parent_bone = armature, "BONE", point.bone
    handle.matrix_parent_inverse.identity()
    in_bone = inverse(reading.matrix(bone.matrix_local)) @ (*point.place, 1.0)
    # Children move with the tail.
    handle.location = Vector((in_bone[0], in_bone[1] - bone.length, in_bone[2]))


def points_of(armature: bpy.types.Object, row: int) -> list[Point]:
    """The path of a muscle. Raises ValueError if a handle is no child of a bone of the armature."""
    bones = armature_data(armature).bones
    path = []
    for part in PARTS:
        handle = muscle_list.present_part(armature, row, part)
        if handle is None:
            continue
        if handle.parent != armature or handle.parent_type != "BONE" or handle.parent_bone not in bones:
            raise ValueError(f"{handle.name} is no child of a bone of {armature.name}")
        bone = bones[handle.parent_bone]
        place = muscles.at_rest(handle, reading.matrix(bone.matrix_local), float(bone.length))
        path.append(Point(handle.parent_bone, place))
    return path


def _numbers_of(muscle: SBS_PG_muscle) -> dict[str, float | str | Sequence[float]]:
    return {name: getattr(muscle, name) for name in (*NUMBERS, "profile", "radii")}


def place_via(armature: bpy.types.Object, row: int) -> int:
    """Give a muscle one more point in the middle of its path; return how many it has now.

    Raises ValueError if it has all, or no path.
    """
    muscle = settings_of(armature).muscles[row]
    path = points_of(armature, row)
    if not 2 <= len(path) < len(PARTS):
        raise ValueError(f"{muscle.name} has {len(path)} points, and a path has 2 to {len(PARTS)}")
    before, after = path[-2:]
    x, y, z = np.mean([before.place, after.place], axis=0).tolist()
    add(armature, muscle.name, [*path[:-1], Point(before.bone, (x, y, z)), after], _numbers_of(muscle))
    return len(path) + 1


def mirror(armature: bpy.types.Object, row: int) -> str:
    """Have the muscle on the other side of the armature, too, mirrored at x = 0; return its name.

    Raises ValueError if its name tells no side, or a bone has no counterpart.
    """
    muscle = settings_of(armature).muscles[row]
    name = bpy.utils.flip_name(muscle.name)
    if name == muscle.name:
        raise ValueError(f'The name {muscle.name} tells no side: add ".L" or ".R" to it')
    path = []
    for bone, (x, y, z) in points_of(armature, row):
        other = bpy.utils.flip_name(bone)
        if other not in armature_data(armature).bones:
            raise ValueError(f"{armature.name} has no bone {other}")
        path.append(Point(other, (-x, y, z)))
    add(armature, name, path, _numbers_of(muscle))
    return name


def between(armature: bpy.types.Object, name: str, origin: bpy.types.Bone, insertion: bpy.types.Bone) -> int:
    """Add a muscle between two bones; return its row."""
    ends: list[Point] = []
    for bone, along in ((origin, 1.0 - _ALONG), (insertion, _ALONG)):
        if origin == insertion:
            along = _ALONG if not ends else 1.0 - _ALONG
        place = bone.head_local + along * (bone.tail_local - bone.head_local)
        ends.append(Point(bone.name, (place.x, place.y, place.z)))
    length = float(np.linalg.norm(np.subtract(ends[1].place, ends[0].place)))
    return add(armature, name, ends, {"radius": _SLENDER * length, "reach": 3.0 * _SLENDER * length})


def fit(armature: bpy.types.Object) -> int:
    """Place the muscles of a human body by the names of bones and the meshes; return how many.

    Muscles of these names are replaced, others stay. Raises ValueError if a bone is missing, or a muscle has no room
    in the mesh.
    """
    found = library.load().muscles.fit(character.from_rig(armature))
    muscle_list.remove_deleted(armature)
    for muscle in found:
        at_origin, at_insertion = muscle.tendons
        name = f"{muscle.name.rpartition(' ')[0].title()}.{muscle.side[0].upper()}"
        path = [Point(bone, place) for bone, place in zip(muscle.joints, muscle.points, strict=True)]
        numbers = {
            "radius": muscle.radius,
            "reach": muscle.reach,
            "profile": "SPINDLE",
            "tendon_at_origin": at_origin,
            "tendon_at_insertion": at_insertion,
            "flattening": muscle.flattening,
            "contraction": muscle.contraction,
            "most_growth": muscle.most_growth,
        }
        _add(armature, name, path, numbers)
    settings_of(armature).muscle_row = 0
    return len(found)
