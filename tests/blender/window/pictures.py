# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the screenshots of docs/blender.md, in Blender 3.4 as it comes.

python tests/blender/window/pictures.py dist/...-legacy.zip docs/images
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import scenes
from PIL import Image
from session import Picture, Session


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", type=Path, help="the legacy archive of the add-on")
    parser.add_argument("output", type=Path, help="folder of the pictures")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Session(arguments.archive, Path(folder)) as blender:
        for name, take in PICTURES.items():
            path = arguments.output / f"blender-{name}.png"
            save(take(blender), path)
            print(path, path.stat().st_size)


def save(picture: Picture, path: Path) -> None:
    """Write a picture in few colors, which screenshots have anyway; thin lines keep theirs."""
    assert picture.std() > 10, f"{path} would be blank"
    Image.fromarray(np.ascontiguousarray(picture)).quantize(
        256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
    ).save(path, optimize=True)


def menu(blender: Session) -> Picture:
    """The menu of Ctrl-P."""
    scenes.make_character(blender)
    blender.key("ctrl+p")
    scenes.pause()
    blender.move(scenes.WITH_HEAT_WEIGHTS)
    scenes.pause()
    picture = blender.screenshot(box=(0, 440, 420, 792))
    blender.key("Escape")
    return picture


def rig(blender: Session) -> Picture:
    """The tab of the sidebar while posing a character of several meshes."""
    scenes.make_knight(blender)
    scenes.open_tab(blender)
    blender.run("import rigs\nrigs.select([bpy.data.objects['Rig']])\nbpy.ops.sbs.bind(all_meshes=True)")
    scenes.pose_mode(blender, "B1")
    blender.run(
        "bpy.data.objects['Rig'].data.sbs.show_capsules = False\n"
        "rig = bpy.data.objects['Rig']\n"
        "rig.sbs.preset = 'SPEED'\n"
    )
    blender.move(scenes.EMPTY)
    picture = blender.settled(box=(400, 82, 1057, 640))
    blender.run("bpy.ops.object.mode_set(mode='OBJECT')")
    return picture


def panel(blender: Session) -> Picture:
    """The tab of the sidebar beside a mesh that is bound, with all settings."""
    scenes.make_character(blender)
    scenes.bind(blender, center="OPTIMIZED")
    scenes.assert_right(blender)
    scenes.open_tab(blender)
    blender.move(scenes.EMPTY)
    # As a mesh is that was bound by the preferences' defaults.
    blender.run("bpy.context.object.sbs.preset = 'QUALITY'")
    blender.wait_for("not addon.module('engine.live.states').state_of(bpy.context.object).centers.are_awaited")
    # The panel tells the time of the last frame; the first one is not typical.
    blender.run(
        "for turn in range(20):\n    bpy.data.objects['Rig'].pose.bones['B2'].rotation_quaternion.x += 0.002\n"
        "    bpy.context.view_layer.update()"
    )
    scenes.open_panel(blender, "Advanced")
    blender.move(scenes.EMPTY)
    picture = blender.settled(box=(400, 82, 1057, 716))
    scenes.open_panel(blender, "Advanced")
    return picture


def paint(blender: Session) -> Picture:
    """A stroke in Weight Paint."""
    scenes.make_character(blender)
    scenes.bind(blender)
    scenes.weight_paint(blender, "B2")
    start = blender.project((0.1, -0.5, 1.4))
    end = blender.project((0.5, -0.5, 1.9))
    blender.drag([start, end])
    return blender.settled(box=(60, 82, 828, 640))


def capsules(blender: Session) -> Picture:
    """Capsules of all bones, the handle of one, and their panel."""
    scenes.make_character(blender)
    scenes.bind(blender)
    blender.run("import rigs\nrigs.select([bpy.data.objects['Tube']])\nbpy.ops.sbs.fit_capsules()")
    scenes.open_tab(blender)
    scenes.open_panel(blender, "Capsules")
    scenes.pose_mode(blender, "B1")
    blender.move(scenes.EMPTY)
    picture = blender.settled(box=(330, 82, 1057, 716))
    blender.run("import rigs\nbpy.ops.object.mode_set(mode='OBJECT')\nrigs.select([bpy.data.objects['Tube']])")
    scenes.open_panel(blender, "Capsules")
    return picture


def drag(blender: Session) -> Picture:
    """A vertex at a bent joint, dragged along the arc that its bones can take it to."""
    scenes.make_character(blender)
    scenes.bind(blender, "WEIGHTED")
    scenes.bend(blender)
    scenes.pose_mode(blender, "B2")
    blender.run(
        "area.spaces.active.show_region_ui = False\n"
        "bpy.data.armatures[0].sbs.show_capsules = False\n"
        "view = area.spaces.active.region_3d\n"
        "view.view_distance = 4.5\n"
        "view.view_location = (-0.1, 0, 1.9)\n"
    )
    _, _, start, goal = scenes.to_be_dragged(blender)
    scenes.start_drag(blender)
    with blender.dragging([start, goal]):
        picture = blender.settled(box=(150, 82, 860, 640))
        blender.key("Escape")
    blender.key("Escape")
    return picture


def demo(blender: Session) -> Picture:
    """The scene of the demo."""
    scenes.make_demo(blender)
    left, top, right, bottom = blender.region("WINDOW")
    picture = blender.settled(box=(left + 130, top + 130, right - 130, bottom - 250))
    blender.run("area.spaces.active.overlay.show_overlays = True")
    return picture


