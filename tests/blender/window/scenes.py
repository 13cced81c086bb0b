# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes that tests and screenshots start from, and places in Blender 3.4's default window."""

from __future__ import annotations

import time

from session import Point, Session, wait_until

# Entries of menus, in a window of 1280 by 800.
OBJECT_MENU: Point = (322, 40)
PARENT_MENU: Point = (345, 343)
SPHERICAL_BLEND_SKINNING: Point = (612, 753)
WITH_VERTEX_GROUPS: Point = (850, 712)
#: In the menu that Ctrl-P opens over EMPTY.
WITH_HEAT_WEIGHTS: Point = (104, 753)
FILE_MENU: Point = (34, 10)
EXPORT_MENU: Point = (80, 316)
FBX: Point = (289, 441)
#: The arrow that adds to *Step* in the panel that F9 opens over EMPTY after a bake.
STEP_OF_BAKE: Point = (436, 724)
#: Of a bound mesh, the panels below the settings in the sidebar, and how far down the header of the first is.
PANELS = ("Spread Twist", "Muscles", "Capsules", "Compare with Linear", "Advanced", "Bake or Make Portable")
FIRST_PANEL = 228
#: Where a click in the 3D view would hit nothing, to give it the keyboard.
EMPTY: Point = (150, 600)

#: True in Blender once the tube is bound.
IS_BOUND = "any(modifier.type == 'NODES' for modifier in bpy.data.objects['Tube'].modifiers)"


def make_empty(blender: Session) -> None:
    """A scene without objects, in Object Mode."""
    blender.run(
        "if bpy.context.object and bpy.context.mode != 'OBJECT':\n"
        "    bpy.ops.object.mode_set(mode='OBJECT')\n"
        "bpy.data.batch_remove(list(bpy.data.objects))\n"
        "bpy.context.view_layer.update()\n"
    )


def show_from_front(blender: Session) -> None:
    """Look at the scene, with the sidebar open and nothing to undo."""
    blender.run(
        "bpy.ops.view3d.view_axis(type='FRONT')\n"
        "view = area.spaces.active.region_3d\n"
        "view.view_location = (0.6, 0, 2)\n"
        "view.view_distance = 9\n"
        "area.spaces.active.show_region_ui = True\n"
        "bpy.ops.ed.undo_push(message='Start')\n"
    )
    blender.move(EMPTY)


def make_character(blender: Session) -> None:
    """A tube and a bent armature, selected, in a view from the front; the sidebar is open."""
    make_empty(blender)
    blender.run(
        "import rigs\n"
        "armature, tube = rigs.make_armature(), rigs.make_tube()\n"
        "rigs.turn(armature, angle=0.8)\n"
        "bpy.context.scene.frame_set(1)\n"
        "bpy.context.view_layer.update()\n"
        "rigs.select([armature, tube])\n"
    )
    show_from_front(blender)


def open_menu(blender: Session) -> None:
    """Click through to the menu Object > Parent."""
    blender.click(OBJECT_MENU)
    pause()
    blender.click(PARENT_MENU)
    pause()


def make_knight(blender: Session) -> None:
    """A tube cut into six meshes with Armature modifiers, selected; one of them is active."""
    make_character(blender)
    blender.run(
        "import bmesh, rigs\n"
        "armature = bpy.data.objects['Rig']\n"
        "bpy.data.objects.remove(bpy.data.objects['Tube'])\n"
        "parts = [rigs.make_tube(rows=43, name=f'Part{number}') for number in range(6)]\n"
        "for number, part in enumerate(parts):\n"
        "    cut = bmesh.new()\n"
        "    cut.from_mesh(part.data)\n"
        "    low, high = rigs.LENGTH * number / 6 - 1e-3, rigs.LENGTH * (number + 1) / 6 + 1e-3\n"
        "    others = [vertex for vertex in cut.verts if not low < vertex.co.z < high]\n"
        "    bmesh.ops.delete(cut, geom=others, context='VERTS')\n"
        "    cut.to_mesh(part.data)\n"
        "    cut.free()\n"
        "    part.modifiers.new('Armature', 'ARMATURE').object = armature\n"
        "bpy.context.view_layer.update()\n"
        "rigs.select(parts)\n"
        "bpy.ops.ed.undo_push(message='Start')\n"
    )
    blender.move(EMPTY)


