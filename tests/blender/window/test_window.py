# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist does by mouse and keyboard, and sees."""

from __future__ import annotations

import numpy as np
import scenes
from session import Session, changed, wait_until

IS_BOUND = "any(modifier.type == 'NODES' for modifier in bpy.data.objects['Tube'].modifiers)"
BOUND_COUNT = (
    "sum(modifier.type == 'NODES' for item in bpy.data.objects if item.name.startswith('Part')"
    " for modifier in item.modifiers)"
)

# Two pictures of the same: but for digits in the sidebar over the view, which tells the time of a frame.
SAME = 5e-4


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
    blender.wait_for(IS_BOUND)
    assert blender.get("bpy.data.objects['Tube'].parent.name") == "Rig"
    scenes.assert_right(blender)
    assert abs(scenes.shape(blender) - shape) > 0.1
    blender.move(scenes.EMPTY)
    assert changed(before, blender.settled("bound", view)) > 0.01

    blender.key("ctrl+z")
    blender.wait_for(f"not {IS_BOUND}")
    assert scenes.shape(blender) == shape
    blender.key("ctrl+shift+z")
    blender.wait_for(IS_BOUND)
    scenes.assert_right(blender)


def test_bind_with_weights_by_ctrl_p(blender: Session) -> None:
    """Where there are no vertex groups, in one step; and back in one."""
    scenes.make_bare(blender)
    blender.key("ctrl+p")
    scenes.pause()
    blender.screenshot("ctrl-p")
    blender.click(scenes.WITH_HEAT_WEIGHTS)
    blender.wait_for(IS_BOUND)
    assert blender.get("bpy.data.objects['Tube'].parent.name") == "Rig"
    np.testing.assert_allclose(np.sum(scenes.weights(blender), axis=1), 1.0, atol=1e-5)
    scenes.assert_right(blender)
    blender.key("ctrl+z")
    blender.wait_for(f"not {IS_BOUND}")
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


def test_missing_weights_are_offered(blender: Session) -> None:
    scenes.make_bare(blender)
    scenes.bind(blender)
    sidebar = scenes.open_tab(blender)
    blender.settled("missing weights", sidebar)
    blender.click(blender.find_button("bpy.ops.sbs.automatic_weights", sidebar))
    wait_until(lambda: np.allclose(np.sum(scenes.weights(blender), axis=1), 1.0, atol=1e-5), "there are weights")
    scenes.assert_right(blender)
    blender.move(scenes.EMPTY)
    blender.settled("weights made", sidebar)


def test_all_selected_meshes(blender: Session) -> None:
    """With one mesh active, the button of the panel is for all that are selected."""
    scenes.make_knight(blender)
    sidebar = scenes.open_tab(blender)
    blender.settled("several", sidebar)
    blender.click(blender.find_button("bpy.ops.sbs.bind", sidebar))
    blender.wait_for(f"{BOUND_COUNT} == 6")
    blender.move(scenes.EMPTY)
    blender.settled("several bound", sidebar)
    blender.key("ctrl+z")
    blender.wait_for(f"{BOUND_COUNT} == 0")


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


def test_spread_twist(blender: Session) -> None:
    """The checkbox finds the limbs, and each has a tick of its own; all is undone step by step."""
    scenes.make_arm(blender)
    sidebar = scenes.open_tab(blender)
    view = blender.region("WINDOW")
    before = blender.settled("twisted", view)
    checkbox = blender.find_button("spread_twist", sidebar)
    blender.click(checkbox)
    blender.wait_for("bpy.data.objects['Tube'].sbs.spread_twist")
    scenes.assert_spread(blender, "UpperArm", "ForeArm")
    blender.move(scenes.EMPTY)
    assert changed(before, blender.settled("twist spread", view)) > 0.01

    # The header beside the checkbox opens the panel.
    left = sidebar[0]
    blender.click((left + 120, checkbox[1]))
    scenes.pause()
    blender.settled("limbs", sidebar)
    # The tick in the first row of the list.
    blender.click((left + 28, checkbox[1] + 40))
    scenes.assert_spread(blender, "ForeArm")
    blender.move(scenes.EMPTY)
    blender.key("ctrl+z")
    scenes.assert_spread(blender, "UpperArm", "ForeArm")
    blender.key("ctrl+z")
    blender.wait_for("not bpy.data.objects['Tube'].sbs.spread_twist")
    scenes.assert_spread(blender)
    blender.key("ctrl+shift+z")
    scenes.assert_spread(blender, "UpperArm", "ForeArm")
    assert "Traceback" not in blender.log.read_text(), blender.log.read_text()


