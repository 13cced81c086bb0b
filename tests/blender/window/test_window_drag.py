# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging in the view: capsules, zones, muscles and vertices."""

from __future__ import annotations

import numpy as np
import scenes
from session import Session, changed, wait_until


def test_drag_a_capsule(character: Session) -> None:
    """The handle of the outer capsule; weights, and with them the mesh, follow while it is held."""
    blender = character
    scenes.bind(blender)
    view = blender.region("WINDOW")
    scenes.pose_mode(blender, "B1")
    blender.run("bpy.data.objects['Rig'].data.sbs.show_capsules = False")
    plain = blender.settled("capsules hidden", view)
    blender.run(
        "armature = bpy.data.objects['Rig'].data\n"
        "armature.sbs.show_capsules = armature.sbs.live = True\n"
        "assert bpy.ops.sbs.assign_from_capsules.poll()\n"
        "bpy.ops.sbs.assign_from_capsules()\n"
        "bpy.ops.ed.undo_push(message='Live')\n"
    )
    shown = blender.settled("capsules", view)
    assert changed(plain, shown) > 0.005
    distance = "bpy.data.objects['Rig'].data.bones['B1'].envelope_distance"
    before, weights_before = blender.get(distance), np.array(scenes.weights(blender))
    scenes.assert_right(blender)

    start, end = scenes.handle_of(blender)
    with blender.dragging([start, end]):
        wait_until(lambda: not np.array_equal(scenes.weights(blender), weights_before), "weights follow")
        scenes.assert_right(blender)
        assert changed(shown, blender.settled("capsule dragged", view)) > 0.005
    assert blender.get(distance) > before + 0.05
    blender.move(scenes.EMPTY)
    blender.key("ctrl+z")
    blender.wait_for(f"abs({distance} - {before}) < 1e-6")
    wait_until(lambda: np.array_equal(scenes.weights(blender), weights_before), "undo")
    scenes.assert_right(blender)


def test_drag_a_zone(character: Session) -> None:
    """The handles of where bones blending begins and ends; the mesh follows, and each drag is one step of undo."""
    blender = character
    scenes.bind(blender)
    view = blender.region("WINDOW")
    scenes.pose_mode(blender, "B2")
    blender.run(
        "bpy.data.objects['Rig'].data.sbs.show_capsules = False\n"
        "bpy.data.objects['Tube'].sbs.method = 'BONES_BLENDING'\n"
        "bpy.ops.ed.undo_push(message='Bones')\n"
    )
    plain = blender.settled("zones hidden", view)
    blender.run("bpy.data.objects['Rig'].data.sbs.show_zones = True\nbpy.ops.ed.undo_push(message='Zones')")
    shown = blender.settled("zones", view)
    assert changed(plain, shown) > 0.001
    zone = "(lambda bone: [bone.own_zone, bone.t_min, bone.t_max])(bpy.data.objects['Rig'].data.bones['B2'].sbs)"
    before, shape = blender.get(zone), scenes.shape(blender)
    assert not before[0]

    (start, further_start), (end, further_end) = scenes.zone_handles(blender, -0.25)
    with blender.dragging([end, further_end]):
        blender.wait_for(f"{zone}[2] < 0.4")
        assert scenes.shape(blender) != shape
        assert changed(shown, blender.settled("zone dragged", view)) > 0.001
    own, t_min, t_max = blender.get(zone)
    assert own
    assert abs(t_min + 0.5) < 1e-4, "the other end stays where the limb has it"
    assert abs(t_max - 0.25) < 0.05
    end_dragged = scenes.shape(blender)
    blender.move(scenes.EMPTY)
    blender.settled()

    blender.drag([start, further_start])
    blender.wait_for(f"abs({zone}[1] + 0.25) < 0.05")
    assert scenes.shape(blender) != end_dragged
    blender.move(scenes.EMPTY)
    blender.settled()
    blender.key("ctrl+z")
    blender.wait_for(f"abs({zone}[1] + 0.5) < 1e-4 and abs({zone}[2] - {t_max}) < 1e-6")
    wait_until(lambda: scenes.shape(blender) == end_dragged, "undo of the second drag")
    blender.key("ctrl+z")
    blender.wait_for(f"{zone} == {before}")
    wait_until(lambda: scenes.shape(blender) == shape, "undo of the first drag")


def test_drag_a_vertex(character: Session) -> None:
    """By the Pose menu: the vertex under the pointer follows it, Esc restores, and each drag is one step of undo."""
    blender = character
    scenes.bind(blender, "WEIGHTED")
    scenes.bend(blender)
    scenes.pose_mode(blender, "B2")
    blender.run("area.spaces.active.show_region_ui = False\nbpy.data.armatures[0].sbs.show_capsules = False")
    before, vertex, start, goal = scenes.to_be_dragged(blender)
    plain = blender.settled()
    scenes.start_drag(blender)
    blender.move(start)
    box = (start[0] - 60, start[1] - 60, start[0] + 60, start[1] + 60)
    left, top, right, bottom = box
    at_vertex = plain[top:bottom, left:right]
    wait_until(lambda: changed(at_vertex, blender.screenshot("drag-hover", box)) > 1e-3, "the vertex is shown")

    with blender.dragging([start, goal]):
        blender.screenshot("drag-vertex")
        wait_until(lambda: scenes.weights(blender) != before)
        blender.key("Escape")
        wait_until(lambda: scenes.weights(blender) == before)

    blender.drag([start, goal])
    wait_until(lambda: scenes.weights(blender) != before)
    shown = blender.run(
        "import rigs\n"
        "tube = bpy.data.objects['Tube']\n"
        "result = list(tube.matrix_world @ __import__('mathutils').Vector(rigs.evaluated(tube)[vertex].tolist()))",
        vertex=vertex,
    )
    assert np.linalg.norm(np.subtract(blender.project(shown), goal)) < 4, "the vertex is not where it was dragged"
    after = scenes.weights(blender)
    blender.key("Return")
    blender.key("ctrl+z")
    wait_until(lambda: scenes.weights(blender) == before)
    blender.key("ctrl+shift+z")
    wait_until(lambda: scenes.weights(blender) == after)
