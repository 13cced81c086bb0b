# SPDX-License-Identifier: GPL-3.0-or-later
"""Correctives go on working: in animations, through constraints, undone, made portable, linked and exported."""

from __future__ import annotations

from typing import Any

import addon
import bpy
import pytest
import rigs
from expected import error, in_world
from objects import MeshObject, current_layer, current_scene, mesh_named
from test_correctives import MET, bend, left_over, sculpt, straight


def value(tube: MeshObject) -> float:
    """The value of the last shape key."""
    keys: Any = tube.data.shape_keys.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return float(keys.key_blocks[-1].value)


def test_with_all_else_on() -> None:
    tube, armature = straight()
    tube.sbs.spread_twist = True
    rigs.paint_amounts(tube)
    rigs.add_shape(tube, (1.2, 0.9, 1.0), 0.5)
    armature.data.bones["B1"].bbone_segments = 4
    tube.modifiers.new("Smooth", "SMOOTH").factor = 0.2
    addon.module("engine.stack.stack").move(tube, tube.modifiers["Smooth"], 0)
    bend(armature, 30.0, "B1", axis=1)
    bend(armature, 70.0)
    _, wanted = sculpt(tube, bone="B2")
    assert error(in_world(tube), wanted) < MET[True]


def test_bones_blending() -> None:
    tube, armature = straight()
    tube.sbs.method = "BONES_BLENDING"
    bend(armature, 70.0)
    _, wanted = sculpt(tube, bone="B2")
    assert error(in_world(tube), wanted) < MET[True]


def test_modifiers_behind_stay() -> None:
    tube, armature = straight()
    tube.modifiers.new("Multires", "MULTIRES")
    tube.modifiers.new("Subdivision", "SUBSURF")
    rigs.select([tube])
    bpy.ops.object.multires_subdivide(modifier="Multires")
    shown = [(each.name, each.show_viewport) for each in tube.modifiers]
    bend(armature, 70.0)
    tube.modifiers["Multires"].show_viewport = tube.modifiers["Subdivision"].show_viewport = False
    shown = [(each.name, each.show_viewport) for each in tube.modifiers]
    _, wanted = sculpt(tube, bone="B2")
    assert error(in_world(tube), wanted) < MET[False]
    assert [(each.name, each.show_viewport) for each in tube.modifiers] == shown
    assert tube.modifiers["Multires"].total_levels == 1


def test_frames_are_not_late() -> None:
    tube, armature = straight()
    bend(armature, 80.0)
    sculpt(tube, bone="B2")
    rigs.animate(armature)
    for frame in (3, 9, 20, 1):
        current_scene().frame_set(frame)
        seen = in_world(tube)
        addon.module("engine.live.states").forget()
        tube.update_tag()
        current_layer().update()
        assert error(seen, in_world(tube)) < 1e-6


def test_inverse_kinematics_drive() -> None:
    tube, armature = straight()
    bend(armature, 80.0)
    sculpt(tube, bone="B2")
    tip = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["B3"].tail.copy()
    bend(armature, 10.0)
    goal = bpy.data.objects.new("Goal", None)
    current_scene().collection.objects.link(goal)
    goal.location = tip
    constraint: Any = armature.pose.bones["B3"].constraints.new("IK")
    constraint.target, constraint.chain_count = goal, 2
    current_layer().update()
    assert value(tube) > 0.5, "the constraint alone bends the bone"


def test_solving_again_needs_the_goal_of_the_pose() -> None:
    tube, armature = straight()
    goal = bpy.data.objects.new("Goal", None)
    current_scene().collection.objects.link(goal)
    goal.location = there = (0.6, 0.9, 1.2)
    constraint: Any = armature.pose.bones["B3"].constraints.new("IK")
    constraint.target, constraint.chain_count = goal, 2
    bend(armature, 30.0)
    _, wanted = sculpt(tube, bone="B2")
    goal.location = (0.0, 0.0, 10.0)
    current_layer().update()
    with pytest.raises(RuntimeError, match="bring the goals of its constraints back"):
        addon.ops.solve_correctives()
    goal.location = there
    current_layer().update()
    assert error(in_world(tube), wanted) < MET[False], "the shape is as it was"
    assert addon.ops.solve_correctives() == {"FINISHED"}
    assert error(in_world(tube), wanted) < MET[False]


def test_solving_needs_shape_keys_that_blend() -> None:
    tube, armature = straight()
    bend(armature, 80.0)
    _, wanted = sculpt(tube, bone="B2")
    tube.show_only_shape_key = True
    tube.active_shape_key_index = 0
    with pytest.raises(RuntimeError, match="does not blend its shape keys"):
        addon.ops.solve_correctives()
    tube.show_only_shape_key = False
    current_layer().update()
    assert error(in_world(tube), wanted) < MET[False]


def test_undone_step_by_step() -> None:
    tube, armature = straight()
    bend(armature, 80.0)
    rigs.select([tube])
    bpy.ops.ed.undo_push(message="Bent")
    assert addon.ops.sculpt_corrective() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Sculpt Corrective")
    surface: Any = bpy.context.object
    bpy.ops.object.mode_set(mode="OBJECT")
    surface.data.vertices[300].co.x += 0.1
    assert addon.ops.accept_corrective(bone="B2") == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Accept")
    wanted = in_world(tube)
    bpy.ops.ed.undo()
    assert len(left_over()) == 1 and mesh_named("Tube").data.shape_keys is None
    bpy.ops.ed.undo()
    assert not left_over() and not mesh_named("Tube").hide_get()
    bpy.ops.ed.redo()
    bpy.ops.ed.redo()
    current_layer().update()
    tube = mesh_named("Tube")
    assert not left_over() and value(tube) == pytest.approx(1.0, abs=1e-5)
    assert error(in_world(tube), wanted) < 1e-6


@pytest.mark.blender(since=(5, 1))
def test_portable() -> None:
    tube, armature = straight()
    bend(armature, 80.0)
    _, wanted = sculpt(tube, bone="B2")
    rigs.select([tube])
    assert addon.ops.make_portable() == {"FINISHED"}
    bend(armature, 10.0)
    bend(armature, 80.0)
    assert error(in_world(tube), wanted) < 1e-5
    assert addon.ops.make_live() == {"FINISHED"}
    current_layer().update()
    assert error(in_world(tube), wanted) < 1e-5


def test_cancelling_leaves_no_shape_keys() -> None:
    tube, armature = straight()
    bend(armature, 80.0)
    sculpt(tube, bone="B2")
    bend(armature, 40.0)
    rigs.select([tube])
    assert addon.ops.sculpt_corrective() == {"FINISHED"}
    assert addon.ops.cancel_corrective() == {"FINISHED"}
    assert [keys.user for keys in bpy.data.shape_keys] == [tube.data]
