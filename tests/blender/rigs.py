# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters for the tests, made in code: a tube about a chain of bones along z."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
from mathutils import Quaternion
from numpy.typing import NDArray
from objects import (
    ArmatureObject,
    Character,
    MeshObject,
    armature_named,
    armature_object,
    character_of,
    current_layer,
    current_scene,
    library,
    mesh_named,
    mesh_object,
)

RING = 16
LENGTH = 4.0


def make_armature(bones: int = 4, name: str = "Rig") -> ArmatureObject:
    """An armature of connected bones named B0, B1, ... that is active."""
    data = bpy.data.armatures.new(name)
    item = armature_object(bpy.data.objects.new(name, data))
    current_scene().collection.objects.link(item)
    previous = None
    step = LENGTH / bones
    with editing(item):
        for number in range(bones):
            bone = data.edit_bones.new(f"B{number}")
            bone.head = (0.0, 0.0, number * step)
            bone.tail = (0.0, 0.0, (number + 1) * step)
            bone.parent = previous
            bone.use_connect = previous is not None
            previous = bone
    for pose_bone in item.pose.bones:
        pose_bone.rotation_mode = "QUATERNION"
    return item


def make_tube(bones: int = 4, rows: int = 41, name: str = "Tube") -> MeshObject:
    """A tube with vertex groups B0, B1, ..., three of which or fewer have weight at a vertex."""
    angles = np.linspace(0.0, 2.0 * math.pi, RING, endpoint=False)
    heights = np.linspace(0.0, LENGTH, rows)
    points = np.array([(0.5 * math.cos(a), 0.4 * math.sin(a), z) for z in heights for a in angles])
    faces = [
        (row * RING + i, row * RING + (i + 1) % RING, (row + 1) * RING + (i + 1) % RING, (row + 1) * RING + i)
        for row in range(rows - 1)
        for i in range(RING)
    ]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces)
    item = mesh_object(bpy.data.objects.new(name, mesh))
    current_scene().collection.objects.link(item)
    step = LENGTH / bones
    for bone in range(bones):
        group = item.vertex_groups.new(name=f"B{bone}")
        center = (bone + 0.5) * step
        for row, height in enumerate(heights):
            weight = max(0.0, 1.0 - (abs(height - center) / (1.4 * step)) ** 2)
            if weight > 0.0:
                group.add(list(range(row * RING, (row + 1) * RING)), weight, "REPLACE")
    return item


def select(items: Sequence[bpy.types.Object]) -> None:
    for other in current_layer().objects:
        other.select_set(other in items)
    current_layer().objects.active = items[0]


@contextmanager
def editing(item: bpy.types.Object) -> Iterator[None]:
    """An object in Edit Mode, selected alone."""
    select([item])
    bpy.ops.object.mode_set(mode="EDIT")
    yield
    bpy.ops.object.mode_set(mode="OBJECT")


def select_bones(armature: ArmatureObject, *names: str) -> None:
    """Select bones and no others. Blender 5.0 keeps the selection with the pose, earlier ones with the armature."""
    for bone in armature.pose.bones:
        chosen: Any = bone if hasattr(bone, "select") else bone.bone
        chosen.select = bone.name in names


def turn(armature: ArmatureObject, seed: int = 1, angle: float = 1.0) -> None:
    """A pose: every bone turned about an axis of its own."""
    random = np.random.default_rng(seed)
    for bone in armature.pose.bones:
        axis = random.normal(size=3)
        bone.rotation_quaternion = Quaternion(axis.tolist(), angle * random.uniform(0.3, 1.0))


