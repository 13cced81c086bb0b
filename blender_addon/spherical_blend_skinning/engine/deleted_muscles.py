# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bellies and handles an artist has deleted as objects.

A muscle refers to its objects, so Blender keeps a deleted one in the file, in no collection. The muscle must not be
changed then: our handlers run after Blender has recorded the deletion as a step of undo, and undo restores only what
changed within a step. So the muscle stays as it is, and this module remembers which of its objects are deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from typing import NamedTuple

import bpy

from ..settings.muscles import PARTS, SBS_PG_muscle
from ..settings.properties import settings_of
from .identity import key_of

# For each armature object the rows of muscles, each with a part that is deleted.
_deleted: dict[int | str, frozenset[tuple[int, str]]] = {}

_NONE: frozenset[tuple[int, str]] = frozenset()


class _Aside(NamedTuple):
    """A deleted part that its muscle does not refer to while the file is written."""

    armature: bpy.types.Object
    row: int
    part: str
    item: bpy.types.Object


_aside: list[_Aside] = []


def objects_in_collections() -> set[bpy.types.Object]:
    """The objects that are in a collection, found at once: Blender goes through all collections for each object."""
    collections = [*bpy.data.collections, *(scene.collection for scene in bpy.data.scenes)]
    return {item for collection in collections for item in collection.objects}


def _with_muscles() -> list[bpy.types.Object]:
    """The armature objects that have muscles, of libraries, too."""
    return [item for item in bpy.data.objects if item.type == "ARMATURE" and len(settings_of(item).muscles)]


def armatures() -> list[bpy.types.Object]:
    """The armature objects of this file that have muscles."""
    return [item for item in _with_muscles() if item.library is None]


def find() -> None:
    """Find what is deleted now. Slow in large files: for when objects may have come or gone."""
    found = _with_muscles()
    note(found, objects_in_collections() if found else set())


def note(muscled: Iterable[bpy.types.Object], there: Set[bpy.types.Object]) -> None:
    """Note what is deleted of all armature objects with muscles, where `there` are the objects in collections."""
    _deleted.clear()
    for armature in muscled:
        # Undo brings back a deleted armature, which must then find all as it was.
        if not is_deleted(armature, there):
            _deleted[key_of(armature)] = frozenset(_parts(armature, there))


def _parts(armature: bpy.types.Object, there: Set[bpy.types.Object]) -> Iterator[tuple[int, str]]:
    """The rows and parts of an armature object that are deleted."""
    for row, muscle in enumerate(settings_of(armature).muscles):
        if muscle.was_shown and (muscle.belly is None or is_deleted(muscle.belly, there)):
            yield row, "belly"
        for part in PARTS:
            handle: bpy.types.Object | None = getattr(muscle, part)
            if handle is not None and is_deleted(handle, there):
                yield row, part


def is_deleted(item: bpy.types.Object, there: Set[bpy.types.Object]) -> bool:
    """Whether an object is deleted, where `there` are those in collections; one of a library needs none."""
    return item.library is None and item not in there


def parts(armature: bpy.types.Object) -> frozenset[tuple[int, str]]:
    """The deleted parts of an armature object's muscles, each with the row of its muscle, as of the last `find`."""
    return _deleted.get(key_of(armature), _NONE)


def present_rows(armature: bpy.types.Object) -> list[int]:
    """The rows of the muscles that an armature object has: a deleted belly takes its muscle with it."""
    gone = parts(armature)
    return [row for row in range(len(settings_of(armature).muscles)) if (row, "belly") not in gone]


def present_part(armature: bpy.types.Object, row: int, part: str) -> bpy.types.Object | None:
    """A handle or the belly of a muscle of an armature object; None if there is none or it is deleted."""
    muscle: SBS_PG_muscle = settings_of(armature).muscles[row]
    return None if (row, part) in parts(armature) else getattr(muscle, part)


def set_aside() -> None:
    """Have muscles not refer to deleted parts while a file is written, so that these are not in it.

    Whoever links or appends from the file cannot tell that they are deleted.
    """
    find()
    for armature in armatures():
        for row, part in parts(armature):
            muscle = settings_of(armature).muscles[row]
            item: bpy.types.Object | None = getattr(muscle, part)
            if item is not None:
                _aside.append(_Aside(armature, row, part, item))
                setattr(muscle, part, None)


def put_back() -> None:
    """Have muscles refer to deleted parts again, as before `set_aside`, so that undo can bring these back.

    Called after saving, and before rows change or objects are replaced: Blender 3.4 calls nothing when saving fails.
    """
    for armature, row, part, item in _aside:
        # After a failure either may be removed since.
        with suppress(ReferenceError):
            setattr(settings_of(armature).muscles[row], part, item)
    _aside.clear()
