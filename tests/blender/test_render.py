# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders: pictures of a bound mesh are those of a mesh that the Armature modifier deforms, by the same method."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from numpy.typing import NDArray

FRAMES = (4, 5, 6)


@pytest.fixture
def scene() -> bpy.types.Scene:
    """A small picture by Cycles, of the tube from the side, with motion blur."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.location = (0.0, -12.0, 2.0)
    camera.rotation_euler = (np.pi / 2, 0.0, 0.0)
    scene.camera = camera
    light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "SUN"))
    scene.collection.objects.link(light)
    light.rotation_euler = (0.9, 0.3, 0.0)
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = 4
    scene.cycles.use_denoising = False
    scene.cycles.max_bounces = 1
    scene.render.resolution_x = scene.render.resolution_y = 48
    scene.render.use_motion_blur = True
    scene.render.motion_blur_shutter = 1.0
    scene.render.threads_mode = "FIXED"
    scene.render.threads = 1
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    return scene


def make_twins() -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """A bound tube, one with an Armature modifier that is not rendered, and their animated armature."""
    armature = rigs.make_armature()
    rigs.animate(armature)
    tube, twin = rigs.make_tube(), rigs.make_tube(name="Twin")
    rigs.bind(tube, armature)
    tube.sbs.method = "LINEAR"
    twin.modifiers.new("Armature", "ARMATURE").object = armature
    twin.hide_render = True
    return tube, twin, armature


def read(path: Path) -> NDArray[np.float32]:
    image = bpy.data.images.load(str(path))
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels


def assert_same(found: NDArray[np.float32], wanted: NDArray[np.float32]) -> None:
    """Pictures of vertices that differ in their last bits: a ray that grazes an edge may go the other way."""
    different = np.abs(found - wanted) > 1e-3
    assert different.mean() < 2e-3
    assert wanted.std() > 0.05, "there must be something to see"


def test_animation(scene: bpy.types.Scene, tmp_path: Path) -> None:
    tube, twin, armature = make_twins()
    pictures = {}
    for name in ("ours", "theirs"):
        tube.hide_render, twin.hide_render = name != "ours", name == "ours"
        scene.render.filepath = str(tmp_path / f"{name}-####.exr")
        bpy.ops.render.render(animation=True)
        pictures[name] = [read(tmp_path / f"{name}-{frame:04}.exr") for frame in FRAMES]
    for ours, theirs in zip(pictures["ours"], pictures["theirs"], strict=True):
        assert_same(ours, theirs)
    assert np.abs(pictures["theirs"][0] - pictures["theirs"][1]).max() > 0.1, "the pose must change"
    assert error(rigs.evaluated(tube), deformed(tube, armature, "linear")) < TOLERANCE


def test_still_picture(scene: bpy.types.Scene, tmp_path: Path) -> None:
    tube, twin, armature = make_twins()
    scene.frame_set(5)
    pictures = {}
    for name in ("ours", "theirs"):
        tube.hide_render, twin.hide_render = name != "ours", name == "ours"
        scene.render.filepath = str(tmp_path / f"{name}.exr")
        bpy.ops.render.render(write_still=True)
        pictures[name] = read(tmp_path / f"{name}.exr")
        assert error(rigs.evaluated(tube), deformed(tube, armature, "linear")) < TOLERANCE
    assert_same(pictures["ours"], pictures["theirs"])


def test_rendered_straight_from_a_file(scene: bpy.types.Scene, tmp_path: Path) -> None:
    make_twins()
    bpy.data.objects["Twin"].hide_render = False
    bpy.data.objects["Tube"].hide_render = True
    scene.render.filepath = str(tmp_path / "theirs-####.exr")
    bpy.ops.render.render(animation=True)
    bpy.data.objects["Twin"].hide_render = True
    bpy.data.objects["Tube"].hide_render = False
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=False, use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.context.scene.render.filepath = str(tmp_path / "ours-####.exr")
    bpy.ops.render.render(animation=True)
    for frame in FRAMES:
        assert_same(read(tmp_path / f"ours-{frame:04}.exr"), read(tmp_path / f"theirs-{frame:04}.exr"))


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("SUBSURF", {"levels": 0, "render_levels": 2}),
        ("MIRROR", {"show_viewport": False, "use_axis": (False, True, False)}),
    ],
)
def test_other_vertices_in_renders(
    scene: bpy.types.Scene, tmp_path: Path, kind: str, settings: dict[str, object]
) -> None:
    tube, twin, armature = make_twins()
    for item in (tube, twin):
        modifier = item.modifiers.new("Before", kind)
        for name, value in settings.items():
            setattr(modifier, name, value)
        move_up(item, modifier)
        for vertex in item.data.vertices:
            vertex.co.y += 0.45
    pictures = {}
    for name in ("ours", "theirs", "ours again"):
        tube.hide_render, twin.hide_render = "ours" not in name, "ours" in name
        scene.render.filepath = str(tmp_path / f"{name}-####.exr")
        bpy.ops.render.render(animation=True)
        pictures[name] = [read(tmp_path / f"{name}-{frame:04}.exr") for frame in FRAMES]
        assert error(rigs.evaluated(tube), deformed(tube, armature, "linear")) < TOLERANCE
    for name in ("ours", "ours again"):
        for ours, theirs in zip(pictures[name], pictures["theirs"], strict=True):
            assert_same(ours, theirs)


def move_up(item: bpy.types.Object, modifier: bpy.types.Modifier) -> None:
    """Put a modifier first."""
    with bpy.context.temp_override(object=item, active_object=item):
        bpy.ops.object.modifier_move_to_index(modifier=modifier.name, index=0)
