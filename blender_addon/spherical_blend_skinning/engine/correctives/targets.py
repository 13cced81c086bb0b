# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the vertices of a corrective are to be: attributes of the mesh, which Blender carries through all edits.

All vertices have a place in the pose and one at rest, both in the space of the armature, so they stay if the scale of
the mesh is applied. Vertices to solve for have a share of 1. Cut edges get means of all three: a vertex between one
that is solved for and one that is not is solved for, too.
"""

from __future__ import annotations

import secrets

import bpy
import numpy as np
from numpy.typing import NDArray

from ...settings.typed import mesh_of, values_of
from .. import reading

Floats = NDArray[np.float64]

# A dot hides attributes in lists and from exporters.
_PLACES, _RESTS, _SHARES = ".sbs_target_", ".sbs_target_rest_", ".sbs_target_share_"
# Where most vertices moved at rest by more, a share of the size, the mesh or the armature has another scale or place.
_ELSEWHERE = 1e-3


def keep(item: bpy.types.Object, armature: bpy.types.Object, vertices: NDArray[np.intp], places: Floats) -> str:
    """Keep the places (V, 3) of all vertices, in the space of the object, and which of them (M,) to solve for.

    Returned is a name that no other target has, of this mesh or of another that may be joined with it.
    """
    mesh, name = mesh_of(item), secrets.token_hex(6)
    reading.write_vectors(mesh, _PLACES + name, _moved(places, item, armature))
    reading.write_vectors(mesh, _RESTS + name, _moved(_at_rest(mesh), item, armature))
    solved_for = np.zeros(len(mesh.vertices), np.float32)
    solved_for[vertices] = 1.0
    values_of(mesh.attributes.new(_SHARES + name, "FLOAT", "POINT")).foreach_set("value", solved_for)
    return name


def are_kept(mesh: bpy.types.Mesh, name: str) -> bool:
    return all(kind + name in mesh.attributes for kind in (_PLACES, _RESTS, _SHARES))


def names(mesh: bpy.types.Mesh) -> list[str]:
    """The names of all targets, of correctives that are known and others."""
    return [name.removeprefix(_SHARES) for name in dict(mesh.attributes.items()) if name.startswith(_SHARES)]


def shares(mesh: bpy.types.Mesh, name: str) -> NDArray[np.float32]:
    """The shares of all vertices (V,)."""
    found = np.empty(len(mesh.vertices), np.float32)
    values_of(mesh.attributes[_SHARES + name]).foreach_get("value", found)
    return found


def read(item: bpy.types.Object, armature: bpy.types.Object, name: str) -> tuple[NDArray[np.intp], Floats]:
    """The vertices (M,) to solve for, and their places (M, 3) in the space of the object.

    Raises ValueError if the mesh is elsewhere at rest than it was.
    """
    mesh = mesh_of(item)
    places, then = (reading.vectors(mesh, kind + name) for kind in (_PLACES, _RESTS))
    assert places is not None and then is not None
    # Vertices of joined meshes have zeros.
    known = then.any(axis=1)
    distances = np.linalg.norm(then - _moved(_at_rest(mesh), item, armature), axis=1)[known]
    if known.any() and np.median(distances) > _ELSEWHERE * np.linalg.norm(np.ptp(then[known], axis=0)):
        raise ValueError(
            f"{item.name} or {armature.name} was scaled, turned or moved at rest since it was sculpted: "
            "undo that, or sculpt it again"
        )
    vertices = np.flatnonzero(shares(mesh, name) > 0.0)
    return vertices, _moved(places[vertices], armature, item)


def forget(mesh: bpy.types.Mesh, name: str) -> None:
    for kind in (_PLACES, _RESTS, _SHARES):
        attribute: bpy.types.Attribute | None = mesh.attributes.get(kind + name)
        if attribute is not None:
            mesh.attributes.remove(attribute)


def _at_rest(mesh: bpy.types.Mesh) -> Floats:
    keys = mesh.shape_keys
    return reading.positions(mesh).astype(np.float64) if keys is None else reading.key_points(keys.reference_key)


def _moved(points: NDArray[np.floating], item: bpy.types.Object, other: bpy.types.Object) -> Floats:
    """Points (N, 3), given in the space of an object, in the space of another object."""
    matrix = reading.place(item, other)
    return np.asarray(points @ matrix[:3, :3].T + matrix[:3, 3], np.float64)
