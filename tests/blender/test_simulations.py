# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulations behind the modifier, or that meet a bound mesh: in each frame as with the Armature modifier."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import renders
import rigs
from expected import error
from numpy.typing import NDArray
from objects import ArmatureObject, MeshObject, current_layer, current_scene, library, mesh_object

# Simulations amplify differences in the last bits of their input.
TOLERANCE = 1e-6
FRAMES = range(1, 12)

Added = Callable[[MeshObject], MeshObject]
Made = Callable[[ArmatureObject], MeshObject]
Shapes = list[NDArray[np.float64]]


def make_body(armature: ArmatureObject, bound: bool) -> MeshObject:
    """A tube, its lower half pinned, deformed linearly by ours or by the Armature modifier."""
    body = rigs.make_tube(rows=21, name="Ours" if bound else "Theirs")
    body.parent = armature
    group = body.vertex_groups.new(name="Pin")
    group.add(list(range(11 * rigs.RING)), 1.0, "REPLACE")
    if bound:
        body.sbs.method = "LINEAR"
        rigs.bind(body, armature)
    else:
        body.modifiers.new("Armature", "ARMATURE").object = armature
    return body


def add_cloth(body: MeshObject) -> MeshObject:
    settings = body.modifiers.new("Cloth", "CLOTH").settings
    settings.vertex_group_mass = "Pin"
    # Of a soft material: it amplifies differences the least.
    settings.tension_stiffness = settings.compression_stiffness = settings.shear_stiffness = 0.5
    settings.bending_stiffness = 0.01
    settings.air_damping = 5.0
    return body


def add_nodes(body: MeshObject) -> MeshObject:
    """A simulation zone, in which each frame adds a tenth of the way to where vertices are."""
    tree: Any = bpy.data.node_groups.new("Follow", "GeometryNodeTree")
    for in_out in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    node = {
        name: tree.nodes.new(name if name.startswith("NodeGroup") else f"GeometryNode{name}")
        for name in ("NodeGroupInput", "NodeGroupOutput", "SimulationInput", "SimulationOutput", "SetPosition")
    }
    node["SimulationInput"].pair_with_output(node["SimulationOutput"])
    mix = tree.nodes.new("ShaderNodeMix")
    mix.data_type = "VECTOR"
    mix.inputs[0].default_value = 0.1
    source = tree.nodes.new("GeometryNodeSampleIndex")
    source.data_type = "FLOAT_VECTOR"
    position, index = tree.nodes.new("GeometryNodeInputPosition"), tree.nodes.new("GeometryNodeInputIndex")
    link = tree.links.new
    link(node["NodeGroupInput"].outputs[0], node["SimulationInput"].inputs[0])
    link(node["NodeGroupInput"].outputs[0], source.inputs[0])
    link(position.outputs[0], next(socket for socket in source.inputs if socket.name == "Value" and socket.enabled))
    link(index.outputs[0], source.inputs["Index"])
    sides = [socket for socket in mix.inputs if socket.enabled and socket.name in "AB"]
    link(position.outputs[0], sides[0])
    link(next(socket for socket in source.outputs if socket.enabled), sides[1])
    link(node["SimulationInput"].outputs["Geometry"], node["SetPosition"].inputs["Geometry"])
    link(next(socket for socket in mix.outputs if socket.enabled), node["SetPosition"].inputs["Position"])
    link(node["SetPosition"].outputs[0], node["SimulationOutput"].inputs["Geometry"])
    link(node["SimulationOutput"].outputs["Geometry"], node["NodeGroupOutput"].inputs[0])
    body.modifiers.new("Nodes", "NODES").node_group = tree
    return body


def add_colliding_cloth(body: MeshObject) -> MeshObject:
    body.modifiers.new("Collision", "COLLISION")
    axis = np.linspace(-1.5, 1.5, 12)
    points = [(x, y, 4.3) for x in axis for y in axis]
    faces = [(12 * j + i, 12 * j + i + 1, 12 * j + i + 13, 12 * j + i + 12) for j in range(11) for i in range(11)]
    mesh = bpy.data.meshes.new("Sheet")
    mesh.from_pydata(points, [], faces)
    sheet = mesh_object(bpy.data.objects.new("Sheet", mesh))
    current_scene().collection.objects.link(sheet)
    sheet.modifiers.new("Cloth", "CLOTH").settings.quality = 3
    return sheet


def wear(body: MeshObject) -> MeshObject:
    worn = mesh_object(body.copy())
    worn.data = body.data.copy()
    worn.modifiers.clear()
    current_scene().collection.objects.link(worn)
    modifier = worn.modifiers.new("Surface Deform", "SURFACE_DEFORM")
    modifier.target = body
    with bpy.context.temp_override(object=worn, active_object=worn):
        bpy.ops.object.surfacedeform_bind(modifier=modifier.name)
    return worn


def add_worn_cloth(body: MeshObject) -> MeshObject:
    return add_cloth(wear(body))


