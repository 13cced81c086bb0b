# SPDX-License-Identifier: GPL-3.0-or-later
"""The woman that demonstrations show, and the scene around her."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from ..core import library
from ..settings.given import pose_of, scene_of, view_layer_of

#: A mesh and its armature.
Pair = tuple[bpy.types.Object, bpy.types.Object]

#: The animation begins at rest, shows what it is about in the middle, and ends at rest.
FRAMES = (1, 40, 80)

# The file is in decimetres.
_SCALE = 0.1
# The distance between characters, in metres; their arms are stretched out.
_DISTANCE = 1.9


def woman() -> Pair:
    """A new woman. Raises ValueError if she cannot be imported."""
    return _import(Path(*library.load().__path__) / "characters" / "data" / "woman.glb")


def line_up(context: bpy.types.Context, name: str, titles: Sequence[str]) -> list[Pair]:
    """A woman for each title, side by side, in a collection with that name and with their titles above.

    Raises ValueError if she cannot be imported.
    """
    first = woman()
    collection = bpy.data.collections.new(name)
    scene_of(context).collection.children.link(collection)
    characters = [first, *(_copy(*first) for _ in titles[1:])]
    for number, ((body, rig), title) in enumerate(zip(characters, titles, strict=True)):
        for item in (body, rig):
            for other in item.users_collection:
                other.objects.unlink(item)
            collection.objects.link(item)
        rig.location = ((number - 0.5 * (len(titles) - 1)) * _DISTANCE, 0.0, 0.0)
        rig.scale = (_SCALE, _SCALE, _SCALE)
        rig.hide_set(True)
        body.name = f"Woman, {title}"
        collection.objects.link(_label(title, rig.matrix_basis @ _top(body)))
    return characters


def set_turns(armature: bpy.types.Object, turns: Iterable[tuple[str, float, Vector]]) -> None:
    """Set keys that turn bones by so many degrees about axes of the armature at rest, and back; others go."""
    armature.animation_data_clear()
    for name, degrees, about in turns:
        pose_bone = pose_of(armature).bones[name]
        axis = pose_bone.bone.matrix_local.to_3x3().inverted() @ about
        pose_bone.rotation_mode = "QUATERNION"
        for frame, angle in zip(FRAMES, (0.0, degrees, 0.0), strict=True):
            pose_bone.rotation_quaternion = Quaternion(axis, math.radians(angle))
            pose_bone.keyframe_insert("rotation_quaternion", frame=frame)


def show(context: bpy.types.Context, chosen: Sequence[bpy.types.Object]) -> None:
    """Go to the middle of the animation, with these meshes selected, and the last one active."""
    scene, objects = scene_of(context), view_layer_of(context).objects
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    scene.frame_set(FRAMES[1])
    objects.active = chosen[-1]
    for item in objects:
        item.select_set(item in chosen)


def _import(path: Path) -> Pair:
    """Import mesh and armature of a glTF file, without other objects that the importer makes."""
    if not hasattr(bpy.types, "IMPORT_SCENE_OT_gltf"):
        raise ValueError("Switch on Blender's add-on for glTF 2.0 files first")
    present = set(bpy.data.objects), set(bpy.data.collections), set(bpy.data.meshes)
    with _old_numpy_names():
        try:
            bpy.ops.import_scene.gltf(filepath=str(path))
        except RuntimeError as error:
            # Errors that Blender's operator reports.
            raise ValueError(str(error).strip()) from error
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
def _old_numpy_names() -> Iterator[None]:
    """Provide ``numpy.bool``, which the importer of Blender 3.4 needs and some releases of NumPy lack."""
    missing = "bool" not in vars(np)
    if missing:
        setattr(np, "bool", bool)  # noqa: B010 - no stub knows that it can be missing
    try:
        yield
    finally:
        if missing:
            del np.bool


def _copy(mesh: bpy.types.Object, armature: bpy.types.Object) -> Pair:
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
