# SPDX-License-Identifier: GPL-3.0-or-later
"""The woman that demonstrations show, and the scene around her."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import bpy
import numpy as np
from mathutils import Vector

from ..core import library
from ..settings.given import pose_of, scene_of
from ..settings.typed import Operator, Result, mesh_of

__all__ = ["Pair", "add_for", "hindrance", "line_up", "woman"]

#: A mesh and its armature.
Pair = tuple[bpy.types.Object, bpy.types.Object]

# The file is in decimetres.
_SCALE = 0.1


def hindrance(context: bpy.types.Context) -> str:
    """Why no demonstration can be added now, for the artist; empty if one can."""
    return library.problem() or ("" if context.mode == "OBJECT" else "Go to Object Mode first")


def add_for(operator: Operator, build: Callable[[], bpy.types.Object]) -> Result:
    """Add a demonstration for an operator, by what returns the first of its three meshes."""
    try:
        body = build()
    except RuntimeError as error:
        operator.report({"ERROR"}, str(error))
        return {"CANCELLED"}
    operator.report({"INFO"}, f"Added {len(mesh_of(body).vertices)} vertices three times; play the animation")
    return {"FINISHED"}


def woman() -> Pair:
    """A new woman.

    Raises
    ------
    RuntimeError
        If Blender's add-on for glTF files is switched off.
    """
    return _import(Path(*library.load().__path__) / "demo" / "data" / "woman.glb")


def line_up(context: bpy.types.Context, name: str, first: Pair, titles: Sequence[str], distance: float) -> list[Pair]:
    """The same character once for each title, side by side, in a collection of their own and with their titles above.

    Parameters
    ----------
    context : Context
    name : str
        Of the collection.
    first : mesh, armature
    titles : sequence of str
    distance : float
        Between characters, in metres.
    """
    collection = bpy.data.collections.new(name)
    scene_of(context).collection.children.link(collection)
    characters = [first, *(_copy(*first) for _ in titles[1:])]
    for number, ((body, rig), title) in enumerate(zip(characters, titles, strict=True)):
        for item in (body, rig):
            for other in item.users_collection:
                other.objects.unlink(item)
            collection.objects.link(item)
        rig.location = ((number - 0.5 * (len(titles) - 1)) * distance, 0.0, 0.0)
        rig.scale = (_SCALE, _SCALE, _SCALE)
        rig.hide_set(True)
        body.name = f"Woman, {title}"
        collection.objects.link(_label(title, rig.matrix_basis @ _top(body)))
    return characters


def _import(path: Path) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Import mesh and armature of a glTF file, without other objects that the importer makes."""
    if not hasattr(bpy.types, "IMPORT_SCENE_OT_gltf"):
        raise RuntimeError("Switch on Blender's add-on for glTF 2.0 files first")
    present = set(bpy.data.objects), set(bpy.data.collections), set(bpy.data.meshes)
    with _names_of_old_numpy():
        bpy.ops.import_scene.gltf(filepath=str(path))
    new = [item for item in bpy.data.objects if item not in present[0]]
    (armature,) = (item for item in new if item.type == "ARMATURE")
    (mesh,) = (item for item in new if item.type == "MESH" and item.vertex_groups)
    for bone in pose_of(armature).bones:
        # The importer draws bones as balls.
        bone.custom_shape = None
    for item in new:
        if item not in (armature, mesh):
            bpy.data.objects.remove(item)
    for collection in set(bpy.data.collections) - present[1]:
        bpy.data.collections.remove(collection)
    for data in set(bpy.data.meshes) - present[2]:
        if not data.users:
            bpy.data.meshes.remove(data)
    return mesh, armature


@contextmanager
def _names_of_old_numpy() -> Iterator[None]:
    """Provide ``numpy.bool``, which the importer of Blender 3.4 needs and some releases of NumPy lack."""
    missing = "bool" not in vars(np)
    if missing:
        setattr(np, "bool", bool)  # noqa: B010 - no stub knows that it can be missing
    try:
        yield
    finally:
        if missing:
            del np.bool


def _copy(mesh: bpy.types.Object, armature: bpy.types.Object) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A copy of the character with the same data."""
    body, rig = mesh.copy(), armature.copy()
    body.parent = rig
    for modifier in body.modifiers:
        if isinstance(modifier, bpy.types.ArmatureModifier):
            modifier.object = rig
    return body, rig


def _top(body: bpy.types.Object) -> Vector:
    """Above the middle of a mesh, in the space of its parent."""
    place = body.matrix_parent_inverse @ body.matrix_basis
    corners = [place @ Vector(corner) for corner in body.bound_box]
    middle = sum(corners, Vector()) / len(corners)
    return Vector((middle.x, middle.y, max(corner.z for corner in corners)))


def _label(text: str, place: Vector) -> bpy.types.Object:
    """A text above a character."""
    curve = cast("bpy.types.TextCurve", bpy.data.curves.new(text, "FONT"))
    curve.body = text
    curve.align_x = "CENTER"
    curve.size = 0.15
    item = bpy.data.objects.new(text, curve)
    item.location = place + Vector((0.0, 0.0, 0.1))
    item.rotation_euler = (math.pi / 2.0, 0.0, 0.0)
    return item