def twist(blender: Session) -> Picture:
    """The forearm of the demo whose twist is spread, and the panel with the limbs."""
    scenes.make_empty(blender)
    blender.run(
        "bpy.ops.sbs.demo()\n"
        "bpy.context.view_layer.update()\n"
        "bpy.ops.view3d.view_axis(type='FRONT')\n"
        "import rigs\n"
        "woman = bpy.data.objects['Woman, Spread Twist']\n"
        "rigs.select([woman])\n"
        "rig = woman.sbs.armature\n"
        "bones = rig.data.bones\n"
        "view = area.spaces.active.region_3d\n"
        "view.view_location = rig.matrix_world @ (0.5 * (bones['LeftArm'].head_local + bones['LeftHand'].head_local))\n"
        "view.view_location.x += 0.1\n"
        "view.view_distance = 1.3\n"
        "rig.sbs.twist_row = rig.pose.bones.find('LeftForeArm')\n"
        "area.spaces.active.show_region_ui = True\n"
    )
    sidebar = scenes.open_tab(blender)
    checkbox = blender.find_button("spread_twist", sidebar)
    blender.click((sidebar[0] + 120, checkbox[1]))
    scenes.pause()
    blender.wait_for("not addon.module('engine.live.states').state_of(bpy.context.object).centers.are_awaited")
    # The panel tells the time of the last frame; the first one is not typical.
    blender.run("for frame in (36, 37, 38, 39, 40):\n    bpy.context.scene.frame_set(frame)")
    blender.move(scenes.EMPTY)
    picture = blender.settled(box=(330, 82, 1057, 720))
    blender.click((sidebar[0] + 120, checkbox[1]))
    scenes.pause()
    return picture


def muscles(blender: Session) -> Picture:
    """The arm of the demo of muscles, with its bellies and handles, and the panel with one of them."""
    scenes.make_empty(blender)
    blender.run(
        "bpy.ops.sbs.muscle_demo()\n"
        "bpy.context.view_layer.update()\n"
        "bpy.ops.view3d.view_axis(type='FRONT')\n"
        "woman = bpy.data.objects['Woman, With Muscles']\n"
        "rig = woman.sbs.armature\n"
        "bones = rig.data.bones\n"
        "view = area.spaces.active.region_3d\n"
        "view.view_location = rig.matrix_world @ bones['LeftForeArm'].head_local\n"
        "view.view_location.x -= 0.08\n"
        "view.view_location.z += 0.02\n"
        "view.view_distance = 0.75\n"
        "bpy.ops.object.select_all(action='DESELECT')\n"
        "area.spaces.active.shading.color_type = 'OBJECT'\n"
        "area.spaces.active.shading.show_xray = True\n"
        "area.spaces.active.show_region_ui = True\n"
    )
    scenes.open_tab(blender)
    scenes.open_panel(blender, "Muscles")
    blender.run("for frame in (36, 37, 38, 39, 40):\n    bpy.context.scene.frame_set(frame)")
    blender.move(scenes.EMPTY)
    picture = blender.settled(box=(330, 82, 1057, 716))
    scenes.open_panel(blender, "Muscles")
    return picture


def bend_knee(blender: Session) -> None:
    """The woman of the demo from her left, bound, her left knee bent."""
    scenes.make_empty(blender)
    blender.run(
        "import math, rigs\n"
        "from mathutils import Matrix\n"
        "woman, rig = addon.module('demo.woman').woman()\n"
        "rigs.bind(woman, rig)\n"
        "woman.sbs.preset = 'QUALITY'\n"
        "rig.pose.bones['LeftLeg'].matrix_basis = Matrix.Rotation(math.radians(110), 4, 'X')\n"
        "rigs.select([woman])\n"
        "bpy.context.view_layer.update()\n"
        "bpy.ops.view3d.view_axis(type='RIGHT')\n"
        "view = area.spaces.active.region_3d\n"
        "view.view_location = rig.matrix_world @ rig.data.bones['LeftLeg'].head_local\n"
        "view.view_distance = 0.75 * woman.dimensions.z\n"
        "area.spaces.active.overlay.show_overlays = False\n"
        "area.spaces.active.show_region_ui = True\n"
    )
    blender.wait_for("not addon.module('engine.live.states').state_of(bpy.context.object).centers.are_awaited")


def correctives(blender: Session) -> Picture:
    """The list of correctives that were drafted for a knee."""
    bend_knee(blender)
    blender.run("bpy.ops.sbs.draft_correctives()")
    left, *_ = scenes.open_tab(blender)
    # Where there are correctives, their panel comes first.
    blender.click((left + 60, scenes.FIRST_PANEL))
    scenes.pause()
    blender.move(scenes.EMPTY)
    return blender.settled(box=(330, 82, 1057, 716))


def sculpt(blender: Session) -> Picture:
    """The posed surface in Sculpt Mode."""
    bend_knee(blender)
    blender.run("bpy.ops.sbs.sculpt_corrective('INVOKE_DEFAULT')")
    blender.run("bpy.context.scene.tool_settings.unified_paint_settings.size = 60")
    middle = blender.region("WINDOW")
    blender.move(((middle[0] + middle[2]) // 2 - 60, (middle[1] + middle[3]) // 2))
    picture = blender.settled(box=(0, 27, 1057, 640))
    blender.run("bpy.ops.sbs.cancel_corrective()\narea.spaces.active.overlay.show_overlays = True")
    return picture


# The demo comes last, since it changes the range of frames.
PICTURES = {
    "menu": menu,
    "rig": rig,
    "panel": panel,
    "paint": paint,
    "capsules": capsules,
    "drag": drag,
    "twist": twist,
    "muscles": muscles,
    "correctives": correctives,
    "sculpt": sculpt,
    "demo": demo,
}


if __name__ == "__main__":
    main()
