# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of muscles of an armature object, and what belongs to each: its objects, and the keys of its activation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import bpy

from ..settings.given import scene_of
from ..settings.muscles import PARTS, SBS_PG_muscle, is_part, rig_of_part
from ..settings.properties import settings_of
from ..settings.typed import animation_of, mesh_of
from . import curves, deleted_muscles

# Whether bellies and handles are in no collection, without having been deleted.
_are_left_out = False

_PATH = re.compile(r"^sbs\.muscles\[(\d+)\]\.(.*)$")


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
    deleted_muscles.put_back()
    settings = settings_of(armature)
    muscle = settings.muscles[row]
    name = muscle.name
    objects = [getattr(muscle, name) for name in (*PARTS, "belly")]
    try:
        settings.muscles.remove(row)
    except TypeError as error:
        raise ValueError(f"{name} is of a library, so it can only be switched off, by its tick in the list") from error
    # The same muscle is shown as before, or the next one.
    shown = settings.muscle_row - (row < settings.muscle_row)
    settings.muscle_row = max(0, min(shown, len(settings.muscles) - 1))
    _renumber(armature, row)
    in_use = {getattr(other, name) for other in settings.muscles for name in (*PARTS, "belly")}
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


def tidy(muscled: list[bpy.types.Object]) -> None:
    """Find what was deleted of armature objects with muscles, and give copies bellies and handles of their own."""
    if _are_left_out:
        return
    there = deleted_muscles.objects_in_collections() if muscled else set()
    for armature in muscled:
        if armature.library is None and armature in there:
            for muscle in settings_of(armature).muscles:
                for part in (*PARTS, "belly"):
                    _provide_own(armature, muscle, part, there)
    deleted_muscles.note(muscled, there)


def remove_deleted(armature: bpy.types.Object) -> None:
    """Remove muscles whose bellies were deleted, and forget handles that were.

    Only for operators, which undo takes back, and for a file that was just loaded. A muscle of a library is switched
    off.
    """
    deleted_muscles.put_back()
    deleted_muscles.find()
    muscles = settings_of(armature).muscles
    for row, part in sorted(deleted_muscles.parts(armature), reverse=True):
        if part != "belly":
            _forget_handle(muscles[row], part)
    # The last ones first: rows of later muscles change.
    for row, part in sorted(deleted_muscles.parts(armature), reverse=True):
        if part == "belly":
            try:
                remove(armature, row)
            except ValueError:
                muscles[row].use = muscles[row].was_shown = False
    deleted_muscles.find()


def _forget_handle(muscle: SBS_PG_muscle, part: str) -> None:
    handle: bpy.types.Object = getattr(muscle, part)
    setattr(muscle, part, None)
    if is_part(handle) and not handle.users:
        bpy.data.objects.remove(handle)


def _provide_own(armature: bpy.types.Object, muscle: SBS_PG_muscle, part: str, there: set[bpy.types.Object]) -> None:
    """Replace a belly or a handle of another armature, of which this one is a copy, by one for this one."""
    item: bpy.types.Object | None = getattr(muscle, part)
    owner = rig_of_part(item) if item is not None else None
    if item is None or owner is None or owner == armature or deleted_muscles.is_deleted(item, there):
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
    there.add(own)
    setattr(muscle, part, own)
