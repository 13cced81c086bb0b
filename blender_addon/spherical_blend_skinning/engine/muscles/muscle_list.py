# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of muscles of an armature object, each with its objects, and the keys of its activation.

A muscle refers to its objects, so Blender keeps one that an artist has deleted in the file, in no collection. The
muscle must not be changed then: our handlers run after Blender has recorded the deletion as a step of undo, and undo
restores only what changed within a step. So the muscle stays as it is, and this module remembers which objects are
deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from typing import NamedTuple

import bpy

from ...settings.given import scene_of
from ...settings.muscles import PARTS, SBS_PG_muscle, is_part, rig_of_part
from ...settings.properties import settings_of
from ...settings.typed import animation_of, mesh_of
from .. import curves
from ..identity import key_of

_ALL_PARTS = (*PARTS, "belly")
_PATH = re.compile(r"^sbs\.muscles\[(\d+)\]\.(.*)$")

# For each armature object the rows of muscles, each with a part that is deleted.
_deleted: dict[int | str, frozenset[tuple[int, str]]] = {}
# Deleted parts that their muscles do not refer to while the file is written.
_aside: list[tuple[bpy.types.Object, int, str, bpy.types.Object]] = []
# Whether bellies and handles are in no collection, without having been deleted.
_are_left_out = False


# ------------------------------------------------------------------------------------------------------ deleted parts


def _with_muscles() -> list[bpy.types.Object]:
    """The armature objects that have muscles, of libraries, too."""
    return [item for item in bpy.data.objects if item.type == "ARMATURE" and len(settings_of(item).muscles)]


def find() -> None:
    """Find the deleted handles of all muscles. Slow in large files: to be called when objects may have come or gone."""
    _deleted.clear()
    muscled = _with_muscles()
    there = _objects_in_collections() if muscled else set()
    for armature in muscled:
        # Undo brings back a deleted armature, which must then find all as it was.
        if not _is_deleted(armature, there):
            _deleted[key_of(armature)] = frozenset(_deleted_parts(armature, there))


def _objects_in_collections() -> set[bpy.types.Object]:
    """The objects that are in a collection, found at once: Blender goes through all collections for each object."""
    collections = [*bpy.data.collections, *(scene.collection for scene in bpy.data.scenes)]
    return {item for collection in collections for item in collection.objects}


def _is_deleted(item: bpy.types.Object, there: Set[bpy.types.Object]) -> bool:
    """Whether an object is deleted, where `there` are those in collections; one of a library needs none."""
    return item.library is None and item not in there


def _deleted_parts(armature: bpy.types.Object, there: Set[bpy.types.Object]) -> Iterator[tuple[int, str]]:
    for row, muscle in enumerate(settings_of(armature).muscles):
        if muscle.was_shown and (muscle.belly is None or _is_deleted(muscle.belly, there)):
            yield row, "belly"
        for part in PARTS:
            handle: bpy.types.Object | None = getattr(muscle, part)
            if handle is not None and _is_deleted(handle, there):
                yield row, part


def deleted_parts(armature: bpy.types.Object) -> frozenset[tuple[int, str]]:
    """The deleted parts of an armature object's muscles, each with the row of its muscle, as of the last `find`."""
    return _deleted.get(key_of(armature), frozenset())


def present_rows(armature: bpy.types.Object) -> list[int]:
    """The rows of the muscles that an armature object has: a deleted belly takes its muscle with it."""
    gone = deleted_parts(armature)
    return [row for row in range(len(settings_of(armature).muscles)) if (row, "belly") not in gone]


def present_part(armature: bpy.types.Object, row: int, part: str) -> bpy.types.Object | None:
    """A handle or the belly of a muscle of an armature object; None if there is none or it is deleted."""
    muscle: SBS_PG_muscle = settings_of(armature).muscles[row]
    return None if (row, part) in deleted_parts(armature) else getattr(muscle, part)


