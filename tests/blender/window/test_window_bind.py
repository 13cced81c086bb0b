# SPDX-License-Identifier: GPL-3.0-or-later
"""How an artist binds: by menus, by the panel and by Ctrl-P, one mesh and several."""

from __future__ import annotations

import numpy as np
import scenes
from session import Session, changed

BOUND_COUNT = (
    "sum(modifier.type == 'NODES' for item in bpy.data.objects if item.name.startswith('Part')"
    " for modifier in item.modifiers)"
)


def test_bind_by_the_menu(character: Session) -> None:
    blender = character
    view = blender.region("WINDOW")
    before = blender.settled("unbound", view)
    assert before.std() > 10, "blank"
    shape = scenes.shape(blender)

    scenes.open_menu(blender)
    blender.click(scenes.SPHERICAL_BLEND_SKINNING)
    scenes.pause()
    blender.screenshot("menu")
    blender.click(scenes.WITH_VERTEX_GROUPS)
    blender.wait_for(scenes.IS_BOUND)
    assert blender.get("bpy.data.objects['Tube'].parent.name") == "Rig"
    scenes.assert_right(blender)
    assert abs(scenes.shape(blender) - shape) > 0.1
    blender.move(scenes.EMPTY)
    assert changed(before, blender.settled("bound", view)) > 0.01

    blender.key("ctrl+z")
    blender.wait_for(f"not {scenes.IS_BOUND}")
    assert scenes.shape(blender) == shape
    blender.key("ctrl+shift+z")
    blender.wait_for(scenes.IS_BOUND)
    scenes.assert_right(blender)


def test_bind_with_weights_by_ctrl_p(blender: Session) -> None:
    """Where there are no vertex groups, in one step; and back in one."""
    scenes.make_bare(blender)
    blender.key("ctrl+p")
    scenes.pause()
    blender.screenshot("ctrl-p")
    blender.click(scenes.WITH_HEAT_WEIGHTS)
    blender.wait_for(scenes.IS_BOUND)
    assert blender.get("bpy.data.objects['Tube'].parent.name") == "Rig"
    np.testing.assert_allclose(np.sum(scenes.weights(blender), axis=1), 1.0, atol=1e-5)
    scenes.assert_right(blender)
    blender.key("ctrl+z")
    blender.wait_for(f"not {scenes.IS_BOUND}")
    assert not blender.get("len(bpy.data.objects['Tube'].vertex_groups)")


def test_ctrl_p_is_blenders_own_elsewhere(character: Session) -> None:
    """With an active mesh the key opens what it did before."""
    blender = character
    blender.run("import rigs\nrigs.select([bpy.data.objects['Tube'], bpy.data.objects['Rig']])")
    before = blender.settled("no menu")
    blender.key("ctrl+p")
    scenes.pause()
    assert changed(before, blender.screenshot("ctrl-p elsewhere")) > 0.01
    # Object, its first entry.
    blender.key("Return")
    blender.wait_for("bpy.data.objects['Rig'].parent == bpy.data.objects['Tube']")


def test_while_posing(blender: Session) -> None:
    """In Pose Mode the panel is about the rig: its meshes are bound at once, and have one method."""
    scenes.make_knight(blender)
    sidebar = scenes.open_tab(blender)
    blender.run("import rigs\nrigs.select([bpy.data.objects['Rig']])")
    blender.move(scenes.EMPTY)
    blender.key("ctrl+Tab")
    blender.wait_for("bpy.context.mode == 'POSE'")
    blender.settled("posing", sidebar)
    blender.click(blender.find_button("bpy.ops.sbs.bind", sidebar))
    blender.wait_for(f"{BOUND_COUNT} == 6")
    blender.move(scenes.EMPTY)
    blender.settled("posing, bound", sidebar)

    centers = "{bpy.data.objects[f'Part{number}'].sbs.center for number in range(6)}"
    assert blender.get(f"list({centers})") == ["OPTIMIZED"]
    left, top, right, _ = sidebar
    blender.click(blender.find_button("sbs.preset", (left, top, right, top + 330)))
    blender.wait_for(f"{centers} != {{'OPTIMIZED'}}")
    assert len(blender.get(f"list({centers})")) == 1
    scenes.pose_mode(blender, "B1")
    before = blender.settled("posing, before a turn", blender.region("WINDOW"))
    blender.move(blender.project((0.0, 0.0, 2.0)))
    blender.key("r", "6", "0", "Return")
    blender.move(scenes.EMPTY)
    assert changed(before, blender.settled("posing, turned", blender.region("WINDOW"))) > 0.01
