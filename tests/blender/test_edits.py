# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits that a change of frame or a script's handler has evaluated: none is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, error
from objects import ArmatureObject, MeshObject, armature_object, current_layer, current_scene, mesh_named


def make_twins() -> tuple[MeshObject, MeshObject, ArmatureObject]:
    """A bound tube that is blended linearly, one with an Armature modifier, and their animated armature."""
    armature = rigs.make_armature()
    tube, twin = rigs.make_tube(), rigs.make_tube(name="Twin")
    for item in (tube, twin):
        item.parent = armature
    rigs.bind(tube, armature)
    tube.sbs.method = "LINEAR"
    twin.modifiers.new("Armature", "ARMATURE").object = armature
    rigs.animate(armature)
    current_scene().frame_set(1)
    return tube, twin, armature


def assert_alike(tube: MeshObject, twin: MeshObject) -> None:
    """Compare evaluated meshes, without evaluating anew."""
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


EDITS = [
    paint,
    move_vertices,
    move_by_arrays,
    rename_group,
    remove_group,
    bend,
    stop_deforming,
    add_modifier,
    add_shape,
    switch_mesh,
    hide_and_paint,
]


@pytest.mark.parametrize("edit", EDITS)
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
    tube, twin, _ = make_twins()
    scene = current_scene()
    bpy.ops.ed.undo_push(message="Before")
    paint(tube)
    paint(twin)
    current_layer().update()
    bpy.ops.ed.undo_push(message="Painted")
    bpy.ops.ed.undo()
    scene = current_scene()
    scene.frame_set(8)
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