def make_bare(blender: Session) -> None:
    """The character of `make_character` without vertex groups."""
    make_character(blender)
    blender.run("bpy.data.objects['Tube'].vertex_groups.clear()\nbpy.ops.ed.undo_push(message='Start')\n")


def open_export_dialog(blender: Session) -> None:
    """Click through the menu File > Export > FBX; its dialog is a window of its own."""
    for place in (FILE_MENU, EXPORT_MENU, FBX):
        blender.click(place)
        pause()
    blender.wait_for("len(bpy.context.window_manager.windows) == 2")
    pause()


def weight_paint(blender: Session, group: str) -> None:
    """Go to Weight Paint by the pie menu, with a large brush for one vertex group."""
    blender.move(EMPTY)
    blender.key("ctrl+Tab")
    pause()
    blender.key("7")
    blender.wait_for("bpy.context.mode == 'PAINT_WEIGHT'")
    blender.run(
        "tube = bpy.data.objects['Tube']\n"
        "tube.vertex_groups.active = tube.vertex_groups[group]\n"
        "bpy.context.scene.tool_settings.unified_paint_settings.size = 60\n",
        group=group,
    )


def open_tab(blender: Session) -> tuple[int, int, int, int]:
    """Click, in Object Mode, on the tab of the add-on, the last one; the place of the sidebar without tabs."""
    left, top, right, bottom = blender.region("UI")
    blender.click((right - 13, 240))
    return left, top, right - 30, bottom


def open_panel(blender: Session, name: str) -> None:
    """Open a panel below the settings of a bound mesh, or close it; those above it are closed."""
    left, *_ = blender.region("UI")
    blender.click((left + 60, FIRST_PANEL + 26 * PANELS.index(name)))
    pause()


def bind(blender: Session, center: str = "JOINT_SET") -> None:
    """Bind by the code that the menu calls."""
    blender.run("import rigs\nrigs.bind(bpy.data.objects['Tube'], bpy.data.objects['Rig'], center)", center=center)


def play(blender: Session) -> None:
    """Bind, and have poses for the timeline to play; the tube is selected."""
    bind(blender)
    blender.run(
        "import rigs\n"
        "rigs.animate(bpy.data.objects['Rig'])\n"
        "bpy.context.scene.frame_end = 20\n"
        "bpy.context.scene.frame_set(1)\n"
        "rigs.select([bpy.data.objects['Tube']])\n"
        "bpy.ops.ed.undo_push(message='Animated')\n"
    )


def wait_for_another_frame(blender: Session) -> None:
    """Wait until the animation that plays has gone on."""
    frame = blender.get("bpy.context.scene.frame_current")
    blender.wait_for(f"bpy.context.scene.frame_current != {frame}")


def pose_mode(blender: Session, bone: str) -> None:
    """Pose a bone, with capsules shown."""
    blender.run(
        "import rigs\n"
        "armature = bpy.data.objects['Rig']\n"
        "rigs.select([armature])\n"
        "bpy.ops.object.mode_set(mode='POSE')\n"
        "armature.data.bones.active = armature.data.bones[bone]\n"
        "armature.data.sbs.show_capsules = True\n"
        "bpy.ops.ed.undo_push(message='Pose')\n",
        bone=bone,
    )


def bend(blender: Session) -> None:
    """Bend the tube by 80 degrees at one joint, in the plane of the view."""
    blender.run(
        "import rigs\n"
        "from mathutils import Quaternion\n"
        "armature = bpy.data.objects['Rig']\n"
        "rigs.turn(armature, angle=0.0)\n"
        "armature.pose.bones['B2'].rotation_quaternion = Quaternion((0.0, 0.0, 1.0), 1.4)\n"
        "bpy.context.view_layer.update()\n"
    )


def start_drag(blender: Session) -> None:
    """Start Drag Vertex as the Pose menu does."""
    blender.run("bpy.ops.sbs.drag_vertex('INVOKE_DEFAULT')")