def present_handles(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects at the points of all muscles of an armature object."""
    found = (present_part(armature, row, part) for row in present_rows(armature) for part in PARTS)
    return [handle for handle in found if handle is not None]


def set_aside() -> None:
    """Have muscles not refer to deleted parts while a file is written, so that these are not in it.

    Whoever links or appends from the file cannot tell that they are deleted.
    """
    find()
    for armature in _with_muscles():
        if armature.library is not None:
            continue
        for row, part in deleted_parts(armature):
            muscle = settings_of(armature).muscles[row]
            item: bpy.types.Object | None = getattr(muscle, part)
            if item is not None:
                _aside.append((armature, row, part, item))
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


def remove_all_deleted() -> None:
    """Remove muscles with deleted handles from all armature objects of a file that was just loaded."""
    for armature in _with_muscles():
        if armature.library is None and deleted_parts(armature):
            remove_deleted(armature)


def remove_deleted(armature: bpy.types.Object) -> None:
    """Remove muscles whose bellies were deleted, and forget handles that were.

    Only for operators, which undo takes back, and for a file that was just loaded. A muscle of a library is switched
    off.
    """
    put_back()
    find()
    muscles = settings_of(armature).muscles
    deleted = sorted(deleted_parts(armature), reverse=True)
    for row, part in deleted:
        if part != "belly":
            handle: bpy.types.Object = getattr(muscles[row], part)
            setattr(muscles[row], part, None)
            if is_part(handle) and not handle.users:
                bpy.data.objects.remove(handle)
    # The last ones first: rows of later muscles change.
    for row, part in deleted:
        if part == "belly":
            try:
                remove(armature, row)
            except ValueError:
                muscles[row].use = muscles[row].was_shown = False
    find()


# ------------------------------------------------------------------------------------------------------------- the list


def collection_of(armature: bpy.types.Object) -> bpy.types.Collection:
    """The collection of the muscles of an armature, which is beside the armature; in an override one of this file."""
    for muscle in settings_of(armature).muscles:
        belly: bpy.types.Object | None = muscle.belly
        for collection in belly.users_collection if belly is not None and belly.parent == armature else ():
            if _is_local(collection):
                return collection
    made = bpy.data.collections.new(f"{armature.name} Muscles")
    beside = [collection for collection in armature.users_collection if _is_local(collection)]
    (beside[0] if beside else scene_of(bpy.context).collection).children.link(made)
    return made


def _is_local(item: bpy.types.ID) -> bool:
    return item.library is None and item.override_library is None


def remove(armature: bpy.types.Object, row: int) -> None:
    """Remove a muscle with its objects and keys; those of later ones stay with them.

    Raises ValueError if it is one that a library has.
    """
    put_back()
    settings = settings_of(armature)
    muscle = settings.muscles[row]
    name = muscle.name
    objects = [getattr(muscle, name) for name in _ALL_PARTS]
    try:
        settings.muscles.remove(row)
    except TypeError as error:
        raise ValueError(f"{name} is of a library, so it can only be switched off, by its tick in the list") from error
    # The same muscle is shown as before, or the next one.
    shown = settings.muscle_row - (row < settings.muscle_row)
    settings.muscle_row = max(0, min(shown, len(settings.muscles) - 1))
    _renumber(armature, row)
    in_use = {getattr(other, name) for other in settings.muscles for name in _ALL_PARTS}
    for item in objects:
        if item is not None and item not in in_use and item.library is None:
            _delete(item)


def _delete(item: bpy.types.Object) -> None:
    mesh = mesh_of(item) if item.type == "MESH" else None
    bpy.data.objects.remove(item)
    if mesh is not None and mesh.users == 0 and mesh.library is None:
        bpy.data.meshes.remove(mesh)


def _renumber(armature: bpy.types.Object, removed: int) -> None:
    """Delete keys and drivers of a removed muscle, and have those of later ones find them, which Blender does not."""
    animation = animation_of(armature)
    found = curves.collections(armature) + ([animation.drivers] if animation is not None else [])
    for collection in found:
        for curve in list(collection):
            match = _PATH.match(curve.data_path)
            if match is None or int(match[1]) < removed:
                continue
            if int(match[1]) == removed:
                collection.remove(curve)
            else:
                curve.data_path = f"sbs.muscles[{int(match[1]) - 1}].{match[2]}"


def tidy() -> None:
    """Find deleted parts of muscles, and give copies of armature objects bellies and handles of their own."""
    if _are_left_out:
        return
    muscled = [armature for armature in _with_muscles() if armature.library is None]
    there = _objects_in_collections() if muscled else set()
    for armature in muscled:
        if armature in there:
            for muscle in settings_of(armature).muscles:
                for part in _ALL_PARTS:
                    _provide_own(armature, muscle, part, there)
    find()


def _provide_own(armature: bpy.types.Object, muscle: SBS_PG_muscle, part: str, there: set[bpy.types.Object]) -> None:
    """Replace a belly or a handle of another armature, of which this one is a copy, by one for this one."""
    item: bpy.types.Object | None = getattr(muscle, part)
    owner = rig_of_part(item) if item is not None else None
    if item is None or owner is None or owner == armature or _is_deleted(item, there):
        return
    if not any(getattr(other, part) == item for other in settings_of(owner).muscles):
        return
    own = item.copy()
    if own.data is not None:
        own.data = own.data.copy()
    own.parent = armature
    # Parenting anew may change it.
    own.matrix_parent_inverse = item.matrix_parent_inverse
    collection_of(armature).objects.link(own)
    setattr(muscle, part, own)


# ------------------------------------------------------------------------------------------------------------ exporters


@contextmanager
def left_out() -> Iterator[None]:
    """Take bellies and handles out of their collections for the time being, where an exporter would find them."""
    global _are_left_out
    found = [item for item in bpy.data.objects if is_part(item) and item.library is None]
    _are_left_out = True
    shown = [_shown(item) for item in found]
    taken: list[tuple[bpy.types.Collection, bpy.types.Object]] = []
    try:
        for item in found:
            for collection in item.users_collection:
                if _is_local(collection):
                    collection.objects.unlink(item)
                    taken.append((collection, item))
        yield
    finally:
        for collection, item in taken:
            collection.objects.link(item)
        for states in shown:
            for state in states:
                state.restore()
        _are_left_out = False


class _Shown(NamedTuple):
    """How an object is shown in a view layer."""

    item: bpy.types.Object
    layer: bpy.types.ViewLayer
    is_hidden: bool
    is_selected: bool
    is_active: bool

    def restore(self) -> None:
        """Show it so again."""
        self.item.hide_set(self.is_hidden, view_layer=self.layer)
        self.item.select_set(self.is_selected, view_layer=self.layer)
        if self.is_active:
            self.layer.objects.active = self.item


def _shown(item: bpy.types.Object) -> list[_Shown]:
    """How an object is shown in each view layer that has it."""
    return [
        _Shown(
            item,
            layer,
            item.hide_get(view_layer=layer),
            item.select_get(view_layer=layer),
            layer.objects.active == item,
        )
        for scene in bpy.data.scenes
        for layer in scene.view_layers
        if item.name in layer.objects
    ]
