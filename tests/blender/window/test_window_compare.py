# SPDX-License-Identifier: GPL-3.0-or-later
"""The view, compared with linear blending."""

from __future__ import annotations

import scenes
from session import Session, changed

# Two pictures of the same: but for digits in the sidebar over the view, which tells the time of a frame.
SAME = 5e-4


def test_hold_a_key_to_compare(character: Session) -> None:
    """Linear blending as long as the key is down, in Object and in Pose Mode; another key ends it, too."""
    blender = character
    scenes.bind(blender)
    view = blender.region("WINDOW")
    is_linear = (
        "(lambda e, r: e.error(r.evaluated(bpy.data.objects['Tube']), e.deformed("
        "bpy.data.objects['Tube'], bpy.data.objects['Rig'], method='linear')) < e.TOLERANCE)"
        "(__import__('expected'), __import__('rigs'))"
    )
    for mode in ("OBJECT", "POSE"):
        if mode == "POSE":
            scenes.pose_mode(blender, "B1")
        blender.move(scenes.EMPTY)
        before = blender.settled(f"compare {mode}", view)
        with blender.holding("j"):
            blender.wait_for(is_linear)
            assert changed(before, blender.settled(f"compare {mode} linear", view)) > 0.001
        blender.wait_for(f"not {is_linear}")
        scenes.assert_right(blender)
        assert changed(before, blender.settled(f"compare {mode} after", view)) < SAME
    with blender.holding("j"):
        blender.wait_for(is_linear)
        blender.key("Escape")
        blender.wait_for(f"not {is_linear}")
    scenes.assert_right(blender)


def test_difference_is_drawn(character: Session) -> None:
    """The heat map and the ghost; the mesh stays as it is, without an attribute more."""
    blender = character
    scenes.bind(blender)
    view = blender.region("WINDOW")
    attributes = "sorted(bpy.data.objects['Tube'].data.attributes.keys())"
    before, there = blender.settled("difference off", view), blender.get(attributes)
    for shown, least in (("HEAT_MAP", 0.02), ("GHOST", 0.01)):
        blender.run("bpy.context.window_manager.sbs_comparison.shown = shown", shown=shown)
        picture = blender.settled(f"difference {shown}", view)
        assert changed(before, picture) > least
        blender.run(
            "bpy.data.objects['Rig'].pose.bones['B2'].rotation_quaternion = (0.7, 0, 0.7, 0)\n"
            "bpy.context.view_layer.update()"
        )
        assert changed(picture, blender.settled(f"difference {shown} of another pose", view)) > 0.005
        blender.run("import rigs\nrigs.turn(bpy.data.objects['Rig'], angle=0.8)\nbpy.context.view_layer.update()")
        assert changed(picture, blender.settled("difference again", view)) < SAME
    blender.run("bpy.context.window_manager.sbs_comparison.shown = 'NONE'")
    assert changed(before, blender.settled("difference off again", view)) < SAME
    assert blender.get(attributes) == there