def to_be_dragged(blender: Session) -> tuple[list[list[float]], int, Point, Point]:
    """The weights, a vertex in front at a joint, where it is on the screen, and a place that its bones can take it."""
    vertex = 24 * 16 + 11
    start, goal = blender.run(
        "import rigs\n"
        "tube = bpy.data.objects['Tube']\n"
        "patch = addon.module('drag.session').begin(tube, vertex).patch()\n"
        "places = [rigs.evaluated(tube)[vertex], patch.points[len(patch.points) // 4]]\n"
        "result = [list(tube.matrix_world @ __import__('mathutils').Vector(place.tolist())) for place in places]",
        vertex=vertex,
    )
    return weights(blender), vertex, blender.project(start), blender.project(goal)


def make_demo(blender: Session) -> None:
    """The demo alone, seen from the front, without the sidebar and overlays."""
    make_empty(blender)
    blender.run(
        "bpy.ops.sbs.demo()\n"
        "bpy.context.view_layer.update()\n"
        "bpy.ops.view3d.view_axis(type='FRONT')\n"
        "bpy.ops.view3d.view_selected()\n"
        "bpy.ops.object.select_all(action='DESELECT')\n"
        "view = area.spaces.active.region_3d\n"
        "view.view_distance *= 0.66\n"
        "view.view_location.z += 0.3\n"
        "area.spaces.active.show_region_ui = False\n"
        "area.spaces.active.overlay.show_overlays = False\n"
    )


def handle_of(blender: Session) -> tuple[Point, Point]:
    """Where the handle of the active bone's outer capsule is on the screen, and where it would be twice as far."""
    start, end = blender.run(
        "from mathutils import Vector\n"
        "bone = bpy.context.active_pose_bone\n"
        "place = addon.module('capsules.handles').place(bone)\n"
        "distance = bone.bone.envelope_distance\n"
        "result = [list(place @ Vector((0, 0, z * distance))) for z in (1, 2)]"
    )
    return blender.project(start), blender.project(end)


def zone_handles(blender: Session, outwards: float) -> list[tuple[Point, Point]]:
    """Where both handles of the active bone's zone are on the screen, and where they would be so much further out."""
    ends = blender.run(
        "from mathutils import Vector\n"
        "bone = bpy.context.active_pose_bone\n"
        "zone = addon.module('blending.zones').find(bone)\n"
        "handles = addon.module('blending.handles')\n"
        "places = (handles.start_place(bone), handles.end_place(bone))\n"
        "result = [\n"
        "    [list(place @ Vector((0, 0, z + outwards * step))) for step in (0, 1)]\n"
        "    for place, z in zip(places, (-zone.t_min, zone.t_max))\n"
        "]",
        outwards=outwards,
    )
    return [(blender.project(start), blender.project(end)) for start, end in ends]


def weights(blender: Session) -> list[list[float]]:
    """The weights of the tube, a row for each vertex."""
    found: list[list[float]] = blender.run(
        "tube = bpy.data.objects['Tube']\n"
        "result = [[0.0] * 4 for _ in tube.data.vertices]\n"
        "for vertex in tube.data.vertices:\n"
        "    for entry in vertex.groups:\n"
        "        result[vertex.index][entry.group] = entry.weight"
    )
    return found


def assert_right(blender: Session) -> None:
    """The mesh that is shown becomes what the library says; of that, to a share of its size, as in other tests."""
    wait_until(
        lambda: blender.run(
            "import expected, rigs\n"
            "tube, armature = bpy.data.objects['Tube'], bpy.data.objects['Rig']\n"
            "centers = expected.kept_centers(tube)\n"
            "optimized = tube.sbs.center == 'OPTIMIZED'\n"
            "options = {'center': 'optimized', 'centers': centers} if optimized else {}\n"
            "result = (centers is not None or not optimized) and expected.error(\n"
            "    rigs.evaluated(tube), expected.deformed(tube, armature, **options)\n"
            ") < expected.TOLERANCE"
        ),
        "the mesh is right",
    )


def shape(blender: Session) -> float:
    """A number that tells one shape of the tube from another: the mean of its vertices' squared distances."""
    number: float = blender.run("import rigs\nresult = float((rigs.evaluated(bpy.data.objects['Tube']) ** 2).mean())")
    return number


def pause() -> None:
    """For menus, which open when they are drawn."""
    time.sleep(0.5)
