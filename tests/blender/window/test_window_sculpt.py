# SPDX-License-Identifier: GPL-3.0-or-later
"""Sculpt Corrective by key and mouse: strokes move vertices under the pointer, as with Armature modifiers."""

from __future__ import annotations

import numpy as np
import scenes
from numpy.typing import NDArray
from session import Point, Session, changed, wait_until

#: In the header.
ACCEPT: Point = (935, 40)
CANCEL: Point = (1015, 40)
#: The vertices that brushes move, and those of an object as they are seen.
VERTICES = "import rigs\nresult = rigs.positions(bpy.context.object.data).tolist()"
SEEN = "from expected import in_world\nresult = in_world(bpy.context.object).tolist()"


def prepare_brush(blender: Session) -> None:
    blender.run("bpy.context.scene.tool_settings.unified_paint_settings.size = 60")
    blender.move(scenes.EMPTY)


def stroke_over(blender: Session) -> list[Point]:
    """A stroke over the bent part of the tube."""
    x, y = blender.run(
        "from expected import in_world\n"
        "from bpy_extras.view3d_utils import location_3d_to_region_2d\n"
        "from mathutils import Vector\n"
        "places = in_world(bpy.context.object)\n"
        "point = places[16 * 24 + 12]\n"
        "region = next(r for r in area.regions if r.type == 'WINDOW')\n"
        "where = location_3d_to_region_2d(region, area.spaces.active.region_3d, Vector(point))\n"
        "result = [region.x + where.x, region.y + where.y]"
    )
    middle = round(x), 800 - round(y)
    return [middle, (middle[0] + 12, middle[1] - 10), (middle[0] - 8, middle[1] + 6)]


def sculpted(blender: Session) -> set[int]:
    """The vertices that a stroke moves."""
    prepare_brush(blender)
    before = np.array(blender.run(VERTICES))
    blender.drag(stroke_over(blender))
    wait_until(lambda: np.abs(np.array(blender.run(VERTICES)) - before).max() > 1e-3, "the stroke moves vertices")
    moved = np.linalg.norm(np.array(blender.run(VERTICES)) - before, axis=1) > 1e-3
    return set(np.flatnonzero(moved).tolist())


def test_sculpt_in_the_pose(character: Session) -> None:
    blender = character
    # What Blender's own modifier lets brushes do is the measure.
    blender.run(
        "import rigs\n"
        "tube = bpy.data.objects['Tube']\n"
        "tube.modifiers.new('Armature', 'ARMATURE').object = bpy.data.objects['Rig']\n"
        "rigs.select([tube])\n"
        "bpy.ops.object.mode_set(mode='SCULPT')\n"
    )
    by_blender = sculpted(blender)
    blender.key("ctrl+z")
    blender.run("bpy.ops.object.mode_set(mode='OBJECT')\ntube = bpy.data.objects['Tube']\ntube.modifiers.clear()")
    scenes.bind(blender)
    blender.run("import rigs\ntube = bpy.data.objects['Tube']\ntube.sbs.method = 'LINEAR'\nrigs.select([tube])")
    view = blender.region("WINDOW")
    before = blender.settled("sculpt before", view)

    blender.move(scenes.EMPTY)
    blender.key("ctrl+shift+k")
    blender.wait_for("bpy.context.object.name == 'Tube, posed' and bpy.context.object.mode == 'SCULPT'")
    moved = sculpted(blender)
    assert len(by_blender) > 10
    assert len(moved & by_blender) >= 0.95 * len(moved | by_blender)
    wanted = np.array(blender.run(VERTICES))
    blender.settled("sculpt in the pose")

    blender.click(ACCEPT)
    check_accepted(blender, wanted)
    blender.move(scenes.EMPTY)
    assert changed(before, blender.settled("sculpt accepted", view)) > 0.001

    # Undone in one step, back to the sculpt.
    blender.key("ctrl+z")
    check_open(blender, wanted)
    blender.settled("sculpt undone")
    blender.key("ctrl+shift+z")
    check_accepted(blender, wanted)
    blender.key("ctrl+z")
    check_open(blender, wanted)
    blender.click(CANCEL)
    blender.wait_for("bpy.context.object.name == 'Tube' and bpy.context.object.mode == 'OBJECT'")
    assert blender.get("bpy.data.objects['Tube'].data.shape_keys is None and len(bpy.context.scene.objects) == 2")
    blender.move(scenes.EMPTY)
    blender.key("ctrl+z")
    check_open(blender, wanted)
    # Brushes work on it as before, and a stroke is undone alone.
    assert sculpted(blender)
    blender.key("ctrl+z")
    check_open(blender, wanted)
    blender.click(ACCEPT)
    blender.wait_for("bpy.context.object.name == 'Tube'")
    check_accepted(blender, wanted)


def check_accepted(blender: Session, wanted: NDArray[np.float64]) -> None:
    blender.wait_for("bpy.context.object.name == 'Tube' and bpy.context.object.mode == 'OBJECT'")
    assert blender.get("len(bpy.data.objects['Tube'].data.shape_keys.key_blocks)") == 2
    assert np.abs(np.array(blender.run(SEEN)) - wanted).max() < 1e-5


def check_open(blender: Session, wanted: NDArray[np.float64]) -> None:
    """Whether the surface is sculpted in the place of a mesh without shape keys."""
    blender.wait_for("bpy.context.object.name == 'Tube, posed' and bpy.context.object.mode == 'SCULPT'")
    assert blender.get("bpy.data.objects['Tube'].hide_get() and bpy.data.objects['Tube'].data.shape_keys is None")
    assert np.abs(np.array(blender.run(VERTICES)) - wanted).max() < 1e-5


def test_surface_deleted(character: Session) -> None:
    blender = character
    scenes.bind(blender)
    blender.run("import rigs\nrigs.select([bpy.data.objects['Tube']])\nbpy.ops.ed.undo_push(message='Bound')")
    blender.move(scenes.EMPTY)
    blender.key("ctrl+shift+k")
    blender.wait_for("bpy.context.object.name == 'Tube, posed'")
    sculpted(blender)
    blender.run("bpy.ops.object.mode_set('EXEC_DEFAULT', True, mode='OBJECT')")
    blender.move(scenes.EMPTY)
    blender.key("x", "Return")
    blender.wait_for("not bpy.data.objects['Tube'].hide_get() and 'Tube, posed' not in bpy.context.scene.objects")
    blender.settled("surface deleted")
    blender.key("ctrl+z")
    blender.wait_for("bpy.context.object.name == 'Tube, posed' and bpy.data.objects['Tube'].hide_get()")


def test_the_rest_mesh_is_told(character: Session) -> None:
    blender = character
    scenes.bind(blender)
    blender.run("import rigs\nrigs.select([bpy.data.objects['Tube']])")
    header = blender.region("HEADER")
    blender.run("bpy.ops.object.mode_set(mode='SCULPT')")
    blender.move(scenes.EMPTY)
    blender.settled("the rest mesh", header)
    # Its button is the last one of the header.
    blender.click((header[2] - 80, (header[1] + header[3]) // 2))
    blender.wait_for("bpy.context.object.name == 'Tube, posed' and bpy.context.object.mode == 'SCULPT'")
    blender.run("bpy.ops.sbs.cancel_corrective('INVOKE_DEFAULT')")
    blender.wait_for("bpy.context.object.name == 'Tube'")