def test_a_handle_of_a_muscle_is_moved(character: Session) -> None:
    """By Blender's own G, with undo; the panel of the armature shows the muscle."""
    scenes.bind(character)
    character.run(
        "import rigs\n"
        "making = addon.module('muscles.making')\n"
        "rig = bpy.data.objects['Rig']\n"
        "path = [making.Point('B1', (0.2, 0, 1.2)), making.Point('B2', (0.2, 0, 2.6))]\n"
        "making.add(rig, 'Flexor', path, {'radius': 0.12, 'reach': 0.5})\n"
        "bpy.context.view_layer.update()\n"
        "rigs.select([rig.sbs.muscles[0].insertion])\n"
        "bpy.ops.ed.undo_push(message='Muscle')\n"
    )
    before = scenes.shape(character)
    left, *_ = scenes.open_tab(character)
    character.click((left + 60, scenes.FIRST_PANEL))
    scenes.pause()
    character.move(scenes.EMPTY)
    character.key("g", "x", "minus", "period", "1", "Return")
    wait_until(lambda: abs(scenes.shape(character) - before) > 1e-6, "the skin follows")
    character.key("ctrl+z")
    wait_until(lambda: abs(scenes.shape(character) - before) < 1e-9, "undone")
    assert "Traceback" not in character.log.read_text()


def test_a_file_is_opened(character: Session) -> None:
    """The panel tells what is bound before anything is edited."""
    blender = character
    scenes.bind(blender)
    blender.run(
        "path = folder + '/opened.blend'\n"
        "bpy.ops.wm.save_as_mainfile(filepath=path)\n"
        "bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)",
        folder=str(blender.folder),
    )
    blender.wait_for("addon.module('engine.live').state_of(bpy.data.objects['Tube']) is not None")
    scenes.assert_right(blender)


def test_pie(character: Session) -> None:
    blender = character
    scenes.bind(blender, center="OPTIMIZED")
    blender.move((500, 400))
    blender.key("ctrl+shift+d")
    scenes.pause()
    blender.screenshot("pie")
    # To the west.
    blender.click((400, 400))
    blender.wait_for("bpy.data.objects['Tube'].sbs.preset == 'SPEED'")


def test_panels(character: Session) -> None:
    blender = character
    scenes.bind(blender)
    sidebar = scenes.open_tab(blender)
    with_panel = blender.settled("sidebar", sidebar)
    assert with_panel.std() > 10

    blender.click(blender.find_button("bpy.ops.sbs.unbind", sidebar))
    blender.wait_for(f"not {IS_BOUND}")
    assert changed(with_panel, blender.settled("sidebar unbound", sidebar)) > 0.05

    scenes.bind(blender)
    # The editor offers the tab once it has seen the object.
    blender.settled()
    blender.run("next(a for a in window.screen.areas if a.type == 'PROPERTIES').spaces.active.context = 'MODIFIER'")
    properties = blender.region("WINDOW", "PROPERTIES")
    closed = blender.settled("modifier panel closed", properties)
    # The panel stands under the button for new modifiers.
    blender.click((properties[0] + 80, properties[1] + 92))
    assert changed(closed, blender.settled("modifier panel", properties)) > 0.05


def test_paint(character: Session) -> None:
    blender = character
    scenes.bind(blender)
    scenes.weight_paint(blender, "B3")
    view = blender.region("WINDOW")
    before, weights_before = blender.settled("paint before", view), np.array(scenes.weights(blender))
    shape = scenes.shape(blender)

    middle = blender.project((0.2, -0.5, 1.6))
    blender.drag([middle, (middle[0] + 30, middle[1] - 60), (middle[0] - 10, middle[1] + 10)])
    wait_until(lambda: not np.array_equal(scenes.weights(blender), weights_before), "weights change")
    painted = np.array(scenes.weights(blender))
    assert (painted - weights_before)[:, 3].max() > 0.1
    scenes.assert_right(blender)
    assert scenes.shape(blender) != shape
    blender.move(scenes.EMPTY)
    assert changed(before, blender.settled("paint after", view)) > 0.01

    blender.key("ctrl+z")
    wait_until(lambda: np.array_equal(scenes.weights(blender), weights_before), "undo")
    assert scenes.shape(blender) == shape
    scenes.assert_right(blender)


def test_paint_while_it_plays(character: Session) -> None:
    """Frames go on while the button is held, and none is of the weights from before."""
    blender = character
    scenes.play(blender)
    scenes.weight_paint(blender, "B3")
    weights_before = np.array(scenes.weights(blender))
    blender.key("space")
    blender.wait_for("bpy.context.screen.is_animation_playing")
    # Where the tube is whatever the frame.
    low = blender.project((0.0, -0.5, 0.5))
    with blender.dragging([low, (low[0] + 25, low[1] - 30), (low[0] - 10, low[1] + 10)]):
        wait_until(lambda: not np.array_equal(scenes.weights(blender), weights_before), "weights change")
        frame = blender.get("bpy.context.scene.frame_current")
        blender.wait_for(f"bpy.context.scene.frame_current != {frame}")
        scenes.assert_right(blender)
    scenes.assert_right(blender)
    assert blender.get("bpy.context.screen.is_animation_playing")
    assert (np.array(scenes.weights(blender)) - weights_before)[:, 3].max() > 0.1
    blender.move(scenes.EMPTY)
    blender.key("space")
    blender.wait_for("not bpy.context.screen.is_animation_playing")
    scenes.assert_right(blender)