def animate(armature: ArmatureObject, frames: int = 20) -> None:
    """Poses with keys at frames 1, half and all the way."""
    for number, frame in enumerate((1, frames // 2, frames)):
        turn(armature, seed=10 + number)
        for bone in armature.pose.bones:
            bone.keyframe_insert("rotation_quaternion", frame=frame)


def make_bound(rows: int = 41, center: str = "JOINT_SET") -> Character:
    """A bound tube, and its armature at rest, which is no parent."""
    armature, tube = make_armature(), make_tube(rows=rows)
    bind(tube, armature, center)
    return tube, armature


def make_child() -> Character:
    """As `make_bound`, but the armature is the parent."""
    armature, tube = make_armature(), make_tube()
    tube.parent = armature
    bind(tube, armature)
    return tube, armature


def make_character() -> Character:
    """A bound tube and its posed armature."""
    tube, armature = make_bound()
    turn(armature)
    return tube, armature


def bind(mesh: MeshObject, armature: ArmatureObject, center: str = "JOINT_SET") -> None:
    """Bind by the operator, as an artist does, about centers that were chosen before."""
    mesh.sbs.center = center
    select([mesh, armature])
    assert addon.ops.bind() == {"FINISHED"}


def make_replaced() -> Character:
    """A bound tube that had an Armature modifier, and its posed armature."""
    armature, tube = make_armature(), make_tube()
    tube.modifiers.new("Armature", "ARMATURE").object = armature
    bind(tube, armature)
    turn(armature)
    current_layer().update()
    return tube, armature


def again(ending: str = "") -> Character:
    """The tube and its rig that there are now, or copies of them, up to date."""
    for _ in range(2):
        current_layer().update()
    return mesh_named(f"Tube{ending}"), armature_named(f"Rig{ending}")


def undo() -> Character:
    bpy.ops.ed.undo()
    return again()


def redo() -> Character:
    bpy.ops.ed.redo()
    return again()


def put_first(item: MeshObject, modifier: Any) -> None:
    addon.module("engine.stack.stack").move(item, modifier, 0)


def state_of(item: MeshObject) -> Any:
    """The state of a mesh in the live engine."""
    return addon.module("engine.live.states").state_of(item)


def make_twins() -> tuple[MeshObject, MeshObject, ArmatureObject]:
    """A bound tube that is blended linearly, one with an Armature modifier, and their animated armature."""
    tube, armature = make_bound()
    tube.sbs.method = "LINEAR"
    twin = make_tube(name="Twin")
    twin.modifiers.new("Armature", "ARMATURE").object = armature
    animate(armature)
    return tube, twin, armature


def reopen(path: Path) -> Character:
    """The tube and its rig, once the file has been saved, closed and opened."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    close()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return mesh_named("Tube"), armature_named("Rig")


def close() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=False, use_empty=True)


def save_library(path: Path) -> None:
    """Save the file with all objects in the collection Character, for other files to link, and close it."""
    scene = current_scene()
    collection = bpy.data.collections.new("Character")
    scene.collection.children.link(collection)
    for item in list(scene.objects):
        collection.objects.link(item)
        if item.name in scene.collection.objects:
            scene.collection.objects.unlink(item)
    current_layer().update()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    close()


def from_library(path: Path, *, link: bool) -> bpy.types.Collection:
    """That collection of another file, in the scene."""
    with library(path, link=link) as (_there, here):
        here.collections = ["Character"]
    collection: bpy.types.Collection = here.collections[0]
    current_scene().collection.children.link(collection)
    current_layer().update()
    return collection


def override_character(path: Path, *, fully_editable: bool = True) -> Character:
    """The tube and its rig of a library override of that collection; maybe all of it can be edited."""
    linked = from_library(path, link=True)
    linked.override_hierarchy_create(current_scene(), current_layer(), do_fully_editable=fully_editable)
    current_layer().update()
    tube, armature = overridden()
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return tube, armature


def overridden() -> Character:
    """The tube and its rig in a file with an override of them."""
    return character_of(
        item for item in bpy.data.objects if item.override_library and item.name.startswith(("Tube", "Rig"))
    )


def add_shape(item: MeshObject, scale: tuple[float, float, float], value: float = 1.0, name: str = "Wide") -> Any:
    """A shape key that scales a mesh."""
    if item.data.shape_keys is None:
        item.shape_key_add(name="Basis")
    key = item.shape_key_add(name=name)
    key.data.foreach_set("co", (positions(item.data) * scale).astype(np.float32).ravel())
    key.value = value
    return key


def paint_amounts(item: MeshObject) -> NDArray[np.float32]:
    """A vertex group with amounts from 0 to 1, which is chosen for the mesh."""
    amounts = np.linspace(0.0, 1.0, len(item.data.vertices), dtype=np.float32)
    group = item.vertex_groups.new(name="Amount")
    for vertex, amount in enumerate(amounts.tolist()):
        group.add([vertex], amount, "REPLACE")
    item.sbs.amount_group = "Amount"
    return amounts


def weights(item: MeshObject, bones: int = 4, mesh: bpy.types.Mesh | None = None) -> NDArray[np.float32]:
    """Weights (V, bones) of the groups B0, B1, ..., read one by one; the mesh is that of the object unless given."""
    vertices = (mesh or item.data).vertices
    result = np.zeros((len(vertices), bones), np.float32)
    for vertex in vertices:
        for element in vertex.groups:
            result[vertex.index, int(item.vertex_groups[element.group].name[1:])] = element.weight
    return result


def triangles(mesh: bpy.types.Mesh) -> NDArray[np.int32]:
    """The faces of a mesh cut into triangles, (T, 3)."""
    mesh.calc_loop_triangles()
    return np.array([triangle.vertices for triangle in mesh.loop_triangles], np.int32)


def evaluated(item: MeshObject, depsgraph: bpy.types.Depsgraph | None = None) -> NDArray[np.float64]:
    """The vertices of an object after all of its modifiers, (V, 3), in its own space."""
    depsgraph = depsgraph or bpy.context.evaluated_depsgraph_get()
    mesh = item.evaluated_get(depsgraph).data
    return positions(mesh)


def positions(mesh: bpy.types.Mesh) -> NDArray[np.float64]:
    """The vertices of a mesh, (V, 3)."""
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(np.float64)
