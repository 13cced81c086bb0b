# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits, however they are evaluated: none is lost, and nothing depends on earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, error
from objects import (
    ArmatureObject,
    Character,
    MeshObject,
    armature_named,
    armature_object,
    current_layer,
    current_scene,
    mesh_named,
)


def make_twins() -> tuple[MeshObject, MeshObject, ArmatureObject]:
    tube, twin, armature = rigs.make_twins()
    for item in (tube, twin):
        item.parent = armature
    current_scene().frame_set(1)
    return tube, twin, armature


def assert_alike(tube: MeshObject, twin: MeshObject) -> None:
    depsgraph = current_layer().depsgraph
    assert error(rigs.evaluated(tube, depsgraph), rigs.evaluated(twin, depsgraph)) < TOLERANCE


def paint(item: MeshObject) -> None:
    item.vertex_groups[0].add(list(range(200, 400)), 0.8, "REPLACE")


def move_vertices(item: MeshObject) -> None:
    for vertex in item.data.vertices[300:350]:
        vertex.co.x += 0.5
    item.data.update()


def move_by_arrays(item: MeshObject) -> None:
    item.data.vertices.foreach_set("co", (1.2 * rigs.positions(item.data)).ravel())
    item.data.update_tag()


def rename_group(item: MeshObject) -> None:
    first, second = item.vertex_groups[:2]
    first.name, second.name = "Other", first.name


def remove_group(item: MeshObject) -> None:
    item.vertex_groups.remove(item.vertex_groups[1])
    # Blender 3.4 evaluates nothing for it.
    item.data.update()


def bend(item: MeshObject) -> None:
    bone = armature_object(item.parent).data.bones["B1"]
    bone.bbone_segments = 4


def stop_deforming(item: MeshObject) -> None:
    armature_object(item.parent).data.bones["B2"].use_deform = False


def add_modifier(item: MeshObject) -> None:
    modifier = item.modifiers.new("Deform", "SIMPLE_DEFORM")
    modifier.angle = 1.0
    with bpy.context.temp_override(object=item, active_object=item):
        bpy.ops.object.modifier_move_to_index(modifier=modifier.name, index=0)


def add_shape(item: MeshObject) -> None:
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="Wide")
    for number in range(300, 350):
        key.data[number].co.y *= 2.0
    key.value = 1.0


def switch_mesh(item: MeshObject) -> None:
    item.data = item.data.copy()
    move_vertices(item)


def hide_and_paint(item: MeshObject) -> None:
    item.hide_viewport = True
    current_layer().update()
    paint(item)
    current_layer().update()
    item.hide_viewport = False


EDITS = [paint, move_vertices, move_by_arrays, rename_group, remove_group, bend, stop_deforming, add_modifier]


@pytest.mark.parametrize("edit", [*EDITS, add_shape, switch_mesh, hide_and_paint])
@pytest.mark.parametrize("is_evaluated_by", ["a frame", "an update"])
def test_edit(edit: Callable[[MeshObject], None], is_evaluated_by: str) -> None:
    tube, twin, _ = make_twins()
    scene = current_scene()
    scene.frame_set(7)
    before = rigs.evaluated(twin, current_layer().depsgraph)
    edit(tube)
    edit(twin)
    if is_evaluated_by == "a frame":
        scene.frame_set(8)
        assert_alike(tube, twin)
        scene.frame_set(7)
    else:
        current_layer().update()
    assert_alike(tube, twin)
    assert error(rigs.evaluated(twin, current_layer().depsgraph), before) > 0.01


def test_edits_with_animated_shape_keys() -> None:
    tube, twin, _ = make_twins()
    scene = current_scene()
    for item in (tube, twin):
        add_shape(item)
        key = item.data.shape_keys.key_blocks["Wide"]
        key.keyframe_insert("value", frame=1)
        key.value = 0.0
        key.keyframe_insert("value", frame=20)
    for frame, edit in enumerate([paint, rename_group, bend, stop_deforming], 5):
        edit(tube)
        edit(twin)
        scene.frame_set(frame)
        assert_alike(tube, twin)
    for item in (tube, twin):
        item.data.shape_keys.key_blocks["Wide"].data[100].co.x += 1.0
    scene.frame_set(10)
    assert_alike(tube, twin)


def test_undo_before_a_frame() -> None:
    twins = make_twins()[:2]
    bpy.ops.ed.undo_push(message="Before")
    for item in twins:
        paint(item)
    current_layer().update()
    bpy.ops.ed.undo_push(message="Painted")
    bpy.ops.ed.undo()
    current_scene().frame_set(8)
    assert_alike(mesh_named("Tube"), mesh_named("Twin"))


@contextmanager
def script(name: str, function: Callable[..., None]) -> Iterator[None]:
    """A function that Blender calls, as scripts have it."""
    handlers = getattr(bpy.app.handlers, name)
    handlers.append(function)
    try:
        yield
    finally:
        handlers.remove(function)


@pytest.mark.parametrize("name", ["frame_change_pre", "frame_change_post"])
def test_scripts_that_edit_in_each_frame(name: str) -> None:
    tube, twin, armature = make_twins()

    def edit(scene: bpy.types.Scene, *_arguments: object) -> None:
        weight = 0.5 + 0.4 * np.sin(scene.frame_current)
        for item in (tube, twin):
            item.vertex_groups[1].add(list(range(200, 300)), float(weight), "REPLACE")
        armature.pose.bones["B1"].scale = (1.0 + 0.1 * scene.frame_current, 1.0, 1.0)

    with script(name, edit):
        for frame in (5, 6, 9, 2):
            current_scene().frame_set(frame)
            assert_alike(tube, twin)


