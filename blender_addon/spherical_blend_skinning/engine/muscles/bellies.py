# SPDX-License-Identifier: GPL-3.0-or-later
"""Bellies: mesh objects that show muscles in the pose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import bpy
import numpy as np

from ...core.matrices import Floats
from ...core.muscles import BELLY_VERTICES, Cover, belly_faces
from ...settings.muscles import is_part, mark
from ...settings.properties import settings_of
from ...settings.typed import mesh_of
from .. import reading
from ..identity import key_of

_COLOR = (0.55, 0.08, 0.07, 1.0)
_MATERIAL = "SBS Muscle"
_VIEWS = (bpy.types.Scene, bpy.types.Screen, bpy.types.WindowManager, bpy.types.WorkSpace)


def new(name: str) -> bpy.types.Object:
    """A belly, in no collection."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0.0, 0.0, 0.0)] * BELLY_VERTICES, [], belly_faces())
    mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), np.bool_))
    mesh.materials.append(_material())
    item = bpy.data.objects.new(name, mesh)
    mark(item)
    item.color = _COLOR
    item.show_in_front = True
    item.hide_render = True
    return item


def _material() -> bpy.types.Material:
    found: bpy.types.Material | None = bpy.data.materials.get(_MATERIAL)
    if found is None or found.library is not None:
        found = bpy.data.materials.new(_MATERIAL)
        found.diffuse_color = _COLOR
    return found


@contextmanager
def hidden() -> Iterator[None]:
    """Hide all bellies in viewports for the time being, where an exporter writes shown objects."""
    found = [item for item in bpy.data.objects if item.type == "MESH" and is_part(item) and item.library is None]
    names = [item.name for item in found if not item.hide_viewport]
    _hide(names, True)
    try:
        yield
    finally:
        _hide(names, False)


def _hide(names: list[str], hides: bool) -> None:
    # By their names, because undo replaces objects.
    for name in names:
        item: bpy.types.Object | None = bpy.data.objects.get(name)
        if item is not None and is_part(item):
            item.hide_viewport = hides


class _Written(NamedTuple):
    """Which bellies of an armature object have been shaped in a pose."""

    pose: object  #: An object that is another one in each pose
    meshes: set[int | str]  #: The keys of the meshes that have been shaped


_written: dict[int | str, _Written] = {}
# The bellies that something else refers to, which may follow them where they are hidden; None if unknown.
_used: set[bpy.types.ID] | None = None


def forget() -> None:
    """Forget who uses bellies, because something may have changed."""
    global _used
    _used = None


def forget_poses() -> None:
    """Shape bellies anew in their next pose, or as soon as they are shown."""
    _written.clear()
    forget()


def write(
    armature: bpy.types.Object, cover: Cover, activations: Floats, pose: object, depsgraph: bpy.types.Depsgraph
) -> None:
    """Shape the bellies of an armature object as its muscles are in the pose of a cover, for which `pose` stands.

    Only bellies that show in the dependency graph are written, and once in a pose: hidden ones are when they are shown
    again.
    """
    key = key_of(armature)
    if key not in _written or _written[key].pose is not pose:
        _written[key] = _Written(pose, set())
    done = _written[key].meshes
    muscles = settings_of(armature).muscles
    numbers, meshes = [], []
    for number, shape in enumerate(cover.shapes):
        belly: bpy.types.Object | None = muscles[shape.row].belly if shape.row < len(muscles) else None
        mesh = _mesh_to_write(belly) if belly is not None and belly.type == "MESH" else None
        if belly is not None and mesh is not None and key_of(mesh) not in done and _shows(belly, depsgraph):
            numbers.append(number)
            meshes.append(mesh)
    if not meshes:
        return
    for mesh, points in zip(meshes, cover.bellies(numbers, activations), strict=True):
        if "position" in mesh.attributes:
            # In a sixth of the time.
            reading.write_vectors(mesh, "position", points)
        else:
            mesh.vertices.foreach_set("co", points.reshape(-1))
        mesh.update_tag()
        done.add(key_of(mesh))


def _mesh_to_write(belly: bpy.types.Object) -> bpy.types.Mesh | None:
    """The mesh of a belly; None where it cannot be written: one of a library stays as it was saved."""
    mesh = mesh_of(belly)
    is_ours = not (belly.library or mesh.library or mesh.override_library)
    return mesh if is_ours and belly.mode != "EDIT" and len(mesh.vertices) == BELLY_VERTICES else None


def _shows(belly: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether what a dependency graph is for may depend on the shape of a belly."""
    if depsgraph.mode == "RENDER":
        is_shown = not belly.hide_render
    else:
        is_shown = belly.visible_get(view_layer=depsgraph.view_layer)
    return is_shown or belly in _used_bellies()


def _used_bellies() -> set[bpy.types.ID]:
    """The bellies that something else refers to: an instance of their collection, a modifier, a constraint, a node."""
    global _used
    if _used is None:
        parts = [item for item in bpy.data.objects if item.type == "MESH" and is_part(item)]
        users = bpy.data.user_map(subset=[*parts, *bpy.data.collections])
        _used = {item for item in parts if _is_used(item, users)}
    return _used


def _is_used(item: bpy.types.ID, users: Mapping[bpy.types.ID, set[bpy.types.ID]]) -> bool:
    """Whether anything depends on a belly, or on a collection with it: any user but views and its armature object."""
    for user in users.get(item, ()):
        if isinstance(user, bpy.types.Collection):
            if _is_used(user, users):
                return True
        elif not (isinstance(user, _VIEWS) or (isinstance(user, bpy.types.Object) and user.type == "ARMATURE")):
            return True
    return False