def animate(armature: ArmatureObject) -> None:
    rigs.animate(armature, frames=14)
    for frame in (1, 14):
        armature.location.x = 0.05 * frame
        armature.keyframe_insert("location", frame=frame)
    armature.location.x = 0.0


def simulate(add: Added, body: Made, bake: bool = False) -> Shapes:
    bpy.ops.wm.read_homefile(use_factory_startup=False, use_empty=True)
    armature = rigs.make_armature()
    animate(armature)
    scene = current_scene()
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    scene.frame_set(FRAMES[0])
    item = add(body(armature))
    caches = [modifier.point_cache for modifier in item.modifiers if hasattr(modifier, "point_cache")]
    for cache in caches:
        cache.frame_start, cache.frame_end = FRAMES[0], FRAMES[-1]
    current_layer().update()
    if bake:
        bpy.ops.ptcache.bake_all(bake=True)
        assert caches
        assert all(cache.is_baked for cache in caches)
    found = []
    for frame in FRAMES:
        scene.frame_set(frame)
        found.append(rigs.evaluated(item, current_layer().depsgraph))
    return found


def ours(armature: ArmatureObject) -> MeshObject:
    return make_body(armature, bound=True)


def theirs(armature: ArmatureObject) -> MeshObject:
    return make_body(armature, bound=False)


def cached(path: Path) -> Made:
    """A mesh that has the shapes of ours from a file, before anything is simulated."""
    shapes = simulate(lambda body: body, ours)
    renders.write_cache(path, FRAMES, shapes)

    def make(armature: ArmatureObject) -> MeshObject:
        body = make_body(armature, bound=False)
        body.modifiers.clear()
        modifier = body.modifiers.new("Shapes", "MESH_CACHE")
        modifier.cache_format, modifier.filepath, modifier.frame_start = "PC2", str(path), FRAMES[0]
        return body

    return make


def assert_alike(found: Shapes, wanted: Shapes) -> None:
    for frame, one, other in zip(FRAMES, found, wanted, strict=True):
        assert error(one, other) < TOLERANCE, f"frame {frame}"
    assert error(wanted[-1], wanted[0]) > 0.05


@pytest.mark.parametrize("bake", [False, True])
@pytest.mark.parametrize("add", [add_cloth, add_colliding_cloth, add_worn_cloth])
def test_as_with_the_same_shapes(add: Added, bake: bool, tmp_path: Path) -> None:
    """Equal shapes simulate equally: each frame meets the shape of its own."""
    control = cached(tmp_path / "shapes.pc2")
    assert_alike(simulate(add, ours, bake), simulate(add, control, bake))


@pytest.mark.blender(since=(4, 0))
def test_simulation_zone() -> None:
    assert_alike(simulate(add_nodes, ours), simulate(add_nodes, theirs))


def test_frames_in_any_order_and_edits() -> None:
    """Back at its start, a simulation begins anew with the edits."""
    results = []
    for body in (ours, theirs):
        bpy.ops.wm.read_homefile(use_factory_startup=False, use_empty=True)
        armature = rigs.make_armature()
        animate(armature)
        scene = current_scene()
        item = add_cloth(body(armature))
        found = []
        for frame in (1, 2, 3, 9, 1):
            scene.frame_set(frame)
        item.vertex_groups[0].add(list(range(100, 200)), 0.5, "REPLACE")
        item.data.update()
        for frame in FRAMES:
            scene.frame_set(frame)
            found.append(rigs.evaluated(item, current_layer().depsgraph))
        results.append(found)
    assert_alike(*results)


def test_scripts_hear_of_each_frame_once() -> None:
    armature = rigs.make_armature()
    animate(armature)
    add_cloth(ours(armature))
    heard = []

    def hear(scene: bpy.types.Scene, *_arguments: object) -> None:
        heard.append((scene.name, scene.frame_current))

    bpy.app.handlers.frame_change_pre.append(hear)
    bpy.app.handlers.frame_change_post.append(hear)
    try:
        current_scene().frame_set(5)
    finally:
        bpy.app.handlers.frame_change_pre.remove(hear)
        bpy.app.handlers.frame_change_post.remove(hear)
    assert heard == [("Scene", 5)] * 2


def test_the_scene_of_poses_is_in_no_file(tmp_path: Path) -> None:
    armature = rigs.make_armature()
    animate(armature)
    body = add_cloth(ours(armature))
    current_scene().frame_set(2)
    current_scene().frame_set(3)
    assert len(bpy.data.scenes) == 2
    users = body.users, armature.users, len(body.users_scene)
    path = str(tmp_path / "file.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    assert len(bpy.data.scenes) == 1
    with library(path) as (source, _):
        assert list(source.scenes) == ["Scene"]
        assert not [name for name in source.objects if "Pose" in name]
    assert users[2] == 1
    current_scene().frame_set(4)
    addon.disable(wheels=False)
    assert len(bpy.data.scenes) == 1
    addon.enable(wheels=False)
    assert not [item.name for item in bpy.data.objects if item.name.startswith("SBS Pose")]
