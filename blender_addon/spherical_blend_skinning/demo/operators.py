# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that demonstrates the add-on: a woman twists her arm, by linear and by spherical blending, and spread."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, cast

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from ..bind import operators as bind
from ..core import library
from ..settings.typed import Result, mesh_of, settings_of

__all__ = ["CLASSES", "Demo", "build"]

_NAME = "Spherical Blend Skinning Demo"
_BONE = "LeftForeArm"
_DEGREES = 170.0
# The file is in decimetres.
_SCALE = 0.1
_TITLES = ("Linear Blend", "Spherical Blend", "Spread Twist")
# The distance between characters, in metres; their arms are stretched out.
_DISTANCE = 1.9
_FRAMES = (1, 40, 80)


class Demo(NamedTuple):
    """The objects of the demo: the same character three times.

    Attributes
    ----------
    linear, spherical, spread : Object
        The meshes.
    armatures : tuple of three Object
    """

    linear: bpy.types.Object
    spherical: bpy.types.Object
    spread: bpy.types.Object
    armatures: tuple[bpy.types.Object, ...]


def build(context: bpy.types.Context) -> Demo:
    """Add the demo to the scene, in a collection of its own, and go to the frame where the arm is twisted.

    Raises
    ------
    RuntimeError
        If Blender's add-on for glTF files is switched off.
    """
    mesh, armature = _import(Path(library.load().__file__).parent / "demo" / "data" / "woman.glb")
    collection = bpy.data.collections.new(_NAME)
    context.scene.collection.children.link(collection)
    characters = [(mesh, armature), *(_copy(mesh, armature) for _ in _TITLES[1:])]
    for number, ((body, rig), title) in enumerate(zip(characters, _TITLES, strict=True)):
        for item in (body, rig):
            for other in item.users_collection:
                other.objects.unlink(item)
            collection.objects.link(item)
        rig.location = ((number - 0.5 * (len(_TITLES) - 1)) * _DISTANCE, 0.0, 0.0)
        rig.scale = (_SCALE, _SCALE, _SCALE)
        rig.hide_set(True)
        _twist(rig)
        body.name = f"Woman, {title}"
        collection.objects.link(_label(title, rig.matrix_basis @ _top(body)))
    linear, spherical, spread = (body for body, _ in characters)
    scene = context.scene
    scene.frame_start, scene.frame_end = _FRAMES[0], _FRAMES[-1]
    for body, rig in characters[1:]:
        settings_of(rig).spread_twist = body == spread
        bind.bind(context, body, rig)
    scene.frame_set(_FRAMES[1])
    context.view_layer.objects.active = spread
    for item in context.view_layer.objects:
        item.select_set(item in (linear, spherical, spread))
    return Demo(linear, spherical, spread, tuple(rig for _, rig in characters))


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
    for bone in armature.pose.bones:
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


def _twist(armature: bpy.types.Object) -> None:
    """Set keys that turn the forearm about its axis, and back."""
    armature.animation_data_clear()
    pose_bone = armature.pose.bones[_BONE]
    bone = pose_bone.bone
    along = bone.children[0].head_local - bone.head_local
    axis = bone.matrix_local.to_3x3().inverted() @ along
    pose_bone.rotation_mode = "QUATERNION"
    for frame, degrees in zip(_FRAMES, (0.0, _DEGREES, 0.0), strict=True):
        pose_bone.rotation_quaternion = Quaternion(axis, math.radians(degrees))
        pose_bone.keyframe_insert("rotation_quaternion", frame=frame)


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


class SBS_OT_demo(bpy.types.Operator):
    bl_idname = "sbs.demo"
    bl_label = "Spherical Blend Skinning Demo"
    bl_description = (
        "Add a character three times, her arm twisted: by linear and by spherical blend skinning, and with the twist "
        "spread along her forearm"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if problem := library.problem():
            cls.poll_message_set(problem)
            return False
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> Result:
        try:
            demo = build(context)
        except RuntimeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Added {len(mesh_of(demo.linear).vertices)} vertices three times; play the animation")
        return {"FINISHED"}


CLASSES = (SBS_OT_demo,)


def _draw_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator("sbs.demo", icon="ARMATURE_DATA")


def register() -> None:
    bpy.types.VIEW3D_MT_mesh_add.append(_draw_menu)


def unregister() -> None:
    bpy.types.VIEW3D_MT_mesh_add.remove(_draw_menu)