def test_script_that_poses_after_each_update() -> None:
    tube, twin, armature = make_twins()
    armature.animation_data_clear()

    def pose(*_arguments: object) -> None:
        wanted = 1.0 + armature.location.x
        if armature.pose.bones["B1"].scale.x != wanted:
            armature.pose.bones["B1"].scale.x = wanted

    with script("depsgraph_update_post", pose):
        for place in (0.5, 0.25, 1.0):
            armature.location.x = place
            current_layer().update()
            assert_alike(tube, twin)


def test_handlers_stay_in_order() -> None:
    _, _, armature = make_twins()
    calls = []
    functions = [lambda *_arguments, name=name: calls.append(name) for name in "abc"]
    lists: list[Any] = [bpy.app.handlers.frame_change_post, bpy.app.handlers.depsgraph_update_post]
    for handlers in lists:
        handlers.extend(functions)
    try:
        for frame in (3, 4):
            current_scene().frame_set(frame)
            assert calls == ["a", "b", "c"]
            calls.clear()
        armature.location.x = 1.0
        current_layer().update()
        assert calls == ["a", "b", "c"]
    finally:
        for handlers in lists:
            for function in functions:
                handlers.remove(function)


def test_hidden_rig_is_posed_at_once() -> None:
    tube, twin, armature = make_twins()
    for item in (tube, twin):
        item.parent = None
    current_layer().update()
    armature.hide_viewport = True
    current_scene().frame_set(9)
    assert_alike(tube, twin)


# A share of the size of the mesh: places in armature space are computed anew in each frame, in single precision.
SAME = 1e-6


def character() -> Character:
    """The tube and its rig, not evaluated."""
    return mesh_named("Tube"), armature_named("Rig")


@pytest.fixture
def bound_tube() -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rigs.bind(tube, armature, center="OPTIMIZED")
    rigs.turn(armature)
    current_layer().update()


def add_wide_shape() -> None:
    rigs.add_shape(mesh_named("Tube"), (1.3, 0.8, 1.1))


def scaled() -> None:
    """Rotation centers are of the mesh, wherever it is."""
    tube, armature = character()
    tube.vertex_groups["B1"].add(list(range(100, 300, 3)), 0.9, "REPLACE")
    tube.data.update()
    current_layer().update()
    tube.scale = (1.0, 1.6, 0.7)
    armature.scale = (0.6, 1.4, 1.1)


def scaled_with_limbs() -> None:
    """Where vertices are along limbs depends on where the mesh is in armature space."""
    tube, _ = character()
    tube.sbs.spread_twist = True
    current_layer().update()
    tube.location.z = 0.5


def painted_unread() -> None:
    """The first shape key makes the modifier keep its input, which cannot be read in the same evaluation."""
    tube, _ = character()
    tube.vertex_groups["B1"].add(list(range(100, 300)), 0.9, "REPLACE")
    add_wide_shape()


def without_some_faces() -> None:
    tube, _ = character()
    with rigs.editing(tube):
        bpy.ops.mesh.select_all(action="DESELECT")
    for face in tube.data.polygons[:200]:
        face.select = True
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.delete(type="ONLY_FACE")
    bpy.ops.object.mode_set(mode="OBJECT")


def moved_below_shapes() -> None:
    """Shape keys say where vertices are; where they are along a limb that is chosen later, they do not."""
    tube, armature = character()
    tube.sbs.spread_twist = True
    for bone in armature.pose.bones:
        bone.sbs_twist = False
    add_wide_shape()
    current_layer().update()
    tube.data.vertices.foreach_set("co", (rigs.positions(tube.data) * (1.0, 1.0, 1.2)).astype(np.float32).ravel())
    tube.data.update()
    current_layer().update()
    armature.pose.bones["B1"].sbs_twist = True


def is_same() -> None:
    """Bind again, and compare."""
    current_layer().update()
    tube, _ = character()
    before = rigs.evaluated(tube)
    rigs.select([tube])
    assert addon.ops.rebind() == {"FINISHED"}
    assert error(rigs.evaluated(tube), before) < SAME


@pytest.mark.usefixtures("bound_tube")
@pytest.mark.parametrize("change", [scaled, scaled_with_limbs, painted_unread, without_some_faces, moved_below_shapes])
def test_after(change: Callable[[], None]) -> None:
    change()
    is_same()


@pytest.mark.usefixtures("bound_tube")
def test_after_a_file_was_loaded(tmp_path: Path) -> None:
    """Weights changed before the first evaluation of a file change the centers that it keeps."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    tube, _ = character()
    tube.vertex_groups["B1"].add(list(range(100, 300)), 0.9, "REPLACE")
    tube.data.update()
    is_same()


def shape_in_frames() -> None:
    add_wide_shape()
    key = mesh_named("Tube").data.shape_keys.key_blocks["Wide"]
    for frame, value in ((1, 0.0), (20, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)


def modifier_in_frames() -> None:
    tube, _ = character()
    modifier = tube.modifiers.new("Before", "CAST")
    rigs.put_first(tube, modifier)
    for frame, factor in ((1, 0.0), (20, 0.8)):
        modifier.factor = factor
        modifier.keyframe_insert("factor", frame=frame)


@pytest.mark.usefixtures("bound_tube")
@pytest.mark.parametrize("animate", [shape_in_frames, modifier_in_frames])
def test_in_frames(animate: Callable[[], None]) -> None:
    """Places of vertices along a bone that bends depend on their input; rotation centers do not."""
    _, armature = character()
    armature.data.bones["B1"].bbone_segments = 4
    animate()
    for frame in (5, 15):
        current_scene().frame_set(frame)
        is_same()
