# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects by the kind of their data, with the add-on's properties, and the scene and layer that there always are.

Tests also run against built archives of the add-on, whose modules have other names. So these are classes for type
checkers alone; as tests run, they are Blender's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy

if TYPE_CHECKING:
    from spherical_blend_skinning.capsules.settings import SBS_PG_capsules
    from spherical_blend_skinning.settings.limbs import SBS_PG_pose_bone
    from spherical_blend_skinning.settings.properties import SBS_PG_bone, SBS_PG_object

    class Object(bpy.types.Object):
        sbs: SBS_PG_object
        # Of eighty types, each with settings of its own.
        modifiers: Any
        driver_add: Callable[..., Any]
        shape_key_add: Callable[..., Any]

    class Mesh(bpy.types.Mesh):
        # None until there are some; of their points the types know nothing, nor of drivers that are there.
        shape_keys: Any
        animation_data: Any

    class MeshObject(Object):
        data: Mesh

    class Bone(bpy.types.Bone):
        sbs: SBS_PG_bone

    class PoseBone(bpy.types.PoseBone):
        sbs: SBS_PG_pose_bone
        sbs_amount: float
        sbs_twist: bool
        bone: Bone

    class Pose(bpy.types.Pose):
        bones: bpy.types.bpy_prop_collection[PoseBone]  # type: ignore[assignment]  # the same, with our properties

    class Bones(bpy.types.bpy_prop_collection[Bone]):
        active: Bone | None

    class Armature(bpy.types.Armature):
        sbs: SBS_PG_capsules
        bones: Bones  # type: ignore[assignment]  # the same, with our properties

    class ArmatureObject(Object):
        data: Armature
        pose: Pose
else:
    Object = MeshObject = ArmatureObject = bpy.types.Object
    PoseBone = bpy.types.PoseBone

Character = tuple[MeshObject, ArmatureObject]
#: A rig and the meshes that it moves.
Family = tuple[ArmatureObject, list[MeshObject]]


def mesh_object(item: bpy.types.Object | None) -> MeshObject:
    assert item is not None and isinstance(item.data, bpy.types.Mesh)
    return cast("MeshObject", item)


def new_mesh(name: str) -> Mesh:
    return cast("Mesh", bpy.data.meshes.new(name))


def mesh_objects(items: Iterable[bpy.types.Object]) -> list[MeshObject]:
    return [mesh_object(item) for item in items if item.type == "MESH"]


def character_of(items: Iterable[bpy.types.Object]) -> Character:
    """The first mesh and the first armature among objects."""
    found = list(items)
    return mesh_objects(found)[0], armature_object(next(item for item in found if item.type == "ARMATURE"))


def mesh_named(name: str) -> MeshObject:
    return mesh_object(bpy.data.objects[name])


def armature_object(item: bpy.types.Object | None) -> ArmatureObject:
    assert item is not None and isinstance(item.data, bpy.types.Armature)
    return cast("ArmatureObject", item)


def armature_named(name: str) -> ArmatureObject:
    return armature_object(bpy.data.objects[name])


def library(path: Path | str, **options: bool) -> AbstractContextManager[tuple[Any, Any]]:
    """The names in another file, and names to load: as ``bpy.data.libraries.load``, which the types get wrong."""
    load: Any = bpy.data.libraries.load
    return cast("AbstractContextManager[tuple[Any, Any]]", load(str(path), **options))


def active_object() -> bpy.types.Object:
    assert bpy.context.object is not None
    return bpy.context.object


def current_scene() -> bpy.types.Scene:
    assert bpy.context.scene is not None
    return bpy.context.scene


def current_layer() -> bpy.types.ViewLayer:
    assert bpy.context.view_layer is not None
    return bpy.context.view_layer
