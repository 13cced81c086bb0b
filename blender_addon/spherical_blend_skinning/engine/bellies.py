# SPDX-License-Identifier: GPL-3.0-or-later
"""Bellies: mesh objects that show muscles in the pose."""

from __future__ import annotations

import bpy
import numpy as np

from ..core.matrices import Floats
from ..core.muscles import BELLY_VERTICES, Cover, belly_faces
from ..settings.muscles import mark
from ..settings.typed import mesh_of, settings_of

__all__ = ["new", "write"]

_COLOR = (0.55, 0.08, 0.07, 1.0)
_MATERIAL = "SBS Muscle"


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


def write(armature: bpy.types.Object, cover: Cover, activations: Floats) -> None:
    """Shape the bellies of an armature object as its muscles are in the pose of a cover."""
    muscles = settings_of(armature).muscles
    for number, shape in enumerate(cover.shapes):
        belly: bpy.types.Object | None = muscles[shape.row].belly if shape.row < len(muscles) else None
        if belly is None or belly.type != "MESH" or belly.mode == "EDIT":
            continue
        mesh = mesh_of(belly)
        if belly.library or mesh.library or mesh.override_library or len(mesh.vertices) != BELLY_VERTICES:
            # One of a library stays as it was saved.
            continue
        mesh.vertices.foreach_set("co", cover.belly(number, activations).astype(np.float32).reshape(-1))
        mesh.update_tag()