def test_sculpt_while_it_plays(character: Session) -> None:
    blender = character
    scenes.play(blender)
    blender.run("import rigs\nrigs.select([bpy.data.objects['Tube']])\nbpy.ops.object.mode_set(mode='SCULPT')")
    blender.run("bpy.context.scene.tool_settings.unified_paint_settings.size = 60")
    rest = "import rigs\nresult = rigs.positions(bpy.data.objects['Tube'].data).tolist()"
    before = np.array(blender.run(rest))
    blender.move(scenes.EMPTY)
    blender.key("space")
    blender.wait_for("bpy.context.screen.is_animation_playing")
    low = blender.project((0.0, -0.5, 0.5))
    blender.drag([low, (low[0] + 25, low[1] - 30), (low[0] - 10, low[1] + 10)])
    wait_until(lambda: np.abs(np.array(blender.run(rest)) - before).max() > 1e-3, "the mesh at rest changes")
    assert blender.get("bpy.context.screen.is_animation_playing")
    frame = blender.get("bpy.context.scene.frame_current")
    blender.wait_for(f"bpy.context.scene.frame_current != {frame}")
    scenes.assert_right(blender)
    blender.move(scenes.EMPTY)
    blender.key("space")
    blender.wait_for("not bpy.context.screen.is_animation_playing")
    scenes.assert_right(blender)


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


def test_bake_with_progress(character: Session) -> None:
    blender = character
    scenes.bind(blender)
    blender.run(
        "scene = bpy.context.scene\n"
        "scene.frame_start, scene.frame_end = 1, 5000\n"
        "import rigs\n"
        "rigs.select([bpy.data.objects['Tube']])\n",
    )
    folder = blender.folder / "bake"
    caches = "[modifier.name for modifier in bpy.data.objects['Tube'].modifiers if modifier.type == 'MESH_CACHE']"
    sidebar = scenes.open_tab(blender)
    button = blender.find_button("bpy.ops.sbs.bake", sidebar)
    blender.run(
        "bpy.context.window_manager.operator_properties_last('sbs.bake').directory = folder", folder=str(folder)
    )

    blender.click(button)
    scenes.pause()
    blender.screenshot("bake")
    blender.key("Return")
    blender.wait_for("bpy.context.scene.frame_current > 5")
    blender.screenshot("bake progress")
    blender.key("Escape")
    blender.wait_for("bpy.context.scene.frame_current == 1")
    assert not blender.get(caches)
    assert not list(folder.glob("*"))

    blender.run("bpy.context.scene.frame_end = 4\nbpy.ops.ed.undo_push(message='Few frames')")
    blender.click(button)
    scenes.pause()
    blender.key("Return")
    blender.wait_for(caches)
    assert [path.name for path in folder.glob("*")] == ["Tube.pc2"]
    scenes.assert_right(blender)

    # Every other frame, by the panel of the last operation; and the same once more.
    size = (folder / "Tube.pc2").stat().st_size
    blender.move(scenes.EMPTY)
    blender.key("F9")
    scenes.pause()
    blender.screenshot("bake again")
    blender.click(scenes.STEP_OF_BAKE)
    wait_until(lambda: (folder / "Tube.pc2").stat().st_size < 0.6 * size, "half of the frames are baked")
    blender.wait_for(caches)
    blender.move((scenes.EMPTY[0], 200))
    blender.key("Escape", "shift+r")
    for _ in range(2):
        scenes.pause()
        blender.wait_for(caches)
        blender.key("ctrl+z")
    blender.wait_for(f"not {caches}")
    scenes.assert_right(blender)
    assert "Traceback" not in blender.log.read_text(), blender.log.read_text()


def test_export_by_the_menu(character: Session) -> None:
    """The FBX exporter writes the skin, and leaves the character bound; so does Esc in its dialog, and undo."""
    blender = character
    scenes.bind(blender)
    blender.run("bpy.ops.ed.undo_push(message='Bound')")
    path = blender.folder / "by the menu.fbx"
    modifiers = (
        "[[modifier.name, modifier.show_viewport, modifier.show_render, getattr(modifier, 'use_vertex_groups', None)]"
        " for modifier in bpy.data.objects['Tube'].modifiers]"
    )
    before = blender.get(modifiers)
    for key in ("Escape", "Return"):
        blender.run(
            "bpy.context.window_manager.operator_properties_last('export_scene.fbx').filepath = path", path=str(path)
        )
        scenes.open_export_dialog(blender)
        blender.screenshot("export dialog")
        blender.key(key)
        blender.wait_for("len(bpy.context.window_manager.windows) == 1")
        scenes.pause()
        assert path.exists() == (key == "Return")
        assert blender.get(modifiers) == before
    scenes.assert_right(blender)
    # What the exporter itself calls one step.
    blender.move(scenes.EMPTY)
    blender.key("ctrl+z")
    scenes.pause()
    assert blender.get(modifiers) == before
    scenes.assert_right(blender)
    assert blender.run(
        "items = set(bpy.data.objects)\n"
        "bpy.ops.import_scene.fbx(filepath=path)\n"
        "twin = next(item for item in bpy.data.objects if item not in items and item.type == 'MESH')\n"
        "result = [len(twin.vertex_groups), [modifier.type for modifier in twin.modifiers]]",
        path=str(path),
    ) == [4, ["ARMATURE"]]


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
